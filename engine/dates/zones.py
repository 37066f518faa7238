"""Zones: the offset from GMT that a text names, kept with the moment that it means."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, Final

from engine.dates.patterns import BEYOND, MomentError

_NO_DAY: Final = datetime(2000, 1, 1)


class NamedOffset(tzinfo):
    """GMT, as the zone of a moment whose text names another offset, in which it is written again."""

    __slots__ = ("named",)

    def __init__(self, named: timedelta = timedelta()) -> None:
        self.named = named

    def __getinitargs__(self) -> tuple[timedelta]:
        """The arguments of a copy, as `tzinfo` asks for them."""
        return (self.named,)

    def utcoffset(self, _: datetime | None, /) -> timedelta:
        return timedelta()

    def dst(self, _: datetime | None, /) -> None:
        return None

    def tzname(self, _: datetime | None, /) -> str:
        return "UTC"


def displaced(moment: datetime, by: timedelta) -> datetime:
    """A moment so much later; MomentError where there is no such year.

    >>> displaced(datetime(2003, 12, 31), timedelta(days=1))
    datetime.datetime(2004, 1, 1, 0, 0)
    """
    try:
        return moment + by
    except OverflowError as error:
        raise MomentError("it leads beyond the years 1 to 9999", BEYOND) from error


def in_gmt(moment: datetime, named: timedelta) -> datetime:
    """A moment that stands in a text with an offset, in GMT.

    >>> in_gmt(datetime(2003, 1, 2, 10, 11), timedelta(hours=1)).isoformat()
    '2003-01-02T09:11:00+00:00'
    """
    return displaced(moment, -named).replace(tzinfo=NamedOffset(named) if named else UTC)


def offset_of(value: date | time) -> timedelta | None:
    """The offset from GMT in which a value is written; None where it has no zone.

    >>> offset_of(in_gmt(datetime(2003, 1, 2, 10, 11), timedelta(hours=1)))
    datetime.timedelta(seconds=3600)
    """
    if not isinstance(value, datetime | time):
        return None
    return value.tzinfo.named if isinstance(value.tzinfo, NamedOffset) else value.utcoffset()


def at_offset(value: Any, offset: timedelta) -> Any:
    """A date or time with a zone as clocks at an offset show it, without a zone; a time goes round at midnight.

    >>> at_offset(time(23, 30, tzinfo=UTC), timedelta(hours=1))
    datetime.time(0, 30)
    """
    away = offset - value.utcoffset()
    bare = value.replace(tzinfo=None)
    if isinstance(bare, time):
        return (datetime.combine(_NO_DAY, bare) + away).time()
    return displaced(bare, away)


def written_iso(value: date | time) -> str:
    """A date or time as ISO 8601 writes it, in its own zone.

    >>> written_iso(in_gmt(datetime(2003, 1, 2, 10, 11), timedelta(hours=1))), written_iso(date(2003, 1, 2))
    ('2003-01-02T10:11:00+01:00', '2003-01-02')
    """
    offset = offset_of(value)
    if offset is None:
        return value.isoformat()
    text: str = at_offset(value, offset).isoformat()
    if not offset:
        return f"{text}+00:00"
    hours, minutes = divmod(abs(offset) // timedelta(minutes=1), 60)
    return f"{text}{'-' if offset < timedelta() else '+'}{hours:02d}:{minutes:02d}"
