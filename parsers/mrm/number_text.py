"""Numbers and texts as wire formats that are text have them; what cannot be is a ValueError or TypeError."""

from __future__ import annotations

import re
from datetime import date, time
from decimal import Decimal
from typing import Any, Final

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_MOST_DIGITS: Final = 400
_LARGEST_EXPONENT: Final = 10_000  # of numbers in plain digits: as many zeros as digits may be read
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")


def integer_of(text: str) -> int:
    """The integer that digits mean, with a sign in front or none.

    >>> integer_of("+007")
    7
    """
    if _INTEGER.fullmatch(text) is None:
        raise ValueError(text)
    return int(text)


def number_of(text: str) -> Decimal:
    """The number that digits mean, with a point, and with an exponent or none.

    >>> number_of("-.5E1")
    Decimal('-5')
    """
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(text)
    return Decimal(text)


def whole(value: Any) -> int:
    """A value as an integer, if it is one.

    >>> whole(Decimal("7.0")), whole(" 7 ")
    (7, 7)
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if type(value) is str and len(value) < _MOST_DIGITS and value.isdecimal():
        return int(value)
    number = exact(value)
    if number.adjusted() > _MOST_DIGITS or number != int(number):
        raise ValueError(value)
    return int(number)


def exact(value: Any) -> Decimal:
    """A value as a number that is neither infinite nor none, and that can be written in plain digits.

    >>> exact(1.5)
    Decimal('1.5')
    """
    if isinstance(value, bool):
        raise TypeError(value)
    number = value if isinstance(value, Decimal) else Decimal(str(value).strip())
    if not number.is_finite() or abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise ValueError(value)
    return number


def plain(value: Any) -> str:
    """A value as the text of a string.

    >>> plain(7)
    '7'
    """
    if type(value) is str:
        return value
    if isinstance(value, bytes | bool) or not isinstance(value, str | int | float | Decimal | date | time):
        raise TypeError(value)
    return str(value)
