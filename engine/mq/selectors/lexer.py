"""Selector text as tokens with their columns, and the error for a text that is no selector."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from engine.errors import MessageException

SELECTOR_SYNTAX_ERROR: Final = 2459
LONGEST: Final = 10_240  # characters, as MQ has it
KEYWORDS: Final = frozenset({"NULL", "TRUE", "FALSE", "NOT", "AND", "OR", "BETWEEN", "LIKE", "IN", "IS", "ESCAPE"})

_LARGEST: Final = (1 << 63) - 1
_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\n\r\f\v]+)
    |(?P<string>'(?:[^']|'')*')
    |(?P<bytes>"0[xX][^"]*")
    |(?P<approximate>(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?|[0-9]+[eE][+-]?[0-9]+[fFdD]?|[0-9]+[fFdD]\b)
    |(?P<exact>0[xX][0-9a-fA-F]+[lL]?|[0-9]+[lL]?)
    |(?P<name>(?:[^\W\d]|\$)[\w.$]*)
    |(?P<operator><>|<=|>=|[=<>+\-*/(),])""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """One word of a selector: `kind` is literal, name, keyword, operator or end; `text` is as it is compared."""

    kind: str
    text: str
    column: int
    value: str | bool | int | float | bytes | None = None


def refused(text: str, column: int, problem: str) -> MessageException:
    """Returns the error of reason 2459 that says where a selector is wrong and what to do."""
    shown = text if len(text) <= 200 else f"{text[:200]}..."
    return MessageException(
        SELECTOR_SYNTAX_ERROR,
        f"selector {shown!r}, column {column}: {problem} (2459)",
        shown,
        reason=SELECTOR_SYNTAX_ERROR,
    )


def tokens(text: str) -> Iterator[Token]:
    """Yields the tokens of a selector, and one of kind `end` behind the last."""
    if len(text) > LONGEST:
        raise refused(text, LONGEST + 1, f"a selector has at most {LONGEST:,} characters; shorten it")
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise refused(text, at + 1, _stray(text, at))
        if found.lastgroup != "space":
            yield _token(text, found)
        at = found.end()
    yield Token("end", "the end", len(text) + 1)


def _stray(text: str, at: int) -> str:
    """Returns the problem with a character that no token starts with."""
    if text[at] == "'":
        return "the string has no closing quote; write ' behind it, and a quote inside as ''"
    if text[at] == '"':
        return 'double quotes hold byte strings only, such as "0x0AFC"; write strings in single quotes'
    return f"{text[at]!r} has no meaning here; take it out"


def _token(text: str, found: re.Match[str]) -> Token:
    kind, word, column = str(found.lastgroup), found.group(), found.start() + 1
    match kind:
        case "string":
            return Token("literal", word, column, word[1:-1].replace("''", "'"))
        case "bytes":
            return Token("literal", word, column, _bytes(text, word, column))
        case "exact":
            return Token("literal", word, column, _whole(text, found))
        case "approximate":
            return Token("literal", word, column, _approximate(text, found))
        case "name":
            upper = word.upper()
            if upper in {"TRUE", "FALSE"}:
                return Token("literal", upper, column, upper == "TRUE")
            return Token("keyword", upper, column) if upper in KEYWORDS else Token("name", word, column)
    return Token("operator", word, column)


def _bytes(text: str, word: str, column: int) -> bytes:
    digits = word[3:-1]
    if not digits or len(digits) % 2 or not re.fullmatch("[0-9a-fA-F]+", digits):
        raise refused(text, column, "a byte string is pairs of hexadecimal digits behind 0x; correct it")
    return bytes.fromhex(digits)


def _whole(text: str, found: re.Match[str]) -> int:
    """Returns the value of an exact number: decimal, hexadecimal behind 0x, or octal behind 0."""
    word, column = found.group().rstrip("lL"), found.start() + 1
    _end_of_number(text, found)
    if word[:2] in {"0x", "0X"}:
        value = int(word, 16)
    elif len(word) > 1 and word[0] == "0":
        if not set(word) <= set("01234567"):
            raise refused(
                text, column, f"{word} starts with 0, so it is octal, and has digits above 7; leave the 0 out"
            )
        value = int(word, 8)
    else:
        value = int(word) if len(word) < 20 else _LARGEST + 2
    if value > _LARGEST + 1:  # one more, for the smallest number is written with a minus in front
        raise refused(text, column, f"{word:.30} does not fit 64 bits; write it with a decimal point")
    return value


def _approximate(text: str, found: re.Match[str]) -> float:
    _end_of_number(text, found)
    value = float(found.group().rstrip("fFdD"))
    if value == float("inf"):
        raise refused(
            text, found.start() + 1, f"{found.group()} is too large for a number of 64 bits; write a smaller one"
        )
    return value


def _end_of_number(text: str, found: re.Match[str]) -> None:
    end = found.end()
    if end < len(text) and (text[end].isalnum() or text[end] in "_$."):
        raise refused(text, end + 1, f"{text[end]!r} cannot follow a number; write a blank or an operator between")
