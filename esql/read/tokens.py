"""Text -> tokens and comments; strings and comments without an end are reported here, and closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from antlr4 import CommonTokenStream, InputStream, Token

from esql import syntax
from esql.grammar.generated.ESQLLexer import ESQLLexer as Tokens
from esql.read.comments import flattened

if TYPE_CHECKING:
    from esql.text.source import Source

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
    text = flattened(source.text)
    stream = _stream(text)
    while (opened := _unended(stream.tokens)) is not None:
        # Close it where its line ends, and look again: what follows is most likely not part of it.
        quote, what = _QUOTES[opened.type]
        end = source.line_end(opened.start)
        source.problem(opened.start, end, f"unterminated {what} that starts here: its closing {quote} is missing")
        text = text[:end] + quote + text[end + 1 :]
        stream = _stream(text)
    stream.tokens = [token for token in stream.tokens if not _is_illegal(token, source)]
    source.unreliable.update(source.last_lines, [line + 1 for line in source.last_lines])
    for place, token in enumerate(stream.tokens):
        token.tokenIndex = place
    return stream, tuple(_comment(token, source) for token in stream.tokens if token.channel == Token.HIDDEN_CHANNEL)


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
