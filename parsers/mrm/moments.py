"""Dates and times of messages: as text by format strings, as binary integers, packed, or seconds since 1970."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, Literal, NamedTuple

from engine.moments import MomentError, read_moment, write_moment
from engine.moments.patterns import tokens
from parsers.mrm.stored import Stored, garbled, unfit

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
_BINARY: Final = re.compile(r"(y+|M+|d+|H+|m+|s+|S+)(?:\+([0-9]{1,9}))?|(X+)")


class Moments(NamedTuple):
    """What a field with dates or times is called, which logical kind it has, by which format, in which century."""

    what: str
    kind: str
    format: str
    century: int = 53

    def read(self, text: str) -> date | time:
        """The value of a text; raises MomentError. A text that names an offset from GMT is of that time in GMT."""
        fields = read_moment(text, self.format, self.century)
        return self.of(fields.timestamp(_EPOCH) - (fields.offset or timedelta()))

    def write(self, value: Any) -> str:
        """The text of a value."""
        if isinstance(value, str):
            value = self._written(value)
        if not isinstance(value, date | time):
            raise unfit(self.what, value, "takes a date or time")
        if self.kind in {"dateTime", "time"} or not isinstance(value, datetime):
            offset = value.utcoffset() if isinstance(value, datetime | time) else None
        else:
            offset = None
        try:
            return write_moment(value, self.format, offset or timedelta())
        except MomentError as error:
            raise unfit(self.what, value, f"takes what {self.format!r} has ({error.why})") from error

    def of(self, moment: datetime) -> date | time:
        """The part of a moment that a value of this kind has."""
        if self.kind == "dateTime":
            return moment
        return moment.time() if self.kind == "time" else moment.date()

    def _written(self, text: str) -> date | time:
        """A text as XML Schema writes it, which is how models write defaults."""
        try:
            return self.of(read_moment(text, "I").timestamp(_EPOCH))
        except MomentError:
            try:
                return self.read(text)
            except MomentError as error:
                raise unfit(self.what, text, f"takes a date or time ({error.why})") from error


def value_of(text: str, pattern: str, kind: str, *, century: int = 53, offset: timedelta | None = None) -> date | time:
    """The value of a kind that a text means by a pattern; with an offset, its own or the one given, it is in GMT.

    >>> value_of("2004-10-07T11:16:56+02:00", "I", "dateTime")
    datetime.datetime(2004, 10, 7, 9, 16, 56, tzinfo=datetime.timezone.utc)
    """
    fields = read_moment(text, pattern, century)
    moment = fields.timestamp(_EPOCH)
    if kind == "dateTime":
        away = offset if fields.offset is None else fields.offset
        return moment if away is None else (moment - away).replace(tzinfo=UTC)
    return moment.time() if kind == "time" else moment.date()


def text_of(value: Any, pattern: str) -> str:
    """A date or time by a pattern, in its own zone.

    >>> text_of(date(2004, 10, 7), "dd/MM/yyyy")
    '07/10/2004'
    """
    if not isinstance(value, date | time):
        raise TypeError(value)
    zone = value.utcoffset() if isinstance(value, datetime | time) else None
    return write_moment(value, pattern, zone or timedelta())


def packed_moments(size: int, moments: Moments, positive: str = "C") -> Stored:
    """The digits of a date or time as a packed decimal.

    >>> packed_moments(5, Moments("F", "date", "yyyyMMdd")).decode(bytes.fromhex("020040229c"), 0, 5)
    datetime.date(2004, 2, 29)
    """
    width = sum(token.size for token in tokens(moments.format))

    def decode(data: bytes, at: int, end: int) -> Any:
        text = data[at:end].hex()
        if not text[:-1].isdecimal() or text[-1].isdecimal() or text[: -1 - width].strip("0"):
            raise garbled(moments.what, data, at, end, f"is no packed decimal of {width} digits")
        try:
            return moments.read(text[-1 - width : -1])
        except MomentError as error:
            raise garbled(moments.what, data, at, end, f"is not as {moments.format!r} has it: {error.why}") from error

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
        value = moments._written(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    if isinstance(value, date):
        return datetime.combine(value, time())
    if isinstance(value, time):
        return datetime.combine(_EPOCH.date(), value.replace(tzinfo=None))
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
    pieces = [(m[1] or m[3], int(m[2] or 0)) for m in _BINARY.finditer(moments.format)]
    if "".join(m[0] for m in _BINARY.finditer(moments.format)) != moments.format or not pieces:
        raise unfit(moments.what, moments.format, "takes a binary format such as yyyyMMdd or ssssMMMM+1")
    size = sum(len(letters) for letters, _ in pieces)

    def decode(data: bytes, at: int, end: int) -> Any:
        found = {"y": 1970, "M": 1, "d": 1, "H": 0, "m": 0, "s": 0, "S": 0}
        start = at
        for letters, added in pieces:
            found[letters[0]] = int.from_bytes(data[start : start + len(letters)], order) + added
            start += len(letters)
        try:
            day = datetime(found["y"], found["M"], found["d"], found["H"], found["m"], found["s"])
            return moments.of(day.replace(microsecond=found["S"] * 1000))
        except (ValueError, OverflowError) as error:
            raise garbled(moments.what, data, at, end, f"is not as {moments.format!r} has it: {error}") from error

    def encode(value: Any, length: int) -> bytes:
        moment = _moment_of(value, moments)
        try:
            return b"".join(
                (0 if letters[0] == "X" else _PARTS[letters[0]](moment) - added).to_bytes(len(letters), order)
                for letters, added in pieces
            )
        except OverflowError as error:
            raise unfit(moments.what, value, f"takes what {moments.format!r} has room for") from error

    return Stored(size, decode, encode)
