"""What is said about a problem, in the words of ESQL."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from esql.grammar.generated.ESQLParser import ESQLParser as Rules

if TYPE_CHECKING:
    from collections.abc import Iterable

_FEW = 5
_SIMILAR = 0.75
_EXPRESSION_STARTS = {Rules.INTEGER_LITERAL, Rules.STRING, Rules.OPEN}
_NAME_STARTS = {Rules.IDENTIFIER, Rules.QUOTED_IDENTIFIER}
_STATEMENTS = [
    "ATTACH",
    "BEGIN",
    "CALL",
    "CASE",
    "COMMIT",
    "CREATE",
    "DECLARE",
    "DELETE",
    "DETACH",
    "EVAL",
    "FOR",
    "IF",
    "INSERT",
    "ITERATE",
    "LEAVE",
    "LOG",
    "LOOP",
    "MOVE",
    "PASSTHRU",
    "PROPAGATE",
    "REPEAT",
    "RESIGNAL",
    "RETURN",
    "ROLLBACK",
    "SET",
    "THROW",
    "UPDATE",
    "WHILE",
]
_KINDS = {
    Rules.INTEGER_LITERAL: "a whole number",
    Rules.STRING: "a string",
    Rules.IDENTIFIER: "a name",
    Rules.EOF: "the end of the text",
}
_OWNERS = {"ELSE": "IF or CASE", "ELSEIF": "IF", "WHEN": "CASE", "UNTIL": "REPEAT"}
_RESERVED = frozenset(
    ["ALL", "ASYMMETRIC", "BOTH", "CASE", "DISTINCT", "FROM", "ITEM", "LEADING", "NOT", "SYMMETRIC", "TRAILING", "WHEN"]
)  # fmt: skip


def shown(token: Any) -> str:
    """Show a token in quotes, shortened."""
    if token.type == Rules.EOF:
        return "the end of the text"
    text = token.text.splitlines()[0]
    return f"'{text}'" if len(text) <= 40 else f"'{text[:37]}...'"


def owner(word: str) -> str:
    """Name the statement that a word such as ELSE belongs to."""
    return _OWNERS.get(word, "block")


def no_statement(stream: Any) -> str:
    """Say that no statement starts here, and which one was perhaps meant."""
    token = stream.LT(1)
    guess = _guess(token.text, _STATEMENTS)
    if guess:
        return f"no statement starts with {shown(token)}; did you mean {guess}?"
    if stream.LA(2) in (Rules.EQUAL, Rules.DOT, Rules.OPEN_INDEX):
        return f"no statement starts with {shown(token)}; an assignment is written SET {token.text} ... = ...;"
    if stream.LA(2) == Rules.OPEN:
        return f"no statement starts with {shown(token)}; a routine is called by CALL {token.text}(...);"
    return f"no statement starts with {shown(token)}"


def mismatch(recognizer: Any, wanted: Iterable[int]) -> str:
    """Say which of a few tokens was wanted, and what stands there."""
    token = recognizer.getCurrentToken()
    names = _names(set(wanted))
    before = recognizer.getTokenStream().LT(-1)
    after = "" if before is None else f" after {shown(before)}"
    guess = _guess(token.text, [name.strip("'") for name in names])
    suggestion = f"; did you mean {guess}?" if guess else ""
    return f"expected {_one_of(names)}{after}, found {shown(token)}{suggestion}"


def explain(recognizer: Any, error: Any) -> str:
    """Say what is wrong at a token that fits nothing."""
    token = error.offendingToken
    stream = recognizer.getTokenStream()
    before = stream.LT(-1)
    special = _special(token, before, stream)
    if special is not None:
        return special
    wanted = _wanted(recognizer, error)
    after = "" if before is None else f" after {shown(before)}"
    if wanted >= _EXPRESSION_STARTS:
        return f"expected an expression{after}, found {shown(token)}"
    if token.type in _reserved_types() and wanted >= _NAME_STARTS:
        return f'{token.text.upper()} is a reserved word; to use it as a name write "{token.text}" in double quotes'
    names = _names(wanted)
    guess = _guess(token.text, [name.strip("'") for name in names])
    suggestion = f"; did you mean {guess}?" if guess else ""
    if wanted >= _NAME_STARTS:
        return f"expected a name{after}, found {shown(token)}{suggestion}"
    if 0 < len(names) <= _FEW:
        return f"expected {_one_of(names)}{after}, found {shown(token)}{suggestion}"
    if Rules.SEMICOLON in wanted:
        return f"expected ';'{after}, found {shown(token)}{suggestion}"
    return f"{shown(token)} does not belong here{after}{suggestion}"


def _special(token: Any, before: Any, stream: Any) -> str | None:
    if token.type == Rules.EQUAL and before is not None and before.type == Rules.EQUAL:
        return "'==' is not an operator of ESQL; write = to compare"
    if token.type == Rules.EQUAL and before is not None and before.type == Rules.COLON:
        return "':=' is not an operator of ESQL; write SET name = value;"
    if token.type == Rules.SLASH and before is not None and before.type == Rules.STAR:
        return "'*/' without '/*': comments do not nest, the first */ ends a comment"
    if token.type == Rules.STAR and stream.LA(2) == Rules.SLASH:
        return "'*/' without '/*': comments do not nest, the first */ ends a comment"
    return None


def _wanted(recognizer: Any, error: Any) -> set[int]:
    """Collect the tokens that could have stood here; where prediction failed further on, those are unknown."""
    if error.offendingToken.tokenIndex > getattr(error, "startToken", error.offendingToken).tokenIndex:
        return set()
    state = recognizer.state if error.offendingState < 0 else error.offendingState
    return set(recognizer.atn.getExpectedTokens(state, error.ctx or recognizer.context)) if state >= 0 else set()


def _names(types: set[int]) -> list[str]:
    """Name tokens as they are written, those that start a name as one."""
    kinds = types - _NAME_STARTS if types >= _NAME_STARTS else types
    return sorted(_name(kind) for kind in kinds)


def _name(kind: int) -> str:
    if kind in _KINDS:
        return _KINDS[kind]
    literal = str(Rules.literalNames[kind]).strip("'") if kind < len(Rules.literalNames) else "<INVALID>"
    if literal == "<INVALID>":
        return str(Rules.symbolicNames[kind]).replace("_", " ").lower()
    return literal if literal.isalpha() else f"'{literal}'"


def _one_of(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _guess(word: str, choices: Iterable[str]) -> str | None:
    close = get_close_matches(word.upper(), list(choices), 1, _SIMILAR) if word.isidentifier() else []
    return close[0] if close and close[0] != word.upper() else None


def _reserved_types() -> set[int]:
    return {getattr(Rules, word) for word in _RESERVED}
