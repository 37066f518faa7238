"""Floating-point numbers of IBM's hexadecimal form, exact in both directions."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Final

_BIAS: Final = 64
_DIGITS: Final = 18  # tell apart all numbers with 56 bits
_FARTHEST: Final = 100  # powers of ten behind which all numbers are too large, or zero


def from_hexadecimal(data: bytes) -> float | Decimal:
    """The number of 4 or 8 bytes; a Decimal where a float cannot hold it exactly, or its shortest text is another's.

    >>> from_hexadecimal(bytes.fromhex("c276a000"))
    -118.625
    """
    exponent, bits = data[0] & 0x7F, 8 * (len(data) - 1)
    mantissa = int.from_bytes(data[1:], "big")
    last = Fraction(16) ** (exponent - _BIAS) / (1 << bits)
    exact = mantissa * last
    if data[0] & 0x80:
        exact = -exact
    if exact == 0:
        return -0.0 if data[0] & 0x80 else 0.0
    near = float(exact)
    if near == exact:
        told = abs(Fraction(repr(near)) - exact)
        digits = (bits - mantissa.bit_length()) // 4  # that the number has room for behind its last
        if _is_power(mantissa):
            digits += 1  # those just below have one more
        if 2 * told * 16**digits < last:
            return near
    with localcontext() as context:
        context.prec = _DIGITS
        return Decimal(exact.numerator) / Decimal(exact.denominator)


def _is_power(mantissa: int) -> bool:
    """Returns True for a power of 16."""
    return mantissa.bit_count() == 1 and mantissa.bit_length() % 4 == 1


def to_hexadecimal(number: float | Decimal, size: int) -> bytes:
    """The bytes of the nearest number; OverflowError where it is too large.

    >>> to_hexadecimal(-118.625, 4).hex()
    'c276a000'
    """
    if isinstance(number, Decimal) and number and abs(number.adjusted()) > _FARTHEST:
        number = math.copysign(0.0 if number.adjusted() < 0 else math.inf, number)
    over, under = number.as_integer_ratio()
    sign, over, bits = 0x80 if math.copysign(1.0, number) < 0 else 0, abs(over), 8 * (size - 1)
    power = max(_power_above(over, under), -_BIAS)
    mantissa = _rounded(over, under, bits - 4 * power)
    if mantissa >> bits:
        mantissa, power = mantissa >> 4, power + 1
    if power + _BIAS > 127:
        raise OverflowError("too large for a hexadecimal floating-point number")
    if not mantissa:
        return bytes([sign]) + bytes(size - 1)
    return bytes([sign | (power + _BIAS)]) + mantissa.to_bytes(size - 1, "big")


def _power_above(over: int, under: int) -> int:
    """The smallest power of 16 that is larger than a fraction."""
    power = (over.bit_length() - under.bit_length()) // 4
    while over << max(-4 * power, 0) >= under << max(4 * power, 0):
        power += 1
    return power


def _rounded(over: int, under: int, shift: int) -> int:
    """A fraction times a power of 2 as the nearest whole number, of two as near as each other the even one."""
    over, under = over << max(shift, 0), under << max(-shift, 0)
    whole, rest = divmod(over, under)
    return whole + (2 * rest > under or (2 * rest == under and whole & 1))
