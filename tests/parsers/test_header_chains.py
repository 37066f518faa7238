"""Chains of headers: from a queue's message to a Root, through changes, and back to a message."""

import struct
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.errors import ParserException
from engine.message.received import Received
from engine.message.writer import write_message
from engine.parser import Options, Template
from engine.tree.element import Element
from engine.tree.sharing import copy, read_only
from engine.tree.step import step
from tests.parsers.folder_samples import mqrfh2
from tests.parsers.samples import BIG, LITTLE, SAMPLES, Writer

BODY = b"\x00\x01 body \xff"


def mqdlh(encoding: int, ccsid: int, following: str, *, then: tuple[int, int]) -> bytes:
    return SAMPLES[0].bytes(encoding, ccsid, Format=following.ljust(8), Encoding=then[0], CodedCharSetId=then[1])


def chain() -> Received:
    """MQMD, then an MQDLH in big-endian EBCDIC, then an MQRFH2 in little-endian ASCII, then bytes."""
    descriptor = Descriptor(format="MQDEAD", encoding=BIG, coded_char_set_id=500, priority=3, put_appl_name="app")
    headers = mqdlh(BIG, 500, "MQHRF2", then=(LITTLE, 819)) + mqrfh2(LITTLE, 819, "<usr><a>1</a></usr>")
    return Received(descriptor, headers + BODY, queue="IN", template=Template("BLOB"), options=Options())


def output() -> Element:
    return copy(read_only(chain().root()))


def value_at(root: Element, *path: str) -> Any:
    found = root.at(*path)
    assert found is not None
    return found.value


def names(root: Element) -> list[str]:
    return [child.name for child in root]


def again(descriptor: Descriptor, body: bytes) -> Element:
    return Received(descriptor, body, template=Template("BLOB")).root()


def part(root: Element, name: str) -> Element:
    found = root.at(name)
    assert found is not None
    return found


def test_the_chain() -> None:
    """Each header is read in the encoding and CCSID that the one before announces."""
    root = chain().root()
    assert names(root) == ["Properties", "MQMD", "MQDLH", "MQRFH2", "BLOB"]
    assert value_at(root, "MQDLH", "DestQName") == "ORDERS.IN".ljust(48)
    assert value_at(root, "MQRFH2", "usr", "a") == "1"
    assert value_at(root, "BLOB", "BLOB") == BODY
    assert [value_at(root, "Properties", name) for name in ("Encoding", "CodedCharSetId")] == [546, 1208]


@pytest.mark.parametrize("look", [False, True])
def test_untouched(look: bool) -> None:
    """What nobody has changed is sent on byte for byte, looked at or not."""
    root = output()
    if look:
        for header in root:
            for field in header:
                _ = field.value, list(field)
    assert write_message(root) == (chain().descriptor, chain().body)


EDITS: list[tuple[tuple[str, ...], Any]] = [
    (("MQDLH", "Reason"), 7),
    (("MQDLH", "PutApplName"), "other".ljust(28)),
    (("MQRFH2", "Flags"), 5),
    (("MQRFH2", "usr", "a"), "2"),
    (("BLOB", "BLOB"), b"new body"),
]


@pytest.mark.parametrize(("path", "value"), EDITS)
def test_one_edit(path: tuple[str, ...], value: Any) -> None:
    """One change is what differs when the message is read again; all other bytes are where they were."""
    root = output()
    field = root.at(*path)
    assert field is not None
    field.value = value
    descriptor, body = write_message(root)
    assert descriptor == chain().descriptor
    assert value_at(again(descriptor, body), *path) == value
    before = chain().body
    changed = [at for at, (old, new) in enumerate(zip(before, body, strict=False)) if old != new]
    dlh, rfh2 = 172, len(before) - len(BODY)
    allowed = {"MQDLH": range(dlh), "MQRFH2": range(dlh, rfh2), "BLOB": range(rfh2, len(before))}[path[0]]
    assert changed
    assert set(changed) <= set(allowed)


def test_a_header_is_taken_away() -> None:
    """Without its MQRFH2 the MQDLH announces the body by the format that the MQRFH2 gave it."""
    root = output()
    part(root, "MQRFH2").detach()
    descriptor, body = write_message(root)
    assert descriptor == chain().descriptor
    assert body == mqdlh(BIG, 500, "MQSTR", then=(LITTLE, 819)) + BODY
    assert names(again(descriptor, body)) == ["Properties", "MQMD", "MQDLH", "BLOB"]


def test_the_first_header_is_taken_away() -> None:
    """Without its MQDLH the MQMD announces the MQRFH2."""
    root = output()
    part(root, "MQDLH").detach()
    descriptor, body = write_message(root)
    assert descriptor.format == "MQHRF2"
    found = again(descriptor, body)
    assert names(found) == ["Properties", "MQMD", "MQRFH2", "BLOB"]
    assert value_at(found, "MQRFH2", "usr", "a") == "1"
    assert value_at(found, "BLOB", "BLOB") == BODY


@pytest.mark.parametrize("edited", [False, True])
def test_all_headers_are_taken_away(edited: bool) -> None:
    """Without headers the MQMD announces the body by the format that the last of them gave it."""
    root = output()
    part(root, "MQDLH").detach()
    part(root, "MQRFH2").detach()
    if edited:
        part(root, "BLOB").add("More", b"!")
    assert write_message(root) == (chain().descriptor._replace(format="MQSTR"), BODY + b"!" * edited)


def test_a_header_is_put_in() -> None:
    """An MQRFH2 that is put in front of a body is announced, and announces the body as it was."""
    root = copy(read_only(Received(Descriptor(format="MQSTR", encoding=BIG, coded_char_set_id=500), BODY).root()))
    header = Element("MQRFH2")
    header.add("usr").add("a", "new")
    root.insert(header, before=part(root, "BLOB"))
    descriptor, body = write_message(root)
    assert descriptor == Descriptor(format="MQHRF2", encoding=BIG, coded_char_set_id=500)
    w = Writer(BIG, 500)
    data = b"<usr><a>new</a></usr>   "
    head = w.text("RFH ", 4) + w.longs(2, 40 + len(data), BIG, 500) + w.text("MQSTR", 8) + w.longs(0, 1208, len(data))
    assert body == head + data + BODY


def test_a_second_header_of_a_kind() -> None:
    """Two headers of one kind in a row are both read and both written."""
    one = mqrfh2(LITTLE, 1208, "<a><x>1</x></a>", following="MQHRF2")
    two = mqrfh2(LITTLE, 1208, "<b><x>2</x></b>")
    received = Received(Descriptor(format="MQHRF2"), one + two + BODY)
    root = copy(read_only(received.root()))
    assert root.count(step("MQRFH2")) == 2
    second = root.nth(step("MQRFH2"), 2)
    assert second is not None
    assert value_at(second, "b", "x") == "2"
    flags = second.at("Flags")
    assert flags is not None
    flags.value = 1
    _, body = write_message(root)
    assert (body[: len(one)], body[len(one) + 28 : len(one) + 32]) == (one, b"\1\0\0\0")
    assert body[len(one) + 32 :] == (two + BODY)[32:]


MQMD_CHANGES: list[tuple[str, Any, dict[str, Any]]] = [
    ("Priority", 9, {"priority": 9}),
    ("ReplyToQ", "BACK", {"reply_to_q": "BACK"}),
    ("Persistence", 1, {"persistence": 1}),
]


@pytest.mark.parametrize(("name", "value", "expected"), MQMD_CHANGES)
def test_changed_descriptors(name: str, value: Any, expected: dict[str, Any]) -> None:
    """A change of the MQMD arrives in the descriptor, and leaves what follows as it came."""
    root = output()
    field = root.at("MQMD", name)
    assert field is not None
    field.value = value
    assert write_message(root) == (chain().descriptor._replace(**expected), chain().body)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("Expiry", 1 << 31, "MQMD.Expiry takes an integer of 4 bytes, which 2147483648 does not fit into"),
        ("Feedback", -(1 << 31) - 1, "MQMD.Feedback takes an integer of 4 bytes"),
        ("Expiry", float("inf"), "MQMD.Expiry takes an integer, not inf"),
        ("Priority", "high", "MQMD.Priority takes an integer, not 'high'"),
        ("MsgId", "an id", "MQMD.MsgId takes a BLOB of 24 bytes, not 'an id'"),
    ],
)
def test_a_descriptor_refuses_what_it_cannot_hold(name: str, value: Any, expected: str) -> None:
    """The error calls the field as programs do."""
    root = output()
    part(part(root, "MQMD"), name).value = value
    with pytest.raises(ParserException, match=expected):
        write_message(root)


def test_another_form_of_the_first_header() -> None:
    """A message whose MQMD is given another encoding and CCSID has its first header in them; the rest is announced."""
    root = output()
    for name, value in (("Encoding", LITTLE), ("CodedCharSetId", 1208)):
        field = root.at("MQMD", name)
        assert field is not None
        field.value = value
    expected = mqdlh(LITTLE, 1208, "MQHRF2", then=(LITTLE, 819)) + chain().body[172:]
    assert write_message(root) == (chain().descriptor._replace(encoding=LITTLE, coded_char_set_id=1208), expected)


def test_a_header_that_inherits_its_form() -> None:
    """What follows a header without an encoding of its own is written as it is announced, and read as it was."""
    w = Writer(BIG, 500)
    iih = w.text("IIH ", 4) + w.longs(1, 84, 0, 0) + w.text("MQHRF2", 8) + w.longs(0) + w.text("", 32)
    iih += bytes(16) + w.text(" 0C ", 4)
    received = Received(
        Descriptor(format="MQIMS", encoding=BIG, coded_char_set_id=500), iih + mqrfh2(BIG, 500, "<usr><a>1</a></usr>")
    )
    root = copy(read_only(received.root()))
    assert write_message(root)[1] == received.body
    for name, value in (("Encoding", LITTLE), ("CodedCharSetId", 819)):
        field = root.at("MQMD", name)
        assert field is not None
        field.value = value
    found = again(*write_message(root))
    assert value_at(found, "MQIIH", "CommitMode") == "0"
    assert value_at(found, "MQRFH2", "usr", "a") == "1"


def test_mcd_chooses_the_parser_of_the_body() -> None:
    """The mcd folder goes before what the input node says."""
    data = mqrfh2(LITTLE, 1208, "<mcd><Msd>blob</Msd><Set>S</Set><Type>T</Type><Fmt>F</Fmt></mcd>")
    root = Received(Descriptor(format="MQHRF2"), data + BODY, template=Template("XMLNSC")).root()
    assert names(root) == ["Properties", "MQMD", "MQRFH2", "BLOB"]
    found = [value_at(root, "Properties", name) for name in ("MessageSet", "MessageType", "MessageFormat")]
    assert found == ["S", "T", "F"]


def test_pcf_is_the_body() -> None:
    """A PCF message is its own body: nothing comes after it but bytes that it leaves over."""
    pcf = struct.pack("<13i", 7, 36, 1, 45, 1, 1, 0, 2085, 1, 3, 16, 1, 42)
    root = Received(Descriptor(format="MQEVENT"), pcf).root()
    assert names(root) == ["Properties", "MQMD", "MQPCF"]
    more = Received(Descriptor(format="MQADMIN"), pcf + b"more").root()
    assert names(more) == ["Properties", "MQMD", "MQPCF", "BLOB"]
    mine = copy(read_only(root))
    reason = mine.at("MQPCF", "Reason")
    assert reason is not None
    reason.value = 2033
    assert write_message(mine) == (Descriptor(format="MQEVENT"), pcf[:28] + struct.pack("<i", 2033) + pcf[32:])


def test_a_message_without_a_body() -> None:
    """A Root that has nothing below it but a descriptor is a message of no bytes."""
    root = output()
    for name in ("MQDLH", "MQRFH2", "BLOB"):
        part(root, name).detach()
    assert write_message(root) == (chain().descriptor, b"")


def test_a_garbled_header_says_where() -> None:
    """A header that cannot be read is named with its offset in the message; the body is never guessed at."""
    received = chain()
    broken = Received(received.descriptor, received.body[:172] + b"XXXX" + received.body[176:])
    with pytest.raises(ParserException, match="the MQRFH2 at offset 172 starts with X'58585858', not with 'RFH '"):
        list(broken.root())
