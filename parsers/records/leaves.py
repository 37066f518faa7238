"""Leaves: how the bytes of one elementary item become a value and back, decided once for each item."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias

from engine.errors import BrokerError
from parsers.charsets.ccsid import decode, encode
from parsers.importers.copybook.items import Item
from parsers.importers.copybook.storage import BINARY
from parsers.records.coding import TURNED, Coding
from parsers.mrm.hexadecimal import from_hexadecimal, to_hexadecimal
from parsers.records.numerals import Numerals, packed, unpacked, zoned_leaf

Reader: TypeAlias = Callable[[bytes], Any]
Writer: TypeAlias = Callable[[Any], bytes]
Order: TypeAlias = Literal["big", "little"]

_ADDRESSES: Final = frozenset({"POINTER", "POINTER-32", "PROCEDURE-POINTER", "FUNCTION-POINTER", "OBJECT"})
_NOT_NUMBERS: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_UTF_8: Final = 1208


@dataclass(frozen=True, slots=True)
class Leaf:
    """How an item is read and written: both raise ValueError or BrokerError; `empty` is what it has without a value."""

    read: Reader
    write: Writer
    empty: bytes


def leaf_of(item: Item, coding: Coding) -> Leaf:
    """The leaf of an elementary item."""
    usage, picture = item.usage, item.picture
    if usage in _ADDRESSES:
        return _address(item.length)
    if usage in {"COMP-1", "COMP-2"}:
        return _float(item.length, coding)
    if usage in BINARY or usage.startswith("BINARY-") or usage == "INDEX":
        return _binary(item, coding)
    assert picture is not None
    if usage in {"PACKED-DECIMAL", "COMP-6"}:
        return _packed(item, coding)
    if picture.category == "numeric":
        return zoned_leaf_of(item, coding)
    return _text(item, coding)


def _order(item: Item, coding: Coding) -> Order:
    """The byte order of a binary item: COMP-X is always as on a mainframe, COMP-5 and its like as the machine's."""
    if item.usage == "COMP-X":
        return "big"
    return coding.order if item.usage == "BINARY" else coding.native


def _binary(item: Item, coding: Coding) -> Leaf:
    picture, order, size = item.picture, _order(item, coding), item.length
    signed = not item.entry.unsigned if picture is None else picture.signed
    scale = 0 if picture is None else picture.scale
    low = -(1 << (8 * size - 1)) if signed else 0
    high = (1 << (8 * size - signed)) - 1

    def read(data: bytes) -> int | Decimal:
        return scaled(int.from_bytes(data, order, signed=signed), scale)

    def write(value: Any) -> bytes:
        number = unscaled(value, scale)
        if not low <= number <= high:
            raise ValueError(f"{value} does not go into {size} bytes: they hold {low} to {high}")
        return number.to_bytes(size, order, signed=signed)

    return Leaf(read, write, bytes(size))


def _packed(item: Item, coding: Coding) -> Leaf:
    picture, size, signed = item.picture, item.length, item.usage == "PACKED-DECIMAL"
    assert picture is not None
    turned, scale = coding.reversed_packed, picture.scale

    def read(data: bytes) -> int | Decimal:
        return scaled(unpacked(data[::-1] if turned else data, picture.signed, with_sign=signed), scale)

    def write(value: Any) -> bytes:
        made = packed(unscaled(value, scale), size, signed=picture.signed, with_sign=signed)
        return made[::-1] if turned else made

    return Leaf(read, write, write(0))


def zoned_leaf_of(item: Item, coding: Coding) -> Leaf:
    """The leaf of a number of characters; national ones are taken as those of one byte."""
    picture, sign = item.picture, item.sign
    assert picture is not None
    national = item.usage == "NATIONAL"
    ccsid = _UTF_8 if national else coding.ccsid
    numerals = Numerals(
        digits=picture.digits,
        signed=picture.signed,
        leading=sign is not None and sign.leading,
        separate=sign is not None and sign.separate,
        style="ascii" if national else coding.sign,
        zero=encode("0", ccsid)[0],
        plus=encode("+", ccsid)[0],
        minus=encode("-", ccsid)[0],
        blank=encode(" ", ccsid)[0],
    )
    read_digits, write_digits = zoned_leaf(numerals)
    blank_is_zero, blank_is_null = item.entry.blank_when_zero, coding.blank_is_null
    size = item.length // 2 if national else item.length
    blanks = bytes([numerals.blank]) * size

    def read(data: bytes) -> int | Decimal | None:
        plain = encode(decode(data, coding.national_ccsid, coding.encoding), ccsid) if national else data
        if plain == blanks and (blank_is_zero or blank_is_null):
            return scaled(0, picture.scale) if blank_is_zero else None
        return scaled(read_digits(plain), picture.scale)

    def write(value: Any) -> bytes:
        number = 0 if value is None else unscaled(value, picture.scale)
        is_blank = (number == 0 and blank_is_zero) or (value is None and blank_is_null)
        made = blanks if is_blank else write_digits(number)
        return encode(decode(made, ccsid), coding.national_ccsid, coding.encoding) if national else made

    return Leaf(read, write, write(0))


def _float(size: int, coding: Coding) -> Leaf:
    if coding.floats == "hexadecimal":

        def write_hexadecimal(value: Any) -> bytes:
            number = _real(value)
            if not math.isfinite(number):
                raise ValueError(f"{value} is no number of IBM's hexadecimal form")
            return to_hexadecimal(number, size)

        return Leaf(from_hexadecimal, write_hexadecimal, bytes(size))
    form = struct.Struct((">" if coding.floats == "ieee-big" else "<") + ("f" if size == 4 else "d"))

    def read(data: bytes) -> float:
        number: float = form.unpack(data)[0]
        return number

    return Leaf(read, lambda value: form.pack(float(_real(value))), bytes(size))


def _real(value: Any) -> float | Decimal | int:
    if isinstance(value, str) and value in _NOT_NUMBERS:
        return _NOT_NUMBERS[value]
    return _number(value)


def _address(size: int) -> Leaf:
    def write(value: Any) -> bytes:
        made = bytes.fromhex(value) if isinstance(value, str) else b""
        if len(made) != size:
            raise ValueError(f"{value} is no address: write {2 * size} hexadecimal digits")
        return made

    return Leaf(lambda data: data.hex().upper(), write, bytes(size))


def _text(item: Item, coding: Coding) -> Leaf:
    picture, size = item.picture, item.length
    assert picture is not None
    ccsid = coding.national_ccsid if item.usage in {"NATIONAL", "DISPLAY-1"} else coding.ccsid
    if picture.category == "utf-8":
        ccsid = _UTF_8
    blank = encode(" ", ccsid, coding.encoding)
    right = item.entry.justified
    edited = picture.category in {"numeric-edited", "floating-edited"}
    trim = "right" if edited and coding.trim != "none" else TURNED[coding.trim] if right else coding.trim

    def read(data: bytes) -> str:
        text = decode(data, ccsid, coding.encoding)
        if trim in {"right", "both"}:
            text = text.rstrip(" ")
        return text.lstrip(" ") if trim in {"left", "both"} else text

    def write(value: Any) -> bytes:
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise ValueError(f"{value!r} is no text")  # noqa: TRY004 - every value that does not fit is a ValueError
        made = encode(str(value), ccsid, coding.encoding)
        if len(made) > size:
            raise ValueError(f"{value!r} takes {len(made)} bytes, and there are {size}")
        padding = blank * ((size - len(made)) // len(blank))
        return padding + made if right else made + padding

    return Leaf(read, write, blank * (size // len(blank)))


def scaled(number: int, scale: int) -> int | Decimal:
    """A number with its decimal point.

    >>> scaled(12345, 2), scaled(12, -3)
    (Decimal('123.45'), 12000)
    """
    if scale <= 0:
        whole: int = number * 10**-scale
        return whole
    digits = tuple(int(digit) for digit in str(abs(number)))
    return Decimal((int(number < 0), digits, -scale))


def unscaled(value: Any, scale: int) -> int:
    """The digits of a value as a whole number; ValueError where it has more places than there are.

    >>> unscaled(Decimal("123.45"), 2), unscaled("7", 2)
    (12345, 700)
    """
    number = _number(value)
    if isinstance(number, int) and scale >= 0:
        plain: int = number * 10**scale
        return plain
    exact = Decimal(number)
    if not exact.is_finite() or abs(exact.adjusted()) > 400:
        raise ValueError(f"{value} is no number that a field could hold")
    _, digits, exponent = exact.as_tuple()
    assert isinstance(exponent, int)
    whole: int = int("".join(map(str, digits)))
    shift = exponent + scale
    if shift < 0 and whole % 10**-shift:
        places = f"{scale} decimal places" if scale >= 0 else f"whole {10**-scale}s"
        raise ValueError(f"{value} does not go into {places}")
    whole = whole * 10**shift if shift >= 0 else whole // 10**-shift
    return -whole if exact < 0 else whole


def _number(value: Any) -> int | Decimal | float:
    if isinstance(value, str):
        try:
            return Decimal(value.strip())
        except ArithmeticError as error:
            raise ValueError(f"{value!r} is no number") from error
    if isinstance(value, bool) or not isinstance(value, int | Decimal | float):
        raise ValueError(f"{value!r} is no number")  # noqa: TRY004 - every value that does not fit is a ValueError
    return value


READ_ERRORS: Final = (ValueError, BrokerError)
WRITE_ERRORS: Final = (ValueError, OverflowError, BrokerError)
