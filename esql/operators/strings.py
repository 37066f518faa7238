"""Operators of strings: || and LIKE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Final

from engine.budget import pay
from esql.values.errors import ValueFailure, wrong_types
from esql.values.types import Bit, Value, type_of

_STRINGS: Final = frozenset((str, bytes, Bit))
_INVALID_ESCAPE: Final = "S22019"
_LONGEST_KEPT: Final = 1000  # characters of a pattern that is kept for the next use
_SHORT: Final = 1_000_000  # comparisons that are made one by one
_BITS_AT_ONCE: Final = 5_000  # places that are looked at while a loop turns once


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
    read = _kept_pattern if len(pattern) <= _LONGEST_KEPT else _pattern
    return read(pattern, escape).matches(value)


@dataclass(frozen=True, slots=True)
class _Piece:
    """The part of a pattern between two %: its length, and its texts between _ with the place of each."""

    length: int
    texts: tuple[tuple[int, str], ...]

    def stands(self, text: str, at: int) -> bool:
        """Returns True where the part matches at a place of a text."""
        return 0 <= at <= len(text) - self.length and all(
            text.startswith(part, at + place) for place, part in self.texts
        )

    def find(self, text: str, start: int) -> int:
        """The first place, from one on, at which it stands; -1 where there is none."""
        if len(self.texts) < 2:
            place, part = self.texts[0] if self.texts else (0, "")
            found = text.find(part, start + place) - place
            return found if start <= found <= len(text) - self.length else -1
        if (len(text) - start) * len(self.texts) <= _SHORT:
            place, part = max(self.texts, key=lambda one: len(one[1]))
            at = text.find(part, start + place)
            while at >= 0 and not self.stands(text, at - place):
                at = text.find(part, at + 1)
            return at if at < 0 else at - place
        return self._find_by_bits(text, start)

    def _find_by_bits(self, text: str, start: int) -> int:
        """The same for a long text: a bit for each place where all letters looked at so far would stand."""
        width = len(text) - start - self.length + 1
        if width <= 0:
            return -1
        places = (1 << width) - 1
        masks: dict[str, int] = {}
        for place, part in self.texts:
            for offset, letter in enumerate(part, place):
                if letter not in masks:
                    masks[letter] = _places_of(letter, text, start)
                pay(1 + width // _BITS_AT_ONCE)
                places &= masks[letter] >> offset
                if not places:
                    return -1
        return start + (places & -places).bit_length() - 1


def _places_of(letter: str, text: str, start: int) -> int:
    """A bit for each place of a letter in a text, the first the lowest."""
    pay(1 + len(text) // _BITS_AT_ONCE)
    digits = "".join("1" if one == letter else "0" for one in reversed(text[start:]))
    return int(digits, 2)


class _Pattern:
    """A pattern as the pieces between its %: the first and the last have their places, the others follow in order.

    Each piece is looked for once, from where the one before was found: no text makes it try twice.
    """

    __slots__ = ("_first", "_last", "_middle")

    def __init__(self, pieces: list[_Piece]) -> None:
        self._first = pieces[0]
        self._middle = [piece for piece in pieces[1:-1] if piece.length]
        self._last = pieces[-1] if len(pieces) > 1 else None

    def matches(self, text: str) -> bool:
        """Returns whether the pattern is that of all the text."""
        if self._last is None:
            return len(text) == self._first.length and self._first.stands(text, 0)
        if not self._first.stands(text, 0):
            return False
        at = self._first.length
        for piece in self._middle:
            found = piece.find(text, at)
            if found < 0:
                return False
            at = found + piece.length
        start = len(text) - self._last.length
        return start >= at and self._last.stands(text, start)


def _pattern(pattern: str, escape: str) -> _Pattern:
    if len(escape) != 1:
        text = f"ESCAPE takes one character, not {escape!r}: name the one that stands before % and _ to be themselves"
        raise ValueFailure(2456, _INVALID_ESCAPE, text, escape)
    pieces: list[list[str | None]] = [[]]
    letters = iter(pattern)
    for letter in letters:
        if letter == escape:
            pieces[-1].append(next(letters, escape))
        elif letter == "%":
            pieces.append([])
        else:
            pieces[-1].append(None if letter == "_" else letter)
    return _Pattern([_piece(letters) for letters in pieces])


@lru_cache(maxsize=512)
def _kept_pattern(pattern: str, escape: str) -> _Pattern:
    return _pattern(pattern, escape)


def _piece(letters: Sequence[str | None]) -> _Piece:
    """A piece of letters, of which None is any."""
    texts: list[tuple[int, str]] = []
    for is_any, group in groupby(enumerate(letters), key=lambda one: one[1] is None):
        if not is_any:
            (place, _), *_ = part = list(group)
            texts.append((place, "".join(letter or "" for _, letter in part)))
    return _Piece(len(letters), tuple(texts))
