"""MQMD: its tree over a message from a queue, and descriptors as bytes."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.descriptor import LENGTHS, Descriptor
from engine.errors import BrokerError, ConversionException, ParserException
from engine.message.received import Received, new_root
from engine.message.writer import write_message
from engine.parser import Form, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy, read_only
from engine.tree.step import step
from parsers.headers.fields import ComputedFields
from parsers.mqmd import pack, unpack
from tests.parsers.samples import BIG, FORMS, LITTLE, SAMPLES, TOKEN, fields, tree, write

DESCRIPTOR = Descriptor(
    report=0x01000000,
    msg_type=1,
    expiry=600,
    feedback=-7,
    encoding=785,
    coded_char_set_id=500,
    format="MQSTR",
    priority=9,
    persistence=1,
    msg_id=TOKEN[:24],
    correl_id=TOKEN[8:],
    backout_count=2,
    reply_to_q="REPLY.QUEUE",
    reply_to_q_mgr="QM1",
    user_identifier="mqm",
    accounting_token=TOKEN,
    appl_identity_data="identity",
    put_appl_type=11,
    put_appl_name="payroll.exe",
    put_date="20030731",
    put_time="23595812",
    appl_origin_data="orig",
    group_id=TOKEN[:24],
    msg_seq_number=3,
    offset=128,
    msg_flags=8,
    original_length=256,
)
VERSION_2 = SAMPLES[-1]
ORDER = [
    *("SourceQueue", "Transactional", "Encoding", "CodedCharSetId", "Format", "Version", "Report", "MsgType", "Expiry"),
    *("Feedback", "Priority", "Persistence", "MsgId", "CorrelId", "BackoutCount", "ReplyToQ", "ReplyToQMgr"),
    *("UserIdentifier", "AccountingToken", "ApplIdentityData", "PutApplType", "PutApplName", "PutDate", "PutTime"),
    *("ApplOriginData", "GroupId", "MsgSeqNumber", "Offset", "MsgFlags", "OriginalLength"),
]


def mqmd(root: Element) -> Element:
    found = root.at("MQMD")
    assert found is not None
    return found


def test_the_tree_of_a_received_message() -> None:
    """The MQMD shows where a message came from and then its descriptor: character fields padded, dates as dates."""
    root = Received(DESCRIPTOR, b"body", queue="ORDERS", transactional=False).root()
    found = fields(mqmd(root))
    assert list(found) == ORDER
    assert found == VERSION_2.values | {"SourceQueue": "ORDERS", "Transactional": False}


def test_one_field_is_made_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field that is asked for is computed and made, and no other is."""
    asked = []
    original = ComputedFields.value
    monkeypatch.setattr(ComputedFields, "value", lambda self, handle: asked.append(handle) or original(self, handle))
    header = mqmd(Received(DESCRIPTOR, b"").root())
    field = header.at("Priority")
    assert field is not None
    assert (field.value, asked) == (9, ["Priority"])


@pytest.mark.parametrize(("encoding", "ccsid"), FORMS)
def test_descriptors_as_bytes(encoding: int, ccsid: int) -> None:
    """A descriptor is packed into the 364 bytes of an MQMD, and unpacked as it was."""
    data = VERSION_2.bytes(encoding, ccsid)
    assert pack(DESCRIPTOR, encoding, ccsid) == data
    assert unpack(b"1234567" + data, 7, encoding, ccsid) == DESCRIPTOR


def test_version_1_is_unpacked_with_the_defaults_of_version_2() -> None:
    """Of an MQMD of version 1, groups and segments are as in a message that has none."""
    rest = {"group_id": bytes(24), "msg_seq_number": 1, "offset": 0, "msg_flags": 0, "original_length": -1}
    data = SAMPLES[-2].bytes(BIG, 500)
    assert unpack(data + b"body", 0, BIG, 500) == DESCRIPTOR._replace(**rest)


def descriptors() -> st.SearchStrategy[Descriptor]:
    long = st.integers(-(1 << 31), (1 << 31) - 1)
    made = {}
    for name, default in Descriptor._field_defaults.items():
        size = LENGTHS.get(name, 0)
        text = st.text("ABCdef 0123._", max_size=size).map(str.rstrip)
        of_bytes = st.binary(min_size=size, max_size=size)
        made[name] = long if isinstance(default, int) else text if isinstance(default, str) else of_bytes
    return st.builds(Descriptor, **made)


@given(descriptor=descriptors(), form=st.sampled_from(FORMS))
def test_any_descriptor_comes_back(descriptor: Descriptor, form: tuple[int, int]) -> None:
    """unpack(pack(d)) is d, and the tree of the bytes is that of the received message."""
    data = pack(descriptor, *form)
    assert unpack(data, 0, *form) == descriptor
    received = fields(mqmd(Received(descriptor, b"").root()))
    assert fields(tree("MQMD", data, *form)) == {name: received[name] for name in ORDER[2:]}


@pytest.mark.parametrize(("encoding", "ccsid"), FORMS)
def test_a_received_mqmd_as_bytes(encoding: int, ccsid: int) -> None:
    """The MQMD of a received message can be written out, as it came or changed."""
    root = Received(DESCRIPTOR, b"").root()
    assert write(mqmd(root), encoding, ccsid) == VERSION_2.bytes(encoding, ccsid)
    mine = copy(read_only(root))
    field = mqmd(mine).at("Priority")
    assert field is not None
    field.value = 3
    assert write(mqmd(mine), encoding, ccsid) == VERSION_2.bytes(encoding, ccsid, Priority=3)


TOO_LARGE: list[tuple[dict[str, Any], str]] = [
    ({"reply_to_q": "Q" * 49}, "MQMD.ReplyToQ has room for 48 bytes"),
    ({"reply_to_q": "é" * 25}, "MQMD.ReplyToQ has room for 48 bytes"),
    ({"priority": 1 << 31}, "MQMD.Priority takes an integer of 4 bytes"),
    ({"msg_id": bytes(25)}, "MQMD.MsgId has room for 24 bytes"),
]


@pytest.mark.parametrize(("changed", "expected"), TOO_LARGE)
def test_descriptors_that_do_not_fit(changed: dict[str, Any], expected: str) -> None:
    """What an MQMD has no room for is an error that names the field."""
    with pytest.raises(BrokerError) as caught:
        pack(Descriptor(**changed))
    assert expected in str(caught.value)


def test_characters_that_cannot_be_unpacked() -> None:
    """Bytes that are no characters are named with their field and their offset."""
    data = bytearray(b"123" + VERSION_2.bytes(LITTLE, 1208))
    data[3 + 101] = 0xFF
    with pytest.raises(ConversionException, match=r"MQMD.ReplyToQ: the bytes X'ff' at offset 104 are no characters"):
        unpack(bytes(data), 3, LITTLE, 1208)


CHANGES: list[tuple[str, Any, str, Any]] = [
    ("Format", "MQSTR   ", "format", "MQSTR"),
    ("ReplyToQ", "R2", "reply_to_q", "R2"),
    ("Expiry", 100, "expiry", 100),
    ("CorrelId", TOKEN[:24], "correl_id", TOKEN[:24]),
    ("PutDate", date(2024, 2, 29), "put_date", "20240229"),
    ("PutTime", time(1, 2, 3, 40000, tzinfo=UTC), "put_time", "01020304"),
    ("PutDate", datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC), "put_date", "20240229"),
    ("PutTime", datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC), "put_time", "01020300"),
    ("Version", 1, "report", 0x01000000),
    ("StrucId", "MD  ", "report", 0x01000000),
    ("ReplyToQ", f"{'Q' * 48}   ", "reply_to_q", "Q" * 48),
    ("Feedback", Decimal("7.0"), "feedback", 7),
    ("Expiry", 0, "expiry", 1),
    ("Expiry", -5, "expiry", 1),
    ("Expiry", -1, "expiry", -1),
    ("Expiry", datetime(2003, 8, 1, tzinfo=UTC), "expiry", 1),
    ("MsgId", None, "msg_id", bytes(24)),
    ("SourceQueue", "OTHER", "reply_to_q", "REPLY.QUEUE"),
]


@pytest.mark.parametrize(("name", "value", "field", "expected"), CHANGES)
def test_a_changed_field_arrives_in_the_descriptor(name: str, value: Any, field: str, expected: Any) -> None:
    """What a flow sets in the MQMD is what the message is put with; the rest stays."""
    assert put_with(name, value) == (DESCRIPTOR._replace(**{field: expected}), b"body")


def put_with(name: str, value: Any) -> tuple[Descriptor, bytes]:
    """What is put when a flow has set one field of the MQMD."""
    root = copy(read_only(Received(DESCRIPTOR, b"body").root()))
    mqmd(root).ensure(step(name)).value = value
    return write_message(root)


def test_a_time_to_expire_at() -> None:
    """An Expiry that is a timestamp is the time that is left until then, in tenths of a second."""
    descriptor, _ = put_with("Expiry", datetime.now(UTC) + timedelta(hours=1))
    assert 35_900 < descriptor.expiry <= 36_000
    root = copy(read_only(Received(DESCRIPTOR, b"body").root()))
    root.ensure(step("Properties")).ensure(step("ExpirationTime")).value = datetime.now(UTC) + timedelta(hours=2)
    descriptor, _ = write_message(root)
    assert 71_900 < descriptor.expiry <= 72_000


@pytest.mark.parametrize("tree", [Received(DESCRIPTOR, b"").root(), new_root()], ids=["received", "built"])
def test_a_time_to_expire_at_in_bytes(tree: Element) -> None:
    """The bytes of an MQMD have an Expiry in tenths of a second as well, where the tree has a timestamp."""
    moment = datetime.now(UTC) + timedelta(hours=1)
    for value, least, most in ((moment, 35_900, 36_000), (moment - timedelta(days=9), 1, 1), (-1, -1, -1), (7, 7, 7)):
        root = copy(tree)
        root.ensure(step("MQMD")).ensure(step("Expiry")).value = value
        written = parser_catalog.find("MQMD").write(mqmd(root), Form(BIG, 500))
        assert least <= unpack(written, 0, BIG, 500).expiry <= most


REFUSED: list[tuple[str, Any, str]] = [
    ("ReplytoQueue", "Q", "the MQMD has no field called ReplytoQueue; did you mean ReplyToQ?"),
    ("Anything", 1, "the MQMD has no field called Anything: leave it out, or correct its name"),
    ("Version", 3, "MQMD.Version is 3, and only 1 or 2 can be written"),
    ("ReplyToQ", "Q" * 49, f"MQMD.ReplyToQ has room for 48 bytes, and '{'Q' * 49}' takes 49: shorten it"),
    ("ReplyToQ", "é" * 25, f"MQMD.ReplyToQ has room for 48 bytes, and '{'é' * 25}' takes 50: shorten it"),
    ("Format", "NINECHARS", "MQMD.Format has room for 8 bytes, and 'NINECHARS' takes 9: shorten it"),
    ("ReplyToQ", b"Q", "MQMD.ReplyToQ takes characters, not b'Q'"),
    ("MsgId", bytes(25), "MQMD.MsgId has room for 24 bytes, not for the 25 of this BLOB: shorten it"),
    ("MsgId", "id", "MQMD.MsgId takes a BLOB of 24 bytes, not 'id'"),
    ("Priority", 1 << 31, "MQMD.Priority takes an integer of 4 bytes, which 2147483648 does not fit into"),
    ("Priority", Decimal("1.5"), "MQMD.Priority takes an integer, not Decimal('1.5')"),
    ("Priority", b"1", "MQMD.Priority takes an integer, not b'1'"),
    ("Priority", float("nan"), "MQMD.Priority takes an integer, not nan"),
]


@pytest.mark.parametrize(("name", "value", "expected"), REFUSED)
def test_what_an_mqmd_cannot_hold(name: str, value: Any, expected: str) -> None:
    """A field that an MQMD does not have, and a value that its field has no room for, are errors that say so."""
    with pytest.raises(ParserException) as caught:
        put_with(name, value)
    assert (caught.value.number, caught.value.text) == (5010, expected)


def test_a_parsed_mqmd_is_a_descriptor_too() -> None:
    """An MQMD that was read from bytes and put into a message gives it its descriptor."""
    root = copy(read_only(Received(Descriptor(), b"body").root()))
    mqmd(root).detach()
    root.append(tree("MQMD", VERSION_2.bytes(LITTLE, 819), LITTLE, 819))
    assert write_message(root) == (DESCRIPTOR, b"body")
