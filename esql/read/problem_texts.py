"""Words for problems of a text, in the terms of ESQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.names.predefined import RESERVED, STATEMENTS
from esql.text import one_of

_FEW = 5
_ENDED = frozenset(("CASE", "FOR", "IF", "LOOP", "MODULE", "REPEAT", "WHILE"))
_SIMILAR = 0.75
# END, ELSE … start no statement; CASE, FOR and PASSTHRU do, and also an expression
_STARTERS = sorted(STATEMENTS - {"END", "ELSE", "ELSEIF", "UNTIL"} | {"CASE", "FOR", "PASSTHRU"})
_EXPRESSION_STARTS = {Rules.INTEGER_LITERAL, Rules.STRING, Rules.OPEN}
_TYPES = {Rules.CHARACTER, Rules.INTEGER, Rules.REFERENCE, Rules.BLOB}
_NAME_STARTS = {Rules.IDENTIFIER, Rules.QUOTED_IDENTIFIER}
_JOINING = {
    Rules.AND, Rules.OR, Rules.PLUS, Rules.MINUS, Rules.STAR, Rules.SLASH, Rules.CONCATENATE, Rules.EQUAL,
    Rules.NOT_EQUAL, Rules.LESS, Rules.LESS_OR_EQUAL, Rules.GREATER, Rules.GREATER_OR_EQUAL,
}  # fmt: skip
_KINDS = {
    Rules.INTEGER_LITERAL: "a whole number",
    Rules.STRING: "a string",
    Rules.IDENTIFIER: "a name",
    Rules.EOF: "the end of the text",
}
# types of other languages, and what they are in ESQL
_FOREIGN = {
    "BIGINT": "INTEGER", "BINARY": "BLOB", "BOOL": "BOOLEAN", "BYTES": "BLOB", "DATETIME": "TIMESTAMP",
    "DOUBLE": "FLOAT", "LONG": "INTEGER", "NUMBER": "DECIMAL", "NUMERIC": "DECIMAL", "REAL": "FLOAT",
    "SMALLINT": "INTEGER", "STRING": "CHARACTER", "TEXT": "CHARACTER", "VARCHAR": "CHARACTER",
}  # fmt: skip
_SIZED = {"BLOB", "BIT", "CHAR", "CHARACTER", "DEC", "DECIMAL", "FLOAT", "INT", "INTEGER"}
_UNSIZED = {"BOOLEAN", "DATE", "TIME", "TIMESTAMP", "GMTTIME", "GMTTIMESTAMP", "INTERVAL", "ROW"}
_OWNERS = {"ELSE": "IF or CASE", "ELSEIF": "IF", "WHEN": "CASE", "UNTIL": "REPEAT"}
# where the parser had to look further than the wrong token, what would have been right after the one before it
_RIGHT_AFTER = {
    Rules.CREATE: ("FIELD", "FIRSTCHILD OF", "LASTCHILD OF", "FUNCTION", "PROCEDURE", "COMPUTE MODULE"),
    Rules.DECLARE: ("a name", "CONTINUE HANDLER", "EXIT HANDLER"),
    Rules.DELETE: ("FIELD", "FIRSTCHILD OF", "LASTCHILD OF", "FROM"),
    Rules.IS: ("NULL", "TRUE", "FALSE", "UNKNOWN", "INF", "NAN", "NUM"),
    Rules.LOG: ("EVENT", "USER TRACE"),
}
# words that begin a clause of a statement, where the wrong one is taken for its end
_CLAUSES = (
    "AS", "CATALOG", "CCSID", "DELETE", "DOMAIN", "ENCODING", "ENVIRONMENT", "EXCEPTION", "EXTERNAL", "FINALIZE",
    "FORMAT", "FROM", "IDENTITY", "INTO", "MESSAGE", "NAME", "NAMESPACE", "OPTIONS", "PARSE", "REPEAT", "SEVERITY",
    "TYPE", "VALUE", "VALUES", "WHERE",
)  # fmt: skip
_RESERVED_TYPES = {getattr(Rules, word) for word in RESERVED}


@dataclass(frozen=True, slots=True)
class _Place:
    """A token that does not fit, what is around it, and what would have fitted."""

    token: Any
    behind: tuple[Any, ...]  # the tokens in front of it, the nearest first
    following: int
    wanted: set[int]
    context: Any

    @classmethod
    def at(cls, token: Any, wanted: set[int], recognizer: Any) -> _Place:
        """Returns the place that a parser has come to."""
        stream = recognizer.getTokenStream()
        behind = tuple(stream.LT(-distance) for distance in range(1, 5))
        return cls(token, behind, stream.LA(2), wanted, recognizer.context)

    @property
    def before(self) -> Any:
        """Returns the token in front of it."""
        return self.behind[0]

    @property
    def found(self) -> str:
        """Returns what stands where, and what was perhaps meant."""
        names = [*_names(self.wanted), *_RIGHT_AFTER.get(getattr(self.before, "type", None), ())]
        if self.wanted == {Rules.SEMICOLON}:
            names += _CLAUSES
        guess = _guess(self.token.text, [name.split()[0].strip("'") for name in names])
        after = "" if self.before is None else f" after {shown(self.before)}"
        return f"{after}, found {shown(self.token)}" + (f"; did you mean {guess}?" if guess else "")


def shown(token: Any) -> str:
    """Show a token in quotes, shortened."""
    if token.type == Rules.EOF:
        return "the end of the text"
    text = token.text.splitlines()[0]
    if token.type == Rules.STRING and len(text) <= 40:
        return str(text)
    return f"'{text}'" if len(text) <= 40 else f"'{text[:37]}...'"


def owner(word: str) -> str:
    """Name the statement that a word such as ELSE belongs to."""
    return _OWNERS.get(word, "block")


def no_statement(stream: Any) -> str:
    """Say that no statement starts here, and which one was perhaps meant."""
    token = stream.LT(1)
    if token.type == Rules.STAR and stream.LA(2) == Rules.SLASH:
        return _NESTED
    text = f"no statement starts with {shown(token)}"
    if token.type == Rules.SLASH and stream.LA(2) == Rules.SLASH:
        return _SLASHES
    block = token.text.upper().removeprefix("END")
    if block != token.text.upper() and block in _ENDED:
        return f"{text}; write END {block}"
    guess = _guess(token.text, _STARTERS)
    if guess:
        return f"{text}; did you mean {guess}?"
    if stream.LA(2) in (Rules.EQUAL, Rules.DOT, Rules.OPEN_INDEX, Rules.PLUS, Rules.MINUS):
        return f"{text}; an assignment is written SET {token.text} ... = ...;"
    if stream.LA(2) == Rules.OPEN:
        return f"{text}; a routine is called by CALL {token.text}(...);"
    return text


def mismatch(recognizer: Any, wanted: Iterable[int]) -> str:
    """Say which of a few tokens was wanted, and what stands there."""
    place = _Place.at(recognizer.getTokenStream().LT(1), set(wanted), recognizer)
    return _unconditional(place) or _length(place) or f"expected {one_of(_names(place.wanted))}{place.found}"


def explain(recognizer: Any, error: Any) -> str:
    """Say what is wrong at a token that fits nothing."""
    stream = recognizer.getTokenStream()
    place = _Place.at(error.offendingToken, _wanted(recognizer, error), recognizer)
    if text := _start(place):
        return text
    if place.token.type in _JOINING and place.wanted & {Rules.SEMICOLON, Rules.EOF}:
        # the operator fits; it is what follows that does not
        stream.consume()
        return f"expected an expression after {shown(place.token)}, found {shown(stream.LT(1))}"
    return next(text for attempt in _ATTEMPTS if (text := attempt(place)) is not None)


_SLASHES = "'//' is not part of ESQL; a comment begins with --"
_NESTED = "'*/' without '/*': the comment that it should end has ended before"


def _operator(place: _Place) -> str | None:
    pair = (getattr(place.before, "type", None), place.token.type)
    if (place.token.type, place.following) == (Rules.SLASH, Rules.SLASH):
        return _SLASHES
    if pair == (Rules.EQUAL, Rules.EQUAL):
        return "'==' is not an operator of ESQL; write = to compare"
    if (place.token.type, place.following) == (Rules.COLON, Rules.EQUAL):
        return "':=' is not an operator of ESQL; write SET name = value;"
    if pair == (Rules.STAR, Rules.SLASH) or (place.token.type, place.following) == (Rules.STAR, Rules.SLASH):
        return _NESTED
    return None


def lacks_condition(recognizer: Any, wanted: Iterable[int]) -> bool:
    """Say whether THEN or DO was taken for a name, because the condition before it is not complete."""
    stream = recognizer.getTokenStream()
    return stream.LA(1) not in wanted and stream.LT(-1).type in wanted


def _unconditional(place: _Place) -> str | None:
    word = getattr(place.before, "type", None)
    if place.wanted in ({Rules.THEN}, {Rules.DO}) and word in place.wanted:
        return f"the condition before {place.before.text.upper()} is missing, or not complete"
    return None


def _open_case(place: _Place) -> str | None:
    if place.wanted == {Rules.END} and type(place.context) is Rules.CaseValueContext:
        return f"END is missing for the CASE at line {place.context.start.line}"
    return None


def _reserved(place: _Place) -> str | None:
    if place.token.type in _RESERVED_TYPES and (place.wanted >= _NAME_STARTS or not place.wanted):
        word = place.token.text
        return f'{word.upper()} is a reserved word; to use it as a name write "{word}" in double quotes'
    return None


def _type(place: _Place) -> str | None:
    if not place.wanted >= _TYPES or place.wanted & _NAME_STARTS:
        return None
    meant = _FOREIGN.get(place.token.text.upper())
    return f"expected a data type{place.found}" + (f"; ESQL calls it {meant}" if meant else "")


def _length(place: _Place) -> str | None:
    """Says that variables have no lengths, also where one was taken for what a variable starts with."""
    words = [str(getattr(token, "text", "")).upper() for token in (place.token, *place.behind)]
    for at in (0, 2, 3):
        word = words[at + 1]
        if words[at] == "(" and word in _SIZED and (at == 0 or words[at - 1].isdigit()):
            return f"{word} has no length or precision here: CAST gives a DECIMAL(10, 2), and SUBSTRING cuts texts"
    return None


def _start(place: _Place) -> str | None:
    words = [str(getattr(token, "text", "")).upper() for token in (place.token, *place.behind)]
    for word, type_ in ((words[0], words[1]), (words[1], words[2])):  # DEFAULT may have been taken for a name
        if word in {"=", "DEFAULT"} and type_ in _SIZED | _UNSIZED:
            return f"what a variable starts with stands right behind its type, without {word}"
    return None


def _hyphen(place: _Place) -> str | None:
    pair = (getattr(place.before, "type", None), place.token.type)
    if pair != (Rules.IDENTIFIER, Rules.MINUS) or Rules.EQUAL not in place.wanted:
        return None
    return "a name does not go on with '-': write a name that has one in double quotes"


def _right_after(place: _Place) -> str | None:
    names = _RIGHT_AFTER.get(getattr(place.before, "type", None))
    return None if names is None or place.wanted else f"expected {one_of(list(names))}{place.found}"


def _few(place: _Place) -> str | None:
    names = _names(place.wanted)
    return f"expected {one_of(names)}{place.found}" if 0 < len(names) <= _FEW else None


def _anything(place: _Place) -> str | None:
    suggestion = "; did" + place.found.rsplit("; did", 1)[1] if "; did" in place.found else ""
    return f"{shown(place.token)} does not belong here{place.found.rsplit(', found', 1)[0]}{suggestion}"


# the first that has something to say, says it
_ATTEMPTS: tuple[Callable[[_Place], str | None], ...] = (
    _operator,
    _unconditional,
    _open_case,
    lambda place: f"expected an expression{place.found}" if place.wanted >= _EXPRESSION_STARTS else None,
    _reserved,
    _type,
    _length,
    _hyphen,
    _right_after,
    lambda place: f"expected a name{place.found}" if place.wanted >= _NAME_STARTS else None,
    _few,
    lambda place: f"expected ';'{place.found}" if Rules.SEMICOLON in place.wanted else None,
    _anything,
)


def _wanted(recognizer: Any, error: Any) -> set[int]:
    """Collect the tokens that could have stood here; where prediction failed further on, those are unknown."""
    if error.offendingToken.tokenIndex > getattr(error, "startToken", error.offendingToken).tokenIndex:
        return set()
    state = recognizer.state if error.offendingState < 0 else error.offendingState
    return set(recognizer.atn.getExpectedTokens(state, error.ctx or recognizer.context)) if state >= 0 else set()


def _names(types: set[int]) -> list[str]:
    """Name tokens as they are written."""
    return sorted(_name(kind) for kind in types)


def _name(kind: int) -> str:
    if kind in _KINDS:
        return _KINDS[kind]
    literal = str(Rules.literalNames[kind]).strip("'") if kind < len(Rules.literalNames) else "<INVALID>"
    if literal == "<INVALID>":
        return str(Rules.symbolicNames[kind]).replace("_", " ").lower()
    return literal if literal.isalpha() else f"'{literal}'"


def _guess(word: str, choices: Iterable[str]) -> str | None:
    close = get_close_matches(word.upper(), list(choices), 1, _SIMILAR) if word.isidentifier() else []
    return close[0] if close and close[0] != word.upper() else None
