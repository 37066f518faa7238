"""Arithmetic of dates, times and intervals."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from esql.runtime.invocation import Zone, local_zone
from esql.values.errors import DATETIME_RANGE, INTERVAL_RANGE, ValueFailure, division_by_zero, wrong_types
from esql.values.literals import shown
from esql.values.types import (
    DECIMAL,
    FIELDS,
    MICROSECONDS,
    Interval,
    Moment,
    Number,
    Qualifier,
    Value,
    is_gmt,
    qualifier,
    type_of,
)

DAY: Final = qualifier("DAY")
_DAY: Final = MICROSECONDS["DAY"]
_MOST: Final = 10**18  # no field of an interval has more digits
_EPOCH: Final = datetime(1, 1, 1)
_FURTHEST: Final = 80  # powers of ten beyond which no INTERVAL is left, or nothing of one


def interval(amount: int, units: Qualifier) -> Interval:
    """An interval of so many months or microseconds, less what is smaller than its smallest field.

    >>> interval(90_500_000, qualifier("MINUTE")).amount
    60000000
    """
    if abs(amount) >= _MOST * (12 if units.has_months else MICROSECONDS[units.largest]):
        text = f"an INTERVAL {units} cannot hold {amount}: its first field has at most 18 digits"
        raise ValueFailure(2454, INTERVAL_RANGE, text, str(units))
    found = Interval(amount, units)
    unit = 1 if units.smallest == "SECOND" else found.unit
    rest = abs(amount) % unit
    return Interval(amount - rest if amount >= 0 else amount + rest, units) if rest else found


def add_intervals(left: Interval, right: Interval) -> Interval:
    """The sum of two intervals of a kind; its units are those of both.

    >>> str(add_intervals(Interval(0, qualifier("DAY", "HOUR")), Interval(0, qualifier("MINUTE", "SECOND"))).qualifier)
    'DAY TO SECOND'
    """
    one, other = left.qualifier, right.qualifier
    if one.has_months != other.has_months:
        raise wrong_types("+", f"INTERVAL {one}", f"INTERVAL {other}")
    units = one
    if one != other:
        largest = min(one.largest, other.largest, key=FIELDS.index)
        units = qualifier(largest, max(one.smallest, other.smallest, key=FIELDS.index))
    return interval(left.amount + right.amount, units)


def negated(value: Interval) -> Interval:
    """The interval with the other sign."""
    return Interval(-value.amount, value.qualifier)


def scale(value: Interval, factor: Number) -> Interval:
    """The interval so many times; what is smaller than its smallest field is cut off.

    >>> scale(Interval(90, qualifier("MONTH")), 1.5).amount
    135
    """
    return _interval_near(value.amount * _exact(factor), value.qualifier)


def divide(value: Interval, divisor: Number) -> Interval:
    """The interval in so many parts."""
    if divisor == 0:
        raise division_by_zero(shown(value))
    return _interval_near(value.amount / _exact(divisor), value.qualifier)


def _interval_near(amount: Fraction, units: Qualifier) -> Interval:
    """Of months only the whole ones count; microseconds are rounded, as factors are often not exact."""
    return interval(int(amount) if units.has_months else round(amount), units)


def _exact(number: Number) -> Fraction:
    """A number as a fraction; one that leaves no INTERVAL, or nothing of one, as a smaller one that does the same."""
    value = DECIMAL.plus(Decimal(repr(number)) if isinstance(number, float) else Decimal(number))
    if not value.is_finite():
        raise ValueFailure(2454, INTERVAL_RANGE, f"an INTERVAL cannot be scaled by {shown(number)}")
    if value and abs(value.adjusted()) > _FURTHEST:
        furthest = Fraction(10) ** (_FURTHEST if value.adjusted() > 0 else -_FURTHEST)
        return -furthest if value.is_signed() else furthest
    return Fraction(value)


def shift(moment: Moment, by: Interval) -> Moment:
    """The date or time an interval later; a day that its month has not becomes the last day of the month.

    >>> shift(date(2000, 1, 31), Interval(1, qualifier("MONTH")))
    datetime.date(2000, 2, 29)
    """
    if isinstance(moment, time):
        if by.qualifier.has_months:
            raise wrong_types("+", type_of(moment), f"INTERVAL {by.qualifier}")
        return _time((micros(moment) + by.amount) % _DAY, moment)
    try:
        if by.qualifier.has_months:
            return _shift_months(moment, by.amount)
        if isinstance(moment, datetime):
            return moment + timedelta(microseconds=by.amount)
        return (datetime.combine(moment, time()) + timedelta(microseconds=by.amount)).date()
    except (ValueError, OverflowError) as error:
        text = f"{shown(moment)} and {shown(by)} lead beyond the years 1 to 9999"
        raise ValueFailure(2455, DATETIME_RANGE, text, shown(moment), shown(by)) from error


def _shift_months(moment: date, months: int) -> date:
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    return moment.replace(year, month + 1, min(moment.day, monthrange(year, month + 1)[1]))


def micros(moment: time | datetime) -> int:
    """The microseconds since midnight."""
    return ((moment.hour * 60 + moment.minute) * 60 + moment.second) * 1_000_000 + moment.microsecond


def _time(count: int, like: time) -> time:
    return (_EPOCH + timedelta(microseconds=count)).time().replace(tzinfo=like.tzinfo)


def local(moment: Any, zone: Zone) -> Any:
    """A GMTTIME or GMTTIMESTAMP as TIME or TIMESTAMP; others as they are.

    >>> local(time(23, 30, tzinfo=UTC), lambda: timedelta(hours=1))
    datetime.time(0, 30)
    """
    return displaced(moment.replace(tzinfo=None), zone()) if is_gmt(moment) else moment


def gmt(moment: Any, zone: Zone) -> Any:
    """A TIME or TIMESTAMP as GMTTIME or GMTTIMESTAMP."""
    if is_gmt(moment):
        return moment
    return displaced(moment, -zone()).replace(tzinfo=UTC)


def displaced(moment: Any, by: timedelta) -> Any:
    """A date or time so much later, as another zone has it; a time wraps at midnight."""
    if isinstance(moment, time):
        return (datetime.combine(date(2000, 1, 1), moment) + by).time()
    try:
        return moment + by
    except OverflowError as error:
        text = f"{shown(moment)} leads beyond the years 1 to 9999 in the other time zone"
        raise ValueFailure(2455, DATETIME_RANGE, text, shown(moment)) from error


def settled(moment: Any, zone: Zone, *, gmt: bool) -> Any:
    """A time or timestamp that was read with an offset from GMT of its own, in GMT or in local time.

    >>> from datetime import timezone
    >>> settled(time(10, tzinfo=timezone(timedelta(hours=2))), lambda: timedelta(hours=1), gmt=False)
    datetime.time(9, 0)
    """
    if not is_gmt(moment) or (gmt and moment.tzinfo is UTC):
        return moment
    at = moment.utcoffset()
    inside = displaced(moment.replace(tzinfo=None), -at).replace(tzinfo=UTC)
    return inside if gmt else local(inside, zone)


def refuse_bare_difference(left: Moment, right: Moment) -> Value:
    """A difference of dates or times without units."""
    text = f"the difference of {shown(left)} and {shown(right)} needs units: write (a - b) DAY, or other units"
    raise ValueFailure(2420, "S42804", text, "-", type_of(left), type_of(right))


def difference(left: Value, right: Value, units: Qualifier, zone: Zone = local_zone) -> Interval | None:
    """`(left - right) units` of two dates, two times or two timestamps.

    Months are those of the calendar: from the last of a month to the first of the next is one. What is smaller than
    the smallest field is cut off.

    >>> difference(date(2000, 3, 1), date(2000, 2, 28), DAY).amount // _DAY
    2
    """
    if left is None or right is None:
        return None
    one, other = local(left, zone), local(right, zone)
    if type(one) is not type(other) or not isinstance(one, date | time):
        raise wrong_types("-", type_of(left), type_of(right))
    if isinstance(one, time):
        if units.has_months:
            raise wrong_types(f"(a - b) {units}", type_of(left), type_of(right))
        return interval(micros(one) - micros(other), units)
    if units.has_months:
        years, months = one.year - other.year, one.month - other.month
        return interval(years * 12 + (0 if units.smallest == "YEAR" else months), units)
    if not isinstance(one, datetime):
        return interval((one - other).days * _DAY, units)
    return interval((one - other) // timedelta(microseconds=1), units)


def in_units(value: Interval | None, units: Qualifier) -> Interval | None:
    """An interval in other units of its kind.

    >>> in_units(Interval(90 * 60_000_000, qualifier("MINUTE")), qualifier("HOUR")).amount // MICROSECONDS["HOUR"]
    1
    """
    if value is None:
        return None
    if not isinstance(value, Interval):
        raise wrong_types(f"(…) {units}", type_of(value))
    if value.qualifier.has_months != units.has_months:
        raise wrong_types(f"(…) {units}", f"INTERVAL {value.qualifier}")
    return interval(value.amount, units)


def counted(value: Interval) -> Decimal:
    """Returns how many of its one field an interval is."""
    return Decimal(value.amount) / Decimal(value.unit)


def interval_of(count: Number, units: Qualifier) -> Interval:
    """The interval of so many of its one field.

    >>> interval_of(30, DAY).amount // _DAY
    30
    """
    exact = _exact(count)
    whole = exact if units.smallest == "SECOND" else round(exact)
    return interval(round(whole * Interval(0, units).unit), units)
