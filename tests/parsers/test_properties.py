"""Properties: what is known of a message, whatever brought it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.message.received import Received
from engine.message.writer import write_message
from engine.parser import Template
from engine.tree.sharing import copy, read_only
from tests.parsers.samples import BIG, LITTLE, SAMPLES, TOKEN, fields, write

DESCRIPTOR = Descriptor(
    format="MQDEAD",
    encoding=BIG,
    coded_char_set_id=500,
    priority=4,
    persistence=1,
    correl_id=TOKEN[:24],
    put_date="20031231",
    put_time="23595950",
    expiry=15,
)
EXPECTED = {
    "MessageSet": "SET",
    "MessageType": "TYPE",
    "MessageFormat": "CWF",
    "Encoding": 785,
    "CodedCharSetId": 1047,
    "Transactional": True,
    "Persistence": True,
    "CreationTime": datetime(2003, 12, 31, 23, 59, 59, 500000, tzinfo=UTC),
    "ExpirationTime": datetime(2004, 1, 1, 0, 0, 1, tzinfo=UTC),
    "Priority": 4,
    "ReplyIdentifier": TOKEN[:24],
    "ReplyProtocol": "MQ",
    "Topic": None,
    "ContentType": "",
    **{f"IdentitySource{what}": "" for what in ("Type", "Token", "Password", "IssuedBy")},
    **{f"IdentityMapped{what}": "" for what in ("Type", "Token", "Password", "IssuedBy")},
}


def received(**changed: Any) -> Received:
    body = SAMPLES[0].bytes(BIG, 500) + b"body"
    return Received(DESCRIPTOR._replace(**changed), body, template=Template("BLOB", "SET", "TYPE", "CWF"))


def test_the_folder() -> None:
    """The folder is IBM's; Encoding and CodedCharSetId are those of the last header before the body."""
    found = received().root().at("Properties")
    assert found is not None
    assert list(fields(found).items()) == list(EXPECTED.items())


TIMES = [
    ({"expiry": -1}, EXPECTED["CreationTime"], -1),
    ({"put_date": ""}, None, None),
    ({"put_time": "24000000"}, None, None),
    ({"put_time": "", "expiry": -1}, None, -1),
    ({"put_date": "99991231"}, datetime(9999, 12, 31, 23, 59, 59, 500000, tzinfo=UTC), None),
]


@pytest.mark.parametrize(("changed", "created", "expires"), TIMES)
def test_times(changed: dict[str, Any], created: datetime | None, expires: Any) -> None:
    """A message without a time that MQ can read has none, and one without an expiry never expires."""
    root = received(**changed).root()
    found = [root.at("Properties", name) for name in ("CreationTime", "ExpirationTime")]
    assert [field and field.value for field in found] == [created, expires]


def test_properties_have_no_bytes() -> None:
    """The folder is written as nothing."""
    found = received().root().at("Properties")
    assert found is not None
    assert write(found, LITTLE, 1208) == b""


CHANGES = [
    ("Priority", 7, {"priority": 7}),
    ("Persistence", False, {"persistence": 0}),
    ("ReplyIdentifier", TOKEN[8:], {"correl_id": TOKEN[8:]}),
    ("ContentType", "text/xml", {}),
]


@pytest.mark.parametrize(("name", "value", "expected"), CHANGES)
def test_a_changed_property_arrives_in_the_descriptor(name: str, value: Any, expected: dict[str, Any]) -> None:
    """What a flow sets in Properties is what the message is put with, where the MQMD has a place for it."""
    root = copy(read_only(received().root()))
    field = root.at("Properties", name)
    assert field is not None
    field.value = value
    assert write_message(root) == (DESCRIPTOR._replace(**expected), received().body)


def test_properties_without_the_descriptor_that_came() -> None:
    """What a message is put with follows Properties where no MQMD says it; the rest is as in a new MQMD."""
    named: dict[str, Any] = {"persistence": 1, "expiry": 600, "coded_char_set_id": 500, "correl_id": TOKEN[:24]}
    came = Descriptor(**named, priority=3, format="MQSTR", msg_id=TOKEN[8:], reply_to_q="REPLY")
    root = copy(read_only(Received(came, b"body").root()))
    header, priority = root.at("MQMD"), root.at("Properties", "Priority")
    assert header is not None
    assert priority is not None
    header.detach()
    assert write_message(root)[0] == Descriptor(**named, priority=3)
    priority.value = 4
    assert write_message(root)[0].priority == 4
    priority.detach()
    assert write_message(root)[0].priority == 0
