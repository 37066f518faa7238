"""Casts to INTEGER, DECIMAL, FLOAT and BOOLEAN."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final

from esql.cast.number_patterns import number_pattern
from esql.cast.request import Job
from esql.cast.strings import characters
from esql.operators import datetimes
from esql.values.errors import OVERFLOW
from esql.values.literal_contents import read_boolean, read_decimal, read_float, read_integer
from esql.values.types import DECIMAL, Bit, Interval, Number, fits_integer

_WORD: Final = 64
_FLOAT_DIGITS: Final = 15


def text_to_number(text: str, job: Job) -> Number:
    """A CHARACTER as a number, by FORMAT or as a literal."""
    kind = job.target.name
    if job.clauses.format is not None:
        found = number_pattern(job.clauses.format).read(text)
        return decimal_to_integer(found, job) if kind == "INTEGER" else _decimal_to(found, job)
    if kind == "INTEGER":
        return read_integer(text)
    return read_float(text) if kind == "FLOAT" else fitted(read_decimal(text), job)


def _decimal_to(value: Decimal, job: Job) -> Number:
    if job.target.name == "FLOAT":
        return decimal_to_float(value, job)
    return fitted(value, job)


def string_to_number(value: bytes | Bit, job: Job) -> Number:
    """A BLOB or BIT as an INTEGER of 64 bits, or by FORMAT as the characters it holds."""
    if job.clauses.format is not None:
        return text_to_number(characters(value, job), job)
    if job.target.name != "INTEGER":
        raise job.failure(value, "it needs a FORMAT")
    bits = value if isinstance(value, Bit) else Bit(len(value) * 8, int.from_bytes(value))
    if bits.length != _WORD:
        raise job.failure(value, "an INTEGER has 64 bits, which are 8 bytes", OVERFLOW)
    return bits.number - (1 << _WORD) if bits.number >> (_WORD - 1) else bits.number


def integer_to_decimal(value: int, job: Job) -> Decimal:
    """An INTEGER as a DECIMAL."""
    return fitted(Decimal(value), job)


def to_float(value: int | Decimal, job: Job) -> float:
    """An INTEGER or DECIMAL as the nearest FLOAT."""
    return float(value) if isinstance(value, int) else decimal_to_float(value, job)


def decimal_to_float(value: Decimal, job: Job) -> float:
    """A DECIMAL as the nearest FLOAT."""
    found = float(value)
    if math.isinf(found) and value.is_finite():
        raise job.failure(value, "it is too large for a FLOAT", OVERFLOW)
    return found


def decimal_to_integer(value: Decimal, job: Job) -> int:
    """A DECIMAL rounded half-even."""
    if not value.is_finite() or value.adjusted() > 19:
        raise job.failure(value, "it does not fit 64 bits", OVERFLOW)
    return _integer(int(value.to_integral_value(ROUND_HALF_EVEN)), value, job)


def float_to_integer(value: float, job: Job) -> int:
    """A FLOAT without its fraction."""
    if not math.isfinite(value):
        raise job.failure(value, "it does not fit 64 bits", OVERFLOW)
    return _integer(int(value), value, job)


def _integer(found: int, value: Number, job: Job) -> int:
    if not fits_integer(found):
        raise job.failure(value, "it does not fit 64 bits: cast it to DECIMAL", OVERFLOW)
    return found


def float_to_decimal(value: float, job: Job) -> Decimal:
    """A FLOAT rounded to 15 digits."""
    return fitted(Decimal(f"{value:.{_FLOAT_DIGITS}g}"), job)


def fitted(value: Decimal, job: Job) -> Decimal:
    """A DECIMAL in the precision and scale asked for, rounded half-even; digits in front of the point must fit."""
    precision, scale = job.target.precision, job.target.scale or 0
    if precision is None or not value.is_finite():
        return value
    found = DECIMAL.quantize(value, Decimal((0, (1,), -scale)))
    if found.is_nan() or (found and found.adjusted() >= precision - scale):
        raise job.failure(value, f"it has more digits than {job.target} holds", OVERFLOW)
    return found


def interval_to_number(value: Interval, job: Job) -> Number:
    """Returns how many of its one field an INTERVAL is."""
    if len(value.qualifier.fields) > 1:
        raise job.failure(value, "an INTERVAL of several fields is no number: cast it to one of one field first")
    found = datetimes.counted(value)
    if job.target.name == "INTEGER":
        return decimal_to_integer(found, job)
    return float(found) if job.target.name == "FLOAT" else fitted(found, job)


def text_to_boolean(text: str, _: Job) -> bool | None:
    """A CHARACTER as a BOOLEAN; UNKNOWN is NULL."""
    return read_boolean(text)


def same(value: Any, _: Job) -> Any:
    """A value that is of the type already."""
    return value
