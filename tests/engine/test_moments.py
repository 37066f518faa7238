"""Dates and times by patterns: what a pattern reads and writes, and what it refuses."""

import contextlib
import doctest
import importlib
import time
from datetime import date, datetime, timedelta

import pytest

from engine.dates.patterns import BEYOND, FORM, PATTERN, MomentError, write_moment
from engine.dates.reading import read_moment

NOW = datetime(2007, 1, 31, 0, 0, 58)
READ = (
    ("20041007", "yyyyMMdd", 53, datetime(2004, 10, 7, 0, 0, 58)),
    ("530101", "yyMMdd", 53, datetime(1953, 1, 1, 0, 0, 58)),
    ("530101", "yyMMdd", 80, datetime(2053, 1, 1, 0, 0, 58)),
    ("12/07/2006 5PM", "dd/MM/yyyy ha", 53, datetime(2006, 7, 12, 17, 0, 58)),
)
REFUSED = (
    ("2004-10-07", "yyyyMMdd", FORM),
    ("20041307", "yyyyMMdd", BEYOND),
    ("20040230", "yyyyMMdd", BEYOND),
    ("20041007", "yyyy'MM", PATTERN),
    ("20041007", "", PATTERN),
)


@pytest.mark.parametrize("name", ["patterns", "reading"])
def test_examples(name: str) -> None:
    """Every example of the module does what it shows, and there is at least one."""
    found = doctest.testmod(importlib.import_module(f"engine.dates.{name}"))
    assert (found.attempted > 0, found.failed) == (True, 0)


@pytest.mark.parametrize(("text", "pattern", "century", "expected"), READ)
def test_reading(text: str, pattern: str, century: int, expected: datetime) -> None:
    """A text says what its pattern names; the rest, and the century, are given."""
    assert read_moment(text, pattern, century).timestamp(NOW) == expected


@pytest.mark.parametrize(("text", "pattern", "kind"), REFUSED)
def test_refused(text: str, pattern: str, kind: str) -> None:
    """A text without the form of the pattern, a day that is not, and a broken pattern are told apart."""
    with pytest.raises(MomentError) as raised:
        read_moment(text, pattern).timestamp(NOW)
    assert raised.value.kind == kind


def test_writing_what_a_date_does_not_have() -> None:
    """A pattern may ask of a date only what it has."""
    with pytest.raises(MomentError) as raised:
        write_moment(date(2004, 10, 7), "HH:mm", timedelta())
    assert raised.value.kind == FORM


@pytest.mark.parametrize("symbol", ["y", "d", "D", "H"])
def test_a_form_of_many_fields_takes_no_time(symbol: str) -> None:
    """A form that can be read in very many ways is read, or refused, within a second of processor time."""
    begun = time.process_time()
    with contextlib.suppress(MomentError):
        read_moment("1" * 90, f"{symbol}'1'" * 30 + f"{symbol}'2'")
    assert time.process_time() - begun < 2
