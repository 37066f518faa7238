"""Assignment to variables: the implicit casts, and errors that name what is wrong."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest

from engine.errors import BrokerError, ConversionException
from esql.cast import Target, assign
from esql.runtime.invocation import Invocation
from esql.values.errors import ValueFailure, cast_failure, sqlstate_of
from esql.values.types import Bit, Interval, qualifier

NOW = datetime(2003, 5, 23, 9, 11, 12, tzinfo=UTC)
HERE = Invocation(lambda: NOW, lambda: timedelta(hours=1))


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("abc", "CHARACTER", "abc"),
        (5, "CHARACTER", "5"),
        (True, "CHARACTER", "TRUE"),
        (date(2000, 2, 29), "CHARACTER", "DATE '2000-02-29'"),
        (b"\x0a", "CHARACTER", "X'0a'"),
        ("5", "INTEGER", 5),
        (2.9, "INTEGER", 2),
        (Decimal("2.9"), "INTEGER", 3),
        ("x", "INTEGER", "S22018"),
        (True, "INTEGER", "S22018"),
        ("1.50", "DECIMAL", Decimal("1.50")),
        (1, "DECIMAL", Decimal(1)),
        (1, "FLOAT", 1.0),
        ("true", "BOOLEAN", True),
        (1, "BOOLEAN", "S22018"),
        ("0a0b", "BLOB", b"\x0a\x0b"),
        ("101", "BIT", Bit.of("101")),
        ("2000-02-29", "DATE", date(2000, 2, 29)),
        (datetime(2000, 2, 29, 1), "DATE", date(2000, 2, 29)),
        (datetime(2000, 2, 29, 1), "TIME", time(1)),
        (datetime(2000, 2, 29, 1), "GMTTIMESTAMP", datetime(2000, 2, 29, tzinfo=UTC)),
        (time(1), "TIMESTAMP", datetime(2003, 5, 23, 1)),
        ("29.2.2000", "DATE", "S22007"),
        (None, "DATE", None),
    ],
)
def test_assign(value: Any, kind: str, expected: Any) -> None:
    """A variable holds what it is given in its own type, or the assignment fails."""
    try:
        found = assign(value, Target(kind), HERE)
    except BrokerError as error:
        found = sqlstate_of(error)
    assert (type(expected), expected) == (type(found), found)


def test_assign_interval() -> None:
    """An INTERVAL variable keeps its own units."""
    value = Interval(90 * 60_000_000, qualifier("MINUTE"))
    assert Interval(60 * 60_000_000, qualifier("HOUR")) == assign(
        value, Target("INTERVAL", units=qualifier("HOUR")), HERE
    )


def test_errors_name_value_type_and_what_to_do() -> None:
    """An error says what was cast, to what, why not, and carries its parts as inserts."""
    with pytest.raises(ValueFailure) as raised:
        assign("12x", Target("INTEGER"), HERE)
    error = raised.value
    text = (
        "'12x' cannot be cast from CHARACTER to INTEGER: an INTEGER is written in digits, with a sign in front or none"
    )
    assert (2521, text) == (error.number, error.text)
    assert ["'12x'", "CHARACTER", "INTEGER"] == [insert.text for insert in error.inserts]


def test_errors_travel() -> None:
    """An error keeps its SQLSTATE on its way between processes."""
    error = pickle.loads(pickle.dumps(cast_failure("'x'", "CHARACTER", "DATE", "why", "S22007")))  # noqa: S301
    assert ("S22007", 2595) == (error.sqlstate, error.number)


def test_sqlstate_of_a_conversion() -> None:
    """Characters that a CCSID lacks have an SQLSTATE, whoever finds them."""
    assert "S22021" == sqlstate_of(ConversionException(2130, "no characters"))
