"""Simple values: the codec of one in bytes, numbers as texts have them, and what is said of those that do not fit."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from datetime import date, time
from decimal import Decimal
from typing import Any, Final, NamedTuple

from engine.errors import ParserException

GARBLED: Final = 5009
UNFIT: Final = 5010
MISMATCH: Final = 5344  # a tree that does not have what the model asks for
UNKNOWN: Final = 5287  # a message that the set does not have
REFERENCE: Final = 5465  # a length or count that another field says and that cannot be
LARGEST: Final = 104_857_600  # bytes that a model may bring into a message, as long as MAXMSGL lets one be
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_MOST_DIGITS: Final = 400
_LARGEST_EXPONENT: Final = 10_000  # of numbers in plain digits: as many zeros as digits may be read
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")

Decode = Callable[[bytes, int, int], Any]
Encode = Callable[[Any, int], bytes]
Measure = Callable[[bytes, int, int], int]
Span = Callable[[bytes, int, int], int]


class Stored(NamedTuple):
    """The storage of a value: `decode` is given all data, where it starts and ends; `encode` a value and its length.

    `size` is its length in bytes, 0 where that varies: `measure` then says where it ends, given all data, where it
    starts, and where the record ends. Where neither says, another field does, and that in units of `unit` bytes; where
    that is 0, in characters of different lengths: `span` says where so many of them end.
    """

    size: int
    decode: Decode
    encode: Encode
    measure: Measure | None = None
    unit: int = 1
    span: Span | None = None


def garbled(what: str, data: bytes, at: int, end: int, why: str) -> ParserException:
    """Bytes that are not what a field holds: the field, where it stands, and its bytes."""
    shown = data[at : min(end, at + 40)].hex()
    return ParserException(GARBLED, f"{what} at offset {at}: X'{shown}' {why}", what, str(at), shown)


def cut_off(what: str, data: bytes, at: int, size: int) -> ParserException:
    """A record that ends before one of its fields does."""
    left = max(0, len(data) - at)
    return garbled(what, data, at, len(data), f"is cut off: it takes {size} bytes and {left} are left")


def unfit(what: str, value: object, why: str) -> ParserException:
    """A value that a field cannot hold."""
    text = repr(value) if not isinstance(value, Decimal) else str(value)
    return ParserException(UNFIT, f"{what} {why}, not {text[:60]}", what)


def whole_number(value: Any, what: str, scale: int = 0) -> int:
    """A value as an integer that counts its last digit, as a virtual decimal point of that scale has it.

    >>> whole_number(Decimal("12.5"), "F", 2), whole_number("7", "F"), whole_number(1200, "F", -2)
    (1250, 7, 12)
    """
    if scale == 0 and type(value) is int:
        return value
    if scale == 0 and type(value) is str and len(value) < _MOST_DIGITS and value.isdecimal() and value.isascii():
        return int(value)
    number = exact(value, what)
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    shift = exponent + scale
    if shift > _MOST_DIGITS or len(digits) > sys.int_info.default_max_str_digits:
        raise unfit(what, value, "takes a smaller number")
    counted: int = int("".join(map(str, digits)))
    if shift >= 0:
        counted *= int(10**shift)
    else:
        counted, rest = divmod(counted, int(10 ** min(-shift, _MOST_DIGITS)))
        if rest:
            why = f"whole {10**-scale}s" if scale < 0 else f"at most {scale} digits behind the decimal point"
            raise unfit(what, value, f"takes {why}")
    return -counted if sign else counted


def exact(value: Any, what: str) -> Decimal:
    """A value as the decimal number that it is; texts that are numbers count as such."""
    try:
        number = _decimal_of(value)
    except (TypeError, ValueError) as error:
        raise unfit(what, value, "takes a number") from error
    if not number.is_finite():
        raise unfit(what, value, "takes a number")
    return number


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


def _decimal_of(value: Any) -> Decimal:
    """A number, or that which a text means, blanks around it aside; infinite where a float is."""
    if isinstance(value, str):
        return number_of(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise TypeError(value)
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def as_float(value: Any) -> float:
    """A value as a float, if it is one.

    >>> as_float(" 1.5 ")
    1.5
    """
    if type(value) is float:
        return value
    number = float(_decimal_of(value))
    if math.isinf(number) and not isinstance(value, float):
        raise OverflowError(value)
    return number


def as_integer(value: Any) -> int:
    """A value as an integer, if it is one.

    >>> as_integer(Decimal("7.0")), as_integer(" 7 ")
    (7, 7)
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if type(value) is str and len(value) < _MOST_DIGITS and value.isdecimal() and value.isascii():
        return int(value)
    number = as_decimal(value)
    if number.adjusted() > _MOST_DIGITS or number != int(number):
        raise ValueError(value)
    return int(number)


def as_decimal(value: Any) -> Decimal:
    """A value as a number that is neither infinite nor none, and that can be written in plain digits.

    >>> as_decimal(1.5)
    Decimal('1.5')
    """
    number = _decimal_of(value)
    if not number.is_finite() or abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise ValueError(value)
    return number


def as_text(value: Any) -> str:
    """A value as the text of a string.

    >>> as_text(7)
    '7'
    """
    if type(value) is str:
        return value
    if isinstance(value, bytes | bool) or not isinstance(value, str | int | float | Decimal | date | time):
        raise TypeError(value)
    return str(value)
