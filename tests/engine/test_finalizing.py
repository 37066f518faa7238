"""A Root that is finalized says what its bytes say, and in the mcd folder of an MQRFH2 what its body is."""

from __future__ import annotations

import pytest

from engine.descriptor import Descriptor
from engine.message.assembly import Message, finalize
from engine.message.writer import write_message
from engine.parser import Template
from engine.tree.element import Element
from engine.tree.sharing import copy
from esql.compile import compile_text

BODY = b"<a/>"
HEADED = "SET OutputRoot = InputRoot; CREATE NEXTSIBLING OF OutputRoot.MQMD DOMAIN 'MQRFH2' NAME 'MQRFH2';"
PROPERTIES = "SET OutputRoot.Properties = InputRoot.Properties;"
MCD = "SET OutputRoot.MQRFH2.mcd.Msd = 'xmlnsc'"
CASES = [
    ("SET OutputRoot = InputRoot", {}),
    (f"{HEADED} SET OutputRoot.MQRFH2.usr.a = 1; {MCD}", {"MQMD.Format": "MQHRF2  ", "MQRFH2.Format": "MQSTR   "}),
    (f"{HEADED} DELETE FIELD OutputRoot.MQRFH2; SET OutputRoot.MQMD.Format = 'MQHRF2'", {"MQMD.Format": "MQSTR   "}),
    (
        f"{HEADED} {MCD}; SET OutputRoot.MQRFH2.CodedCharSetId = 500; SET OutputRoot.MQRFH2.Encoding = 273",
        {"Properties.CodedCharSetId": 500, "Properties.Encoding": 273, "MQMD.CodedCharSetId": 1208},
    ),
    (
        "SET OutputRoot = InputRoot; SET OutputRoot.MQMD.Priority = 7; SET OutputRoot.MQMD.Persistence = 1",
        {"Properties.Priority": 7, "Properties.Persistence": True},
    ),
    (
        "SET OutputRoot = InputRoot; SET OutputRoot.Properties.CodedCharSetId = 500",
        {"MQMD.CodedCharSetId": 500, "Properties.CodedCharSetId": 500},
    ),
    (
        f"{HEADED} SET OutputRoot.MQRFH2.mcd.Msd = 'xmlnsc'; SET OutputRoot.XMLNSC = NULL",
        {"MQRFH2.mcd.Msd": "xmlnsc"},  # a header that was made says what it was given
    ),
    ("SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.a = 2", {"MQMD.Format": "MQSTR   "}),
    (
        "SET OutputRoot = InputRoot; SET OutputRoot.MQMD.CorrelId = CAST('' AS BLOB); SET OutputRoot.MQMD.MsgType = 1",
        {"Properties.ReplyIdentifier": bytes(24)},
    ),
    ("SET OutputRoot.XMLNSC.a = 1", {"MQMD": None, "Properties": None}),
    ("SET OutputRoot.MQMD.Version = 2; SET OutputRoot.XMLNSC.a = 1", {"MQMD.Format": None, "Properties": None}),
    (f"{PROPERTIES} SET OutputRoot.MQMD.Version = 2; SET OutputRoot.XMLNSC.a = 1", {"MQMD.Priority": 3}),
]


def built(program: str) -> Element:
    """The Root that a program sends without finalizing it."""
    compiled = compile_text(f"{program}; PROPAGATE FINALIZE NONE; RETURN FALSE;", "COMPUTE")
    message = Message.received(Descriptor(format="MQSTR", priority=3), BODY, template=Template("XMLNSC"))
    [(_, sent)] = compiled.evaluate(message)
    return copy(sent.root)


@pytest.mark.parametrize(("program", "expected"), CASES)
def test_finalized(program: str, expected: dict[str, object]) -> None:
    """Formats announce what follows, Properties and headers agree, and what is sent does not change by that."""
    root = built(program)
    written = write_message(built(program))
    finalize(root)
    found = {path: root.at(*path.split(".")) for path in expected}
    assert expected == {path: None if field is None else field.value for path, field in found.items()}
    assert written == write_message(root)


SETS = "SET OutputRoot.Properties.MessageSet = 'S'; SET OutputRoot.Properties.MessageType = 'T';"
SAID = [
    ("SET OutputRoot.MQRFH2.usr.a = 1", ["mcd", "usr"], {"Msd": "xmlnsc"}),
    (f"SET OutputRoot.MQRFH2.usr.a = 1; {SETS}", ["mcd", "usr"], {"Msd": "xmlnsc", "Set": "S", "Type": "T"}),
    (f"SET OutputRoot.MQRFH2.mcd.Msd = 'xml'; {SETS}", ["mcd"], {"Msd": "xmlnsc", "Set": "S", "Type": "T"}),
    (f"SET OutputRoot.MQRFH2.mcd.Set = 'Own'; {SETS}", ["mcd"], {"Msd": "xmlnsc", "Set": "S", "Type": "T"}),
    ("SET OutputRoot.MQRFH2.mcd.Fmt = 'Own'", ["mcd"], {"Msd": "xmlnsc", "Fmt": "Own"}),
    ("SET OutputRoot.MQRFH2.mcd.Msd = 'jms_text'", ["mcd"], {"Msd": "jms_text"}),
    ("SET OutputRoot.XMLNSC = NULL; SET OutputRoot.BLOB.BLOB = X'00'", ["mcd"], {"Msd": "none"}),
    ("SET OutputRoot.XMLNSC = NULL; SET OutputRoot.JSON.Data.a = 1", ["mcd"], {"Msd": "json"}),
    ("SET OutputRoot.XMLNSC = NULL", [], None),
]


@pytest.mark.parametrize(("program", "folders", "expected"), SAID)
def test_what_mcd_says(program: str, folders: list[str], expected: dict[str, str] | None) -> None:
    """An MQRFH2 has an mcd folder with the body's domain and what Properties say of it, in its bytes as well."""
    root = built(f"{HEADED} {program}")
    finalize(root)
    again = Message.received(*write_message(root)).root
    for header in (root.at("MQRFH2"), again.at("MQRFH2")):
        assert header is not None
        mcd = header.at("mcd")
        assert expected == (None if mcd is None else {field.name: field.value for field in mcd})
        assert folders == [child.name for child in header if child.name.islower()]


def test_mcd_only_where_finalized() -> None:
    """A program that propagates without finalizing sends a header without mcd, as IBM shows to be rid of it."""
    root = built(f"{HEADED} SET OutputRoot.MQRFH2.usr.a = 1; DELETE FIELD OutputRoot.MQRFH2.mcd")
    assert b"mcd" not in write_message(root)[1]


def headed(message: Message) -> Element:
    """A Root as a node written in Python makes it: a copy with an MQRFH2 in front of the body that says no domain."""
    root = copy(message.root)
    header = Element("MQRFH2")
    header.add("usr").add("a", 1)
    body = root.last_child
    assert body is not None
    root.insert(header, before=body)
    return root


def test_trees_of_nodes_in_python() -> None:
    """What a node in Python sends in a Root's place is finalized, as what a Compute node sends is."""
    message = Message.received(Descriptor(format="MQSTR"), BODY, template=Template("XMLNSC"))
    sent = message.replaced(root=headed(message)).root
    found = [sent.at(*path.split(".")) for path in ("MQMD.Format", "MQRFH2.Format", "MQRFH2.mcd.Msd")]
    assert ["MQHRF2  ", "MQSTR   ", "xmlnsc"] == [None if field is None else field.value for field in found]
    again = Message.received(*write_message(sent)).root
    assert [child.name for child in again] == ["Properties", "MQMD", "MQRFH2", "XMLNSC"]


def test_trees_sent_as_they_are() -> None:
    """A node in Python may send a Root as it is, and one that was sent already stays so."""
    message = Message.received(Descriptor(format="MQSTR"), BODY, template=Template("XMLNSC"))
    sent = message.replaced(root=headed(message), as_it_is=True)
    again = message.replaced(root=sent.root)
    for root in (sent.root, again.root):
        assert root.at("MQRFH2", "mcd") is None
        assert b"mcd" not in write_message(root)[1]


def test_header_taken_out() -> None:
    """The MQMD announces what is left when a header that came with the message has gone."""
    first = built(f"{HEADED} SET OutputRoot.MQRFH2.usr.a = 1")
    message = Message.received(*write_message(first), template=Template("XMLNSC"))
    root = copy(message.root)
    header = root.at("MQRFH2")
    assert header is not None
    header.detach()
    finalize(root)
    found = root.at("MQMD", "Format")
    assert found is not None
    assert ("MQSTR   ", BODY) == (found.value, write_message(root)[1])


def test_what_cannot_be_written() -> None:
    """A tree that has no parser, or a field that no header takes, is left to nodes further on."""
    for program in ("SET OutputRoot.Nothing.a = 1", "SET OutputRoot = InputRoot; SET OutputRoot.MQMD.Priority = 'x'"):
        root = built(program)
        finalize(root)
        assert root.at("Nothing", "a") is not None or root.at("MQMD", "Priority").value == "x"
