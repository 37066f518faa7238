"""Values as ESQL literals, and as the text that CAST AS CHARACTER makes of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from esql.values.types import Value, fraction_text, type_of

_MOST_DIGITS: Final = 34  # a DECIMAL that would need more zeros than this is written with an exponent


def float_text(value: float) -> str:
    """A FLOAT with one digit in front of the point and an exponent.

    The shortest digits that read as the same number, and no more than fifteen behind the point.

    >>> float_text(44.72), float_text(100.0), float_text(2**0.5)
    ('4.472E+1', '1E+2', '1.414213562373095E+0')
    """
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    if math.isnan(value):
        return "NAN"
    digits = format(Decimal(repr(value)).normalize(), "E")
    mantissa, _, exponent = digits.partition("E")
    if len(mantissa.lstrip("-")) > 17:
        mantissa, _, exponent = f"{value:.15E}".partition("E")
        mantissa = mantissa.rstrip("0").rstrip(".")
    if mantissa in {"0", "-0"}:
        return "0E+0"
    return f"{mantissa}E{int(exponent):+d}"


def decimal_text(value: Decimal) -> str:
    """A DECIMAL as digits, with an exponent only where plain digits would need many zeros.

    >>> decimal_text(Decimal("1E+3")), decimal_text(Decimal("1.50")), decimal_text(Decimal("-Infinity"))
    ('1000', '1.50', '-INF')
    """
    if value.is_infinite():
        return "INF" if value > 0 else "-INF"
    if value.is_nan():
        return "NAN"
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and (exponent > _MOST_DIGITS or value.adjusted() < -_MOST_DIGITS):
        return format(value, "E")
    return format(value, "f")


def date_text(value: date) -> str:
    """The contents of a DATE literal.

    >>> date_text(date(2, 3, 4))
    '0002-03-04'
    """
    return f"{value.year:04d}-{value.month:02d}-{value.day:02d}"


def time_text(value: time | datetime) -> str:
    """The contents of a TIME literal; a fraction has three digits, or six where it needs them.

    >>> time_text(time(9, 24, 15)), time_text(time(9, 24, 15, 960000)), time_text(time(9, 24, 15, 1))
    ('09:24:15', '09:24:15.960', '09:24:15.000001')
    """
    return f"{value.hour:02d}:{value.minute:02d}:{value.second:02d}{fraction_text(value.microsecond)}"


def timestamp_text(value: datetime) -> str:
    """The contents of a TIMESTAMP literal."""
    return f"{date_text(value)} {time_text(value)}"


def quoted(text: str) -> str:
    """A CHARACTER literal.

    >>> quoted("O'Brien")
    "'O''Brien'"
    """
    return "'" + text.replace("'", "''") + "'"


def _moment(value: Any) -> str:
    kind = type_of(value)
    text = timestamp_text(value) if isinstance(value, datetime) else time_text(value)
    return f"{kind} '{text}'"


_TEXTS: Final[Mapping[str, Callable[[Any], str]]] = {
    "CHARACTER": str,
    "INTEGER": str,
    "DECIMAL": decimal_text,
    "FLOAT": float_text,
    "BOOLEAN": lambda value: "TRUE" if value else "FALSE",
    "BLOB": lambda value: f"X'{value.hex()}'",
    "BIT": lambda value: f"B'{value.digits}'",
    "DATE": lambda value: f"DATE '{date_text(value)}'",
    "TIME": _moment,
    "GMTTIME": _moment,
    "TIMESTAMP": _moment,
    "GMTTIMESTAMP": _moment,
    "INTERVAL": lambda value: f"INTERVAL '{value}' {value.qualifier}",
}


def to_text(value: Value) -> str:
    """Returns what CAST AS CHARACTER makes of a value without CCSID and FORMAT.

    >>> to_text(b"JK"), to_text(date(2002, 10, 5)), to_text(Decimal("1.50")), to_text(True)
    ("X'4a4b'", "DATE '2002-10-05'", '1.50', 'TRUE')
    """
    return _TEXTS[type_of(value)](value)


def to_literal(value: Value) -> str:
    """A value as a literal of its type, as traces print it.

    >>> to_literal("it's"), to_literal(Decimal("1.5")), to_literal(1.5), to_literal(None)
    ("'it''s'", "DECIMAL '1.5'", '1.5E+0', 'NULL')
    """
    if value is None:
        return "NULL"
    kind = type_of(value)
    if kind == "CHARACTER":
        return quoted(value)
    if kind == "DECIMAL":
        return f"DECIMAL '{decimal_text(value)}'"
    if kind == "FLOAT" and not math.isfinite(value):
        return f"CAST('{float_text(value)}' AS FLOAT)"
    known = _TEXTS.get(kind)
    return f"({kind})" if known is None else known(value)


def shown(value: Value) -> str:
    """A value as errors show it: a long literal is cut.

    >>> shown("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'"
    """
    literal = to_literal(value if not isinstance(value, str) else value[:60])
    return literal if len(literal) <= 54 else literal[:52] + "…'"
