"""Imported copybooks: CWF reads and writes the records of a message set as the copybook's own plan does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engine.errors import ParserException
from engine.message.received import Part, part_element
from engine.parser import Follow, Form, Portion, Template
from parsers.importers.copybook import read_text
from parsers.importers.copybook.message_set import ImportOptions, PhysicalOptions, message_set_of
from parsers.mrm import Library, Mrm
from parsers.mrm.cwf.properties import CwfField, PhysicalType
from parsers.mrm.model import Field, Group, Message, MessageSet, SimpleType, WireFormatUse
from parsers.mrm.tds.properties import TdsField, TdsGroup
from parsers.records.framing import Cut, Framing
from parsers.records.json_fields import Coding, coding_of, to_json
from parsers.records.model_file import ModelFile, model_file
from parsers.records.reading import read_record
from parsers.records.record_plan import plan_of
from parsers.records.writing import write_record
from tests.parsers.records.test_cobol import EVERYTHING
from tests.parsers.records.test_round_trip import books, values

CODINGS = {
    "mainframe": (coding_of(37), PhysicalOptions()),
    "small machine": (Coding(819, 0x211, "ascii", "little"), PhysicalOptions(native_order="littleEndian")),
    "EBCDIC's signs in ASCII": (Coding(819, 0x111, "ebcdic-custom", "big"), PhysicalOptions(sign_ebcdic_custom=True)),
}
# What CWF does not have: it keeps these as bytes, and NULL for zero.
OTHERWISE = ("COMP-6", "BLANK WHEN ZERO")
FIELDS = [(item.clauses, item.value) for item in EVERYTHING if not item.clauses.endswith(OTHERWISE)]
MORE: list[tuple[str, Any]] = [
    ("PIC N(3)", "ab"),
    ("PIC S9(3) NATIONAL SIGN LEADING SEPARATE", -3),
    ("PIC U(2)", "é"),
    ("POINTER", "0000ABCD"),
    ("INDEX", 3),
]


def imported(text: str, coding: Coding, physical: PhysicalOptions) -> ModelFile:
    made = message_set_of("SET", [read_text("c.cpy", text)], ImportOptions(physical))
    return model_file(made, "CWF", "", Framing(), coding)


@pytest.mark.parametrize("case", CODINGS)
def test_field(case: str) -> None:
    """Each usage, sign and picture has the same bytes, and the same value."""
    coding, physical = CODINGS[case]
    for clauses, value in FIELDS + MORE:
        text = f"01 R. 05 F {clauses}."
        data = write_record(plan_of(read_text("c.cpy", text).records[0], coding), {"F": value}, 0x20)
        kind = imported(text, coding, physical)
        found = (clauses, kind.encode({"F": value}, 1), kind.decode(Cut(1, 0, data, data)))
        assert (clauses, data, {"F": value}) == found


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(books(), st.data())
def test_any_copybook(text: str, data: st.DataObject) -> None:
    """Groups, tables, tables of variable length, slack bytes and shared storage stand at the same places."""
    assume("OCCURS 1" not in text)  # a model has no table of one
    coding, physical = CODINGS["mainframe"]
    book = read_text("c.cpy", text).records[0]
    plan = plan_of(book, coding)
    value = values(data.draw, book.top)  # type: ignore[arg-type]  # draw of st.data has another type than that of composite
    record = write_record(plan, value, 0x40)
    kind = imported(text, coding, physical)
    assert read_record(plan.read, record)[0] == kind.decode(Cut(1, 0, record, record))
    written = kind.encode(value, 1)
    assert len(record) == len(written)
    assert "SYNC" in text or "REDEFINES" in text or record == written  # what nothing is written to may differ


SHARED = [
    ("01 R. 05 Q PIC X. 05 A PIC S9(4) COMP SYNC. 05 B REDEFINES A PIC X(2).", b"q\0\1\2"),
    ("01 R. 05 A PIC X(2). 05 B REDEFINES A. 10 N PIC 9(2). 05 T PIC X OCCURS 0 TO 5 DEPENDING ON N.", b"03abc"),
    ("01 R. 05 A PIC X(2). 05 B REDEFINES A PIC 99. 05 T PIC X OCCURS 0 TO 5 DEPENDING ON B.", b"02ab"),
    ("01 R. 05 G. 10 A PIC X(2). 10 B REDEFINES A PIC 99. 05 T PIC X OCCURS 0 TO 5 DEPENDING ON B.", b"02ab"),
]


@pytest.mark.parametrize(("text", "record"), SHARED)
def test_shared_storage(text: str, record: bytes) -> None:
    """What shares storage stands where the first does, and counts in it count, also where another is written."""
    coding = coding_of(819, 0x111)
    plan = plan_of(read_text("c.cpy", text).records[0], coding)
    kind = imported(text, coding, PhysicalOptions())
    found = read_record(plan.read, record)[0]
    assert (found, record) == (kind.decode(Cut(1, 0, record, record)), write_record(plan, found, 0))
    assert record == kind.encode(found, 1)


def test_files_of_fixed_length() -> None:
    """Records of a message that is always as long need no length to be told."""
    kind = imported("01 R. 05 A PIC X(3). 05 T OCCURS 2. 10 B PIC S9(4) COMP SYNC. 10 C PIC X.", *CODINGS["mainframe"])
    assert 12 == kind.framing.length
    kind = imported("01 R. 05 N PIC 9. 05 T PIC X OCCURS 0 TO 2 DEPENDING ON N.", *CODINGS["mainframe"])
    assert kind.framing.length is None


def test_texts_that_only_python_takes_for_numbers() -> None:
    """A text of JSON is a number where it has the digits of one, by a copybook and by its message set."""
    kind = imported("01 R. 05 A PIC 9(6).", *CODINGS["mainframe"])
    assert kind.encode({"A": "12"}, 1) == kind.encode({"A": 12}, 1)
    with pytest.raises(ParserException, match="takes a number, not '1_000'"):
        kind.encode({"A": "1_000"}, 1)


_SAID = {"CWF": CwfField(length=1), "TDS": TdsField()}
_KIND = Field("kind", interpret_value_as="messageIdentity", physical=_SAID)
_IN_TURN = TdsGroup(data_element_separation="allElementsDelimited", delimiter="-")
_OF_TABLE = {"TDS": TdsField(repeating_element_delimiter="/"), "CWF": CwfField()}
_EMBEDDING = MessageSet(
    "SET",
    formats={kind: WireFormatUse(kind, kind) for kind in ("CWF", "TDS", "XML")},
    messages={
        "M": Message("M", Group((_KIND, Group((), "message")), physical={"TDS": _IN_TURN})),
        "T": Message(
            "T",
            Group(
                (Field("row", Group((_KIND, Group((), "message"))), min_occurs=0, max_occurs=-1, physical=_OF_TABLE),)
            ),
        ),
        "A": Message(
            "A",
            Group((Field("a", physical={"CWF": CwfField(length=2), "TDS": TdsField()}),), physical={"TDS": _IN_TURN}),
        ),
        "B": Message("B", Group((Field("b", physical={"CWF": CwfField(length=4)}),))),
    },
)


@pytest.mark.parametrize(
    ("kind", "data"),
    [("CWF", b"Axx"), ("CWF", b"Byyyy"), ("TDS", b"A-xx"), ("XML", b"<M><kind>A</kind><A><a>xx</a></A></M>")],
)
def test_message_in_message(kind: str, data: bytes) -> None:
    """A message in a message is a group that is called like it, in every wire format."""
    file = model_file(_EMBEDDING, kind, "M", Framing(), coding_of(819))
    found = file.decode(Cut(1, 0, data, data))
    assert found in ({"kind": "A", "A": {"a": "xx"}}, {"kind": "B", "B": {"b": "yyyy"}})
    assert file.encode(found, 1).endswith(data)


def test_table_of_messages() -> None:
    """Each message in a table is as long as itself, whatever the longest of the set takes."""
    file = model_file(_EMBEDDING, "CWF", "T", Framing(), coding_of(819))
    data = b"AxxByyyyAzz"
    rows = [{"kind": "A", "A": {"a": "xx"}}, {"kind": "B", "B": {"b": "yyyy"}}, {"kind": "A", "A": {"a": "zz"}}]
    assert {"row": rows} == file.decode(Cut(1, 0, data, data))
    assert data == file.encode({"row": rows}, 1)


def _file(*members: Field | Group) -> ModelFile:
    made = MessageSet("S", formats={"F": WireFormatUse("F", "CWF")}, messages={"M": Message("M", Group(members))})
    return model_file(made, "F", "M", Framing(), coding_of(37))


def test_texts_in_bytes() -> None:
    """A text that is kept as bytes is hexadecimal digits, as all bytes are."""
    file = _file(Field("t", physical={"F": CwfField(physical_type="binary", length=2)}))
    assert {"t": "4120"} == file.decode(Cut(1, 0, b"A ", b"A "))


@pytest.mark.parametrize(
    ("physical", "value"),
    [("binary", "41100000"), ("float", 1), ("integer", 0x41100000), ("packedDecimal", None)],
)
def test_integers_however_they_are_kept(physical: PhysicalType, value: object) -> None:
    """What JSON has of an integer is one, or hexadecimal digits where it is kept as bytes: no other text is JSON."""
    file = _file(Field("n", SimpleType("int"), physical={"F": CwfField(physical_type=physical, length=4)}))
    data = bytes.fromhex("41100000")
    if value is None:
        with pytest.raises(ParserException, match="is no packed decimal"):
            file.decode(Cut(1, 0, data, data))
    else:
        assert json.dumps({"n": value}) == to_json(file.decode(Cut(1, 0, data, data)))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("0281820c", {"a": "ab", "b": None, "end": 0}),
        ("0281820c0c", "M ends at offset 4, and 1 bytes follow"),
        ("0481828384818283840c", {"a": "abcd", "b": "abcdabcd", "end": 0}),
    ],
)
def test_choice_that_is_as_long_as_what_is_there(data: str, said: dict[str, Any] | str) -> None:
    """An option that has no room in the rest of a record takes none where options are of different lengths."""
    own = {"physical_type": "packedDecimal", "length": 1}
    file = _file(
        Group(
            (
                Field("a", physical={"F": CwfField(physical_type="lengthEncodedString1")}),
                Field("b", physical={"F": CwfField(length=8, leading_skip_count=1)}),
            ),
            "choice",
        ),
        Field("end", SimpleType("int"), physical={"F": CwfField(**own)}),  # type: ignore[arg-type]
    )
    raw = bytes.fromhex(data)
    if isinstance(said, str):
        with pytest.raises(ParserException, match=said):
            file.decode(Cut(1, 0, raw, raw))
    else:
        found = file.decode(Cut(1, 0, raw, raw))
        assert said == found


def test_message_in_document() -> None:
    """A message in an MRM XML message has the types of its own definition, and is valid as that has it."""
    inner = Message("A", Group((Field("n", SimpleType("int")),)))
    messages = {"M": Message("M", Group((_KIND, Group((), "message")))), "A": inner}
    mrm = Mrm(Library([MessageSet("SET", formats={"XML": WireFormatUse("XML", "XML")}, messages=messages)]))
    template, data = Template("MRM", "SET", "M", "XML"), b"<M><kind>A</kind><A><n>7</n></A></M>"
    tree = part_element(Part(mrm, Portion(data, 0, len(data), Follow("", 273, 1208), template)))
    mrm.validate(tree, template, values=True)
    found = tree.at("A", "n")
    assert found is not None
    assert found.value == 7
    assert mrm.write(tree, Form(273, 1208, template)).endswith(data)
    found.value = 2**31
    with pytest.raises(ParserException, match=r"M\.A\.n is 2147483648, and does not fit into type int"):
        mrm.validate(tree, template, values=True)
