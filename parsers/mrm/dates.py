"""Dates and times of messages: as text by format strings, as binary integers, packed, or seconds since 1970."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, Literal, NamedTuple

from engine.dates.patterns import MomentError, at_offset, in_gmt, offset_of, tokens, write_moment
from engine.dates.reading import Fields, read_moment
from parsers.mrm.simple_values import Stored, garbled, unfit

DEFAULT_FORMATS: Final = {
    "dateTime": "yyyy-MM-dd'T'HH:mm:ss",
    "date": "yyyy-MM-dd",
    "time": "HH:mm:ssZZZ",
    "gYear": "yyyy",
    "gYearMonth": "yyyy-MM",
    "gMonth": "--MM",
    "gMonthDay": "--MM-dd",
    "gDay": "---dd",
}
_EPOCH: Final = datetime(1970, 1, 1)
_LEAP: Final = datetime(1972, 1, 1)
_CLOCK: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.][0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})?"
_WHOLE: Final = {
    "dateTime": re.compile(rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_CLOCK}"),
    "time": re.compile(_CLOCK),
}
_BINARY: Final = re.compile(r"(y+|M+|d+|H+|m+|s+|S+)(?:\+([0-9]{1,9}))?|(X+)")


class Moments(NamedTuple):
    """The name of a field with dates or times, its logical kind, its format, and the century of two-digit years.

    Without a format, dates and times have the form of their kind, and in it all that they hold.
    """

    what: str
    kind: str
    format: str = ""
    century: int = 53

    @property
    def pattern(self) -> str:
        """The format, or that of the kind."""
        return self.format or DEFAULT_FORMATS[self.kind]

    def read(self, text: str) -> date | time:
        """The value of a text; raises MomentError. A text that names an offset from GMT is of that time in GMT."""
        return value_of(text, self.pattern, self.kind, century=self.century, whole=not self.format)

    def write(self, value: Any) -> str:
        """The text of a value."""
        if isinstance(value, str):
            value = self.written(value)
        if not isinstance(value, date | time):
            raise unfit(self.what, value, "takes a date or time")
        try:
            return text_of(value, self.pattern, whole=not self.format)
        except MomentError as error:
            raise unfit(self.what, value, f"takes what {self.pattern!r} has ({error.why})") from error

    def of(self, moment: datetime) -> date | time:
        """The part of a moment that a value of this kind has."""
        if self.kind == "dateTime":
            return moment
        return moment.time() if self.kind == "time" else moment.date()

    def written(self, text: str) -> date | time:
        """The value of a text as XML Schema writes it, which is how models write defaults, or as the format has it."""
        try:
            return value_of(text, "I", self.kind)
        except MomentError:
            try:
                return self.read(text)
            except MomentError as error:
                raise unfit(self.what, text, f"takes a date or time ({error.why})") from error


def value_of(
    text: str,
    pattern: str,
    kind: str,
    *,
    century: int = 53,
    offset: timedelta | None = None,
    whole: bool = False,
) -> date | time:
    """The value of a kind that a text means by a pattern; with an offset, its own or the one given, it is in GMT.

    Where it may be `whole`, a fraction of a second and an offset may follow that the pattern does not have.

    >>> value_of("2004-10-07T11:16:56+02:00", "I", "dateTime").isoformat()
    '2004-10-07T09:16:56+00:00'
    """
    if whole and kind in _WHOLE and _WHOLE[kind].fullmatch(text.strip()):
        pattern = "I"
    fields = read_moment(text, pattern, century)
    moment = _moment_in(fields)
    if kind not in {"dateTime", "time"}:
        return moment.date()
    named = fields.offset if fields.offset is not None or kind == "time" else offset
    if named is not None:
        moment = in_gmt(moment, named)
    return moment if kind == "dateTime" else moment.timetz()


def _moment_in(fields: Fields) -> datetime:
    """The moment that fields say; without a year it is of 1970, or of a leap year where 1970 has no such day."""
    try:
        return fields.timestamp(_EPOCH)
    except MomentError:
        if fields.numbers.keys() & {"y", "Y"}:
            raise
        return fields.timestamp(_LEAP)


def text_of(value: Any, pattern: str, *, offset: timedelta | None = None, whole: bool = False) -> str:
    """A date or time by a pattern, in its own zone; by one that shows no zone at the offset given, or in GMT.

    Where it is to be `whole`, what the pattern lacks of it is added: a fraction of a second, and its zone.

    >>> text_of(date(2004, 10, 7), "dd/MM/yyyy"), text_of(time(1, 2, 3, 4000), "HH:mm:ss", whole=True)
    ('07/10/2004', '01:02:03.004')
    """
    if not isinstance(value, date | time):
        raise TypeError(value)
    own = offset_of(value)
    if whole and isinstance(value, datetime | time):
        pattern = _whole_pattern(value, pattern, zoned=own is not None and offset is None)
    if own is None:
        return write_moment(value, pattern, timedelta())
    shown = own if _has_zone(pattern) else offset or timedelta()
    return write_moment(at_offset(value, shown), pattern, shown)


def _whole_pattern(value: datetime | time, pattern: str, *, zoned: bool) -> str:
    """The pattern of a kind with what a value has beyond it."""
    if value.microsecond:
        pattern = pattern.replace("ss", "ss.SSS" if value.microsecond % 1000 == 0 else "ss.SSSSSS")
    return pattern + "ZZZU" if zoned and "ss" in pattern and not _has_zone(pattern) else pattern


def _has_zone(pattern: str) -> bool:
    return any(token.symbol in {"z", "Z", "I", "T"} for token in tokens(pattern))


def packed_moments(size: int, moments: Moments, positive: str = "C") -> Stored:
    """The digits of a date or time as a packed decimal.

    >>> packed_moments(5, Moments("F", "date", "yyyyMMdd")).decode(bytes.fromhex("020040229c"), 0, 5)
    datetime.date(2004, 2, 29)
    """
    width = sum(token.size for token in tokens(moments.pattern))

    def decode(data: bytes, at: int, end: int) -> Any:
        text = data[at:end].hex()
        if not text[:-1].isdecimal() or text[-1].isdecimal() or text[: -1 - width].strip("0"):
            raise garbled(moments.what, data, at, end, f"is no packed decimal of {width} digits")
        try:
            return moments.read(text[-1 - width : -1])
        except MomentError as error:
            raise garbled(moments.what, data, at, end, f"is not as {moments.pattern!r} has it: {error.why}") from error

    def encode(value: Any, length: int) -> bytes:
        digits = moments.write(value)
        if len(digits) > 2 * length - 1 or not digits.isdecimal():
            raise unfit(moments.what, value, f"has room for {2 * length - 1} digits")
        return bytes.fromhex(digits.rjust(2 * length - 1, "0") + positive.lower())

    return Stored(size, decode, encode)


def epoch_moments(size: int, moments: Moments, *, per_second: int, order: Literal["big", "little"]) -> Stored:
    """Seconds, or milliseconds, since 1970 in GMT, as a binary integer."""

    def decode(data: bytes, at: int, end: int) -> Any:
        try:
            passed = int.from_bytes(data[at:end], order, signed=True)
            return moments.of(_EPOCH + timedelta(microseconds=passed * (1_000_000 // per_second)))
        except OverflowError as error:
            raise garbled(moments.what, data, at, end, "is beyond the years that there are") from error

    def encode(value: Any, length: int) -> bytes:
        passed = _moment_of(value, moments) - _EPOCH
        try:
            return (passed // timedelta(microseconds=1_000_000 // per_second)).to_bytes(length, order, signed=True)
        except OverflowError as error:
            raise unfit(moments.what, value, f"has room for {length} bytes since 1970") from error

    return Stored(size, decode, encode)


def _moment_of(value: Any, moments: Moments) -> datetime:
    if isinstance(value, str):
        value = moments.written(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    if isinstance(value, date):
        return datetime.combine(value, time())
    if isinstance(value, time):
        return datetime.combine(_EPOCH.date(), value if value.tzinfo is None else at_offset(value, timedelta()))
    raise unfit(moments.what, value, "takes a date or time")


_PARTS: Final[dict[str, Callable[[datetime], int]]] = {
    "y": lambda moment: moment.year,
    "M": lambda moment: moment.month,
    "d": lambda moment: moment.day,
    "H": lambda moment: moment.hour,
    "m": lambda moment: moment.minute,
    "s": lambda moment: moment.second,
    "S": lambda moment: moment.microsecond // 1000,
}


def binary_moments(moments: Moments, order: Literal["big", "little"]) -> Stored:
    """Binary integers, one for each symbol of the format and as long as it is repeated; +n is what they lack.

    >>> tm = binary_moments(Moments("tm", "date", "ddMM+1yy+1900XX"), "big")
    >>> tm.decode(bytes.fromhex("001d000100680000"), 0, 8)
    datetime.date(2004, 2, 29)
    """
    pieces = [(m[1] or m[3], int(m[2] or 0)) for m in _BINARY.finditer(moments.pattern)]
    if "".join(m[0] for m in _BINARY.finditer(moments.pattern)) != moments.pattern or not pieces:
        raise unfit(moments.what, moments.pattern, "takes a binary format such as yyyyMMdd or ssssMMMM+1")
    size = sum(len(letters) for letters, _ in pieces)

    def decode(data: bytes, at: int, end: int) -> Any:
        found = {"M": 1, "d": 1, "H": 0, "m": 0, "s": 0, "S": 0}
        start = at
        for letters, added in pieces:
            found[letters[0]] = int.from_bytes(data[start : start + len(letters)], order) + added
            start += len(letters)
        try:
            year = found.get("y", _LEAP.year if (found["M"], found["d"]) == (2, 29) else _EPOCH.year)
            day = datetime(year, found["M"], found["d"], found["H"], found["m"], found["s"])
            return moments.of(day.replace(microsecond=found["S"] * 1000))
        except (ValueError, OverflowError) as error:
            raise garbled(moments.what, data, at, end, f"is not as {moments.pattern!r} has it: {error}") from error

    def encode(value: Any, length: int) -> bytes:
        moment = _moment_of(value, moments)
        try:
            return b"".join(
                (0 if letters[0] == "X" else _PARTS[letters[0]](moment) - added).to_bytes(len(letters), order)
                for letters, added in pieces
            )
        except OverflowError as error:
            raise unfit(moments.what, value, f"takes what {moments.pattern!r} has room for") from error

    return Stored(size, decode, encode)
