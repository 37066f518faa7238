"""Patterns of dates and times: their symbols, zones, how values are written, and MomentError, why one cannot be."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Any, Final, NamedTuple

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
    return f"{at_offset(value, offset).isoformat()}{offset_text(offset, 3)}"


FORM: Final = "form"  # the text, or the value, does not have what the pattern asks for
BEYOND: Final = "beyond"  # it has, and there is no such day or hour
PATTERN: Final = "pattern"  # the pattern itself is none


WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def day_of_week(day: date) -> int:
    """The day of the week: Sunday is 1.

    >>> day_of_week(date(2006, 7, 12))
    4
    """
    return day.isoweekday() % 7 + 1


def _weeks_since(start: date, day: date) -> int:
    return ((day - start).days + day_of_week(start) - 1) // 7 + 1


def week_of_year(day: date) -> int:
    """The week of the year, counted from the one with 1 January.

    >>> week_of_year(date(2000, 2, 29)), week_of_year(date(2006, 12, 31))
    (10, 53)
    """
    return _weeks_since(day.replace(month=1, day=1), day)


def week_of_month(day: date) -> int:
    """The week of the month, counted from the one with its first day.

    >>> week_of_month(date(2006, 7, 5))
    2
    """
    return _weeks_since(day.replace(day=1), day)


def year_and_week(day: date) -> tuple[int, int]:
    """The week of the year as FORMAT has it: the last days of December belong to the week of the next 1 January.

    >>> year_and_week(date(2006, 12, 31)), year_and_week(date(2006, 12, 30))
    ((2007, 1), (2006, 52))
    """
    if day.month == 12 and day.day + 7 - day_of_week(day) > 31:
        return day.year + 1, 1
    return day.year, week_of_year(day)


def in_week(start: date, week: int, weekday: int) -> date:
    """The day of a week that is counted from the one with `start`.

    >>> in_week(date(2005, 1, 1), 1, 2)
    datetime.date(2004, 12, 27)
    """
    return start + timedelta(days=(week - 1) * 7 + weekday - day_of_week(start))


class MomentError(Exception):
    """An error in a text, a value or a pattern; `kind` says in which of them."""

    def __init__(self, why: str, kind: str) -> None:
        super().__init__(why)
        self.why = why
        self.kind = kind


SYMBOLS: Final = frozenset("adDeEFGhHIkKmMsSTwWyYzZ")
MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*U?|[^A-Za-z']+")


class Token(NamedTuple):
    """A piece of a pattern: a symbol and how often it stands there, or text with no symbol."""

    symbol: str
    size: int
    text: str = ""
    zulu: bool = False


@lru_cache(maxsize=512)
def tokens(pattern: str) -> tuple[Token, ...]:
    """The pieces of a pattern.

    >>> [token.symbol * token.size or token.text for token in tokens("yyyy-MM'T'")]
    ['yyyy', '-', 'MM', 'T']
    """
    found, end = [], 0
    for match in _TOKEN.finditer(pattern):
        if match.start() != end:
            raise _refused(pattern, "a quote is not closed")
        found.append(_token(pattern, match[0]))
        end = match.end()
    if end != len(pattern) or not pattern:
        raise _refused(pattern, "a quote is not closed" if pattern else "it is empty")
    alone = [token for token in found if token.symbol in {"I", "T"}]
    if alone and len(found) > 1:
        raise _refused(pattern, f"{alone[0].symbol} stands alone only")
    return tuple(found)


def _token(pattern: str, text: str) -> Token:
    if text[0] == "'":
        return Token("", 0, "'" if text == "''" else text[1:-1].replace("''", "'"))
    if not text[0].isalpha():
        return Token("", 0, text)
    zulu = text[-1] == "U"
    letters = text[:-1] if zulu else text
    symbol = letters[:1]
    if symbol not in SYMBOLS or (zulu and symbol not in {"I", "T", "Z"}):
        raise _refused(pattern, f"{text[0] if not zulu else text!r} is not one of its symbols")
    return Token(symbol, len(letters), "", zulu)


def _refused(pattern: str, why: str) -> MomentError:
    return MomentError(f"{pattern!r} is no FORMAT of dates and times: {why}, as in 'yyyy-MM-dd HH:mm:ss'", PATTERN)


def write_moment(value: date | time, pattern: str, displacement: timedelta) -> str:
    """A date or time as a pattern has it; the displacement is that of its time zone.

    >>> write_moment(datetime(2004, 10, 7, 11, 16, 56), "yyyyMMdd-HHmmss", timedelta())
    '20041007-111656'
    """
    return "".join(token.text or _WRITERS[token.symbol](value, token, displacement) for token in tokens(pattern))


def _day_of(value: Any, token: Token) -> date:
    if isinstance(value, date):
        return value
    raise MomentError(f"a time has no {token.symbol * token.size}", FORM)


def _time_of(value: Any, token: Token) -> time | datetime:
    if isinstance(value, time | datetime):
        return value
    raise MomentError(f"a DATE has no {token.symbol * token.size}", FORM)


def _of_day(number: Callable[[date], int]) -> Callable[[Any, Token, timedelta], str]:
    return lambda value, token, _: f"{number(_day_of(value, token)):0{token.size}d}"


def _of_time(number: Callable[[Any], int]) -> Callable[[Any, Token, timedelta], str]:
    return lambda value, token, _: f"{number(_time_of(value, token)):0{token.size}d}"


def _name(names: tuple[str, ...], at: int, count: int) -> str:
    return names[at] if count >= 4 else names[at][:3]


def _month(value: Any, token: Token, _: timedelta) -> str:
    month = _day_of(value, token).month
    return _name(MONTHS, month - 1, token.size) if token.size > 2 else f"{month:0{token.size}d}"


def _fraction(value: Any, token: Token, _: timedelta) -> str:
    """Fractions of a second are cut off, not rounded."""
    return f"{_time_of(value, token).microsecond:06d}".ljust(token.size, "0")[: token.size]


def _era(value: Any, token: Token, _: timedelta) -> str:
    _day_of(value, token)
    return "AD"


def _two_digits(year: int, count: int) -> str:
    return f"{year % 100:02d}" if count == 2 else f"{year:0{count}d}"


def offset_text(displacement: timedelta, count: int, *, zulu: bool = False) -> str:
    """An offset from GMT: +3, +03 or +03:00.

    >>> offset_text(timedelta(hours=-3), 1), offset_text(timedelta(0), 3, zulu=True)
    ('-3', 'Z')
    """
    if zulu and not displacement:
        return "Z"
    minutes = abs(displacement) // timedelta(minutes=1)
    sign = "-" if displacement < timedelta(0) else "+"
    hours, minutes = divmod(minutes, 60)
    text = f"{sign}{hours}" if count == 1 else f"{sign}{hours:02d}"
    return f"{text}:{minutes:02d}" if count > 2 or minutes else text


def _offset(value: Any, token: Token, displacement: timedelta) -> str:
    _time_of(value, token)
    return offset_text(displacement, token.size, zulu=token.zulu)


def _zone_name(value: Any, token: Token, displacement: timedelta) -> str:
    _time_of(value, token)
    if displacement:
        return f"GMT{offset_text(displacement, 3)}"
    return "Greenwich Mean Time" if token.size > 3 else "GMT"


def _iso(value: Any, token: Token, displacement: timedelta) -> str:
    """ISO 8601: the date, the time to the millisecond, and the offset, as far as the value has them."""
    zulu = token.zulu
    if isinstance(value, datetime):
        return f"{value.year:04d}-{value:%m-%dT}" + _iso_time(value, token, displacement)
    if isinstance(value, date):
        return f"{value.year:04d}-{value:%m-%d}"
    return _iso_time(value, Token("T", 1, "", zulu), displacement)


def _iso_time(value: Any, token: Token, displacement: timedelta) -> str:
    moment = _time_of(value, token)
    offset = offset_text(displacement, 3, zulu=token.zulu)
    return f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03d}{offset}"


_WRITERS: Final[Mapping[str, Callable[[Any, Token, timedelta], str]]] = {
    "a": lambda value, token, _: "AM" if _time_of(value, token).hour < 12 else "PM",
    "d": _of_day(lambda day: day.day),
    "D": _of_day(lambda day: day.timetuple().tm_yday),
    "e": _of_day(day_of_week),
    "E": lambda value, token, _: _name(WEEKDAYS, day_of_week(_day_of(value, token)) - 1, token.size),
    "F": _of_day(lambda day: (day.day - 1) // 7 + 1),
    "G": _era,
    "h": _of_time(lambda moment: (moment.hour - 1) % 12 + 1),
    "H": _of_time(lambda moment: moment.hour),
    "I": _iso,
    "k": _of_time(lambda moment: moment.hour or 24),
    "K": _of_time(lambda moment: moment.hour % 12),
    "m": _of_time(lambda moment: moment.minute),
    "M": _month,
    "s": _of_time(lambda moment: moment.second),
    "S": _fraction,
    "T": _iso_time,
    "w": _of_day(lambda day: year_and_week(day)[1]),
    "W": _of_day(week_of_month),
    "y": lambda value, token, _: _two_digits(_day_of(value, token).year, token.size),
    "Y": lambda value, token, _: _two_digits(year_and_week(_day_of(value, token))[0], token.size),
    "z": _zone_name,
    "Z": _offset,
}
