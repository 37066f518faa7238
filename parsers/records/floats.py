"""Floating-point numbers of IBM's hexadecimal form, exact in both directions."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Final

_BIAS: Final = 64
_DIGITS: Final = 18  # tell apart all numbers with 56 bits


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
    exact = Fraction(number)
    negative = str(number).startswith("-")
    exact, bits = abs(exact), 8 * (size - 1)
    if exact == 0:
        return bytes([0x80 if negative else 0]) + bytes(size - 1)
    power = max(_power_above(exact), -_BIAS)
    mantissa = round(exact / Fraction(16) ** power * (1 << bits))
    if mantissa >> bits:
        mantissa, power = mantissa >> 4, power + 1
    if power + _BIAS > 127:
        raise OverflowError("too large for a hexadecimal floating-point number")
    return bytes([(0x80 if negative else 0) | (power + _BIAS)]) + mantissa.to_bytes(size - 1, "big")


def _power_above(number: Fraction) -> int:
    """The smallest power of 16 that is larger than a number."""
    power = (number.numerator.bit_length() - number.denominator.bit_length()) // 4
    while Fraction(16) ** power > number:
        power -= 1
    while Fraction(16) ** power <= number:
        power += 1
    return power
