"""Casts from type to type, in the order of their targets: strings, numbers, dates and times; and the table of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final

from engine.dates.patterns import write_moment
from engine.dates.reading import read_moment
from esql.cast.number_patterns import number_pattern
from esql.cast.request import Job
from esql.operators import datetimes
from esql.values.errors import CAST_REFUSED, DATETIME_RANGE, OVERFLOW, cast_failure
from esql.values.literal_contents import (
    read_boolean,
    read_decimal,
    read_float,
    read_integer,
    read_interval_literal,
    read_literal,
)
from esql.values.literals import shown, to_text
from esql.values.types import DECIMAL, Bit, Interval, Moment, Number, Strings, Value, fits_integer, is_gmt, type_of


def characters(value: Strings, job: Job) -> str:
    """The characters of a string: those that its bytes stand for, where it has bytes."""
    if isinstance(value, str):
        return value
    return job.decoded(value if isinstance(value, bytes) else as_bytes(value, job))


def as_bytes(value: Bit, job: Job) -> bytes:
    """The bytes of a BIT string."""
    if value.length % 8:
        raise job.failure(value, f"its {value.length} bits are not whole bytes: the length must be a multiple of 8")
    return value.number.to_bytes(value.length // 8)


def as_bits(value: bytes) -> Bit:
    """The bits of a BLOB.

    >>> as_bits(bytes([5])).digits
    '00000101'
    """
    return Bit(len(value) * 8, int.from_bytes(value))


def _packed(data: bytes, job: Job) -> bytes | Bit:
    return as_bits(data) if job.target.name == "BIT" else data


def to_character(value: Any, job: Job) -> str:
    """A value without a FORMAT as CHARACTER: as a literal, or as the characters that bytes stand for."""
    if job.converts and isinstance(value, bytes | Bit):
        return characters(value, job)
    return to_text(value)


def number_to_character(value: Number, job: Job) -> str:
    """A number as CHARACTER, by FORMAT where there is one."""
    if job.clauses.format is None:
        return to_text(value)
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return number_pattern(job.clauses.format).write(exact)


def moment_to_character(value: Moment, job: Job) -> str:
    """A date or time as CHARACTER, by FORMAT where there is one."""
    if job.clauses.format is None:
        return to_text(value)
    if is_gmt(value) or not isinstance(value, time | datetime):
        return write_moment(value, job.clauses.format, timedelta())
    return write_moment(value, job.clauses.format, job.here.zone())


def formatted(to_characters: Callable[[Any, Job], str]) -> Callable[[Any, Job], bytes | Bit]:
    """The cast of a value by FORMAT to BLOB or BIT: the characters, encoded."""

    def cast(value: Any, job: Job) -> bytes | Bit:
        if job.clauses.format is None:
            raise job.failure(value, "it needs a FORMAT")
        return _packed(job.encoded(to_characters(value, job)), job)

    return cast


def character_to_string(value: str, job: Job) -> bytes | Bit:
    """A CHARACTER as BLOB or BIT: encoded, or read as the digits of a literal."""
    if job.converts:
        return _packed(job.encoded(value), job)
    found: bytes | Bit = read_literal(job.target.name, value)
    return found


def integer_to_string(value: int, job: Job) -> bytes | Bit:
    """An INTEGER as its 64 bits, or by FORMAT as encoded characters."""
    if job.clauses.format is not None:
        return _packed(job.encoded(number_to_character(value, job)), job)
    return _packed(value.to_bytes(8, signed=True), job)


_WORD: Final = 64
_FLOAT_DIGITS: Final = 15


def text_to_number(text: str, job: Job) -> Number:
    """A CHARACTER as a number, by FORMAT or as a literal."""
    kind = job.target.name
    if job.clauses.format is not None:
        return _decimal_to(number_pattern(job.clauses.format).read(text), job)
    if kind == "INTEGER":
        return read_integer(text)
    return read_float(text) if kind == "FLOAT" else fitted(read_decimal(text), job)


def _decimal_to(value: Decimal, job: Job) -> Number:
    kind = job.target.name
    if kind == "INTEGER":
        return decimal_to_integer(value, job)
    return decimal_to_float(value, job) if kind == "FLOAT" else fitted(value, job)


def string_to_number(value: bytes | Bit, job: Job) -> Number:
    """A BLOB or BIT as an INTEGER of 64 bits, or by FORMAT as the characters it holds."""
    if job.clauses.format is not None:
        return text_to_number(characters(value, job), job)
    if job.target.name != "INTEGER":
        raise job.failure(value, "it needs a FORMAT")
    bits = value if isinstance(value, Bit) else as_bits(value)
    if bits.length != _WORD:
        raise job.failure(value, "an INTEGER has 64 bits, which are 8 bytes", OVERFLOW)
    return bits.number - (1 << _WORD) if bits.number >> (_WORD - 1) else bits.number


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
    return _decimal_to(datetimes.counted(value), job)


_MOST_DIGITS: Final = 20


def text_to_moment(value: Strings, job: Job) -> Moment:
    """A string as a date or time, by FORMAT or as a literal."""
    gmt = job.target.name.startswith("GMT")
    pattern = job.clauses.format
    if pattern is None:
        if not isinstance(value, str):
            raise job.failure(value, "it needs a FORMAT")
        found: Moment = datetimes.settled(read_literal(job.target.name, value), job.here.zone, gmt=gmt)
        return found
    fields = read_moment(characters(value, job), pattern)
    now = job.here.now.replace(tzinfo=None) if gmt else job.here.local_now
    moment = fields.timestamp(now)
    if fields.offset is not None:
        moment = datetimes.displaced(moment, (timedelta() if gmt else job.here.zone()) - fields.offset)
    return _part(moment.replace(tzinfo=UTC) if gmt else moment, job)


def _part(moment: datetime, job: Job) -> Moment:
    """The part of a timestamp that the target has."""
    name = job.target.name
    if name == "DATE":
        return moment.date()
    return moment.timetz() if name in {"TIME", "GMTTIME"} else moment


def moment_to_moment(value: Any, job: Job) -> Moment:
    """A date or time as another: the missing part is that of the invocation; GMT kinds change the zone.

    A DATE has no zone: it is taken as it stands.
    """
    here, gmt = job.here, job.target.name.startswith("GMT")
    now = here.now if gmt else here.local_now
    if isinstance(value, time):
        return _timed(value, now, job)
    if not isinstance(value, datetime):
        return _part(datetime.combine(value, now.time(), now.tzinfo), job)
    if job.target.name == "DATE":
        return value.date()
    return _part(_zoned(value, job), job)


def _timed(value: time, now: datetime, job: Job) -> Moment:
    """A time with the date of now, which is that of its new zone."""
    moment: time = _zoned(value, job)
    return moment if job.target.name in {"TIME", "GMTTIME"} else datetime.combine(now.date(), moment)


def _zoned(value: Any, job: Job) -> Any:
    """A time or timestamp in the zone of the target, GMT or local."""
    return (datetimes.gmt if job.target.name.startswith("GMT") else datetimes.local)(value, job.here.zone)


def number_to_interval(value: Number, job: Job) -> Interval:
    """A number as an INTERVAL of one field."""
    units = job.target.units
    if units is None or len(units.fields) > 1:
        raise job.failure(value, "a number becomes an INTERVAL of one field only, such as INTERVAL DAY")
    return datetimes.interval_of(value, units)


def interval_to_interval(value: Interval, job: Job) -> Interval | None:
    """An INTERVAL in other units of its kind."""
    units = job.target.units
    if units is None:
        return value
    if units.has_months != value.qualifier.has_months:
        raise job.failure(value, "months are not so many days: cast within YEAR and MONTH, or within DAY to SECOND")
    return datetimes.in_units(value, units)


# Several values to one


def _rounded(value: Number) -> int:
    return int(_small(Decimal(value)).to_integral_value(ROUND_HALF_EVEN))


def _second(value: Number) -> tuple[int, int]:
    exact = _small(Decimal(repr(value)) if isinstance(value, float) else Decimal(value))
    micros = int((exact * 1_000_000).to_integral_value(ROUND_HALF_EVEN))
    return divmod(micros, 1_000_000)


def _small(value: Decimal) -> Decimal:
    """A number that may be part of a date or time; a huge one is not written out to see that it is none."""
    if not value.is_finite() or value.adjusted() > _MOST_DIGITS:
        raise OverflowError
    return Decimal(0) if value.adjusted() < -_MOST_DIGITS else DECIMAL.plus(value)


def _date_of(parts: tuple[Number, ...]) -> date:
    year, month, day = map(_rounded, parts)
    return date(year, month, day)


def _time_of(parts: tuple[Number, ...]) -> time:
    second, micros = _second(parts[2])
    return time(_rounded(parts[0]), _rounded(parts[1]), second, micros)


def _timestamp_of(parts: tuple[Number, ...]) -> datetime:
    return datetime.combine(_date_of(parts[:3]), _time_of(parts[3:]))


_FROM_NUMBERS: Final[Mapping[tuple[str, int], Callable[[tuple[Number, ...]], Any]]] = {
    ("DATE", 3): _date_of,
    ("TIME", 3): _time_of,
    ("GMTTIME", 3): _time_of,
    ("TIMESTAMP", 6): _timestamp_of,
    ("GMTTIMESTAMP", 6): _timestamp_of,
}


def many_to_one(values: tuple[Value, ...], job: Job) -> Moment:
    """Numbers as a date or time, or a DATE and a time as a timestamp."""
    name = job.target.name
    make = _FROM_NUMBERS.get((name, len(values)))
    if make is not None and all(type_of(value) in {"INTEGER", "DECIMAL", "FLOAT"} for value in values):
        try:
            moment = make(values)
        except (ValueError, OverflowError, ArithmeticError) as error:
            raise _unfit(values, job, "there is no such date or time", DATETIME_RANGE) from error
        return moment.replace(tzinfo=UTC) if name.startswith("GMT") else moment  # type: ignore[no-any-return]
    if name in {"TIMESTAMP", "GMTTIMESTAMP"} and len(values) == 2:
        day, clock = values
        if type(day) is date and isinstance(clock, time):
            return _zoned(datetime.combine(day, clock), job)  # type: ignore[no-any-return]
    raise _unfit(values, job, "DATE and TIME take three numbers, TIMESTAMP six, or a DATE and a TIME")


def _unfit(values: tuple[Value, ...], job: Job, why: str, sqlstate: str = CAST_REFUSED) -> Exception:
    listed = ", ".join(shown(value) for value in values)
    kinds = ", ".join(type_of(value) for value in values)
    return cast_failure(f"({listed})", kinds, job.target.name, why, sqlstate)


_STRINGS: Final = ("CHARACTER", "BLOB", "BIT")
_NUMBERS: Final = ("INTEGER", "DECIMAL", "FLOAT")
_MOMENTS: Final = ("DATE", "TIME", "GMTTIME", "TIMESTAMP", "GMTTIMESTAMP")
_IMPOSSIBLE: Final = frozenset([("DATE", "TIME"), ("DATE", "GMTTIME"), ("TIME", "DATE"), ("GMTTIME", "DATE")])

CASTS: Final[Mapping[tuple[str, str], Callable[[Any, Job], Value]]] = {
    # to strings
    **{(kind, "CHARACTER"): to_character for kind in ("BLOB", "BIT", "BOOLEAN", "INTERVAL")},
    **{(kind, "CHARACTER"): number_to_character for kind in _NUMBERS},
    **{(kind, "CHARACTER"): moment_to_character for kind in _MOMENTS},
    **{("CHARACTER", kind): character_to_string for kind in ("BLOB", "BIT")},
    **{(kind, to): formatted(number_to_character) for kind in _NUMBERS for to in ("BLOB", "BIT")},
    **{(kind, to): formatted(moment_to_character) for kind in _MOMENTS for to in ("BLOB", "BIT")},
    **{("INTEGER", kind): integer_to_string for kind in ("BLOB", "BIT")},
    ("BIT", "BLOB"): as_bytes,
    ("BLOB", "BIT"): lambda value, _: as_bits(value),
    # to numbers and BOOLEAN
    **{("CHARACTER", kind): text_to_number for kind in _NUMBERS},
    **{(kind, to): string_to_number for kind in ("BLOB", "BIT") for to in _NUMBERS},
    **{("INTERVAL", kind): interval_to_number for kind in _NUMBERS},
    ("INTEGER", "DECIMAL"): lambda value, job: fitted(Decimal(value), job),
    ("INTEGER", "FLOAT"): to_float,
    ("DECIMAL", "INTEGER"): decimal_to_integer,
    ("DECIMAL", "FLOAT"): to_float,
    ("FLOAT", "INTEGER"): float_to_integer,
    ("FLOAT", "DECIMAL"): float_to_decimal,
    ("CHARACTER", "BOOLEAN"): lambda text, _: read_boolean(text),
    # to dates, times and intervals
    **{(kind, to): text_to_moment for kind in _STRINGS for to in _MOMENTS},
    **{
        (kind, to): moment_to_moment
        for kind in _MOMENTS
        for to in _MOMENTS
        if kind != to and (kind, to) not in _IMPOSSIBLE
    },
    ("CHARACTER", "INTERVAL"): lambda text, job: read_interval_literal(text, job.target.units),
    **{(kind, "INTERVAL"): number_to_interval for kind in _NUMBERS},
    # to the same type
    **{(kind, kind): lambda value, _: value for kind in (*_STRINGS, "INTEGER", "FLOAT", "BOOLEAN", *_MOMENTS)},
    ("DECIMAL", "DECIMAL"): fitted,
    ("INTERVAL", "INTERVAL"): interval_to_interval,
}
# casts that FORMAT alone makes possible
BY_FORMAT: Final = frozenset(
    pair
    for string in ("BLOB", "BIT")
    for other in ("FLOAT", "DECIMAL", *_MOMENTS)
    for pair in ((string, other), (other, string))
)
