"""Recovery of the parser from a problem: it is reported once, and reading goes on at the next likely statement.

For that it is known which blocks are open, the words that close them, and where a statement plainly starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from antlr4.error.Errors import InputMismatchException, RecognitionException
from antlr4.error.ErrorStrategy import DefaultErrorStrategy

from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.names.predefined import STATEMENTS
from esql.read import problem_texts
from esql.text import Source

_ROUTINE_WORDS = (Rules.FUNCTION, Rules.PROCEDURE, Rules.COMPUTE, Rules.FILTER, Rules.DATABASE, Rules.DATABASEEVENT)
_HOLDING_ROUTINES = ("", "MODULE")
_HEADER_ENDS = {"IF": (Rules.THEN,), "CASE": (Rules.THEN,), "WHILE": (Rules.DO,), "FOR": (Rules.DO,)}

# context of the statement -> its keyword, and the words at which a list of statements in it may stop
_BLOCKS = {
    Rules.CompoundStatementContext: ("BEGIN", ("END",)),
    Rules.IfStatementContext: ("IF", ("END IF", "ELSE", "ELSEIF")),
    Rules.CaseStatementContext: ("CASE", ("END CASE", "ELSE", "WHEN")),
    Rules.ForStatementContext: ("FOR", ("END FOR",)),
    Rules.LoopStatementContext: ("LOOP", ("END LOOP",)),
    Rules.RepeatStatementContext: ("REPEAT", ("UNTIL",)),
    Rules.WhileStatementContext: ("WHILE", ("END WHILE",)),
    Rules.CreateModuleStatementContext: ("MODULE", ("END MODULE",)),
}
_CLOSERS = {"END REPEAT", *(closer for _, closers in _BLOCKS.values() for closer in closers)}
_ENDINGS = {Rules.ELSE: "ELSE", Rules.ELSEIF: "ELSEIF", Rules.WHEN: "WHEN", Rules.UNTIL: "UNTIL"}
_STARTS = frozenset(
    (
        Rules.ATTACH, Rules.BEGIN, Rules.CALL, Rules.CASE, Rules.COMMIT, Rules.CREATE, Rules.DECLARE, Rules.DELETE,
        Rules.DETACH, Rules.EVAL, Rules.FOR, Rules.IF, Rules.INSERT, Rules.ITERATE, Rules.LEAVE, Rules.LOG, Rules.LOOP,
        Rules.MOVE, Rules.PASSTHRU, Rules.PROPAGATE, Rules.REPEAT, Rules.RESIGNAL, Rules.RETURN, Rules.ROLLBACK,
        Rules.SEMICOLON, Rules.SET, Rules.THROW, Rules.UPDATE, Rules.WHILE,
    )
)  # fmt: skip
# words that may also go on with a statement at the start of a line
_WITHIN = frozenset((Rules.CASE, Rules.DELETE, Rules.FOR, Rules.PASSTHRU, Rules.REPEAT, Rules.SEMICOLON, Rules.SET))


@dataclass(frozen=True, slots=True)
class Block:
    """A block that is open: its keyword, how it closes, and at which offset it starts."""

    keyword: str
    closers: tuple[str, ...]
    start: int
    context: Any

    @property
    def closing(self) -> str:
        """Returns what must be written to close it."""
        return "UNTIL" if self.keyword == "REPEAT" else self.closers[0]


def _block_of(context: Any) -> Block | None:
    """Give the block that a statement is, None when it is none."""
    if type(context) not in _BLOCKS:
        return None
    keyword, closers = _BLOCKS[type(context)]
    return Block(keyword, closers, context.start.start, context)


def _is_block(context: Any) -> bool:
    """Say whether a context is a block, or a branch of one."""
    rule = context.getRuleIndex()
    return type(context) in _BLOCKS or rule in (Rules.RULE_elseIfBranch, Rules.RULE_caseStatementBranch)


def _enclosing(context: Any) -> list[Block]:
    """List the open blocks, the innermost first; the text itself is the last, with no keyword."""
    found = []
    while context.parentCtx is not None:
        context = context.parentCtx
        block = _block_of(context)
        if block is not None:
            found.append(block)
    return [*found, Block("", ("end of file",), 0, context)]


def _ending(stream: Any) -> str | None:
    """Name what ends a list of statements, if it stands here: END IF, ELSE, the end of the file …"""
    kind = stream.LA(1)
    if kind == Rules.EOF:
        return "end of file"
    if kind != Rules.END:
        return _ENDINGS.get(kind)
    if stream.LT(2).line != stream.LT(1).line:
        # most likely END; without its semicolon, and the next statement
        return "END"
    closed = f"END {stream.LT(2).text.upper()}"
    return closed if closed in _CLOSERS else "END"


def _starts_statement(stream: Any) -> bool:
    """Say whether a statement may start here."""
    return stream.LA(1) in _STARTS or stream.LA(2) == Rules.COLON


def _may_go_on(stream: Any) -> bool:
    return _starts_statement(stream) or _ending(stream) is not None


def may_be_condition(stream: Any) -> bool:
    """Say whether a whole text may be one condition, rather than statements."""
    stream.seek(0)
    kind, after = stream.LA(1), stream.LA(2)
    if kind == Rules.FOR:
        return after in (Rules.ALL, Rules.ANY, Rules.SOME)
    semicolons = sum(token.type == Rules.SEMICOLON for token in stream.tokens)
    if kind in _STARTS - {Rules.CASE, Rules.PASSTHRU} or _ending(stream) is not None or after == Rules.COLON:
        return False
    return semicolons <= 1 and get_close_matches(stream.LT(1).text.upper(), STATEMENTS, 1, 0.75) == []


def _starts_line(stream: Any, source: Source) -> bool:
    """Say whether the token here is the first of its line."""
    before = stream.LT(-1)
    return before is None or source.line_of(before.stop) < source.line_of(stream.LT(1).start)


def _is_plainly_next(stream: Any, source: Source) -> bool:
    """Say whether the next statement, or the end of the block, stands here beyond doubt."""
    kind = stream.LA(1)
    is_word = kind in _STARTS - _WITHIN or kind in (Rules.END, Rules.ELSE, Rules.ELSEIF)
    return is_word and _starts_line(stream, source)


def _swallowed_statement(context: Any, stream: Any, source: Source) -> Any:
    """Find the start of a next statement that was read as a name, because the `;` before it is missing."""
    while context is not None and context.getRuleIndex() != Rules.RULE_statement:
        context = context.parentCtx
    if context is None:
        return None
    place, found = stream.index, None
    allowed = _STARTS - _WITHIN | (set() if context.start.type == Rules.UPDATE else {Rules.SET})
    for index in range(place, max(place - 3, context.start.tokenIndex), -1):
        stream.seek(index)
        if stream.index == index and stream.LA(1) in allowed and _starts_line(stream, source):
            found = stream.LT(1) if _is_complete(stream.LT(-1)) else None
            break
    stream.seek(place)
    return found


def _is_complete(token: Any) -> bool:
    """Say whether a statement may end with this token."""
    return token.type in (
        *(Rules.IDENTIFIER, Rules.QUOTED_IDENTIFIER, Rules.STRING, Rules.INTEGER_LITERAL, Rules.NUMBER_LITERAL),
        *(Rules.CLOSE, Rules.CLOSE_INDEX, Rules.CLOSE_BRACE),
    ) or (token.text.isalpha() and token.type not in _STARTS)


class _UnclosedError(RecognitionException):  # type: ignore[misc]
    """The END of a block is missing: every rule up to that block is left."""

    def __init__(self, block: Any, recognizer: Any) -> None:
        super().__init__("", recognizer, recognizer.getTokenStream(), block)
        self.block = block


class Recovery(DefaultErrorStrategy):  # type: ignore[misc]  # antlr4 has no types
    """The parser's error handler; all problems go to the source.

    A problem inside a statement leaves the statement, whichever rule found it, and reading goes on behind its `;`. A
    header that is broken (IF … THEN) is left at its last word, so that its body is still read; what closes such a
    block is then let pass.
    """

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source
        self._orphans: list[str] = []
        self._furthest = -1

    def reportMatch(self, recognizer: Any) -> None:  # noqa: N802
        """Go on after a match: nothing is remembered."""

    # Between statements

    def sync(self, recognizer: Any) -> None:
        """Before each statement of a list: step over what cannot start one, see that the right block is closed."""
        context = recognizer.context
        if context.getRuleIndex() != Rules.RULE_statements:
            return
        stream = recognizer.getTokenStream()
        while True:
            open_blocks = _enclosing(context)
            found = _ending(stream)
            if found is None:
                if self._is_new_routine(stream, open_blocks):
                    self._unclosed(open_blocks[0], recognizer)
                if _starts_statement(stream):
                    return
                self._problem(stream.LT(1), problem_texts.no_statement(stream))
                self._skip(stream)
            elif found in open_blocks[0].closers:
                return
            elif any(found in block.closers for block in open_blocks[1:]):
                self._unclosed(open_blocks[0], recognizer)
            elif found == "end of file":
                return
            else:
                self._orphan(found, open_blocks[0], recognizer)

    def _is_new_routine(self, stream: Any, open_blocks: list[Block]) -> bool:
        within = open_blocks[0].keyword not in _HOLDING_ROUTINES
        return within and stream.LA(1) == Rules.CREATE and stream.LA(2) in _ROUTINE_WORDS

    def _unclosed(self, block: Block, recognizer: Any) -> None:
        found = recognizer.getCurrentToken()
        text = f"{block.closing} is missing for the {block.keyword} at line {self.source.line_of(block.start)}"
        self.source.problem(found.start, max(found.stop + 1, found.start), text)
        raise _UnclosedError(block.context, recognizer)

    def _orphan(self, found: str, block: Block, recognizer: Any) -> None:
        stream = recognizer.getTokenStream()
        token = stream.LT(1)
        is_end = found.startswith("END")
        stream.consume()
        if is_end or found == "UNTIL":
            self._skip(stream)
        elif found in {"ELSEIF", "WHEN"}:
            self._skip_to(stream, (Rules.THEN,))
        if found in self._orphans:
            self._orphans.remove(found)
        elif is_end and block.keyword not in ("", "BEGIN", "MODULE"):
            wanted = f"the {block.keyword} at line {self.source.line_of(block.start)} wants {block.closing}"
            self._problem(token, f"{found} does not close this block: {wanted}")
            raise _UnclosedError(block.context, recognizer)
        elif is_end:
            self._problem(token, f"{found} closes nothing here")
        else:
            self._problem(token, f"{found} does not belong to any {problem_texts.owner(found)} here")

    # Within a statement

    def recoverInline(self, recognizer: Any) -> Any:  # noqa: N802
        """At a token that is not the one wanted: go on as if it were there where that is plain, else give up."""
        stream = recognizer.getTokenStream()
        wanted = list(recognizer.getExpectedTokens())
        if wanted in ([Rules.THEN], [Rules.DO]) and _is_block(recognizer.context):
            at = stream.LT(-1) if problem_texts.lacks_condition(recognizer, wanted) else stream.LT(1)
            self._problem(at, problem_texts.mismatch(recognizer, wanted))
            self._skip_to(stream, tuple(wanted), only_if_found=True)
            return stream.LT(1)
        if Rules.SEMICOLON in wanted and _starts_line(stream, self.source) and _may_go_on(stream):
            self._missing_semicolon(stream.LT(-1))
            return stream.LT(1)
        raise InputMismatchException(recognizer)

    def _missing_semicolon(self, before: Any) -> None:
        last = problem_texts.shown(before)
        self.source.problem(before.stop + 1, before.stop + 2, f"expected ';' after {last}")

    def reportError(self, recognizer: Any, error: Any) -> None:  # noqa: N802
        """Write an error down, the first time that a rule reports it on its way up."""
        if isinstance(error, _UnclosedError) or getattr(error, "is_written", False):
            return
        error.is_written = True
        stream = recognizer.getTokenStream()
        stream.seek(error.offendingToken.tokenIndex)
        swallowed = _swallowed_statement(recognizer.context, stream, self.source)
        if swallowed is None:
            self._problem(error.offendingToken, problem_texts.explain(recognizer, error))
            return
        stream.seek(swallowed.tokenIndex)
        self._missing_semicolon(stream.LT(-1))
        error.is_at_next_statement = True

    def recover(self, recognizer: Any, error: Any) -> None:
        """Leave rules up to the statement; there, go on behind it."""
        context = recognizer.context
        rule = context.getRuleIndex()
        stream = recognizer.getTokenStream()
        if rule in (Rules.RULE_file, Rules.RULE_nodeText, Rules.RULE_filterText):
            stream.seek(len(stream.tokens) - 1)
            return
        if rule != Rules.RULE_statement:
            raise error
        if isinstance(error, _UnclosedError):
            if error.block is not context:
                raise error
            return
        if not getattr(error, "is_at_next_statement", False):
            self._leave(context, stream)

    def _leave(self, context: Any, stream: Any) -> None:
        """Step behind a statement that is broken, or into its body when that is a block's."""
        if stream.index == self._furthest:
            stream.consume()
        self._furthest = stream.index
        block = _block_of(context)
        if block is None:
            if type(context) is Rules.CreateRoutineStatementContext:
                stream.seek(context.start.tokenIndex)
                self._skip_to(stream, (Rules.BEGIN,), consume=False)
            else:
                self._skip(stream)
        elif self._skip_to(stream, _HEADER_ENDS.get(block.keyword, ())):
            self._orphans.extend(block.closers)

    def _skip(self, stream: Any) -> None:
        """Step behind the next `;`; not over what ends a block or starts a statement on a line of its own."""
        first = True
        while stream.LA(1) != Rules.EOF:
            if stream.LA(1) == Rules.SEMICOLON:
                stream.consume()
                return
            if not first and _is_plainly_next(stream, self.source):
                return
            first = False
            stream.consume()

    def _skip_to(
        self, stream: Any, wanted: tuple[int, ...], *, only_if_found: bool = False, consume: bool = True
    ) -> bool:
        """Step behind one of the wanted tokens if it comes before the next `;`, else behind the `;`."""
        start = stream.index
        while stream.LA(1) not in (*wanted, Rules.SEMICOLON, Rules.EOF):
            stream.consume()
        found = stream.LA(1) in wanted
        if not found and only_if_found:
            stream.seek(start)
        elif stream.LA(1) != Rules.EOF and (consume or not found):
            stream.consume()
        return found

    def _problem(self, token: Any, text: str) -> None:
        self.source.problem(token.start, max(token.stop + 1, token.start), text)
