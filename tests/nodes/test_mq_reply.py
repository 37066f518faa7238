"""MQReply: where replies go, with which ids, and what each property does to them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from engine.descriptor import NO_ID, Descriptor
from engine.message.assembly import Message
from engine.message.received import Received
from engine.mq.definitions import QueueDefinition
from engine.transports.memory import MemoryQueues
from engine.tree.sharing import copy, read_only
from engine.work import QueueAttributes
from tests.nodes.bench import Seen, carried, exception_numbers, message_of

REQUEST = Descriptor(
    msg_type=1,
    msg_id=b"m" * 24,
    correl_id=b"c" * 24,
    reply_to_q="ANSWERS ",
    reply_to_q_mgr="QM",
    user_identifier="ada",
    expiry=500,
    format="MQSTR",
    put_date="20010203",
    put_time="04050607",
)


def queue_manager() -> MemoryQueues:
    return MemoryQueues(
        "ANSWERS",
        QueueDefinition("DEFAULTS", QueueAttributes(default_persistence=1)),
        QueueDefinition("FULL", max_depth=0),
    )


def request(descriptor: Descriptor = REQUEST, *, transactional: bool = True) -> Message:
    return Message(read_only(Received(descriptor, b"body", transactional=transactional).root()))


def replied(
    descriptor: Descriptor = REQUEST, properties: Mapping[str, object] | None = None
) -> tuple[Descriptor, bytes, Seen]:
    """The one reply that is on the queue, and what the node sent on."""
    queues = queue_manager()
    work = queues.work()
    seen = carried("MQReply", request(descriptor), "out", properties=properties, work=work)
    work.commit()
    ((put, body),) = queues.browse(descriptor.reply_to_q.strip())
    return put, body, seen


REPLIES: list[tuple[dict[str, object], dict[str, object], dict[str, object]]] = [
    ({}, {}, {"msg_type": 2, "correl_id": b"m" * 24, "report": 0, "expiry": 500, "format": "MQSTR"}),
    ({"msg_type": 8}, {}, {"msg_type": 8, "correl_id": b"m" * 24}),
    ({"report": 64}, {}, {"correl_id": b"c" * 24, "report": 0}),
    ({"report": 128}, {}, {"msg_id": b"m" * 24, "correl_id": b"m" * 24}),
    ({"report": 192}, {}, {"msg_id": b"m" * 24, "correl_id": b"c" * 24}),
    ({}, {}, {"user_identifier": "ada", "put_appl_type": 26, "put_appl_name": "Penstock"}),
    ({"backout_count": 3}, {}, {"backout_count": 0}),
    ({"msg_flags": 8}, {}, {"msg_flags": 8}),
    ({"msg_flags": 8}, {"segmentationAllowed": True}, {"msg_flags": 9}),
    ({"persistence": 1}, {}, {"persistence": 1}),
    ({"persistence": 1}, {"persistenceMode": "automatic"}, {"persistence": 1}),
    ({"persistence": 1}, {"persistenceMode": "no"}, {"persistence": 0}),
    ({}, {"persistenceMode": "yes"}, {"persistence": 1}),
    ({"persistence": 1}, {"persistenceMode": "asQdef"}, {"persistence": 0}),
    ({"reply_to_q": "DEFAULTS"}, {"persistenceMode": "asQdef"}, {"persistence": 1}),
]


@pytest.mark.parametrize(("given", "properties", "expected"), REPLIES)
def test_replies(given: dict[str, object], properties: dict[str, object], expected: dict[str, object]) -> None:
    """A reply carries what the request's report options and the node's properties say, and all else as it is."""
    put, body, _ = replied(REQUEST._replace(**given), properties)  # type: ignore[arg-type]  # of each field's type
    assert expected == {name: getattr(put, name) for name in expected}
    assert body == b"body"
    assert put.put_date not in {"", REQUEST.put_date}


def test_a_new_id() -> None:
    """A reply has an id of its own unless the request wants its own back."""
    assert replied()[0].msg_id not in {NO_ID, REQUEST.msg_id}


SYNCPOINTS = [("yes", False, 0), ("no", True, 1), ("automatic", True, 0), ("automatic", False, 1)]


@pytest.mark.parametrize(("mode", "transactional", "at_once"), SYNCPOINTS)
def test_transaction_mode(mode: str, transactional: bool, at_once: int) -> None:
    """A reply is part of the unit of work if the node says so, or if the request came in one."""
    queues = queue_manager()
    work = queues.work()
    message = request(transactional=transactional)
    carried("MQReply", message, "out", properties={"transactionMode": mode}, work=work)
    assert at_once == queues.depth("ANSWERS")
    work.back_out()
    assert at_once == queues.depth("ANSWERS")


def test_what_goes_on() -> None:
    """The message goes on as it came, with what was put in WrittenDestination."""
    put, _, seen = replied()
    data = seen.message.local_environment.at("WrittenDestination", "MQ", "DestinationData")
    assert data is not None
    fields = {field.name: field.value for field in data}
    assert ("ANSWERS", "QM", put.msg_id) == tuple(fields[n] for n in ("queueName", "queueManagerName", "msgId"))
    assert seen.message.root.at("MQMD", "CorrelId") is not None
    assert seen.terminals == ["out"]


def test_a_changed_message() -> None:
    """What the flow made of the request is what the reply says, to the queue that the flow has set."""
    queues = queue_manager()
    work = queues.work()
    message = message_of(**REQUEST._replace(reply_to_q="NOWHERE")._asdict())
    root = copy(message.root)
    for path, value in {("MQMD", "ReplyToQ"): "ANSWERS", ("XMLNSC", "a", "b"): "2"}.items():
        field = root.at(*path)
        assert field is not None
        field.value = value
    carried("MQReply", message.replaced(root=root), "out", work=work)
    work.commit()
    assert [b"<a><b>2</b></a>"] == [arrival.body for arrival in queues.browse("ANSWERS")]


REFUSALS = [
    ("", 2635, "the MQMD names no ReplyToQ to put the reply on: set it before this node"),
    ("NONE", 2085, "there is no queue called 'NONE': define it"),
    ("FULL", 2053, "queue FULL is full: it may hold 0"),
]


def test_a_request_of_another_queue_manager() -> None:
    """A reply never goes to the local queue of the name that another queue manager's has."""
    queues = queue_manager()
    work = queues.work()
    seen = carried("MQReply", request(REQUEST._replace(reply_to_q_mgr="THERE")), "out", "failure", work=work)
    work.commit()
    assert (seen.terminals, exception_numbers(seen.message)) == (["failure"], [2230, 2087])
    assert queues.depth("ANSWERS") == 0


@pytest.mark.parametrize(("queue", "number", "text"), REFUSALS)
def test_refusals(queue: str, number: int, text: str) -> None:
    """A reply that cannot be put goes to failure, or the failure goes up."""
    message, work = request(REQUEST._replace(reply_to_q=queue)), queue_manager().work()
    seen = carried("MQReply", message, "out", work=work)
    assert seen.error is not None
    assert (number, text, []) == (seen.error.number, seen.error.text, seen.sent)
    wired = carried("MQReply", message, "out", "failure", work=work)
    assert wired.terminals == ["failure"]
    assert exception_numbers(wired.message) == [2230, number]
