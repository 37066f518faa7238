"""Numeric functions: of the type of their argument where the manual says so, else FLOAT."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from functools import reduce
from operator import and_, or_, xor
from typing import Annotated, Final, TypeAlias

from esql.functions import Numeric, OneOf, Same, declare_float_function, function
from esql.functions.arguments import floating, integer, number
from esql.runtime.invocation import Invocation
from esql.values.errors import division_by_zero, out_of_range, overflow
from esql.values.literals import shown
from esql.values.types import DECIMAL, INTEGER_LOW, Number, Value, fits_integer

MODES: Final = {
    name.removeprefix("ROUND_"): name
    for name in (
        *("ROUND_UP", "ROUND_DOWN", "ROUND_CEILING", "ROUND_FLOOR"),
        *("ROUND_HALF_UP", "ROUND_HALF_DOWN", "ROUND_HALF_EVEN"),
    )
}
Mode: TypeAlias = Annotated[str, OneOf({"": MODES.values()})]
_MOST_SEED_DIGITS: Final = 400
_MOST_PLACES: Final = 6_200  # more than any number has, and few enough to compute with


@function("ABS", "ABSVAL")
def absolute(source: Numeric) -> Same:
    """A number without its sign.

    `ABS(-3) = 3`
    `ABS(DECIMAL '-1.50') = DECIMAL '1.50'`
    `ABS(-2.5E0) = 2.5E0`
    `ABSVAL(NULL) IS NULL`
    `ABS('1') fails S42804`
    """
    value = number("ABS", source)
    if isinstance(value, int) and value == INTEGER_LOW:
        raise overflow("ABS", str(value), "", "INTEGER")
    return DECIMAL.abs(value) if isinstance(value, Decimal) else abs(value)


@function("BITAND")
def bit_and(first: Value, second: Value, *others: Value) -> int:
    """The bits that all INTEGERs have.

    `BITAND(12, 7) = 4`
    `BITAND(-1, 255) = 255`
    `BITAND(7, 3, 2) = 2`
    `BITAND(1, NULL) IS NULL`
    """
    return reduce(and_, (integer("BITAND", value) for value in (first, second, *others)))


@function("BITOR")
def bit_or(first: Value, second: Value, *others: Value) -> int:
    """The bits that any of the INTEGERs has.

    `BITOR(12, 7) = 15`
    `BITOR(1, 2, 4) = 7`
    `BITOR(NULL, 1) IS NULL`
    """
    return reduce(or_, (integer("BITOR", value) for value in (first, second, *others)))


@function("BITXOR")
def bit_xor(first: Value, second: Value, *others: Value) -> int:
    """The bits that an odd number of the INTEGERs has.

    `BITXOR(12, 7) = 11`
    `BITXOR(1, 1, 1) = 1`
    `BITXOR(1, 1.5) fails S42804`
    """
    return reduce(xor, (integer("BITXOR", value) for value in (first, second, *others)))


@function("BITNOT")
def bit_not(source: Value) -> int:
    """The bits that an INTEGER has not.

    `BITNOT(7) = -8`
    `BITNOT(-1) = 0`
    `BITNOT(NULL) IS NULL`
    """
    return ~integer("BITNOT", source)


@function("CEIL", "CEILING")
def ceiling(source: Numeric) -> Same:
    """The smallest whole number that is not below a number.

    `CEIL(1) = 1`
    `CEIL(1.2) = 2.0`
    `CEIL(-1.2) = -1.0`
    `CEILING(DECIMAL '1.01') = DECIMAL '2'`
    `CAST(CEIL(DECIMAL '1.01') AS CHARACTER) = '2'`
    `CEIL(NULL) IS NULL`
    """
    return _rounded("CEIL", number("CEIL", source), 0, decimal.ROUND_CEILING)


@function("FLOOR")
def floor(source: Numeric) -> Same:
    """The greatest whole number that is not above a number.

    `FLOOR(1) = 1`
    `FLOOR(1.2) = 1.0`
    `FLOOR(-1.2) = -2.0`
    `FLOOR(DECIMAL '-1.01') = DECIMAL '-2'`
    `FLOOR(NULL) IS NULL`
    """
    return _rounded("FLOOR", number("FLOOR", source), 0, decimal.ROUND_FLOOR)


@function("MOD")
def modulus(dividend: Numeric, divisor: Numeric) -> int:
    """Returns what is left of an INTEGER divided by another; it is negative only where the dividend is.

    `MOD(7, 3) = 1`
    `MOD(-7, 3) = -1`
    `MOD(7, -3) = 1`
    `MOD(6, 3) = 0`
    `MOD(7, 0) fails S22012`
    `MOD(7.5, 2) fails S42804`
    `MOD(NULL, 2) IS NULL`
    """
    left, right = integer("MOD", dividend), integer("MOD", divisor)
    if right == 0:
        raise division_by_zero(str(left))
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


@function("ROUND", form=True)
def rounded(source: Numeric, places: Numeric, *, mode: Mode = "ROUND_HALF_EVEN") -> Same:
    """A number rounded to so many places behind the point, or in front of it where they are negative.

    Form: ROUND(source, places MODE mode); the mode is ROUND_UP, ROUND_DOWN, ROUND_CEILING, ROUND_FLOOR,
    ROUND_HALF_UP, ROUND_HALF_DOWN or ROUND_HALF_EVEN.

    `ROUND(27.75, 2) = 27.75`
    `ROUND(27.75, 1) = 27.8`
    `ROUND(27.75, 0) = 28.0`
    `ROUND(27.75, -1) = 30.0`
    `ROUND(DECIMAL '27.75', 1) = DECIMAL '27.8'`
    `ROUND(2.5, 0) = 2`
    `ROUND(2.5, 0 MODE ROUND_HALF_UP) = 3`
    `ROUND(-2.5, 0 MODE ROUND_HALF_DOWN) = -2`
    `ROUND(5.5, 0 MODE ROUND_UP) = 6`
    `ROUND(-1.1, 0 MODE ROUND_CEILING) = -1`
    `ROUND(-1.1, 0 MODE ROUND_FLOOR) = -2`
    `ROUND(1.6, 0 MODE ROUND_DOWN) = 1`
    `ROUND(15, -1) = 20`
    `ROUND(25, -1) = 20`
    `ROUND(15, 1) = 15`
    `ROUND(DECIMAL '1.5', 40) IS INF`
    `ROUND(1.5, 0 MODE ROUND_ODD) fails S22023`
    `ROUND(NULL, 1) IS NULL`
    """
    way = MODES.get(mode.upper().removeprefix("ROUND_"))
    if way is None:
        raise out_of_range("ROUND", f"its mode is one of {', '.join(MODES.values())}, not {mode}")
    return _rounded("ROUND", number("ROUND", source), integer("ROUND", places, "places"), way)


@function("TRUNCATE")
def truncated(source: Numeric, places: Numeric) -> Same:
    """A number cut off at so many places behind the point, or in front of it where they are negative.

    `TRUNCATE(27.75, 2) = 27.75`
    `TRUNCATE(27.75, 1) = 27.7`
    `TRUNCATE(27.75, 0) = 27.0`
    `TRUNCATE(27.75, -1) = 20.0`
    `TRUNCATE(-27.75, 0) = -27`
    `TRUNCATE(127, -2) = 100`
    `TRUNCATE(27.75, NULL) IS NULL`
    """
    value, at = number("TRUNCATE", source), integer("TRUNCATE", places, "places")
    return _rounded("TRUNCATE", value, at, decimal.ROUND_DOWN)


def _rounded(name: str, value: Number, places: int, way: str) -> Number:
    places = max(-_MOST_PLACES, min(places, _MOST_PLACES))
    if isinstance(value, int):
        if places >= 0:
            return value
        whole = int(Decimal(value).quantize(Decimal((0, (1,), -places)), way, _WIDE))
        if not fits_integer(whole):
            raise overflow(name, str(value), str(places), "INTEGER")
        return whole
    if isinstance(value, float):
        if not math.isfinite(value):
            return value
        return float(Decimal(repr(value)).quantize(Decimal((0, (1,), -places)), way, _WIDE))
    return _rounded_decimal(value, places, way)


_WIDE: Final = decimal.Context(prec=13_000, Emin=-999_999_999, Emax=999_999_999, traps=[])


def _rounded_decimal(value: Decimal, places: int, way: str) -> Decimal:
    """A DECIMAL in the scale asked for; where 34 digits do not reach that far, it is INF."""
    if not value.is_finite():
        return value
    found = value.quantize(Decimal((0, (1,), -places)), way, DECIMAL)
    return Decimal("-Infinity" if value.is_signed() else "Infinity") if found.is_nan() else found


@function("SIGN")
def sign(source: Numeric) -> int:
    """-1, 0 or 1 as a number is negative, zero or positive.

    `SIGN(-5) = -1`
    `SIGN(0.0) = 0`
    `SIGN(DECIMAL '2.5') = 1`
    `SIGN(DECIMAL 'NAN') = 0`
    `SIGN(NULL) IS NULL`
    """
    value = number("SIGN", source)
    return 0 if value != value else int(value > 0) - int(value < 0)  # noqa: PLR0124 - NAN alone is not itself


declare_float_function(
    "SQRT",
    math.sqrt,
    "The square root, a FLOAT.",
    "SQRT(4) = 2E0",
    "CAST(SQRT(2) AS CHARACTER) = '1.414213562373095E+0'",
    "SQRT(DECIMAL '6.25') = 2.5E0",
    "SQRT(-1) fails S22023",
)


@function("POWER")
def power(base: Numeric, exponent: Numeric) -> float:
    """A number to the power of another, a FLOAT.

    `POWER(2, 10) = 1024`
    `POWER(4, 0.5) = 2`
    `POWER(2, -1) = 0.5`
    `POWER(0, -1) fails S22023`
    `POWER(-8, 0.5) fails S22023`
    `POWER(10, 400) fails S22003`
    `POWER(2, NULL) IS NULL`
    """
    return floating("POWER", math.pow, base, exponent)


declare_float_function(
    "EXP",
    math.exp,
    "The number e to the power of another.",
    "EXP(0) = 1",
    "EXP(1) BETWEEN 2.718281 AND 2.718282",
    "EXP(1000) fails S22003",
)
declare_float_function(
    "LN LOG",
    math.log,
    "The natural logarithm.",
    "LN(1) = 0",
    "LOG(2) BETWEEN 0.693147 AND 0.693148",
    "LN(0) fails S22023",
    "LOG(-1) fails S22023",
)
declare_float_function("LOG10", math.log10, "The logarithm to the base 10.", "LOG10(1000) = 3", "LOG10(0) fails S22023")


@function("RAND")
def pseudo_random(seed: Numeric = None, *, here: Invocation, routine: str = "") -> float:
    """A random FLOAT from 0 to 1; a seed starts the sequence of the routine anew.

    `RAND() BETWEEN 0 AND 1`
    `RAND(5) = RAND(5)`
    `RAND(5) = RAND(5.9)`
    `RAND(5) <> RAND(6)`
    `RAND(NULL) IS NULL`
    `RAND(DECIMAL '1E99999999') = RAND(DECIMAL '1E99999999')`
    `RAND(DECIMAL 'INF') fails S22023`
    `RAND('5') fails S42804`
    """
    sequence = here.random(routine)
    if seed is not None:
        sequence.seed(_seed(number("RAND", seed)))
    return sequence.random()


def _seed(value: Number) -> int | str:
    """The whole part of a number; of one that is huge its text, which has no more digits than are known of it."""
    exact = value if isinstance(value, int) else Decimal(value)
    if isinstance(exact, int):
        return exact
    if not exact.is_finite():
        raise out_of_range("RAND", f"{shown(value)} is no seed: give it a number")
    return int(exact) if exact.adjusted() < _MOST_SEED_DIGITS else str(exact)
