"""Contents of literals between their quotes, and numbers, read as values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, Final

from esql.values.errors import CAST_REFUSED, DATETIME_RANGE, FORMAT_OF_DATETIME, INTERVAL_RANGE, OVERFLOW
from esql.values.types import DECIMAL, MICROSECONDS, SECOND, Bit, Interval, Qualifier, fits_integer, qualifier

_INTEGER: Final = re.compile(r"([+-]?)\s*(?:0[xX]([0-9a-fA-F]+)|([0-9]+))", re.ASCII)
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]{1,12})?", re.ASCII)
_SPECIAL: Final = {"INF": "Infinity", "INFINITY": "Infinity", "NAN": "NaN"}
_DATE: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_TIME: Final = re.compile(r"(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?(Z|[+-]\d{2}:?\d{2})?", re.ASCII)
_SEPARATED: Final = re.compile(r"(\S+?)(?:\s+|T)(\d+:.*)", re.ASCII | re.DOTALL)
_SHAPES: Final = {"YEAR": "", "MONTH": "-", "DAY": "", "HOUR": r"\s++", "MINUTE": ":", "SECOND": ":"}
_LIMITS: Final = {"MONTH": 12, "HOUR": 24, "MINUTE": 60, "SECOND": 60}


class UnreadableError(Exception):
    """Text that is not what it is said to be: why, and the SQLSTATE that says so."""

    def __init__(self, why: str, sqlstate: str = CAST_REFUSED) -> None:
        super().__init__(why)
        self.why = why
        self.sqlstate = sqlstate


def read_integer(text: str) -> int:
    """An INTEGER: digits, or 0x and hexadecimal digits, with a sign in front.

    >>> read_integer(" -42 "), read_integer("0x2A")
    (-42, 42)
    """
    if len(text) < 19 and text.isascii() and text.isdigit():
        return int(text)
    match = _INTEGER.fullmatch(text.strip())
    if match is None:
        raise UnreadableError("an INTEGER is written in digits, with a sign in front or none")
    sign, hexadecimal, digits = match.groups()
    if len(digits or hexadecimal) > 400:
        raise UnreadableError("it does not fit 64 bits: CAST AS DECIMAL", OVERFLOW)
    number = int(hexadecimal, 16) if hexadecimal else int(digits)
    number = -number if sign == "-" else number
    if not fits_integer(number):
        raise UnreadableError("it does not fit 64 bits: CAST AS DECIMAL", OVERFLOW)
    return number


def read_decimal(text: str) -> Decimal:
    """A DECIMAL: digits with a point and an exponent, or INF, -INF, NAN.

    >>> read_decimal("1.50"), read_decimal("-inf")
    (Decimal('1.50'), Decimal('-Infinity'))
    """
    text = text.strip()
    special = _SPECIAL.get(text.lstrip("+-").upper())
    if special is not None and len(text) - len(text.lstrip("+-")) <= 1:
        return Decimal(f"-{special}" if text[0] == "-" and special != "NaN" else special)
    if _DECIMAL.fullmatch(text) is None:
        raise UnreadableError("a DECIMAL is written in digits, with a point, a sign and an exponent where needed")
    return DECIMAL.create_decimal(text)


def read_float(text: str) -> float:
    """A FLOAT: digits with a point and an exponent.

    >>> read_float("6.6e-34"), read_float("INF")
    (6.6e-34, inf)
    """
    number = read_decimal(text)
    found = float(number)
    if math.isinf(found) and number.is_finite():
        raise UnreadableError("it is too large for a FLOAT: CAST AS DECIMAL", OVERFLOW)
    return found


def read_number(text: str) -> float | Decimal:
    """A number written with a point or an exponent: a FLOAT, or a DECIMAL where no FLOAT is that large.

    >>> read_number("1.5"), read_number("1E400")
    (1.5, Decimal('1E+400'))
    """
    number = DECIMAL.create_decimal(text)
    found = float(number)
    return number if math.isinf(found) or (found == 0.0 and number != 0) else found


def integer_or_decimal(number: int) -> int | Decimal:
    """Returns what digits alone mean: an INTEGER, or a DECIMAL where 64 bits are too few.

    >>> integer_or_decimal(2**63)
    Decimal('9223372036854775808')
    """
    return number if fits_integer(number) else DECIMAL.create_decimal(number)


def read_boolean(text: str) -> bool | None:
    """A BOOLEAN: TRUE, FALSE or UNKNOWN in any case.

    >>> read_boolean("True"), read_boolean("unknown")
    (True, None)
    """
    word = text.strip().upper()
    if word not in {"TRUE", "FALSE", "UNKNOWN"}:
        raise UnreadableError("a BOOLEAN is TRUE, FALSE or UNKNOWN")
    return None if word == "UNKNOWN" else word == "TRUE"


def read_blob(text: str) -> bytes:
    """A BLOB: pairs of hexadecimal digits.

    >>> read_blob("4a4B").decode()
    'JK'
    """
    if not re.fullmatch(r"(?:[0-9a-fA-F]{2})*", text):
        raise UnreadableError("a BLOB is written in pairs of hexadecimal digits, as X'0A0B' or 0A0B; or name a CCSID")
    return bytes.fromhex(text)


def read_bit(text: str) -> Bit:
    """A BIT: digits 0 and 1.

    >>> read_bit("101").digits
    '101'
    """
    if not re.fullmatch("[01]*", text):
        raise UnreadableError("a BIT is written in the digits 0 and 1, as B'101' or 101; or name a CCSID")
    return Bit.of(text)


def read_date(text: str) -> date:
    """A DATE: year, month and day.

    >>> read_date("2000-02-29")
    datetime.date(2000, 2, 29)
    """
    match = _DATE.fullmatch(text.strip())
    if match is None:
        raise UnreadableError("a DATE is written as yyyy-mm-dd", FORMAT_OF_DATETIME)
    try:
        return date(*map(int, match.groups()))
    except ValueError as error:
        raise UnreadableError("there is no such day", DATETIME_RANGE) from error


def read_time(text: str) -> time:
    """A TIME: hours, minutes and seconds; with an offset from GMT behind it, it knows its zone.

    >>> read_time("09:24:15.5")
    datetime.time(9, 24, 15, 500000)
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise UnreadableError("a TIME is written as hh:mm:ss or hh:mm:ss.ffffff", FORMAT_OF_DATETIME)
    hour, minute, second, fraction, offset = match.groups()
    micros = int((fraction or "").ljust(6, "0"))
    try:
        return time(int(hour), int(minute), int(second), micros, tzinfo=_zone(offset))
    except ValueError as error:
        raise UnreadableError("there is no such time of the day", DATETIME_RANGE) from error


def _zone(offset: str | None) -> timezone | None:
    if offset is None:
        return None
    if offset == "Z":
        return UTC
    shift = timedelta(hours=int(offset[1:3]), minutes=int(offset[-2:]))
    return timezone(-shift if offset[0] == "-" else shift)


def read_timestamp(text: str) -> datetime:
    """A TIMESTAMP: a DATE and a TIME, with a blank or a T between them.

    >>> read_timestamp("2003-05-23 10:11:12")
    datetime.datetime(2003, 5, 23, 10, 11, 12)
    """
    match = _SEPARATED.fullmatch(text.strip())
    if match is None:
        raise UnreadableError("a TIMESTAMP is written as yyyy-mm-dd hh:mm:ss.ffffff", FORMAT_OF_DATETIME)
    return datetime.combine(read_date(match[1]), read_time(match[2]))


def _gmt(moment: time | datetime) -> time | datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def read_interval(text: str, units: Qualifier) -> Interval:
    """An INTERVAL of this qualifier; only the first field may be of any size.

    >>> read_interval("-2-06", qualifier("YEAR", "MONTH")).amount
    -30
    """
    pattern = "".join(f"{_SHAPES[name] if place else ''}({_digits(name)})" for place, name in enumerate(units.fields))
    # possessive, here and below: blanks that no one way fits are not shared out in all others
    match = re.fullmatch(rf"\s*+([+-]?)\s*+{pattern}\s*+", text, re.ASCII)
    if match is None:
        raise UnreadableError(f"it is not written as an INTERVAL {units}", INTERVAL_RANGE)
    sign, *parts = match.groups()
    amount = 0
    for place, (name, part) in enumerate(zip(units.fields, parts, strict=True)):
        if place and int(part.partition(".")[0]) >= _LIMITS[name]:
            raise UnreadableError(f"its {name} is {_LIMITS[name]} or more", INTERVAL_RANGE)
        amount += _amount(name, part)
    return Interval(-amount if sign == "-" else amount, units)


def _digits(name: str) -> str:
    return r"\d{1,18}(?:\.\d*)?" if name == "SECOND" else r"\d{1,18}"


def _amount(name: str, digits: str) -> int:
    if name == "SECOND":
        whole, _, fraction = digits.partition(".")
        return int(whole) * SECOND + int(fraction.ljust(6, "0")[:6])
    return int(digits) * ({"YEAR": 12, "MONTH": 1}.get(name) or MICROSECONDS[name])


_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "INTEGER": read_integer,
    "DECIMAL": read_decimal,
    "FLOAT": read_float,
    "BOOLEAN": read_boolean,
    "BLOB": read_blob,
    "BIT": read_bit,
    "DATE": read_date,
    "TIME": read_time,
    "TIMESTAMP": read_timestamp,
    "GMTTIME": lambda text: _gmt(read_time(text)),
    "GMTTIMESTAMP": lambda text: _gmt(read_timestamp(text)),
}


def read_contents(kind: str, text: str) -> Any:
    """The value of what stands between the quotes of a literal of this type.

    >>> read_contents("DATE", "2000-02-29")
    datetime.date(2000, 2, 29)
    """
    return _READERS[kind](text)


_MARKED: Final = re.compile(r"\s*+([A-Za-z]++)\s*+'([^']*+)'\s*+", re.ASCII)
_MARKS: Final = {"BLOB": "X", "BIT": "B"}
_INTERVAL: Final = re.compile(
    r"\s*+INTERVAL\s*+([+-]?)\s*+'([^']*+)'\s*+([A-Za-z]++)(?:\s++TO\s++([A-Za-z]++))?\s*+",
    re.ASCII | re.IGNORECASE,
)


def read_literal(kind: str, text: str) -> Any:
    """The value of a literal or of its bare contents, as CAST takes them from CHARACTER.

    >>> read_literal("DATE", "DATE '2002-10-05'") == read_literal("DATE", "2002-10-05")
    True
    """
    match = _MARKED.fullmatch(text) if "'" in text else None
    if match is not None and match[1].upper() == _MARKS.get(kind, kind):
        return _READERS[kind](match[2])
    return _READERS[kind](text)


def read_interval_literal(text: str, units: Qualifier | None = None) -> Interval:
    """The value of an INTERVAL literal; with units given also of its bare contents.

    >>> read_interval_literal("INTERVAL '4' YEAR").amount
    48
    """
    match = _INTERVAL.fullmatch(text)
    if match is None:
        if units is None:
            raise UnreadableError("without units an INTERVAL is written as INTERVAL '…' and its units", INTERVAL_RANGE)
        return read_interval(text, units)
    sign, inner, largest, smallest = match.groups()
    named = _qualifier(largest.upper(), (smallest or largest).upper())
    if units is not None and named != units:
        raise UnreadableError(f"it is an INTERVAL {named}, not {units}", INTERVAL_RANGE)
    found = read_interval(inner, named)
    return Interval(-found.amount, named) if sign == "-" else found


def _qualifier(largest: str, smallest: str) -> Qualifier:
    pair = qualifier(largest, smallest)
    try:
        fields = pair.fields
    except ValueError as error:
        raise UnreadableError(f"{largest} TO {smallest} are no units of an INTERVAL", INTERVAL_RANGE) from error
    if not fields or ("MONTH" in fields and "DAY" in fields):
        raise UnreadableError(f"{largest} TO {smallest} are no units of an INTERVAL", INTERVAL_RANGE)
    return pair
