"""Headers of fixed length: MQDLH, MQCIH, MQIIH, MQMDE, MQSAPH, MQWIH, and the bytes of an MQMD."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import BrokerError, ConversionException, ParserException
from engine.parser import Follow, Header, Portion, format_catalog, parser_catalog
from engine.tree.sharing import copy
from parsers.headers.layout import Laid
from tests.parsers.samples import BIG, CIH_1, FORMS, LITTLE, SAMPLES, Sample, built, fields, tree, write

EACH = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.name}-{sample.length}")
IN_EACH_FORM = pytest.mark.parametrize(("encoding", "ccsid"), FORMS)


@EACH
@IN_EACH_FORM
def test_the_tree_of_the_bytes(sample: Sample, encoding: int, ccsid: int) -> None:
    """Every field has its value and its place in the tree, in both byte orders, ASCII and EBCDIC."""
    data = sample.bytes(encoding, ccsid)
    assert len(data) == sample.length
    found = tree(sample.name, b"ab" + data + b"body", encoding, ccsid, start=2)
    assert list(fields(found).items()) == list(sample.values.items())


@EACH
@IN_EACH_FORM
def test_the_bytes_of_a_built_tree(sample: Sample, encoding: int, ccsid: int) -> None:
    """A tree that was built field by field is written as the bytes that are read as it."""
    assert write(built(sample.name, sample.values), encoding, ccsid) == sample.bytes(encoding, ccsid)


def _extremes(value: Any) -> tuple[Any, Any]:
    """Two values of a field that have no byte in common."""
    if isinstance(value, int):
        return -1, 0
    if isinstance(value, bytes):
        return b"\xff" * len(value), bytes(len(value))
    if isinstance(value, str):
        return "Z" * len(value), "-" * len(value)
    if isinstance(value, date):
        return date(1111, 11, 11), date(2222, 2, 22)
    return time(11, 11, 11, 110000, tzinfo=UTC), time(22, 22, 22, 220000, tzinfo=UTC)


FIELDS = [(sample, name) for sample in SAMPLES for name in sample.values if name != "Version"]


@pytest.mark.parametrize(("sample", "name"), FIELDS, ids=[f"{s.name}-{s.length}-{name}" for s, name in FIELDS])
def test_one_changed_field(sample: Sample, name: str) -> None:
    """A changed field changes its own bytes and no others, however unusual those are padded."""
    new, other = _extremes(sample.values[name])
    changed = sample.bytes(BIG, 500, **{name: new})
    span = [at for at, byte in enumerate(sample.bytes(BIG, 500, **{name: other})) if byte != changed[at]]
    start, end = span[0], span[-1] + 1
    odd = sample.bytes(BIG, 500).replace(b"\x40\x40\x40", b"\x40\x00\x40")
    found = tree(sample.name, odd, BIG, 500)
    field = found.at(name)
    assert field is not None
    field.value = new
    assert write(found, BIG, 500) == odd[:start] + changed[start:end] + odd[end:]


@EACH
@given(start=st.sampled_from(FORMS), end=st.sampled_from(FORMS))
def test_conversion(sample: Sample, start: tuple[int, int], end: tuple[int, int]) -> None:
    """A header that is written in another encoding and CCSID than it came in has the same tree there."""
    assert write(tree(sample.name, sample.bytes(*start), *start), *end) == sample.bytes(*end)


@EACH
@given(data=st.data())
def test_any_values_come_back(sample: Sample, data: st.DataObject) -> None:
    """What is written of any values is read as these values, and what is read is written as the same bytes."""
    encoding, ccsid = data.draw(st.sampled_from(FORMS))
    values = dict(sample.values)
    for name, value in sample.values.items():
        if name == "Version":
            continue
        if isinstance(value, int):
            values[name] = data.draw(st.integers(-(1 << 31), (1 << 31) - 1))
        elif isinstance(value, bytes):
            values[name] = data.draw(st.binary(min_size=len(value), max_size=len(value)))
        elif isinstance(value, str) and name != "Format":
            some = st.text("ABCxyz0189 ._/%", min_size=len(value), max_size=len(value))
            values[name] = data.draw(some)
    written = write(built(sample.name, values), encoding, ccsid)
    assert written == sample.bytes(encoding, ccsid, **values)
    found = tree(sample.name, written, encoding, ccsid)
    assert fields(found) == values
    assert write(copy(found), encoding, ccsid) == written


@EACH
def test_one_field_is_read_alone(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading one field decodes that field and no other."""
    decoded = []
    original = Laid.value

    def spy(self: Laid, handle: Any) -> Any:
        decoded.append(handle.name)
        return original(self, handle)

    monkeypatch.setattr(Laid, "value", spy)
    field = tree(sample.name, sample.bytes(LITTLE, 819), LITTLE, 819).at(
        "PutApplType" if sample.length > 300 else "Encoding"
    )
    assert field is not None
    assert decoded == []
    assert field.value == sample.values[field.name]
    assert decoded == [field.name]


FORMATS = {
    "MQDEAD": "MQDLH",
    "MQCICS": "MQCIH",
    "MQIMS": "MQIIH",
    "MQHMDE": "MQMDE",
    "MQHSAP": "MQSAPH",
    "MQHWIH": "MQWIH",
    "MQHREF": "MQRMH",
    "MQHRF": "MQRFH",
    "MQHRF2": "MQRFH2",
    "MQADMIN": "MQPCF",
    "MQEVENT": "MQPCF",
    "MQPCF": "MQPCF",
    "MQSTR": None,
    "MQIMSVS": None,
    "": None,
}


@pytest.mark.parametrize(("name", "expected"), FORMATS.items())
def test_formats(name: str, expected: str | None) -> None:
    """Each MQ format name announces its header, and the format of a body announces none."""
    found = format_catalog.get(name)
    assert (found and found.name) == expected


@EACH
@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, Follow("MQSTR", 785, 1047)),
        ({"Format": " " * 8}, Follow("", 785, 1047)),
        ({"Encoding": 0, "CodedCharSetId": 0}, Follow("MQSTR", BIG, 500)),
        ({"Encoding": -2, "CodedCharSetId": -2}, Follow("MQSTR", BIG, 500)),
        ({"CodedCharSetId": -1}, Follow("MQSTR", 785, -1)),
    ],
)
def test_what_a_header_announces(sample: Sample, changed: dict[str, Any], expected: Follow) -> None:
    """Format, Encoding and CodedCharSetId say what follows; zero and "inherit" mean as the header itself is in."""
    owner = parser_catalog.find(sample.name)
    if not isinstance(owner, Header):
        return
    data = b"123" + sample.bytes(BIG, 500, **changed) + b"body"
    assert owner.measure(Portion(data, 3, len(data), Follow("", BIG, 500))) == (sample.length, expected)


def _cut(data: bytes) -> bytes:
    return data[:-1]


GARBLED = [
    ("MQDLH", _cut, "the MQDLH at offset 0 is cut off: it takes 172 bytes and 171 are left"),
    ("MQDLH", lambda d: b"DLX " + d[4:], "offset 0 starts with X'444c5820', not with 'DLH ' in CCSID 819"),
    ("MQDLH", lambda d: d[:4] + bytes([0, 0, 0, 9]) + d[8:], "has version 9, and only 1 can be read"),
    ("MQCIH", lambda d: d[:4] + bytes([0, 0, 0, 3]) + d[8:], "has version 3, and only 1 or 2 can be read"),
    ("MQWIH", lambda d: d[:8] + bytes([0, 0, 0, 121]) + d[12:], "it is 121 bytes long: it takes 120 at least and 120"),
    ("MQWIH", lambda d: d[:8] + bytes([0, 0, 0, 12]) + d[12:], "it is 12 bytes long: it takes 120 at least and 120"),
    ("MQWIH", lambda d: d[:8] + bytes([255, 0, 0, 0]) + d[12:], "says it is -16777216 bytes long"),
    ("MQMDE", lambda d: "MDE ".encode("cp500") + d[4:], "starts with X'd4c4c540', not with 'MDE ' in CCSID 819"),
]


@pytest.mark.parametrize(("name", "garble", "expected"), GARBLED)
def test_garbled(name: str, garble: Any, expected: str) -> None:
    """What cannot be the header is refused with its name, its offset and what was found."""
    sample = next(sample for sample in SAMPLES if sample.name == name)
    with pytest.raises(ParserException) as caught:
        list(tree(name, garble(sample.bytes(BIG, 819)), BIG, 819))
    assert expected in str(caught.value)
    assert caught.value.number == 5009


BAD_VALUES: list[tuple[str, str, Any, type[BrokerError], str]] = [
    ("MQDLH", "Reason", "many", ParserException, "MQDLH.Reason takes an integer, not 'many'"),
    ("MQDLH", "Reason", "+-5", ParserException, "MQDLH.Reason takes an integer, not '+-5'"),
    ("MQDLH", "Reason", "9" * 5000, ParserException, "MQDLH.Reason takes an integer, not '99999"),
    ("MQDLH", "Reason", 1 << 31, ParserException, "MQDLH.Reason takes an integer of 4 bytes, which 2147483648"),
    ("MQDLH", "Reason", 1.5, ParserException, "takes an integer, not 1.5"),
    ("MQDLH", "Reason", float("nan"), ParserException, "takes an integer, not nan"),
    ("MQDLH", "DestQName", "Q" * 49, ParserException, "MQDLH.DestQName has room for 48 bytes"),
    ("MQDLH", "DestQName", b"Q", ParserException, "MQDLH.DestQName takes characters, not b'Q'"),
    ("MQDLH", "DestQName", "\u20ac", ConversionException, "MQDLH.DestQName: the character U+20AC at position 1"),
    ("MQWIH", "MsgToken", bytes(17), ParserException, "MQWIH.MsgToken has room for 16 bytes"),
    ("MQWIH", "MsgToken", "x", ParserException, "MQWIH.MsgToken takes a BLOB of 16 bytes, not 'x'"),
    ("MQDLH", "Version", 4, ParserException, "MQDLH.Version is 4, and only 1 can be written"),
    ("MQDLH", "DestQ", "x", ParserException, "the MQDLH has no field called DestQ; did you mean DestQName?"),
]


@pytest.mark.parametrize(("header", "name", "value", "kind", "expected"), BAD_VALUES)
def test_values_that_do_not_fit(header: str, name: str, value: Any, kind: type[BrokerError], expected: str) -> None:
    """A value that a field cannot hold is an error that names header and field."""
    with pytest.raises(kind) as caught:
        write(built(header, {name: value}), BIG, 819)
    assert expected in str(caught.value)


GOOD_VALUES: list[tuple[str, str, Any, Any]] = [
    ("MQDLH", "Reason", "2053", 2053),
    ("MQDLH", "Reason", Decimal("12"), 12),
    ("MQDLH", "Reason", None, 0),
    ("MQDLH", "DestQName", "Q" + " " * 90, "Q".ljust(48)),
    ("MQDLH", "DestQName", None, " " * 48),
    ("MQDLH", "DestQName", 42, "42".ljust(48)),
    ("MQDLH", "PutDate", "no date", "no date "),
    ("MQDLH", "PutDate", "20021105", SAMPLES[0].values["PutDate"]),
    ("MQDLH", "PutTime", "09080765", SAMPLES[0].values["PutTime"]),
    ("MQDLH", "PutTime", "23596000", "23596000"),
    ("MQDLH", "PutTime", datetime(2002, 11, 5, 9, 8, 7, 650000), SAMPLES[0].values["PutTime"]),
    ("MQDLH", "PutDate", datetime(2002, 11, 5, 9, 8), SAMPLES[0].values["PutDate"]),
    ("MQWIH", "MsgToken", b"\1", b"\1" + bytes(15)),
    ("MQCIH", "UOWControl", None, 273),
]


@pytest.mark.parametrize(("header", "name", "value", "expected"), GOOD_VALUES)
def test_values_that_fit(header: str, name: str, value: Any, expected: Any) -> None:
    """Short values are filled up, NULL is the default, and what can be a field's value becomes it."""
    found = tree(header, write(built(header, {name: value}), BIG, 500), BIG, 500).at(name)
    assert found is not None
    assert found.value == expected


def test_defaults() -> None:
    """A header that says nothing has MQ's initial values, in its newest version."""
    found = fields(tree("MQCIH", write(built("MQCIH", {}), BIG, 819), BIG, 819))
    initial = {"Version": 2, "UOWControl": 273, "GetWaitInterval": -2, "LinkType": 1, "OutputDataLength": -1}
    assert {name: found[name] for name in initial} == initial
    assert all(value in {0, bytes(8)} or not value.strip() for name, value in found.items() if name not in initial)


def test_version_1_becomes_version_2() -> None:
    """A header that is given a newer version gets its fields, and keeps those it has."""
    found = tree("MQCIH", SAMPLES[1].bytes(BIG, 500), BIG, 500)
    version = found.at("Version")
    assert version is not None
    version.value = 2
    found.add("ErrorOffset", 12)
    expected = CIH_1 | {"Version": 2, "CursorPosition": 0, "ErrorOffset": 12, "InputItem": 0, "Reserved4": 0}
    assert write(found, BIG, 500) == SAMPLES[2].bytes(BIG, 500, **expected)


def test_what_only_version_2_has() -> None:
    """A header that becomes one of version 1 keeps what that has; a value that only version 2 has is an error."""
    element = built("MQCIH", {"Version": 1, "TransactionId": "T1", "CursorPosition": 0})
    assert len(write(element, LITTLE, 1208)) == 164
    element = built("MQCIH", {"Version": 1, "CursorPosition": 7})
    with pytest.raises(ParserException, match=r"MQCIH.CursorPosition is not in version 1: write version 2"):
        write(element, LITTLE, 1208)


def test_a_field_that_is_taken_away() -> None:
    """A field that a tree no longer has is written as its default."""
    found = tree("MQDLH", SAMPLES[0].bytes(LITTLE, 819), LITTLE, 819)
    reason = found.at("Reason")
    assert reason is not None
    reason.detach()
    assert write(found, LITTLE, 819) == SAMPLES[0].bytes(LITTLE, 819, Reason=0)


def test_more_bytes_than_fields() -> None:
    """A header that says it is longer than its fields keeps what it has behind them."""
    data = SAMPLES[6].bytes(BIG, 819)
    longer = data[:8] + bytes([0, 0, 0, 124]) + data[12:] + b"more"
    found = tree("MQWIH", longer, BIG, 819)
    flags = found.at("Flags")
    assert flags is not None
    flags.value = 8
    assert write(found, BIG, 819) == longer[:28] + bytes([0, 0, 0, 0, 0, 0, 0, 8])[4:] + longer[32:]


ANNOUNCING: list[tuple[str, dict[str, Any], Follow | None, tuple[str, int, int]]] = [
    ("MQDLH", {}, Follow("MQSTR", LITTLE, 1208), ("MQSTR   ", LITTLE, 1208)),
    ("MQDLH", {"Encoding": 0, "CodedCharSetId": -2}, Follow("MQSTR", BIG, 819), ("MQSTR   ", 0, -2)),
    ("MQDLH", {"Format": "MQHRF2"}, Follow("", BIG, 819), (" " * 8, BIG, 819)),
    ("MQDLH", {"Format": "MQHRF2"}, None, (" " * 8, 0, 0)),
    ("MQDLH", {"Format": "MQSTR"}, None, ("MQSTR   ", 0, 0)),
    ("MQIIH", {}, Follow("MQIMSVS", BIG, 819), ("MQIMSVS ", 0, 0)),
    ("MQIIH", {}, Follow("MQIMSVS", LITTLE, 819), ("MQIMSVS ", LITTLE, 0)),
]


@pytest.mark.parametrize(("header", "values", "following", "expected"), ANNOUNCING)
def test_what_is_announced(
    header: str, values: dict[str, Any], following: Follow | None, expected: tuple[str, int, int]
) -> None:
    """What follows is announced; CICS and IMS headers say an encoding only where it is not their own."""
    found = tree(header, write(built(header, values), BIG, 819, following), BIG, 819)
    assert tuple(fields(found)[name] for name in ("Format", "Encoding", "CodedCharSetId")) == expected


def test_headers_of_two_byte_ccsids_are_in_utf_8() -> None:
    """Fixed fields need one byte a character: beside a body in UTF-16 a header is read and written in UTF-8."""
    sample = SAMPLES[0]
    assert fields(tree("MQDLH", sample.bytes(BIG, 1208), BIG, 1200)) == sample.values
    assert write(built("MQDLH", sample.values), BIG, 13488) == sample.bytes(BIG, 1208)


def test_characters_that_cannot_be_read() -> None:
    """Bytes that are no characters of the CCSID are an error with their place, and only for the field they are in."""
    data = bytearray(SAMPLES[0].bytes(BIG, 1208))
    data[14] = 0xFF
    found = tree("MQDLH", b"12345" + bytes(data), BIG, 1208, start=5)
    name, reason = found.at("DestQName"), found.at("Reason")
    assert name is not None
    assert reason is not None
    assert reason.value == SAMPLES[0].values["Reason"]
    with pytest.raises(ConversionException, match=r"MQDLH.DestQName: the bytes X'ff' at offset 19 are no characters"):
        _ = name.value
