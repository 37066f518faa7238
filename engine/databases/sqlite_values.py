"""Values of SQLite's columns by the types that these are declared with: exact, and refused where they do not fit."""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from engine.databases.driver import ColumnType, Duration

NOT_A_NUMBER: Final = "22P02"
NOT_A_MOMENT: Final = "22007"
OUT_OF_RANGE: Final = "22003"
WRONG_TYPE: Final = "42804"
_DIGITS: Final = 15  # that a REAL keeps of a decimal
_WHOLE_DIGITS: Final = 18  # that an INTEGER keeps
_LARGEST: Final = 2**63
_DAY: Final = 86_400_000_000  # microseconds
_EXACT: Final = Context(prec=10_000)
_TRUTHS: Final = MappingProxyType(
    {**dict.fromkeys(("1", "t", "true", "y", "yes", "on"), True), **dict.fromkeys(("0", "f", "false", "n"), False)}
)


class UnfitError(ValueError):
    """A value that a column of its type does not take, with the SQLSTATE that PostgreSQL gives for it."""

    def __init__(self, state: str, text: str) -> None:
        super().__init__(text)
        self.state = state


def is_wide(type_: ColumnType) -> bool:
    """Returns True for a type of decimals that neither INTEGER nor REAL of SQLite keeps exactly."""
    if type_.kind != "decimal":
        return False
    most = _WHOLE_DIGITS if type_.scale == 0 else _DIGITS
    return type_.precision is None or type_.precision > most


# values of columns as they are read


def _lenient(read: Callable[[str], Any]) -> Callable[[bytes], Any]:
    """A converter of what a column holds; what is no value of the declared type stays text."""

    def converted(data: bytes) -> Any:
        try:
            return read(data.decode())
        except (ValueError, KeyError, InvalidOperation):
            return data.decode(errors="replace")

    return converted


def _date(text: str) -> date:
    return date.fromisoformat(text[:10]) if len(text) in {10, 19} else date.fromisoformat(text)


def _duration(text: str) -> Duration:
    """An interval as `Duration` writes it."""
    sign = -1 if text.startswith("-") else 1
    months = re.fullmatch(r"-?(\d+)-(\d\d)", text)
    if months:
        return Duration(sign * (int(months[1]) * 12 + int(months[2])))
    clock = re.fullmatch(r"-?(\d+) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?", text)
    if clock is None:
        raise ValueError(text)
    days, hours, minutes, seconds = (int(clock[number]) for number in range(1, 5))
    whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return Duration(0, sign * (whole * 1_000_000 + int((clock[5] or "").ljust(6, "0"))))


_READ: Final[Mapping[str, Callable[[str], Any]]] = MappingProxyType(
    {
        "decimal": Decimal,
        "timestamp": datetime.fromisoformat,
        "boolean": lambda text: _TRUTHS[text.lower()],
        "date": _date,
        "time": time.fromisoformat,
        "interval": _duration,
    }
)
_SYNONYMS: Final = MappingProxyType(
    {
        **dict.fromkeys(("NUMERIC", "NUMBER", "DEC"), "decimal"),
        **dict.fromkeys(("DATETIME", "TIMESTAMPTZ"), "timestamp"),
        "TIMETZ": "time",
        "BOOL": "boolean",
    }
)
CONVERTERS: Final = MappingProxyType(
    {
        **{kind.upper(): _lenient(read) for kind, read in _READ.items()},
        **{name: _lenient(_READ[kind]) for name, kind in _SYNONYMS.items()},
    }
)


def reader(type_: ColumnType) -> Callable[[Any], Any] | None:
    """A function for values that SQLite gives without the declared type of a column, and for all decimals."""
    if type_.kind == "decimal":
        return _decimal_reader(type_)
    read = CONVERTERS.get(type_.kind.upper()) if type_.computed else None
    return None if read is None else lambda value: value if value is None else read(str(value).encode())


def decimal_of(value: Any) -> Decimal:
    """The decimal that SQLite keeps as a number, or as its characters.

    >>> decimal_of(0.1), decimal_of(b"12345678901234567.89")
    (Decimal('0.1'), Decimal('12345678901234567.89'))
    """
    if isinstance(value, float):
        return Decimal(repr(value))
    try:
        return Decimal(value.decode() if isinstance(value, bytes) else value)
    except (InvalidOperation, UnicodeDecodeError):
        raise UnfitError(NOT_A_NUMBER, f"{value!r} is no number") from None


def _decimal_reader(type_: ColumnType) -> Callable[[Any], Any]:
    """A function for what SQLite gives of a decimal: with the digits behind the point that its type has."""
    unit = None if type_.scale is None else Decimal(1).scaleb(-type_.scale)

    def read(value: Any) -> Any:
        if value is None:
            return None
        try:
            found = value if isinstance(value, Decimal) else decimal_of(value)
        except ValueError:
            return value
        return found if unit is None or not found.is_finite() else found.quantize(unit, context=_EXACT)

    return read


# values of programs as columns keep them


@lru_cache(maxsize=1024)
def binder(type_: ColumnType) -> Callable[[Any], Any]:
    """A function for values that are kept in columns of a type, or compared with them; raises UnfitError."""
    make = _BINDERS.get(type_.kind)
    return _as_it_is if make is None else make(type_)


def _as_it_is(value: Any) -> Any:
    if isinstance(value, Decimal):
        return kept(value) if _is_short(value) else str(value)
    if isinstance(value, bool):
        return int(value)
    return _moment_text(value)


def _moment_text(value: Any) -> Any:
    if isinstance(value, datetime):
        return _without_zone(value).isoformat(" ")
    if isinstance(value, time):
        return value.replace(tzinfo=None).isoformat()
    return value.isoformat() if isinstance(value, date) else str(value) if isinstance(value, Duration) else value


def _without_zone(value: datetime) -> datetime:
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value


def _text(_: ColumnType) -> Callable[[Any], Any]:
    def bound(value: Any) -> Any:
        if isinstance(value, bool):
            return str(value).lower()
        return str(value) if isinstance(value, Decimal) else _moment_text(value)

    return bound


def _integer(type_: ColumnType) -> Callable[[Any], Any]:
    def bound(given: Any) -> Any:
        value = given
        if isinstance(value, str):
            try:
                value = int(value)
            except ValueError:
                raise UnfitError(NOT_A_NUMBER, f"{given!r} is no INTEGER") from None
        if isinstance(value, float) and type_.stored:
            value = Decimal(round(value)) if abs(value) < _LARGEST else Decimal(value)
        if isinstance(value, Decimal):
            if type_.stored and value.is_finite():
                value = value.to_integral_value(ROUND_HALF_UP)
            value = kept(value, compared=not type_.stored)
        if type_.stored and isinstance(value, int | float | bytes) and not _fits_integer(value):
            raise UnfitError(OUT_OF_RANGE, f"{given} is no INTEGER of 64 bits")
        return value if value is None or isinstance(value, int | float) else _refused(value, "INTEGER")

    return bound


def _fits_integer(value: Any) -> bool:
    return isinstance(value, int) and -_LARGEST <= value < _LARGEST


def _decimal(type_: ColumnType) -> Callable[[Any], Any]:
    unit = None if type_.scale is None else Decimal(1).scaleb(-type_.scale)
    largest = None if type_.precision is None else Decimal(1).scaleb(type_.precision - (type_.scale or 0))
    wide = is_wide(type_)

    def bound(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
            return _refused(value, "DECIMAL")
        number = value if isinstance(value, Decimal) else decimal_of(value)
        if not type_.stored or not number.is_finite():
            return kept(number, compared=not wide)
        if unit is not None and number.as_tuple().exponent < unit.as_tuple().exponent:  # type: ignore[operator]  # finite
            number = number.quantize(unit, ROUND_HALF_UP, _EXACT)
        if largest is not None and abs(number) >= largest:
            title = f"DECIMAL({type_.precision},{type_.scale or 0})"
            raise UnfitError(OUT_OF_RANGE, f"{number} has more digits than a {title} keeps")
        return kept(number)

    return bound


def kept(value: Decimal, *, compared: bool = False) -> Any:
    """A decimal in the one form that SQLite keeps exactly: an INTEGER, a REAL, or its characters as a BLOB.

    What is only compared with INTEGERs and REALs becomes one that is between the same neighbours.
    """
    if not value.is_finite():
        return float(value) if value.is_infinite() else b"NaN"
    if abs(value) < _LARGEST and value == value.to_integral_value():
        return int(value)
    if _is_short(value):
        return float(value)
    return _beside(value) if compared else f"{value.normalize(_EXACT):f}".encode()


def _is_short(value: Decimal) -> bool:
    if not value.is_finite() or (abs(value) < _LARGEST and value == value.to_integral_value()):
        return True
    return len(value.normalize(_EXACT).as_tuple().digits) <= _DIGITS


def _beside(value: Decimal) -> float:
    """A float that is no decimal of 15 digits, and has the same ones below it as a decimal of more digits.

    >>> 0.1 < _beside(Decimal("0.10000000000000000001")) < 0.100000000000001
    True
    """
    found = float(value)
    nearest = Decimal(f"{found:.{_DIGITS}g}")
    if float(nearest) != found or nearest == value:
        return found
    return math.nextafter(found, math.inf if value > nearest else -math.inf)


def _float(_: ColumnType) -> Callable[[Any], Any]:
    def bound(value: Any) -> Any:
        try:
            return float(value) if isinstance(value, int | Decimal | str) else value
        except ValueError:
            raise UnfitError(NOT_A_NUMBER, f"{value!r} is no number") from None

    return bound


def _number(_: ColumnType) -> Callable[[Any], Any]:
    """A function for operands of arithmetic, whose decimals stay apart from floats."""

    def bound(value: Any) -> Any:
        if isinstance(value, str):
            value = decimal_of(value)
        return exact(value) if isinstance(value, Decimal) else _as_it_is(value)

    return bound


def exact(value: Decimal) -> Any:
    """A decimal between two steps of arithmetic in SQL: its characters as a BLOB."""
    return str(value).encode()


def _boolean(_: ColumnType) -> Callable[[Any], Any]:
    def bound(value: Any) -> Any:
        known = _TRUTHS.get(str(value).lower())
        return int(known) if known is not None else value if value is None else _refused(value, "BOOLEAN")

    return bound


def _moment(title: str, own: type, read: Callable[[str], Any], adapt: Callable[[Any], Any]) -> Any:
    def bound(value: Any) -> Any:
        if isinstance(value, str):
            try:
                value = read(value.strip())
            except ValueError:
                raise UnfitError(NOT_A_MOMENT, f"{value!r} is no {title}") from None
        value = adapt(value)
        return _moment_text(value) if value is None or isinstance(value, own) else _refused(value, title)

    return lambda _: bound


def moved(moment: str, by: str, *, backwards: bool) -> str:
    """A date, a time or a timestamp as SQLite keeps it, an interval later or earlier.

    >>> moved("2020-01-31", "0-01", backwards=False), moved("2020-03-01 00:00:00", "1 00:00:00.5", backwards=True)
    ('2020-02-29', '2020-02-28 23:59:59.500000')
    """
    try:
        step = _duration(by)
    except ValueError:  # the interval stands in front
        moment, step = by, _duration(moment)
    sign = -1 if backwards else 1
    is_time = ":" in moment[:3]
    at = datetime.fromisoformat(f"2000-01-01 {moment}" if is_time else moment)
    months = at.year * 12 + at.month - 1 + sign * step.months
    first = at.replace(year=months // 12, month=months % 12 + 1, day=1)
    last = calendar.monthrange(first.year, first.month)[1]
    found = first.replace(day=min(at.day, last)) + timedelta(microseconds=sign * step.microseconds)
    if is_time:
        return found.time().isoformat()
    is_date = len(moment) == 10 and not step.microseconds % _DAY
    return found.date().isoformat() if is_date else found.isoformat(" ")


def _day_of(value: Any) -> Any:
    return _without_zone(value).date() if isinstance(value, datetime) else value


def _timestamp_of(value: Any) -> Any:
    is_date = isinstance(value, date) and not isinstance(value, datetime)
    return datetime(value.year, value.month, value.day) if is_date else value


def _time_of(value: Any) -> Any:
    return _without_zone(value).time() if isinstance(value, datetime) else value


def _blob(_: ColumnType) -> Callable[[Any], Any]:
    def bound(value: Any) -> Any:
        if isinstance(value, str):
            try:
                return bytes.fromhex(value[2:]) if value.startswith("\\x") else value.encode()
            except ValueError:
                raise UnfitError(NOT_A_NUMBER, f"{value!r} is no BLOB") from None
        return value if value is None or isinstance(value, bytes) else _refused(value, "BLOB")

    return bound


def _refused(value: Any, title: str) -> Any:
    raise UnfitError(WRONG_TYPE, f"a column of type {title} takes no {type(value).__name__}: CAST it")


_BINDERS: Final = MappingProxyType(
    {
        "text": _text,
        "integer": _integer,
        "decimal": _decimal,
        "float": _float,
        "number": _number,
        "boolean": _boolean,
        "date": _moment("DATE", date, datetime.fromisoformat, _day_of),
        "timestamp": _moment("TIMESTAMP", datetime, datetime.fromisoformat, _timestamp_of),
        "time": _moment("TIME", time, time.fromisoformat, _time_of),
        "blob": _blob,
    }
)
