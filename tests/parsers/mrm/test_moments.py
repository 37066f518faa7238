"""Dates and times of messages: what a text says is in its value, and in what is written of that again."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, cast

import pytest

from engine.dates.patterns import MomentError
from engine.errors import ParserException
from parsers.mrm.cwf.properties import CwfField, CwfFormat
from parsers.mrm.dates import Moments, binary_moments, epoch_moments, text_of, value_of
from parsers.mrm.model import Field, Group, Message, MessageSet, SimpleType, WireFormatUse
from parsers.mrm.tds.properties import TdsFormat
from parsers.records.framing import Cut, Framing
from parsers.records.json_fields import coding_of
from parsers.records.model_file import model_file
from tests.parsers.mrm.test_mrm_xml import codec as xml_codec
from tests.parsers.mrm.test_mrm_xml import read as read_xml
from tests.parsers.mrm.test_mrm_xml import simple as xml_field
from tests.parsers.mrm.test_mrm_xml import write as write_xml
from tests.parsers.mrm.texts import ALL_DELIMITED, built, codec, group, plain, read, simple, write

DAY_IN_GMT = datetime(2003, 1, 2, 9, 11, 12, tzinfo=UTC)

# A text, the pattern it is read by, the kind of the field, the value, and what is written of that by the same pattern.
READ: list[tuple[str, str, str, Any, str]] = [
    ("2003-12-31T24:00:00", "yyyy-MM-dd'T'HH:mm:ss", "dateTime", datetime(2004, 1, 1), "2004-01-01T00:00:00"),
    ("24:00:00", "HH:mm:ss", "time", time(0), "00:00:00"),
    ("20030102101112+0100", "yyyyMMddHHmmssZ", "dateTime", DAY_IN_GMT, "20030102101112+1"),
    ("20030102101112+01:00", "yyyyMMddHHmmssZZZ", "dateTime", DAY_IN_GMT, "20030102101112+01:00"),
    ("20030102091112Z", "yyyyMMddHHmmssZZZU", "dateTime", DAY_IN_GMT, "20030102091112Z"),
    ("101112+0100", "HHmmssZ", "time", time(9, 11, 12, tzinfo=UTC), "101112+1"),
    ("233000-03:00", "HHmmssZZZ", "time", time(2, 30, tzinfo=UTC), "233000-03:00"),
    ("2003-01-02Z", "I", "date", date(2003, 1, 2), "2003-01-02"),
    ("2003-01-02-05:00", "I", "date", date(2003, 1, 2), "2003-01-02"),
    ("0229", "MMdd", "date", date(1972, 2, 29), "0229"),
    ("--02-29", "--MM-dd", "gMonthDay", date(1972, 2, 29), "--02-29"),
    ("366", "DDD", "date", date(1972, 12, 31), "366"),
    ("0301", "MMdd", "date", date(1970, 3, 1), "0301"),
]


@pytest.mark.parametrize(("text", "pattern", "kind", "value", "written"), READ)
def test_nothing_is_lost_by_a_pattern(text: str, pattern: str, kind: str, value: Any, written: str) -> None:
    """A date or time is what its text says, and is written as that again, in the zone that the text names."""
    found = value_of(text, pattern, kind)
    assert (value, written) == (found, text_of(found, pattern))


def test_two_years() -> None:
    """The year of a date's week is that of the date, or nothing is read."""
    assert date(2006, 12, 31) == value_of("2006 2007-12-31", "yyyy YYYY-MM-dd", "date")
    with pytest.raises(MomentError, match="2006-12-31 is in no week of 2006"):
        value_of("2006 2006-12-31", "yyyy YYYY-MM-dd", "date")


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+02:00", "9999-12-31T23:00:00-02:00", "9999-12-31T24:00:00"])
def test_beyond_all_years(text: str) -> None:
    """A moment that is in no year once it is in GMT, or a day later, is refused as a moment."""
    with pytest.raises(MomentError):
        value_of(text, "I", "dateTime")


def test_bytes_of_moments() -> None:
    """Binary moments know 29 February without a year, and a time in a zone is written in GMT."""
    day = binary_moments(Moments("day", "date", "MMdd"), "big")
    assert date(1972, 2, 29) == day.decode(bytes.fromhex("0002001d"), 0, 4)
    assert bytes.fromhex("0002001d") == day.encode(date(1972, 2, 29), 4)
    passed = epoch_moments(4, Moments("at", "time"), per_second=1, order="big")
    assert (3600).to_bytes(4, "big") == passed.encode(value_of("02:00+01:00", "HH:mmZZZ", "time"), 4)


# The kind, and a text that the default format of TDS reads and writes without loss.
WHOLE = [
    ("dateTime", "2004-10-07T11:16:56"),
    ("dateTime", "2004-10-07T11:16:56.345"),
    ("dateTime", "2004-10-07T11:16:56.345678+02:00"),
    ("dateTime", "2004-10-07T11:16:56Z"),
    ("time", "11:16:56"),
    ("time", "11:16:56.5-03:30"),
    ("date", "2004-10-07"),
    ("gYear", "2004"),
    ("gMonthDay", "--02-29"),
]


@pytest.mark.parametrize(("kind", "text"), WHOLE)
def test_default_formats_lose_nothing(kind: str, text: str) -> None:
    """Where no format is said, a moment is written with its fraction and its zone, and read again as it was."""
    own = codec(group(simple("w", kind), **ALL_DELIMITED))
    value = plain(read(own, text))
    again = write(own, built(value))
    assert value == plain(read(own, again))
    assert text.replace(".5-", ".500-") == again


def test_times_without_a_zone_in_a_set_that_has_one() -> None:
    """A moment that names no zone is of that of the set, and is written in it again."""
    settings = TdsFormat(time_zone="+01:00", default_date_time_format="yyyyMMddHHmmss")
    own = codec(group(simple("w", "dateTime"), **ALL_DELIMITED), settings)
    value = plain(read(own, "20030102101112"))
    assert [("w", DAY_IN_GMT)] == value
    assert "20030102101112" == write(own, built(value))


def test_a_fraction_that_has_no_room() -> None:
    """A fraction of a second that a field has no room for is refused, not cut off without a word."""
    own = codec(group(simple("w", "dateTime", length=19), data_element_separation="fixedLength"))
    with pytest.raises(ParserException, match="room for 19"):
        write(own, built([("w", datetime(2004, 10, 7, 11, 16, 56, 500000))]))


@pytest.mark.parametrize(
    ("kind", "text"), [("gYear", "2003Z"), ("gMonthDay", "--02-29+01:00"), ("date", "2003-01-02-05:00")]
)
def test_zones_of_dates_in_xml(kind: str, text: str) -> None:
    """A date that XML Schema allows, with a zone behind it, is read, and written as it was while it is not changed."""
    own = xml_codec(Group((xml_field("a"), xml_field("w", kind))))
    tree = read_xml(own, f"<Order><a>1</a><w>{text}</w></Order>")
    found = tree.at("a")
    assert found is not None
    found.value = "2"
    assert isinstance(tree.at("w").value, date)  # type: ignore[union-attr]
    assert f"<Order><a>2</a><w>{text}</w></Order>".encode() == write_xml(own, tree)


KINDS = ("gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay")


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        *zip(KINDS, ("2003", "2003-04", "--04", "--02-29", "---29"), ("",) * 5, strict=True),
        ("dateTime", "2003-01-02T10:11:12+01:00", "yyyy-MM-dd'T'HH:mm:ssZZZ"),
        ("time", "10:11:12-02:00", "HH:mm:ssZZZ"),
        ("date", "2003-01-02", ""),
    ],
)
def test_json_and_back(kind: str, text: str, said: str) -> None:
    """What a record's dates decode to is what XML Schema calls them, and it encodes to the same record."""
    physical = {"C": CwfField(length=len(text), date_time_format=said)}
    content = Group((Field("w", SimpleType(kind), physical=physical),))  # type: ignore[arg-type]
    formats = {"C": WireFormatUse("C", "CWF", CwfFormat())}
    made = MessageSet("SET", formats=formats, messages={"M": Message("M", content)})
    file = model_file(made, "C", "M", Framing(), coding_of(1208))
    data = text.encode()
    found = file.decode(Cut(1, 0, data, data))
    assert {"w": text} == found
    assert data == file.encode(found, 1)


def test_an_offset_of_a_copy() -> None:
    """A moment in GMT that names another offset equals that moment, and keeps the offset when it is displaced."""
    found = cast("datetime", value_of("2003-01-02T10:11:12+01:00", "I", "dateTime"))
    assert DAY_IN_GMT == found
    assert "2003-01-03T10:11:12+01:00" == text_of(found + timedelta(days=1), "yyyy-MM-dd'T'HH:mm:ssZZZ")
