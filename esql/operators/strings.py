"""Operators of strings: || and LIKE."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from esql.failures import ValueFailure, wrong_types
from esql.values import Bit, Value, type_of

_STRINGS: Final = frozenset((str, bytes, Bit))
_INVALID_ESCAPE: Final = "S22019"


def concatenate(left: Value, right: Value) -> Value:
    """`left || right` of two CHARACTERs, two BLOBs or two BITs.

    >>> concatenate("a", "b"), concatenate(b"a", b"b"), concatenate("a", None)
    ('ab', b'ab', None)
    """
    if type(left) is str and type(right) is str:
        return left + right
    if left is None or right is None:
        return None
    if type(left) is type(right) and type(left) in _STRINGS:
        return left + right
    raise wrong_types("||", type_of(left), type_of(right))


def like(value: Value, pattern: Value, escape: Value = "\\") -> bool | None:
    r"""`value LIKE pattern ESCAPE escape`: % is any characters, _ is one; behind the escape both are themselves.

    >>> like("IBM%", r"IB_\%"), like("abc", "a%d"), like(None, "%")
    (True, False, None)
    """
    if value is None or pattern is None or escape is None:
        return None
    if type(value) is not str or type(pattern) is not str or type(escape) is not str:
        raise wrong_types("LIKE", type_of(value), type_of(pattern))
    return _pattern(pattern, escape).matches(value)


class _Pattern:
    """A pattern as the pieces between its %: the first and the last have their places, the others follow in order.

    Each piece is looked for once, from where the one before was found: no text makes it try twice.
    """

    __slots__ = ("_first", "_last", "_last_length", "_middle")

    def __init__(self, pieces: list[tuple[str, int]]) -> None:
        self._first = re.compile(pieces[0][0], re.DOTALL)
        self._middle = [re.compile(piece, re.DOTALL) for piece, length in pieces[1:-1] if length]
        self._last = re.compile(pieces[-1][0], re.DOTALL) if len(pieces) > 1 else None
        self._last_length = pieces[-1][1]

    def matches(self, text: str) -> bool:
        """Whether the pattern is that of all the text."""
        if self._last is None:
            return self._first.fullmatch(text) is not None
        found = self._first.match(text)
        if found is None:
            return False
        at = found.end()
        for piece in self._middle:
            found = piece.search(text, at)
            if found is None:
                return False
            at = found.end()
        start = len(text) - self._last_length
        return start >= at and self._last.fullmatch(text, start) is not None


@lru_cache(maxsize=512)
def _pattern(pattern: str, escape: str) -> _Pattern:
    if len(escape) != 1:
        text = f"ESCAPE takes one character, not {escape!r}: name the one that stands before % and _ to be themselves"
        raise ValueFailure(2456, _INVALID_ESCAPE, text, escape)
    pieces = [("", 0)]
    letters = iter(pattern)
    for letter in letters:
        piece, length = pieces[-1]
        if letter == escape:
            pieces[-1] = piece + re.escape(next(letters, escape)), length + 1
        elif letter == "%":
            pieces.append(("", 0))
        else:
            pieces[-1] = piece + ("." if letter == "_" else re.escape(letter)), length + 1
    return _Pattern(pieces)
