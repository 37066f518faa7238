"""Casts to DATE, TIME, GMTTIME, TIMESTAMP, GMTTIMESTAMP and INTERVAL, and from several values to one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final

from engine.dates.reading import read_moment
from esql.cast.request import Job
from esql.cast.strings import characters
from esql.operators import datetimes
from esql.values.errors import CAST_REFUSED, DATETIME_RANGE, cast_failure
from esql.values.literal_contents import read_interval_literal, read_literal
from esql.values.literals import shown
from esql.values.types import DECIMAL, Interval, Moment, Number, Strings, Value, type_of

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
    converted = datetimes.gmt(value, here.zone) if gmt else datetimes.local(value, here.zone)
    return _part(converted, job)


def _timed(value: time, now: datetime, job: Job) -> Moment:
    """A time with the date of now, which is that of its new zone."""
    here, gmt = job.here, job.target.name.startswith("GMT")
    moment: time = datetimes.gmt(value, here.zone) if gmt else datetimes.local(value, here.zone)
    return moment if job.target.name in {"TIME", "GMTTIME"} else datetime.combine(now.date(), moment)


def text_to_interval(text: str, job: Job) -> Interval:
    """A CHARACTER as an INTERVAL."""
    return read_interval_literal(text, job.target.units)


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
            return _combined(day, clock, job)
    raise _unfit(values, job, "DATE and TIME take three numbers, TIMESTAMP six, or a DATE and a TIME")


def _combined(day: date, clock: time, job: Job) -> datetime:
    """A DATE and a time, which has the zone of both."""
    both = datetime.combine(day, clock)
    found: datetime = (datetimes.gmt if job.target.name.startswith("GMT") else datetimes.local)(both, job.here.zone)
    return found


def _unfit(values: tuple[Value, ...], job: Job, why: str, sqlstate: str = CAST_REFUSED) -> Exception:
    listed = ", ".join(shown(value) for value in values)
    kinds = ", ".join(type_of(value) for value in values)
    return cast_failure(f"({listed})", kinds, job.target.name, why, sqlstate)
