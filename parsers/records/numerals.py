"""Numerals: zoned and packed decimal digits, checked one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from parsers.records.coding import ZonedSign

_PLUS: Final = frozenset({0xA, 0xC, 0xE, 0xF})
_MINUS: Final = frozenset({0xB, 0xD})
_CUSTOM_PLUS: Final = b"{ABCDEFGHI"
_CUSTOM_MINUS: Final = b"}JKLMNOPQR"


class Numerals(NamedTuple):
    """A number of characters: its digits, where its sign is, and the bytes for digits and signs."""

    digits: int
    signed: bool
    leading: bool
    separate: bool
    style: ZonedSign
    zero: int
    plus: int
    minus: int
    blank: int


def zoned_leaf(form: Numerals) -> tuple[Callable[[bytes], int], Callable[[int], bytes]]:
    """What reads and what writes a zoned number."""
    if form.signed and form.separate:
        return _separate(form)
    held = _signed_digits(form)
    written = _sign_bytes(form)

    def read(data: bytes) -> int:
        at = 0 if form.leading else len(data) - 1
        digit, negative = held.get(data[at], (-1, False))
        if digit < 0:
            what = "digit with a sign" if form.signed else "digit"
            raise ValueError(f"X'{data.hex()}' has X'{data[at]:02x}' where a {what} should be")
        rest = _digits(data, 1, len(data), form) if form.leading else _digits(data, 0, at, form)
        number = digit * 10 ** (len(data) - 1) + rest if form.leading else rest * 10 + digit
        return -number if negative else number

    def write(number: int) -> bytes:
        made = _written(number, form)
        if not form.signed:
            return bytes(made)
        at = 0 if form.leading else -1
        made[at] = written[number < 0][made[at] - form.zero]
        return bytes(made)

    return read, write


def _separate(form: Numerals) -> tuple[Callable[[bytes], int], Callable[[int], bytes]]:
    def read(data: bytes) -> int:
        sign = data[0] if form.leading else data[-1]
        if sign not in {form.plus, form.minus}:
            raise ValueError(f"X'{data.hex()}' has X'{sign:02x}' where + or - should be")
        number = _digits(data, 1, len(data), form) if form.leading else _digits(data, 0, len(data) - 1, form)
        return -number if sign == form.minus else number

    def write(number: int) -> bytes:
        sign = bytes([form.minus if number < 0 else form.plus])
        made = bytes(_written(number, form))
        return sign + made if form.leading else made + sign

    return read, write


def _digits(data: bytes, start: int, end: int, form: Numerals) -> int:
    number, zero = 0, form.zero
    for byte in data[start:end]:
        digit = byte - zero
        if not 0 <= digit <= 9:
            raise ValueError(f"X'{data.hex()}' has X'{byte:02x}' where a digit should be")
        number = number * 10 + digit
    return number


def _written(number: int, form: Numerals) -> bytearray:
    if number < 0 and not form.signed:
        raise ValueError(f"{number} is negative, and the field has no sign")
    text = str(abs(number))
    if len(text) > form.digits:
        raise ValueError(f"{number} has {len(text)} digits, and there are {form.digits}")
    return bytearray(form.zero + int(digit) for digit in text.rjust(form.digits, "0"))


def _signed_digits(form: Numerals) -> dict[int, tuple[int, bool]]:
    """What each byte that holds a digit and perhaps a sign stands for."""
    held = {form.zero + digit: (digit, False) for digit in range(10)}
    if form.zero == 0xF0:
        for zone in range(0xA, 0x10):
            if form.signed or zone in _PLUS:
                held |= {zone << 4 | digit: (digit, zone in _MINUS) for digit in range(10)}
        return held
    if form.signed:
        held |= {0x70 + digit: (digit, True) for digit in range(10)}
        held |= {byte: (digit, False) for digit, byte in enumerate(_CUSTOM_PLUS)}
        held |= {byte: (digit, True) for digit, byte in enumerate(_CUSTOM_MINUS)}
    return held


def _sign_bytes(form: Numerals) -> tuple[bytes, bytes]:
    """The bytes for each digit with a plus, and with a minus."""
    if form.zero == 0xF0:
        return bytes(range(0xC0, 0xCA)), bytes(range(0xD0, 0xDA))
    if form.style == "ascii":
        return bytes(range(0x30, 0x3A)), bytes(range(0x70, 0x7A))
    return _CUSTOM_PLUS, _CUSTOM_MINUS


def unpacked(data: bytes, signed: bool, *, with_sign: bool) -> int:
    """The number of packed digits; with a sign, the last half byte is that.

    >>> unpacked(bytes.fromhex("12345d"), True, with_sign=True)
    -12345
    """
    text = data.hex()
    digits = text[:-1] if with_sign else text
    if not digits.isdigit():
        raise ValueError(f"X'{text}' is no packed decimal: it has a letter among its digits")
    number = int(digits)
    if not with_sign:
        return number
    sign = int(text[-1], 16)
    if sign in _PLUS:
        return number
    if sign not in _MINUS:
        raise ValueError(f"X'{text}' is no packed decimal: its sign is {text[-1]}")
    if not signed:
        raise ValueError(f"X'{text}' is a negative packed decimal, and the field has no sign")
    return -number


def packed(number: int, size: int, *, signed: bool, with_sign: bool) -> bytes:
    """The packed digits of a number.

    >>> packed(-123, 2, signed=True, with_sign=True).hex(), packed(123, 2, signed=False, with_sign=True).hex()
    ('123d', '123f')
    """
    if number < 0 and not signed:
        raise ValueError(f"{number} is negative, and the field has no sign")
    text = str(abs(number))
    room = 2 * size - with_sign
    if len(text) > room:
        raise ValueError(f"{number} has {len(text)} digits, and there are {room}")
    sign = "" if not with_sign else ("d" if number < 0 else "c") if signed else "f"
    return bytes.fromhex(text.rjust(room, "0") + sign)
