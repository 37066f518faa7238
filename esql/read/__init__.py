"""Text -> syntax: the one place that knows the parser's runtime."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, TypeVar

from antlr4 import CommonTokenStream, InputStream, Token
from antlr4.atn.PredictionMode import PredictionMode
from antlr4.error.Errors import ParseCancellationException
from antlr4.error.ErrorStrategy import BailErrorStrategy

from engine.budget import pay
from esql import syntax
from esql.grammar.generated.ESQLLexer import ESQLLexer as Tokens
from esql.grammar.generated.ESQLParser import ESQLParser
from esql.read.expressions import expression
from esql.read.recovery import Recovery, may_be_condition
from esql.read.statements import program, statements
from esql.text import Source, SyntaxProblems, decode

_MARK = re.compile(r"/\*|\*/")
# what hides a mark outside comments, and what starts a comment; an executable one starts none
_OUTSIDE = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\r\n]*|(/\*)(?!!\{)")


def flattened(text: str) -> str:
    """Blank the marks within nested comments; a comment that does not come out even ends at its first end.

    >>> flattened("/* a /* b */ c */ d")
    '/* a    b    c */ d'
    >>> flattened("/* a /* b */ c")
    '/* a /* b */ c'
    """
    marks = list(_MARK.finditer(text))
    if not any(first[0] == second[0] == "/*" for first, second in pairwise(marks)):
        return text
    ends = _ends(marks)
    pieces, done, place = [], 0, 0
    while (found := _OUTSIDE.search(text, place)) is not None:
        place = found.end()
        if found[1] is None or found.start() not in ends:
            # an uneven comment: the first end is where the grammar ends it too
            place = text.find("*/", place) + 2 if found[1] and text.find("*/", place) >= 0 else place
            continue
        end = ends[found.start()]
        pieces += [text[done:place], _MARK.sub("  ", text[place : end - 2])]
        done, place = end - 2, end
    return "".join((*pieces, text[done:]))


def _ends(marks: list[re.Match[str]]) -> dict[int, int]:
    """Find for each opening mark the end of the comment that it opens, where there is one."""
    ends, open_marks = {}, []
    for mark in marks:
        if mark[0] == "/*":
            open_marks.append(mark.start())
        elif open_marks:
            ends[open_marks.pop()] = mark.end()
    return ends


_CLOSED = {Tokens.OPEN_STRING: Tokens.STRING, Tokens.OPEN_IDENTIFIER: Tokens.QUOTED_IDENTIFIER}
_QUOTES = {
    Tokens.OPEN_STRING: ("'", "string"),
    Tokens.STRING: ("'", "string"),
    Tokens.OPEN_IDENTIFIER: ('"', "quoted name"),
    Tokens.QUOTED_IDENTIFIER: ('"', "quoted name"),
}
_INSTEAD = {
    "!": "write <> for 'not equal'",
    "&": "write AND, or || to join strings",
    "^": "write POWER(a, b)",
    "%": "write MOD(a, b)",
    "`": "write names in double quotes (\"), strings in single quotes (')",
    "\\": "strings need no backslash: write '' for a quote in a string",
    "#": 'a name with such a character is written in double quotes ("a#b")',
    "$": 'a name with such a character is written in double quotes ("a$b")',
    "@": 'a name with such a character is written in double quotes ("a@b")',
    "?": "it stands for a parameter only inside the string of PASSTHRU",
    "\u2018": "write strings in straight quotes (')",
    "\u2019": "write strings in straight quotes (')",
    "\u201c": 'write names in straight quotes (")',
    "\u201d": 'write names in straight quotes (")',
    "\u2013": "write a straight minus (-)",
}


def tokenize(source: Source) -> tuple[Any, tuple[syntax.Comment, ...]]:
    """Split a text into the stream of tokens that the parser reads, and its comments."""
    text, tried = flattened(source.text), set[int]()
    stream = _stream(text)
    while (opened := _unended(stream.tokens)) is not None:
        # Close it where its line ends, and look again: what follows is most likely not part of it.
        quote, what = _QUOTES[opened.type]
        end = source.line_end(opened.start)
        if end > opened.start:
            source.problem(opened.start, end, f"unterminated {what} that starts here: its closing {quote} is missing")
        text = _closed(text, opened.start, end, quote, tried)
        stream = _stream(text)
    stream.tokens = [token for token in stream.tokens if not _is_illegal(token, source)]
    source.unreliable.update(source.last_lines, [line + 1 for line in source.last_lines])
    for place, token in enumerate(stream.tokens):
        token.tokenIndex = place
    return stream, tuple(_comment(token, source) for token in stream.tokens if token.channel == Token.HIDDEN_CHANNEL)


def _closed(text: str, opened: int, end: int, quote: str, tried: set[int]) -> str:
    """Returns the text, as long as it was, with what is opened closed at the end of its line.

    Where that was tried before, as a quote begins the next line, it is not opened at all; nor is what a quote opens
    that was put at the end of a line, once a mend in front of it has made that needless.
    """
    if opened != end and opened not in tried:
        tried.add(opened)
        return text[:end] + quote + text[end + 1 :]
    first = text.index(quote, opened)
    return (text[:first] + " " + text[first + 1 :])[:end] + "\n" + text[end + 1 :]


def _stream(text: str) -> Any:
    lexer = Tokens(InputStream(text))
    lexer.removeErrorListeners()
    stream = CommonTokenStream(lexer)
    stream.fill()
    return stream


def _unended(tokens: list[Any]) -> Any:
    """Find what was opened and not closed; the first string over several lines is the likely culprit."""
    opened = next((token for token in tokens if token.type in _CLOSED), None)
    if opened is None:
        return None
    closed = _CLOSED[opened.type]
    return next((token for token in tokens if token.type == closed and "\n" in token.text), opened)


def _is_illegal(token: Any, source: Source) -> bool:
    if token.type == Tokens.OPEN_COMMENT:
        source.problem(token.start, token.start + 2, "unterminated comment that starts here: its closing */ is missing")
        return True
    if token.type == Tokens.ILLEGAL:
        instead = _INSTEAD.get(token.text)
        advice = "" if instead is None else f": {instead}"
        source.problem(token.start, token.stop + 1, f"the character {token.text} is not part of ESQL{advice}")
        return True
    return False


def _comment(token: Any, source: Source) -> syntax.Comment:
    text = source.text[token.start : token.stop + 1]
    return syntax.Comment(text.rstrip(), position=source.position(token.start, token.stop + 1))


# Later stages descend the tree with a few calls a level, within Python's usual limit of 1,000.
NESTING_LIMIT = 150

_STEPS = 100  # that one rule is worth to the budget of a message whose program calls EVAL

_COUNTED = frozenset((ESQLParser.RULE_statement, ESQLParser.RULE_value))


class TooDeepError(Exception):
    """Statements or expressions are nested deeper than the limit."""


class _Parser(ESQLParser):  # type: ignore[misc]
    """The generated parser, with a limit to nesting."""

    def __init__(self, tokens: Any, handler: Any, prediction: Any = PredictionMode.LL) -> None:
        super().__init__(tokens)
        self._interp.predictionMode = prediction
        self.buildParseTrees = False
        self.removeErrorListeners()
        self._errHandler = handler
        self.depth = 0

    @property
    def context(self) -> Any:
        """The context of the rule that is being matched."""
        return self._ctx

    def enterRule(self, localctx: Any, state: int, ruleIndex: int) -> None:  # noqa: N802, N803
        super().enterRule(localctx, state, ruleIndex)
        pay(_STEPS)
        if ruleIndex in _COUNTED:
            self._descend()

    def exitRule(self) -> None:  # noqa: N802
        if self._ctx.getRuleIndex() in _COUNTED:
            self.depth -= 1
        super().exitRule()

    def enterRecursionRule(self, localctx: Any, state: int, ruleIndex: int, precedence: int) -> None:  # noqa: N802, N803
        super().enterRecursionRule(localctx, state, ruleIndex, precedence)
        if ruleIndex in _COUNTED:
            self._descend()

    def unrollRecursionContexts(self, parentCtx: Any) -> None:  # noqa: N802, N803
        if self._ctx.getRuleIndex() in _COUNTED:
            self.depth -= 1
        super().unrollRecursionContexts(parentCtx)

    def _descend(self) -> None:
        self.depth += 1
        if self.depth > NESTING_LIMIT:
            raise TooDeepError


class _StopAtOnce(BailErrorStrategy):  # type: ignore[misc]  # antlr4 has no types
    """Give up at the first problem: another way of reading will be tried."""

    def reportError(self, recognizer: Any, error: Any) -> None:  # noqa: N802
        raise ParseCancellationException(error)

    def reportMatch(self, recognizer: Any) -> None: ...  # noqa: N802


def try_rule(rule: str, stream: Any) -> Any:
    """Match a rule quickly, without a word about problems; None when it does not match.

    The fast way of prediction looks less far than the language needs in rare places, so that this may fail for a text
    that has no problem.
    """
    stream.seek(0)
    parser = _Parser(stream, _StopAtOnce(), PredictionMode.SLL)
    try:
        return getattr(parser, rule)()
    except ParseCancellationException:
        return None


def match_rule(rule: str, stream: Any, source: Source) -> Any:
    """Match a rule and write down every problem on the way."""
    stream.seek(0)
    parser = _Parser(stream, Recovery(source))
    return getattr(parser, rule)()


def report_depth(stream: Any, source: Source) -> None:
    """Write down that nesting is too deep at the token that the parser has come to."""
    token = stream.LT(1)
    text = f"nested more than {NESTING_LIMIT} deep: compute parts of it into variables, or make a routine of them"
    source.problem(token.start, token.stop + 1, text)


__all__ = ["read_expression", "read_file", "read_statements"]

Built = TypeVar("Built")

# The parser goes a dozen calls down for each level of nesting.
_CALLS = 15_000
_ONE_READER = threading.Lock()


def read_file(data: bytes | str, name: str) -> syntax.Program:
    """Read a .esql file: schema, path, declarations, routines, modules.

    >>> read_file("DECLARE limit CONSTANT INTEGER 10;", "limit.esql").statements[0].names
    ('limit',)
    """
    source = decode(data, name)
    with _reading(source) as (stream, comments):
        context = _match("file_", stream, source)
        return _built(lambda: program(context, comments, source), source)


def read_statements(data: bytes | str, name: str) -> syntax.Program:
    """Read the text of a node's property: statements, or for a Filter node only a condition, which is then returned.

    >>> read_statements("SET OutputRoot = InputRoot;", "Compute").statements[0].attribute is None
    True
    >>> read_statements("Body.total > 100", "Filter").statements[0].result.operator
    '>'
    """
    source = decode(data, name)
    with _reading(source) as (stream, comments):
        context = None if source.problems else try_rule("nodeText", stream)
        if context is None and may_be_condition(stream):
            condition = _match("filterText", stream, source)
            return _built(lambda: _returned(condition, comments, source), source)
        if context is None:
            context = _match("nodeText", stream, source)
        at = source.position(0, len(source.text))
        return _built(lambda: syntax.Program(statements(context.body, source), comments=comments, position=at), source)


def read_expression(data: bytes | str, name: str) -> syntax.Expression:
    """Read one expression.

    >>> read_expression("1 + 2", "example").operator
    '+'
    """
    source = decode(data, name)
    with _reading(source) as (stream, _):
        context = _match("filterText", stream, source)
        return _built(lambda: expression(context.condition, source), source)


def _returned(context: Any, comments: tuple[syntax.Comment, ...], source: Source) -> syntax.Program:
    at = source.of(context.condition)
    returned = syntax.Return(expression(context.condition, source), position=at)
    return syntax.Program((returned,), comments=comments, position=source.position(0, len(source.text)))


def _match(rule: str, stream: Any, source: Source) -> Any:
    context = None if source.problems else try_rule(rule, stream)
    if context is None:
        context = match_rule(rule, stream, source)
        _raise_problems(source)
    return context


def _built(build: Callable[[], Built], source: Source) -> Built:
    built = build()
    _raise_problems(source)
    return built


def _raise_problems(source: Source) -> None:
    if source.problems:
        ordered = sorted(source.problems, key=lambda problem: (problem.line, problem.column))
        raise SyntaxProblems(tuple(ordered))


@contextmanager
def _reading(source: Source) -> Iterator[tuple[Any, tuple[syntax.Comment, ...]]]:
    """Tokenize, with room to descend; one at a time, for the parser's tables and the limit are the process's."""
    with _ONE_READER:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _CALLS))
        stream = None
        try:
            stream, comments = tokenize(source)
            yield stream, comments
        except (TooDeepError, RecursionError):
            report_depth(stream, source)
            _raise_problems(source)
        finally:
            sys.setrecursionlimit(limit)
