"""Operators that compute: + - * / over numbers, intervals, dates and times; || and LIKE over strings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from itertools import groupby
from typing import Any, Final, TypeAlias

from engine.budget import pay
from esql.operators import datetimes
from esql.runtime.invocation import Zone
from esql.values.errors import ValueFailure, division_by_zero, overflow, wrong_types
from esql.values.literals import shown
from esql.values.types import DECIMAL, INTEGER_HIGH, INTEGER_LOW, Bit, Interval, Qualifier, Value, fits_integer, type_of

_Operation: TypeAlias = Callable[[Any, Any], Value]
_Table: TypeAlias = Mapping[tuple[type, type], _Operation]


def _fitting(operator: str, exact: Callable[[int, int], int]) -> _Operation:
    def operate(left: int, right: int) -> int:
        result = exact(left, right)
        if fits_integer(result):
            return result
        raise overflow(operator, str(left), str(right), "INTEGER")

    return operate


def _quotient(left: int, right: int) -> int:
    if right == 0:
        raise division_by_zero(str(left))
    result = abs(left) // abs(right)
    return result if (left < 0) == (right < 0) else -result


def _float(operator: str, operate: Callable[[float, float], float]) -> _Operation:
    def checked(left: float | Decimal, right: float | Decimal) -> float:
        one, other = float(left), float(right)
        result = operate(one, other)
        if math.isinf(result) and math.isfinite(one) and math.isfinite(other):
            raise overflow(operator, shown(left), shown(right), "FLOAT")
        return result

    return checked


def _divided(left: float, right: float) -> float:
    if right == 0.0:
        raise division_by_zero(shown(left))
    return left / right


def _decimal(operator: str, operate: Callable[[Decimal | int, Decimal | int], Decimal]) -> _Operation:
    def checked(left: Decimal | int, right: Decimal | int) -> Decimal:
        result = operate(left, right)
        if result.is_infinite() and Decimal(left).is_finite() and Decimal(right).is_finite():
            raise overflow(operator, shown(left), shown(right), "DECIMAL")
        return result

    return checked


def _decimal_quotient(left: Decimal | int, right: Decimal | int) -> Decimal:
    if right == 0:
        raise division_by_zero(shown(left))
    return DECIMAL.divide(left, right)


def _numbers(integer: _Operation, decimal: _Operation, floating: _Operation) -> dict[tuple[type, type], _Operation]:
    """The implicit casts of numbers: INTEGER gives way to DECIMAL, and both to FLOAT."""
    ranks = {int: integer, Decimal: decimal, float: floating}
    order = list(ranks)
    return {(one, two): ranks[max(one, two, key=order.index)] for one in order for two in order}


def _swapped(operation: _Operation) -> _Operation:
    return lambda left, right: operation(right, left)


_NUMBERS: Final = (int, float, Decimal)
_MOMENTS: Final = (date, time, datetime)

_ADD: Final[_Table] = {
    **_numbers(_fitting("+", lambda a, b: a + b), _decimal("+", DECIMAL.add), _float("+", lambda a, b: a + b)),
    (Interval, Interval): datetimes.add_intervals,
    **{(kind, Interval): datetimes.shift for kind in _MOMENTS},
    **{(Interval, kind): _swapped(datetimes.shift) for kind in _MOMENTS},
}
_SUBTRACT: Final[_Table] = {
    **_numbers(_fitting("-", lambda a, b: a - b), _decimal("-", DECIMAL.subtract), _float("-", lambda a, b: a - b)),
    (Interval, Interval): lambda left, right: datetimes.add_intervals(left, datetimes.negated(right)),
    **{(kind, Interval): lambda left, right: datetimes.shift(left, datetimes.negated(right)) for kind in _MOMENTS},
    **{(one, two): datetimes.refuse_bare_difference for one in _MOMENTS for two in _MOMENTS},
}
_MULTIPLY: Final[_Table] = {
    **_numbers(_fitting("*", lambda a, b: a * b), _decimal("*", DECIMAL.multiply), _float("*", lambda a, b: a * b)),
    **{(Interval, kind): datetimes.scale for kind in _NUMBERS},
    **{(kind, Interval): _swapped(datetimes.scale) for kind in _NUMBERS},
}
_DIVIDE: Final[_Table] = {
    **_numbers(_fitting("/", _quotient), _decimal("/", _decimal_quotient), _float("/", _divided)),
    **{(Interval, kind): datetimes.divide for kind in _NUMBERS},
}


def _operate(table: _Table, operator: str, left: Value, right: Value) -> Value:
    if left is None or right is None:
        return None
    operation = table.get((type(left), type(right)))
    if operation is None:
        raise wrong_types(operator, type_of(left), type_of(right))
    return operation(left, right)


def add(left: Value, right: Value) -> Value:
    """The sum.

    >>> add(1, 2), add(1, Decimal("1.50")), add(1, None)
    (3, Decimal('2.50'), None)
    """
    if type(left) is int and type(right) is int:
        result = left + right
        if INTEGER_LOW <= result <= INTEGER_HIGH:
            return result
    return _operate(_ADD, "+", left, right)


def subtract(left: Value, right: Value) -> Value:
    """The difference; that of dates and times needs units and is datetimes.difference.

    >>> subtract(1, 2), subtract(date(2000, 3, 1), Interval(86_400_000_000, datetimes.DAY))
    (-1, datetime.date(2000, 2, 29))
    """
    if type(left) is int and type(right) is int:
        result = left - right
        if INTEGER_LOW <= result <= INTEGER_HIGH:
            return result
    return _operate(_SUBTRACT, "-", left, right)


def subtract_in_units(left: Value, right: Value, units: Qualifier, zone: Zone) -> Value:
    """`(left - right) units` of dates and times, or of intervals."""
    if isinstance(left, Interval) or isinstance(right, Interval):
        return datetimes.in_units(subtract(left, right), units)
    return datetimes.difference(left, right, units, zone)


def multiply(left: Value, right: Value) -> Value:
    """The product.

    >>> multiply(6, 7), multiply(Decimal("1.5"), Decimal("2.25"))
    (42, Decimal('3.375'))
    """
    if type(left) is int and type(right) is int:
        result = left * right
        if INTEGER_LOW <= result <= INTEGER_HIGH:
            return result
    return _operate(_MULTIPLY, "*", left, right)


def divide(left: Value, right: Value) -> Value:
    """The quotient; that of two INTEGERs is truncated.

    >>> divide(-7, 2), divide(Decimal(1), 8), divide(1, 4.0)
    (-3, Decimal('0.125'), 0.25)
    """
    if type(left) is int and type(right) is int and left >= 0 and right > 0:
        return left // right
    return _operate(_DIVIDE, "/", left, right)


def negate(value: Value) -> Value:
    """The value with the other sign.

    >>> negate(5), negate(Decimal("1.0"))
    (-5, Decimal('-1.0'))
    """
    kind = type(value)
    if kind is int:
        if value == INTEGER_LOW:
            raise overflow("-", "0", str(value), "INTEGER")
        return -value
    if value is None:
        return None
    if kind is Decimal:
        return DECIMAL.minus(value)
    if kind is float:
        return -value
    if kind is Interval:
        return datetimes.negated(value)
    raise wrong_types("-", type_of(value))


def affirm(value: Value) -> Value:
    """The value behind a plus sign.

    >>> affirm(5)
    5
    """
    if value is None or isinstance(value, Interval) or type(value) in _NUMBERS:
        return value
    raise wrong_types("+", type_of(value))


_TEXTS: Final[Mapping[type, Callable[[Any], str]]] = {
    str: str,
    bytes: lambda value: value.decode("latin-1"),
    Bit: lambda value: value.digits,
}
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
    if type(left) is type(right) and type(left) in _TEXTS:
        return left + right
    raise wrong_types("||", type_of(left), type_of(right))


def like(value: Value, pattern: Value, escape: Value = "\\") -> bool | None:
    r"""`value LIKE pattern ESCAPE escape`: % is any characters, _ is one; behind the escape both are themselves.

    >>> like("IBM%", r"IB_\%"), like("abc", "a%d"), like(None, "%"), like(b"IBM", b"I_M")
    (True, False, None, True)
    """
    if value is None or pattern is None or escape is None:
        return None
    if type(value) is not str or type(pattern) is not str or type(escape) is not str:
        value, pattern, escape = _as_characters(value, pattern, escape)
    read = _pattern if len(pattern) <= _LONGEST_KEPT else _pattern.__wrapped__
    return read(pattern, escape).matches(value)


def _as_characters(value: Value, pattern: Value, escape: Value) -> tuple[str, str, str]:
    """BLOBs and BITs with a character for each byte or bit; beside them the escape alone may be a CHARACTER."""
    kind = type(value)
    if kind not in _TEXTS or type(pattern) is not kind:
        raise wrong_types("LIKE", type_of(value), type_of(pattern))
    if type(escape) not in {kind, str}:
        raise wrong_types("ESCAPE of LIKE", type_of(value), type_of(escape))
    one, two, three = (_TEXTS[type(given)](given) for given in (value, pattern, escape))
    return one, two, three


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


@lru_cache(maxsize=512)
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


def _piece(letters: Sequence[str | None]) -> _Piece:
    """A piece of letters, of which None is any."""
    texts: list[tuple[int, str]] = []
    for is_any, group in groupby(enumerate(letters), key=lambda one: one[1] is None):
        if not is_any:
            (place, _), *_ = part = list(group)
            texts.append((place, "".join(letter or "" for _, letter in part)))
    return _Piece(len(letters), tuple(texts))
