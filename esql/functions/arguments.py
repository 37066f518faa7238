"""Arguments, seen to be of the types that functions take."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from esql.values.errors import NUMERIC_ARGUMENT, OVERFLOW, out_of_range, wrong_argument
from esql.values.literals import shown
from esql.values.types import Bit, Number, Strings, Value, type_of

_STRINGS: Final = frozenset((str, bytes, Bit))
_NUMBERS: Final = frozenset((int, float, Decimal))


def string(function: str, value: Value, parameter: str = "argument") -> Strings:
    """A CHARACTER, BLOB or BIT."""
    if type(value) in _STRINGS:
        return value  # type: ignore[no-any-return]
    raise wrong_argument(function, parameter, "CHARACTER, BLOB or BIT", _told(value))


def strings(function: str, *values: Value) -> None:
    """Strings of one type."""
    first = string(function, values[0], "first argument")
    for value in values[1:]:
        if type(value) is not type(first):
            raise wrong_argument(function, "other argument", f"{type_of(first)} as its first", _told(value))


def character(function: str, value: Value, parameter: str = "argument") -> str:
    """A CHARACTER."""
    if type(value) is str:
        return value
    raise wrong_argument(function, parameter, "CHARACTER", _told(value))


def integer(function: str, value: Value, parameter: str = "argument") -> int:
    """An INTEGER."""
    if type(value) is int:
        return value
    raise wrong_argument(function, parameter, "INTEGER", _told(value))


def count(function: str, value: Value, most: int) -> int:
    """An INTEGER from nothing to so many."""
    number = integer(function, value, "count")
    if 0 <= number <= most:
        return number
    raise out_of_range(function, f"its count is from 0 to {most}, not {number}")


def number(function: str, value: Value, parameter: str = "argument") -> Number:
    """A number of any type."""
    if type(value) in _NUMBERS:
        return value  # type: ignore[no-any-return]
    raise wrong_argument(function, parameter, "a number", _told(value))


def floating(function: str, operate: Callable[..., float], *values: Value) -> float:
    """The FLOAT that a function of FLOATs gives for numbers; where it has none, that is an error."""
    given = [_as_float(function, value) for value in values]
    try:
        return operate(*given)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        listed = ", ".join(shown(value) for value in values)
        sqlstate = OVERFLOW if isinstance(error, OverflowError) else NUMERIC_ARGUMENT
        raise out_of_range(function, f"it has no value for {listed}", sqlstate) from error


def _as_float(function: str, value: Value) -> float:
    given = number(function, value)
    found = float(given)
    if math.isinf(found) and Decimal(given).is_finite():
        raise out_of_range(function, f"{shown(value)} is too large for a FLOAT", OVERFLOW)
    return found


def _told(value: Any) -> str:
    return f"{type_of(value)} {shown(value)}"
