"""Numbers in bytes: zoned and packed decimals, binary integers, IBM hexadecimal and IEEE floats."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Final, Literal, NamedTuple

from parsers.mrm.simple_values import Decode, Encode, Stored, as_float, exact, garbled, unfit, whole_number

Number = Literal["integer", "decimal", "float", "exact"]  # exact: a float, or a decimal where no float tells it apart
Signs = Literal["ascii", "ebcdic", "custom"]
Orientation = Literal["leading", "trailing", "leadingSeparate", "trailingSeparate"]

_FORMATS: Final = {1: "b", 2: "h", 4: "i", 8: "q"}
_PLUS: Final = "acef"
_MINUS: Final = "bd"
_PLUS_ZONES: Final = frozenset({0xA, 0xC, 0xE, 0xF})
_EBCDIC_DIGITS: Final = bytes(code - 0xC0 if 0xF0 <= code <= 0xF9 else 0 for code in range(256))
# The bytes of a digit with its sign, from 0 to 9: of positive numbers, and of negative ones.
_SIGNED_DIGITS: Final[Mapping[Signs, tuple[bytes, bytes]]] = {
    "ascii": (b"0123456789", b"pqrstuvwxy"),
    "custom": (b"{ABCDEFGHI", b"}JKLMNOPQR"),
    "ebcdic": (bytes(range(0xC0, 0xCA)), bytes(range(0xD0, 0xDA))),
}
_BIAS: Final = 64
_DIGITS: Final = 18  # tell apart all numbers with 56 bits
_FARTHEST: Final = 100  # powers of ten behind which all numbers are too large, or zero
_LETTER: Final = "is no packed decimal: it has a letter among its digits"


class Shape(NamedTuple):
    """The properties of a number apart from its bytes: its field, for errors, its logical type, scale and sign."""

    what: str
    number: Number = "integer"
    scale: int = 0
    signed: bool = True


def _made(shape: Shape) -> Callable[[str], Any]:
    """From the digits of a number, a minus in front, to its value."""
    scale = shape.scale
    if shape.number == "float":
        return float if not scale else lambda text: float(f"{text}E{-scale}")
    if shape.number == "decimal" or scale > 0:
        suffix = f"E{-scale}" if scale else ""
        if scale < 0:
            return lambda text: Decimal(int(text) * 10**-scale)
        return lambda text: Decimal(text + suffix)
    return int if not scale else lambda text: int(text) * 10**-scale


def packed(size: int, shape: Shape, *, positive: str = "C", reverse: bool = False) -> Stored:
    """A packed decimal: two digits a byte, the sign in the last half byte.

    >>> price = packed(3, Shape("price", "decimal", 2))
    >>> price.decode(bytes.fromhex("12345d"), 0, 3), price.encode(Decimal("1.5"), 3).hex()
    (Decimal('-123.45'), '00150c')
    """
    made, what, signed = _made(shape), shape.what, shape.signed
    is_decimal, suffix = shape.number == "decimal" and shape.scale > 0, f"E{-shape.scale}"
    step, plus = -1 if reverse else 1, positive.lower() if signed else "f"

    def decode(data: bytes, at: int, end: int) -> Any:
        text = data[at:end][::step].hex() if reverse else data[at:end].hex()
        digits, sign = text[:-1], text[-1:]
        if not digits.isdecimal():
            raise garbled(what, data, at, end, _LETTER)
        if sign in _PLUS:
            return Decimal(digits + suffix) if is_decimal else made(digits)
        if sign not in _MINUS:
            raise garbled(what, data, at, end, f"is no packed decimal: its sign is {sign}")
        if not digits.strip("0"):
            return made(digits)
        if not signed:
            raise garbled(what, data, at, end, "is a negative packed decimal, and the field has no sign")
        return made("-" + digits)

    def encode(value: Any, length: int) -> bytes:
        number = whole_number(value, what, shape.scale)
        digits = _digits(number, 2 * length - 1, shape, value)
        raw = bytes.fromhex(digits + ("d" if number < 0 else plus))
        return raw[::step]

    return Stored(size, decode, encode)


def unsigned_packed(size: int, shape: Shape, *, reverse: bool = False) -> Stored:
    """Returns the codec of a packed decimal that has digits alone, as COMP-6 has them.

    >>> unsigned_packed(2, Shape("n", signed=False)).decode(bytes.fromhex("1234"), 0, 2)
    1234
    """
    made, what, step = _made(shape), shape.what, -1 if reverse else 1

    def decode(data: bytes, at: int, end: int) -> Any:
        digits = data[at:end][::step].hex()
        if not digits.isdecimal():
            raise garbled(what, data, at, end, _LETTER)
        return made(digits)

    def encode(value: Any, length: int) -> bytes:
        digits = _digits(whole_number(value, what, shape.scale), 2 * length, shape, value)
        return bytes.fromhex(digits)[::step]

    return Stored(size, decode, encode)


def _digits(number: int, most: int, shape: Shape, value: Any) -> str:
    if number < 0 and not shape.signed:
        raise unfit(shape.what, value, "takes a number that is not negative")
    digits = str(abs(number))
    if len(digits) > most:
        raise unfit(shape.what, value, f"has room for {most} digits")
    return digits.rjust(most, "0")


def binary(size: int, shape: Shape, *, little_endian: bool) -> Stored:
    """A binary integer, two's complement where it has a sign.

    >>> binary(2, Shape("n"), little_endian=True).decode(bytes.fromhex("feff"), 0, 2)
    -2
    """
    what, signed, made = shape.what, shape.signed, _made(shape)
    order: Literal["little", "big"] = "little" if little_endian else "big"
    plain = shape.number == "integer" and not shape.scale
    if size in _FORMATS and plain:
        code = _FORMATS[size] if signed else _FORMATS[size].upper()
        unpack = struct.Struct(("<" if little_endian else ">") + code).unpack_from

        def decode(data: bytes, at: int, end: int) -> Any:
            return unpack(data, at)[0]
    else:

        def decode(data: bytes, at: int, end: int) -> Any:
            return made(str(int.from_bytes(data[at:end], order, signed=signed)))

    def encode(value: Any, length: int) -> bytes:
        number = whole_number(value, what, shape.scale)
        try:
            return number.to_bytes(length, order, signed=signed)
        except OverflowError as error:
            raise unfit(what, value, f"takes {_range(length, shape)}") from error

    return Stored(size, decode, encode)


def _range(length: int, shape: Shape) -> str:
    """Returns the smallest and the largest number of a binary integer of so many bytes."""
    low = -(1 << (8 * length - 1)) if shape.signed else 0
    high = (1 << (8 * length - shape.signed)) - 1
    if shape.scale:
        return f"{Decimal(low).scaleb(-shape.scale)} to {Decimal(high).scaleb(-shape.scale)}"
    return f"{low} to {high}"


def _sign_tables(signs: Signs) -> tuple[Mapping[int, bytes], Mapping[str, int], Mapping[str, int]]:
    """Returns the digit and sign that each byte means, and the bytes that stand for a digit with plus and with minus.

    Of ASCII signs, those of both kinds are read, whichever are written.
    """
    plus, minus = ({str(n): code for n, code in enumerate(codes)} for codes in _SIGNED_DIGITS[signs])
    held: dict[int, bytes] = {}
    if signs == "ebcdic":
        for zone in range(0xA, 0x10):
            held |= {zone << 4 | n: b"%s%d" % (b"" if zone in _PLUS_ZONES else b"-", n) for n in range(10)}
        return held, plus, minus
    for positive, negative in (_SIGNED_DIGITS["ascii"], _SIGNED_DIGITS["custom"]):
        held |= {code: b"%d" % n for n, code in enumerate(positive)}
        held |= {code: b"-%d" % n for n, code in enumerate(negative)}
    return held, plus, minus


def zoned(size: int, shape: Shape, signs: Signs, orientation: Orientation = "trailing") -> Stored:
    """An external decimal: a digit a byte, the sign in the first or last of them or in a byte of its own.

    >>> zoned(3, Shape("n"), "ebcdic").decode(bytes.fromhex("f1f2d3"), 0, 3)
    -123
    >>> zoned(3, Shape("n"), "ascii").encode(-123, 3), zoned(3, Shape("n"), "custom").encode(-123, 3)
    (b'12s', b'12L')
    """
    if not shape.signed:
        return Stored(size, *_unsigned(shape, ebcdic=signs == "ebcdic"))
    if orientation in {"leadingSeparate", "trailingSeparate"}:
        return Stored(size, *_separate(shape, ebcdic=signs == "ebcdic", leading=orientation == "leadingSeparate"))
    return Stored(size, *_overpunched(shape, signs, leading=orientation == "leading"))


def _bytes_of(digits: str, *, ebcdic: bool) -> bytes:
    return bytes(0xF0 | int(digit) for digit in digits) if ebcdic else digits.encode()


def _not_a_digit(shape: Shape, data: bytes, at: int, end: int, among: tuple[int, int], *, ebcdic: bool) -> Exception:
    """Returns the error for the first byte among the digits of a number that is none."""
    zero = 0xF0 if ebcdic else 0x30
    wrong = next((byte for byte in data[slice(*among)] if not zero <= byte <= zero + 9), None)
    if wrong is None:
        return garbled(shape.what, data, at, end, "has no digits")
    return garbled(shape.what, data, at, end, f"has X'{wrong:02x}' where a digit should be")


def _unsigned(shape: Shape, *, ebcdic: bool) -> tuple[Decode, Encode]:
    """The codec of digits alone; of EBCDIC's, the last may have the sign of a number that is not negative."""
    made = _made(shape)

    def decode(data: bytes, at: int, end: int) -> Any:
        digits = data[at:end].translate(_EBCDIC_DIGITS) if ebcdic else data[at:end]
        if digits.isdigit():
            return made(digits.decode("ascii"))
        last, rest = data[end - 1 : end], digits[:-1]
        if not ebcdic or last < b"\xa0" or last[0] >> 4 not in _PLUS_ZONES or last[0] & 0xF > 9:
            raise _not_a_digit(shape, data, at, end, (at, end), ebcdic=ebcdic)
        if rest and not rest.isdigit():
            raise _not_a_digit(shape, data, at, end, (at, end - 1), ebcdic=ebcdic)
        return made(f"{rest.decode('ascii')}{last[0] & 0xF}")

    def encode(value: Any, length: int) -> bytes:
        number = whole_number(value, shape.what, shape.scale)
        return _bytes_of(_digits(number, length, shape, value), ebcdic=ebcdic)

    return decode, encode


def _separate(shape: Shape, *, ebcdic: bool, leading: bool) -> tuple[Decode, Encode]:
    made = _made(shape)
    plus, minus = (0x4E, 0x60) if ebcdic else (0x2B, 0x2D)
    read = {bytes([plus]): "", bytes([minus]): "-"}

    def decode(data: bytes, at: int, end: int) -> Any:
        byte, start, stop = (data[at : at + 1], at + 1, end) if leading else (data[end - 1 : end], at, end - 1)
        sign = read.get(byte)
        if sign is None:
            why = f"has X'{byte.hex()}' where + or - should be" if at < end else "has no digits"
            raise garbled(shape.what, data, at, end, why)
        digits = data[start:stop].translate(_EBCDIC_DIGITS) if ebcdic else data[start:stop]
        if not digits.isdigit():
            raise _not_a_digit(shape, data, at, end, (start, stop), ebcdic=ebcdic)
        text = digits.decode("ascii")
        return made(sign + text if text.strip("0") else text)

    def encode(value: Any, length: int) -> bytes:
        number = whole_number(value, shape.what, shape.scale)
        digits = _bytes_of(_digits(number, length - 1, shape, value), ebcdic=ebcdic)
        sign = bytes([minus if number < 0 else plus])
        return sign + digits if leading else digits + sign

    return decode, encode


def _overpunched(shape: Shape, signs: Signs, *, leading: bool) -> tuple[Decode, Encode]:
    read, plus, minus = _sign_tables(signs)
    made, ebcdic = _made(shape), signs == "ebcdic"
    is_plain = shape.number == "integer" and not shape.scale

    def decode(data: bytes, at: int, end: int) -> Any:
        if at >= end:
            raise garbled(shape.what, data, at, end, "has no digits")
        byte, start, stop = (data[at], at + 1, end) if leading else (data[end - 1], at, end - 1)
        signed, rest = read.get(byte), data[start:stop]
        if ebcdic:
            rest = rest.translate(_EBCDIC_DIGITS)
        if signed is None:
            raise garbled(shape.what, data, at, end, f"has X'{byte:02x}' where a digit with a sign should be")
        if rest and not rest.isdigit():
            raise _not_a_digit(shape, data, at, end, (start, stop), ebcdic=ebcdic)
        digits = signed[-1:] + rest if leading else rest + signed[-1:]
        if is_plain:
            return int(digits) if len(signed) == 1 else -int(digits)
        text = digits.decode("ascii")
        return made("-" + text if len(signed) > 1 and text.strip("0") else text)

    def encode(value: Any, length: int) -> bytes:
        number = whole_number(value, shape.what, shape.scale)
        digits = _digits(number, length, shape, value)
        table = minus if number < 0 else plus
        if leading:
            return bytes([table[digits[0]]]) + _bytes_of(digits[1:], ebcdic=ebcdic)
        return _bytes_of(digits[:-1], ebcdic=ebcdic) + bytes([table[digits[-1]]])

    return decode, encode


def ieee(size: int, shape: Shape, *, little_endian: bool) -> Stored:
    """An IEEE float of 4 or 8 bytes."""
    form = struct.Struct(("<" if little_endian else ">") + {4: "f", 8: "d"}[size])
    made = _from_float(shape)
    has_only_numbers = shape.number in {"integer", "decimal"}

    def decode(data: bytes, at: int, end: int) -> Any:
        number = form.unpack_from(data, at)[0]
        if has_only_numbers and not math.isfinite(number):
            raise garbled(shape.what, data, at, end, f"is {number}, and the field takes numbers")
        return made(number)

    def encode(value: Any, length: int) -> bytes:
        try:
            return form.pack(value if value.__class__ is float else as_float(exact(value, shape.what)))
        except OverflowError as error:
            raise unfit(shape.what, value, f"takes a float of {length} bytes") from error

    return Stored(size, decode, encode)


def _from_float(shape: Shape) -> Callable[[float], Any]:
    if shape.number == "decimal":
        return lambda number: Decimal(repr(number))
    return int if shape.number == "integer" else lambda number: number


def hexadecimal(size: int, shape: Shape, *, little_endian: bool = False) -> Stored:
    """An IBM System/390 float: a sign, seven bits of an exponent of 16, and a fraction.

    >>> hexadecimal(4, Shape("f", "float")).decode(bytes.fromhex("c276a000"), 0, 4)
    -118.625
    """
    step, bits, made = -1 if little_endian else 1, 8 * (size - 1), _from_float(shape)

    def decode(data: bytes, at: int, end: int) -> Any:
        raw = data[at:end][::step]
        fraction = int.from_bytes(raw[1:], "big")
        number = math.ldexp(fraction, 4 * ((raw[0] & 0x7F) - _BIAS) - bits)
        return made(-number if raw[0] & 0x80 else number)

    def encode(value: Any, length: int) -> bytes:
        number = value if value.__class__ is float and math.isfinite(value) else exact(value, shape.what)
        try:
            return to_hexadecimal(number, size)[::step]
        except OverflowError as error:
            raise unfit(shape.what, value, "takes a number below 16**63") from error

    if shape.number == "exact":
        return Stored(size, lambda data, at, end: from_hexadecimal(data[at:end][::step]), encode)
    return Stored(size, decode, encode)


def from_hexadecimal(data: bytes) -> float | Decimal:
    """The number of 4 or 8 bytes; a Decimal where a float cannot hold it exactly, or its shortest text is another's.

    >>> from_hexadecimal(bytes.fromhex("c276a000"))
    -118.625
    """
    exponent, bits = data[0] & 0x7F, 8 * (len(data) - 1)
    mantissa = int.from_bytes(data[1:], "big")
    last = Fraction(16) ** (exponent - _BIAS) / (1 << bits)
    number = (-mantissa if data[0] & 0x80 else mantissa) * last
    if number == 0:
        return -0.0 if data[0] & 0x80 else 0.0
    near = float(number)
    if near == number:
        told = abs(Fraction(repr(near)) - number)
        digits = (bits - mantissa.bit_length()) // 4  # that the number has room for behind its last
        if mantissa.bit_count() == 1 and mantissa.bit_length() % 4 == 1:  # a power of 16
            digits += 1  # those just below have one more
        if 2 * told * 16**digits < last:
            return near
    with localcontext() as context:
        context.prec = _DIGITS
        return Decimal(number.numerator) / Decimal(number.denominator)


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
