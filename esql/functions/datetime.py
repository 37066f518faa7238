"""Datetime functions: EXTRACT, and the moment at which the node was invoked."""

from __future__ import annotations

import datetime
from calendar import isleap
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from engine.dates.patterns import day_of_week, week_of_month, week_of_year
from esql.functions import GmtTime, GmtTimestamp, OneOf, function
from esql.runtime.invocation import Invocation
from esql.values.errors import NUMERIC_ARGUMENT, ValueFailure, wrong_argument
from esql.values.literals import shown
from esql.values.types import FIELDS, MICROSECONDS, SECOND, Interval, Value, interval_fields, qualifier, type_of

_OF_DATES: Final[Mapping[str, Callable[[datetime.date], Any]]] = {
    "YEAR": lambda day: day.year,
    "MONTH": lambda day: day.month,
    "DAY": lambda day: day.day,
    "DAYS": lambda day: day.toordinal(),
    "DAYOFYEAR": lambda day: day.timetuple().tm_yday,
    "DAYOFWEEK": day_of_week,
    "MONTHS": lambda day: (day.year - 1) * 12 + day.month,
    "QUARTEROFYEAR": lambda day: (day.month + 2) // 3,
    "QUARTERS": lambda day: (day.year - 1) * 4 + (day.month + 2) // 3,
    # 1 January 0001 was a Monday: the first Sunday is day 7.
    "WEEKS": lambda day: day.toordinal() // 7 + 1,
    "WEEKOFYEAR": week_of_year,
    "WEEKOFMONTH": week_of_month,
    "ISLEAPYEAR": lambda day: isleap(day.year),
}
_OF_TIMES: Final[Mapping[str, Callable[[Any], Any]]] = {
    "HOUR": lambda moment: moment.hour,
    "MINUTE": lambda moment: moment.minute,
    "SECOND": lambda moment: moment.second + moment.microsecond / SECOND,
}


# The parts that values of a type have.
PARTS: Final[Mapping[str, frozenset[str]]] = {
    "DATE": frozenset(_OF_DATES),
    **dict.fromkeys(("TIME", "GMTTIME"), frozenset(_OF_TIMES)),
    **dict.fromkeys(("TIMESTAMP", "GMTTIMESTAMP"), frozenset((*_OF_DATES, *_OF_TIMES))),
    "INTERVAL": frozenset(FIELDS),
}


@function("EXTRACT", form=True)
def extract(part: Annotated[str, OneOf(PARTS)], source: Value) -> Value:
    """A field of a date, a time or an interval.

    Form: EXTRACT(part FROM source). DAYS, WEEKS, MONTHS and QUARTERS count from the one with 1 January 0001, which is
    the first; weeks begin on Sunday, which is DAYOFWEEK 1, and the first week is that of 1 January.

    `EXTRACT(YEAR FROM DATE '2000-02-29') = 2000`
    `EXTRACT(MONTH FROM DATE '2000-02-29') = 2`
    `EXTRACT(DAY FROM DATE '2000-02-29') = 29`
    `EXTRACT(HOUR FROM TIME '12:40:15.25') = 12`
    `EXTRACT(MINUTE FROM TIMESTAMP '2000-02-29 12:40:15') = 40`
    `EXTRACT(SECOND FROM TIME '12:40:15.25') = 15.25E0`
    `EXTRACT(SECOND FROM GMTTIME '12:40:15') = 15E0`
    `EXTRACT(DAYS FROM DATE '2000-02-29') = 730179`
    `EXTRACT(DAYS FROM DATE '0001-01-01') = 1`
    `EXTRACT(DAYOFYEAR FROM DATE '2000-12-31') = 366`
    `EXTRACT(DAYOFWEEK FROM DATE '2000-02-27') = 1`
    `EXTRACT(DAYOFWEEK FROM DATE '2000-02-29') = 3`
    `EXTRACT(MONTHS FROM DATE '0001-01-01') = 1`
    `EXTRACT(MONTHS FROM DATE '2000-02-29') = 23990`
    `EXTRACT(QUARTEROFYEAR FROM DATE '2000-04-01') = 2`
    `EXTRACT(QUARTERS FROM DATE '2000-02-29') = 7997`
    `EXTRACT(WEEKS FROM DATE '0001-01-06') = 1`
    `EXTRACT(WEEKS FROM DATE '0001-01-07') = 2`
    `EXTRACT(WEEKOFYEAR FROM DATE '2000-01-01') = 1`
    `EXTRACT(WEEKOFYEAR FROM DATE '2000-01-02') = 2`
    `EXTRACT(WEEKOFMONTH FROM DATE '2006-07-05') = 2`
    `EXTRACT(ISLEAPYEAR FROM DATE '2000-02-29')`
    `EXTRACT(ISLEAPYEAR FROM DATE '1900-02-28') = FALSE`
    `EXTRACT(MONTH FROM INTERVAL '2-06' YEAR TO MONTH) = 6`
    `EXTRACT(DAY FROM INTERVAL '1 02:30' DAY TO MINUTE) = 1`
    `EXTRACT(SECOND FROM INTERVAL '-15.7' SECOND) = -15.7E0`
    `EXTRACT(HOUR FROM INTERVAL '90' MINUTE) = 1`
    `EXTRACT(HOUR FROM LOCAL_TIMEZONE) = 1`
    `EXTRACT(HOUR FROM DATE '2000-02-29') fails S22023`
    `EXTRACT(YEAR FROM TIME '12:40:15') fails S22023`
    `EXTRACT(SECOND FROM INTERVAL '1' HOUR) fails S22023`
    `EXTRACT(YEAR FROM NULL) IS NULL`
    `EXTRACT(YEAR FROM '2000-02-29') fails S42804`
    """
    if isinstance(source, Interval):
        return _of_interval(part, source)
    if not isinstance(source, datetime.date | datetime.time):
        raise wrong_argument("EXTRACT", "source", "a date, time or interval", f"{type_of(source)} {shown(source)}")
    if isinstance(source, datetime.date) and part in _OF_DATES:
        return _OF_DATES[part](source)
    if isinstance(source, datetime.time | datetime.datetime) and part in _OF_TIMES:
        return _OF_TIMES[part](source)
    raise _absent(part, source)


def _of_interval(part: str, source: Interval) -> Value:
    """A field of an interval; one that is larger than its largest is what the others come to."""
    units = source.qualifier
    if part not in FIELDS or (part in {"YEAR", "MONTH"}) != units.has_months:
        raise _absent(part, source)
    fields = units.fields
    if part not in fields and FIELDS.index(part) > FIELDS.index(units.smallest):
        raise _absent(part, source)
    if part in fields:
        found = interval_fields(source)[fields.index(part)]
    else:
        found = interval_fields(Interval(source.amount, qualifier(part, units.smallest)))[0]
    found = -found if source.amount < 0 else found
    return found / MICROSECONDS["SECOND"] if part == "SECOND" else found


def _absent(part: str, source: Value) -> ValueFailure:
    text = f"EXTRACT: {shown(source)} has no {part}: extract a field that {type_of(source)} has"
    return ValueFailure(2457, NUMERIC_ARGUMENT, text, part, shown(source))


@function("CURRENT_DATE", parentheses="never")
def current_date(*, here: Invocation) -> datetime.date:
    """The date at which the node was invoked, in local time.

    `CURRENT_DATE = DATE '2003-05-23'`
    """
    return here.local_now.date()


@function("CURRENT_TIME", parentheses="never")
def current_time(*, here: Invocation) -> datetime.time:
    """The time at which the node was invoked, in local time.

    `CURRENT_TIME = TIME '10:11:12.123456'`
    """
    return here.local_now.time()


@function("CURRENT_TIMESTAMP", parentheses="never")
def current_timestamp(*, here: Invocation) -> datetime.datetime:
    """The date and time at which the node was invoked, in local time.

    `CURRENT_TIMESTAMP = TIMESTAMP '2003-05-23 10:11:12.123456'`
    `CURRENT_TIMESTAMP - LOCAL_TIMEZONE = TIMESTAMP '2003-05-23 09:11:12.123456'`
    """
    return here.local_now


@function("CURRENT_GMTDATE", parentheses="never")
def current_gmt_date(*, here: Invocation) -> datetime.date:
    """The date at which the node was invoked, in GMT.

    `CURRENT_GMTDATE = DATE '2003-05-23'`
    """
    return here.now.date()


@function("CURRENT_GMTTIME", parentheses="never")
def current_gmt_time(*, here: Invocation) -> GmtTime:
    """The time at which the node was invoked, in GMT.

    `CURRENT_GMTTIME = GMTTIME '09:11:12.123456'`
    `CURRENT_GMTTIME = CURRENT_TIME`
    """
    return here.now.timetz()


@function("CURRENT_GMTTIMESTAMP", parentheses="never")
def current_gmt_timestamp(*, here: Invocation) -> GmtTimestamp:
    """The date and time at which the node was invoked, in GMT.

    `CURRENT_GMTTIMESTAMP = GMTTIMESTAMP '2003-05-23 09:11:12.123456'`
    `CURRENT_GMTTIMESTAMP = CURRENT_TIMESTAMP`
    """
    return here.now


@function("LOCAL_TIMEZONE", parentheses="never")
def local_timezone(*, here: Invocation) -> Interval:
    """Returns how far local time is from GMT: subtracted from a local time it gives GMT.

    `CAST(LOCAL_TIMEZONE AS CHARACTER) = 'INTERVAL ''60'' MINUTE'`
    `LOCAL_TIMEZONE = INTERVAL '1' HOUR`
    """
    return Interval(here.zone() // datetime.timedelta(microseconds=1), qualifier("MINUTE"))
