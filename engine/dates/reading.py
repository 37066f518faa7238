"""Dates and times read by patterns: from text to fields, from fields to a value."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Final

import regex

from engine.dates.patterns import (
    BEYOND,
    FORM,
    MONTHS,
    WEEKDAYS,
    MomentError,
    Token,
    day_of_week,
    displaced,
    in_week,
    tokens,
    year_and_week,
)

CENTURY: Final = 53  # two digits from here on are 19xx, those below 20xx
_MOST_FIELDS: Final = 8  # with which there are few ways to try
_PATIENCE: Final = 0.5  # seconds
_MOST: Final = {"D": 3, "y": 4, "Y": 4, "e": 1, "F": 1, "W": 1}
_RANGES: Final = {
    "d": (1, 31),
    "D": (1, 366),
    "e": (1, 7),
    "F": (1, 5),
    "h": (0, 23),
    "H": (0, 24),
    "k": (1, 24),
    "K": (0, 23),
    "m": (0, 59),
    "M": (1, 12),
    "s": (0, 59),
    "w": (1, 54),
    "W": (0, 6),
    "y": (1, 9999),
    "Y": (1, 9999),
}
_NAMED_ZONES: Final = {
    "GMT": 0,
    "UTC": 0,
    "UT": 0,
    "Z": 0,
    "GREENWICH MEAN TIME": 0,
    "BST": 1,
    "CET": 1,
    "CEST": 2,
    "EET": 2,
    "EST": -5,
    "EDT": -4,
    "CST": -6,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
    "PST": -8,
    "PDT": -7,
    "JST": 9,
}
_OFFSET: Final = r"[+-]\d{1,2}(?::?\d{2})?"
_ISO_TIME: Final = (
    r"(?P<H>\d{2})(?::?(?P<m>\d{2})(?::?(?P<s>\d{2})(?:[.,](?P<S>\d+))?)?)?(?P<Z>Z|[+-]\d{2}(?::?\d{2})?)?"
)
_ISO: Final = re.compile(rf"(?P<y>\d{{4}})(?:-?(?P<M>\d{{2}})(?:-?(?P<d>\d{{2}})(?:T{_ISO_TIME})?)?)?", re.ASCII)
_ISO_DAY: Final = re.compile(r"(?P<y>\d{4})-(?P<M>\d{2})-(?P<d>\d{2})(?P<Z>Z|[+-]\d{2}:\d{2})", re.ASCII)  # an xsd:date
_ISO_TRUNCATED: Final = re.compile(r"-(?:-(?P<M>\d{2})(?:-?(?P<d>\d{2}))?|--(?P<D>\d{2}))", re.ASCII)
_ISO_TIME_ALONE: Final = re.compile(rf"T?{_ISO_TIME}", re.ASCII)


@dataclass(slots=True)
class Fields:
    """The fields of a text: numbers by the symbol of the pattern, and the offset of its time zone."""

    century: int = CENTURY
    numbers: dict[str, int] = field(default_factory=dict)
    offset: timedelta | None = None
    afternoon: bool | None = None

    def timestamp(self, now: datetime) -> datetime:
        """The date and time; what the text does not say is taken from the moment given. Hour 24 begins the next day."""
        moment = datetime.combine(self.day(now.date()), self.clock(now.time()))
        return displaced(moment, timedelta(days=1)) if self.numbers.get("H") == 24 else moment

    def day(self, today: date) -> date:
        """The date; where both its year and the year of its week are given, they must be of one date."""
        day, week_year = self._day(today), self.numbers.get("Y")
        if "y" in self.numbers and week_year is not None and year_and_week(day)[0] != week_year:
            raise MomentError(f"{day:%Y-%m-%d} is in no week of {week_year}", BEYOND)
        return day

    def _day(self, today: date) -> date:
        """The date, by its month and day, its day of the year, or its week."""
        numbers = self.numbers
        year = numbers.get("y", numbers.get("Y", today.year))
        try:
            if "D" in numbers:
                return self._same_year(date(year, 1, 1) + timedelta(days=numbers["D"] - 1), year)
            if "d" not in numbers and (found := self._by_week(year, today)) is not None:
                return found
            month = numbers.get("M", today.month)
            return date(year, month, numbers.get("d", min(today.day, monthrange(year, month)[1])))
        except (ValueError, OverflowError) as error:
            raise MomentError("there is no such day", BEYOND) from error

    def _same_year(self, day: date, year: int) -> date:
        if day.year != year:
            raise ValueError(year)
        return day

    def _by_week(self, year: int, today: date) -> date | None:
        numbers = self.numbers
        weekday = numbers.get("e")
        if "w" in numbers:
            return in_week(date(year, 1, 1), numbers["w"], weekday or 1)
        first = date(year, numbers.get("M", today.month), 1)
        if "W" in numbers:
            return in_week(first, numbers["W"], weekday or 1)
        if "F" in numbers and weekday is not None:
            return first.replace(day=(weekday - day_of_week(first)) % 7 + (numbers["F"] - 1) * 7 + 1)
        return None

    def clock(self, now: time) -> time:
        """The time of the day."""
        numbers = self.numbers
        hour = self._hour(now.hour)
        minute, second = numbers.get("m", now.minute), numbers.get("s", now.second)
        micros = numbers.get("S", 0 if "s" in numbers else now.microsecond)
        if hour == 24:
            if minute or second or micros:
                raise MomentError("there is no hour 24 but its beginning", BEYOND)
            hour = 0
        return time(hour, minute, second, micros)

    def _hour(self, now: int) -> int:
        numbers = self.numbers
        if "H" in numbers:
            return numbers["H"]
        if "k" in numbers:
            return numbers["k"] % 24
        hour = numbers.get("h", numbers.get("K"))
        if hour is None:
            return now
        if self.afternoon is None or hour > 12:
            return hour
        return hour % 12 + (12 if self.afternoon else 0)


def read_moment(text: str, pattern: str, century: int = CENTURY) -> Fields:
    """Returns what a text says by a pattern; years of two digits from `century` on are of 1900.

    >>> read_moment("12 Jan 03, 3:45pm", "dd MMM yy, h:mma").timestamp(datetime(2007, 1, 1, 0, 0, 58))
    datetime.datetime(2003, 1, 12, 15, 45, 58)
    """
    pieces = tokens(pattern)
    if pieces[0].symbol in {"I", "T"}:
        return _read_iso(text, time_only=pieces[0].symbol == "T")
    match = _match(pattern, text.strip())
    if match is None:
        raise MomentError(f"it does not have the form {pattern}", FORM)
    fields = Fields(century)
    for token, part in zip([piece for piece in pieces if piece.symbol], match.groups(), strict=True):
        _take(fields, token, part)
    return fields


def _match(pattern: str, text: str) -> re.Match[str] | regex.Match[str] | None:
    """Matches a text; among many fields of which each may take more or less, for so long as any sane text takes."""
    shape = _regex(pattern)
    if shape.groups <= _MOST_FIELDS:
        return shape.fullmatch(text)
    try:
        return regex.fullmatch(shape.pattern, text, regex.ASCII | regex.IGNORECASE | regex.DOTALL, timeout=_PATIENCE)
    except TimeoutError as error:
        raise MomentError(f"the form {pattern[:60]} can be read in too many ways", FORM) from error


def _read_iso(text: str, *, time_only: bool) -> Fields:
    text = text.strip()
    shapes = (_ISO_TIME_ALONE,) if time_only else (_ISO, _ISO_DAY, _ISO_TRUNCATED, _ISO_TIME_ALONE)
    match = next((found for shape in shapes if (found := shape.fullmatch(text))), None)
    if match is None:
        raise MomentError("it is not of the form of ISO 8601", FORM)
    parts = match.groupdict()
    if parts.get("D") is not None:
        parts["d"] = parts.pop("D")
    fields = Fields()
    for symbol, part in parts.items():
        if part is not None:
            _take(fields, Token(symbol, len(part)), part)
    _complete(fields, dated="y" in parts)
    return fields


def _complete(fields: Fields, *, dated: bool) -> None:
    """Fill in the beginning of the year, the day or the hour, which a shorter form of ISO 8601 leaves out."""
    rest = ("M", "d", "H", "m", "s") if dated else ("m", "s") if "H" in fields.numbers else ()
    for symbol in rest:
        fields.numbers.setdefault(symbol, 1 if symbol in {"M", "d"} else 0)


def _take(fields: Fields, token: Token, part: str) -> None:
    special = _SPECIAL.get(token.symbol)
    if special is not None:
        special(fields, token, part)
        return
    if token.symbol == "M" and token.size > 2:
        fields.numbers["M"] = _index(MONTHS, part) + 1
        return
    number = int(part)
    if token.symbol in {"y", "Y"} and token.size == 2:
        number += 1900 if number >= fields.century else 2000
    low, high = _RANGES[token.symbol]
    if not low <= number <= high:
        raise MomentError(f"{part} is not from {low} to {high}", BEYOND)
    fields.numbers[token.symbol] = number


def _take_half(fields: Fields, _: Token, part: str) -> None:
    fields.afternoon = part[0] in "pP"


def _take_weekday(fields: Fields, _: Token, part: str) -> None:
    fields.numbers["e"] = _index(WEEKDAYS, part) + 1


def _take_fraction(fields: Fields, _: Token, part: str) -> None:
    fields.numbers["S"] = int(part.ljust(6, "0")[:6])


def _take_era(_: Fields, __: Token, part: str) -> None:
    if part.upper() == "BC":
        raise MomentError("there are no dates before the year 1", BEYOND)


def _take_zone(fields: Fields, _: Token, part: str) -> None:
    name, sign, offset = re.match(r"([^+-]*)([+-]?)(.*)", part.upper(), re.DOTALL).groups()  # type: ignore[union-attr]
    hours, minutes = _NAMED_ZONES.get(name.strip(), 0), 0
    if sign:
        digits = offset.replace(":", "")
        hours, minutes = (int(digits), 0) if len(digits) < 3 else (int(digits[:-2]), int(digits[-2:]))
        if hours > 23 or minutes > 59:
            raise MomentError(f"{part} is no offset from GMT", BEYOND)
    shift = timedelta(hours=hours, minutes=minutes)
    fields.offset = -shift if sign == "-" else shift


_SPECIAL: Final[Mapping[str, Callable[[Fields, Token, str], None]]] = {
    "a": _take_half,
    "E": _take_weekday,
    "S": _take_fraction,
    "G": _take_era,
    "z": _take_zone,
    "Z": _take_zone,
}


def _index(names: tuple[str, ...], part: str) -> int:
    return next(at for at, name in enumerate(names) if name.upper().startswith(part.upper()))


def _names(names: tuple[str, ...]) -> str:
    return "|".join([*names, *(name[:3] for name in names)])


_TEXT_SHAPES: Final = {
    "a": "[AaPp][Mm]",
    "E": _names(WEEKDAYS),
    "G": "AD|BC",
    "z": "(?:" + "|".join(sorted(_NAMED_ZONES, key=len, reverse=True)) + rf")(?:{_OFFSET})?|{_OFFSET}",
    "Z": f"Z|(?:GMT)?{_OFFSET}",
}


@lru_cache(maxsize=512)
def _regex(pattern: str) -> re.Pattern[str]:
    """The shape of a pattern; of numbers that touch, the first takes what is left over."""
    pieces = tokens(pattern)
    shapes = []
    for place, token in enumerate(pieces):
        if not token.symbol:
            shapes.append(re.escape(token.text))
            continue
        touched = place > 0 and _is_number(pieces[place - 1])
        touches = place + 1 < len(pieces) and _is_number(pieces[place + 1])
        shapes.append(f"({_shape(token, after=touched, before=touches)})")
    return re.compile("".join(shapes), re.ASCII | re.IGNORECASE | re.DOTALL)


def _is_number(token: Token) -> bool:
    return bool(token.symbol) and token.symbol not in _TEXT_SHAPES and not (token.symbol == "M" and token.size > 2)


def _shape(token: Token, *, after: bool, before: bool) -> str:
    symbol, count = token.symbol, token.size
    if symbol in _TEXT_SHAPES:
        return _TEXT_SHAPES[symbol]
    if symbol == "M" and count > 2:
        return _names(MONTHS)
    if symbol == "S" or after or (symbol in {"y", "Y"} and count == 2):
        return rf"\d{{{count}}}"
    most = max(count, _MOST.get(symbol, 2))
    return rf"\d{{{count if before else 1},{most}}}"
