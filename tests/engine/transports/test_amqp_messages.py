"""Messages, addresses and limits of the AMQP transport, without a broker."""

import time
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from proton import Message, byte, char, float32, int32, short, symbol, timestamp, ubyte, ulong

from engine.descriptor import NO_ID, Descriptor
from engine.errors import BrokerError, ConfigurationException, Place
from engine.mq.properties import split
from engine.mq.property_types import I1, I2, I8, R4, Property
from engine.transports.amqp.address import read_address
from engine.transports.amqp.links import Peer
from engine.transports.amqp.messages import Identifiers, read_message, write_message
from engine.transports.amqp.missing_features import find_problems, refuse_selection
from engine.work import Selection

RABBIT = Peer("RabbitMQ", "3.10.8", transactions=False, selectors=False, browsing=False, drains=False, counts=False)
ARTEMIS = Peer("artemis", "2.31", transactions=True, selectors=True, browsing=True, drains=True, counts=True)
TEXT = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=4)
IDS = st.binary(min_size=24, max_size=24).filter(bool)


def carried(message: Message) -> Message:
    """The message as it comes out of a connection."""
    arrived = Message()
    arrived.decode(message.encode())
    return arrived


@given(
    st.builds(
        Descriptor,
        report=st.integers(0, 2**31 - 1),
        msg_type=st.integers(1, 9),
        expiry=st.one_of(st.just(-1), st.integers(1, 10_000_000)),
        feedback=st.integers(-5, 2**31 - 1),
        encoding=st.sampled_from((273, 546, 785)),
        coded_char_set_id=st.sampled_from((37, 500, 819, 1208)),
        format=st.sampled_from(("", "MQSTR", "MQIMS")),
        priority=st.integers(0, 9),
        persistence=st.sampled_from((0, 1)),
        msg_id=IDS,
        correl_id=IDS,
        reply_to_q=st.sampled_from(("", "REPLIES")),
        reply_to_q_mgr=st.sampled_from(("", "QM2")),
        user_identifier=TEXT,
        accounting_token=st.binary(min_size=32, max_size=32),
        appl_identity_data=TEXT,
        put_appl_type=st.integers(0, 30),
        put_appl_name=TEXT,
        put_date=st.just("20261119"),
        put_time=st.just("10203040"),
        appl_origin_data=st.sampled_from(("", "data")),
        group_id=st.one_of(st.just(NO_ID), IDS),
        msg_seq_number=st.integers(1, 99),
        offset=st.integers(0, 99),
        msg_flags=st.sampled_from((0, 8, 24)),
        original_length=st.integers(-1, 99),
        backout_count=st.just(0),
    ),
    st.binary(max_size=50),
)
@example(
    Descriptor(expiry=1321083, put_date="20261119", put_time="10203040"), b""
)  # 132108.3 s, which is a little less as a float
def test_descriptors_and_bodies_come_back_as_they_were_sent(descriptor: Descriptor, body: bytes) -> None:
    """What is written to an AMQP broker is read as the same descriptor and the same bytes."""
    ids = Identifiers()
    assert (descriptor, body) == read_message(carried(write_message(descriptor, body, ids)), ids)


@pytest.mark.parametrize(
    "given_id", ["order-1", "x" * 40, b"\1\2", UUID(int=7), ulong(2**63), "ID:" + "ab" * 24, "ID:" + "zz" * 24]
)
def test_a_reply_carries_the_id_of_its_request_in_the_form_in_which_it_came(given_id: object) -> None:
    """Other programs' ids, of any type AMQP has, are 24 bytes in a flow and themselves again in its reply."""
    ids = Identifiers()
    request, _ = read_message(carried(Message(b"", id=given_id)), ids)
    assert 24 == len(request.msg_id)
    reply = carried(write_message(Descriptor(correl_id=request.msg_id), b"", ids))
    assert given_id == (bytes(reply.correlation_id) if isinstance(given_id, bytes) else reply.correlation_id)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"\x00\xff", (b"\x00\xff", "")),
        ("grün", ("grün".encode(), "MQSTR")),
        ({"a": [1, None, b"x"]}, (b'{"a": [1, null, "eA=="]}', "MQSTR")),
        (None, (b"", "")),
    ],
)
def test_bodies_of_other_programs_are_bytes_or_text(body: object, expected: tuple[bytes, str]) -> None:
    """Data sections are bytes, values that are text are MQSTR, and structures are JSON."""
    descriptor, read = read_message(carried(Message(body)), Identifiers())
    assert expected == (read, descriptor.format)


PROPERTIES: tuple[tuple[object, Property, object], ...] = (  # as they come, as flows see them, as they go back
    (int32(5), 5, int32(5)),
    (5, I8(5), 5),
    (2**40, 2**40, 2**40),
    (byte(-1), I1(-1), byte(-1)),
    (short(300), I2(300), short(300)),
    (ubyte(200), 200, int32(200)),
    (ulong(2**64 - 1), "18446744073709551615", "18446744073709551615"),
    (timestamp(7), 7, int32(7)),
    (float32(1.5), R4(1.5), float32(1.5)),
    (1.5, 1.5, 1.5),
    (True, True, True),
    (None, None, None),
    ("a&b", "a&b", "a&b"),
    (symbol("s"), "s", "s"),
    (char("c"), "c", "c"),
    (UUID(int=7), str(UUID(int=7)), str(UUID(int=7))),
    (b"\1", b"\1", b"\1"),
)


@pytest.mark.parametrize(("given", "expected", "back"), PROPERTIES)
def test_properties_of_all_types(given: object, expected: Property, back: object) -> None:
    """Properties of every type of AMQP are properties in a flow, and go back in that type or the nearest."""
    ids = Identifiers()
    descriptor, body = read_message(carried(Message(b"x", properties={"p": given})), ids)
    (found,) = split(descriptor, body)[0].values()
    assert (expected, type(expected)) == (found, type(found))
    message = carried(write_message(descriptor, body, ids))
    sent = message.properties["p"]
    assert back == (bytes(sent) if isinstance(sent, memoryview) else sent)
    assert isinstance(sent, memoryview) or type(back) is type(sent)


@pytest.mark.parametrize(
    ("ttl", "created", "expires", "expected"),
    [(10, 0, 0, 100), (10, -4, 0, 60), (10, 5, 0, 100), (10, -40, 0, 0), (0, -5, 3, 30), (10, 0, 3, 30), (0, 0, 0, -1)],
)
def test_what_is_left_of_an_expiry(ttl: float, created: float, expires: float, expected: int) -> None:
    """A message has the time left that it says, from its creation or to a moment, and at most its time to live."""
    message, now = Message(b"x", ttl=ttl), time.time()
    if created:
        message.creation_time = now + created
    if expires:
        message.expiry_time = now + expires
    descriptor, _ = read_message(carried(message), Identifiers())
    assert abs(expected - descriptor.expiry) <= (2 if expected > 0 else 0)


def test_properties_that_no_header_can_hold_stay_out() -> None:
    """A message with properties whose names or texts no header can hold comes without those, and blocks no queue."""
    hostile = {"a b": 1, "1x": 2, "": 3, "text": "\1", "x.y": 4, "x.y.z": 5, "usr.k": 6, "k": 7, "x.w": 8, "good": 9}
    descriptor, body = read_message(carried(Message(b"x", properties=hostile)), Identifiers())
    assert ({"x.y": 4, "k": 6, "x.w": 8, "good": 9}, b"x") == (split(descriptor, body)[0], split(descriptor, body)[2])


def test_fields_that_do_not_fit_stay_out_of_the_descriptor() -> None:
    """A hostile property with a field's name and another type or length changes no field."""
    hostile = {"JMS_IBM_MQMD_Encoding": "big", "JMS_IBM_MQMD_Report": 2**40, "JMS_IBM_MQMD_ReplyToQMgr": "q" * 400}
    descriptor, _ = read_message(carried(Message(b"", properties=hostile)), Identifiers())
    assert Descriptor() == descriptor._replace(priority=0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("amqp://h", ("amqp://h:5672", "", "", 10)),
        ("amqps://u:p%40@h:1?prefetch=1", ("amqps://h:1", "u", "p@", 1)),
        ("amqp://u@[::1]:7?password-env=PENSTOCK_TEST_PASSWORD", ("amqp://[::1]:7", "u", "from-env", 10)),
    ],
)
def test_addresses(text: str, expected: tuple[str, str, str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """An address has its host, its user, its password from where it is said to be, and its options."""
    monkeypatch.setenv("PENSTOCK_TEST_PASSWORD", "from-env")
    address = read_address(text)
    assert expected == (address.url, address.user, address.password, address.prefetch)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("amqp://u:secret@h:port", "amqp://HOST:PORT"),
        ("amqp://u:secret@h/queue", "has no path"),
        ("amqp://u:secret@h?fast=1", "no option fast"),
        ("amqp://u:secret@h?prefetch=0", "from 1 to"),
        ("amqp://u:secret@h?password-env=NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE"),
        ("amqp://u:secret@h?password-file=/nowhere", "/nowhere"),
    ],
)
def test_addresses_that_are_refused(text: str, words: str) -> None:
    """A wrong address is refused with what is right, and without its password."""
    with pytest.raises(ConfigurationException) as refused:
        read_address(text)
    assert words in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_password_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    """A file with a password must be its owner's alone."""
    file = tmp_path / "password"
    file.write_text("secret\n")
    file.chmod(0o644)
    with pytest.raises(ConfigurationException, match="chmod 600"):
        read_address(f"amqp://u@h?password-file={file}")
    file.chmod(0o600)
    assert "secret" == read_address(f"amqp://u@h?password-file={file}").password


@pytest.mark.parametrize(("data", "words"), [(bytes(100_000), "no password has so many"), (b"\xff", "not UTF-8")])
def test_a_file_that_holds_no_password(data: bytes, words: str, tmp_path: Path) -> None:
    """A file that is too long for a password, or no text, is refused in words."""
    file = tmp_path / "password"
    file.write_bytes(data)
    file.chmod(0o600)
    with pytest.raises(ConfigurationException, match=words):
        read_address(f"amqp://u@h?password-file={file}")


class Node:
    """A node with the properties that a test gives it."""

    def __init__(self, **properties: object) -> None:
        self.__dict__.update(properties)


@pytest.mark.parametrize(
    ("properties", "peer", "words"),
    [
        ({"browse": True}, RABBIT, "browse needs browsing, which RabbitMQ 3.10.8 does not have"),
        ({"get_with_correl_id": True}, RABBIT, "getWithCorrelId needs selectors"),
        ({"all_msgs_available": True}, ARTEMIS, "allMsgsAvailable"),
        ({"order_mode": "byUserID"}, ARTEMIS, "byUserID"),
        ({"publishes_at": ""}, ARTEMIS, "publishes for subscribers of the queue manager"),
        ({"browse": True, "get_with_correl_id": True, "order_mode": "byQueueOrder"}, ARTEMIS, None),
        ({"subscription_point": ""}, RABBIT, None),
        ({}, RABBIT, None),
    ],
)
def test_flows_that_a_broker_cannot_serve_are_refused(properties: dict[str, object], peer: Peer, words: str) -> None:
    """At deploy, each node that asks for more than the broker has is named with the reason."""
    problems = [text for _, text in find_problems([(Place(), Node(**properties))], peer)]
    assert (words is not None) == bool(problems)
    assert words is None or words in problems[0]


@pytest.mark.parametrize(
    ("selection", "selector"),
    [
        (Selection(), ""),
        (Selection(logical=True), ""),
        (Selection(correl_id=b"\1" * 24), f"JMSCorrelationID = 'ID:AMQP_BINARY:{'01' * 24}'"),
        (Selection(selector="a = 1", group_id=b"\2" * 24), f"(a = 1) AND JMSXGroupID = '{'02' * 24}'"),
    ],
)
def test_selections_become_selectors(selection: Selection, selector: str) -> None:
    """What is asked of a queue is a selector where the broker has selectors, and refused where it has none."""
    assert selector == refuse_selection(selection, ARTEMIS, Identifiers())
    if selector:
        with pytest.raises(BrokerError, match="no selectors"):
            refuse_selection(selection, RABBIT, Identifiers())
