"""MQOutput: where messages are put, how, and what is known of it behind `out`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import pytest

from engine.descriptor import NO_ID, NO_TOKEN, Descriptor
from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.message.received import Received
from engine.mq.unit import Work
from engine.node import build, node_catalog
from engine.transports.memory import MemoryQueues, QueueDefinition
from engine.tree.sharing import copy, read_only
from engine.work import QueueAttributes
from tests.nodes.bench import tree

Folder: TypeAlias = "list[tuple[str, Any]]"

IDENTITY = {"user_identifier": "ada", "accounting_token": b"t" * 32, "appl_identity_data": "identity"}
ORIGIN = {"put_appl_type": 11, "put_appl_name": "app", "put_date": "20010203", "appl_origin_data": "orig"}
IDS = {"msg_id": b"m" * 24, "correl_id": b"c" * 24, "group_id": b"g" * 24}
REPLY_TO = {"reply_to_q": "REPLY", "reply_to_q_mgr": "THERE"}
LETTER = Descriptor(**IDS, **REPLY_TO, **IDENTITY, **ORIGIN, put_time="04050607", format="MQSTR", expiry=500)
NO_IDENTITY = {"user_identifier": "", "accounting_token": NO_TOKEN, "appl_identity_data": ""}
OURS = {"put_appl_type": 26, "put_appl_name": "Penstock", "appl_origin_data": ""}
NOBODY = {"put_appl_type": 0, "put_appl_name": "", "appl_origin_data": ""}


def queue_manager() -> MemoryQueues:
    definitions = (
        QueueDefinition("DEFAULTS", QueueAttributes(default_persistence=1)),
        QueueDefinition("FULL", max_depth=0),
    )
    return MemoryQueues("OUT", "ONE", "TWO", "REPLY", *definitions)


def one(**fields: object) -> Folder:
    return [("DestinationData", list(fields.items()))]


def message_of(given: Descriptor = LETTER, mq: Folder | None = None, named: str = "MQ", **facts: Any) -> Message:
    message = Message(read_only(Received(given, b"body", **facts).root()))
    if mq is None:
        return message
    return message.replaced(local_environment=tree("LocalEnvironment", [("Destination", [(named, mq)])]))


def evaluated(work: Work, message: Message, properties: Mapping[str, object]) -> Message:
    """What comes out of the node."""
    ((terminal, sent),) = build(node_catalog.find("MQOutput"), properties).evaluate(message, work)
    assert terminal == "out"
    return sent


def put(message: Message, **properties: object) -> dict[str, list[Descriptor]]:
    """The descriptors that are on the queues once the node's work is committed."""
    queues = queue_manager()
    work = queues.work()
    evaluated(work, message, properties)
    work.commit()
    found = {name: queues.browse(name) for name in queues.names()}
    assert {arrival.body for arrivals in found.values() for arrival in arrivals} == {b"body"}
    return {name: [arrival.descriptor for arrival in arrivals] for name, arrivals in found.items() if arrivals}


def put_one(message: Message, **properties: object) -> Descriptor:
    ((descriptor,),) = put(message, **({"queueName": "OUT"} | properties)).values()
    return descriptor


PROPERTIES: list[tuple[dict[str, object], Descriptor, dict[str, object]]] = [
    ({}, LETTER, LETTER._asdict()),
    ({"persistenceMode": "yes"}, LETTER, {"persistence": 1}),
    ({"persistenceMode": "no"}, LETTER._replace(persistence=1), {"persistence": 0}),
    ({"persistenceMode": "automatic"}, LETTER._replace(persistence=1), {"persistence": 1}),
    ({"persistenceMode": "asQdef", "queueName": "DEFAULTS"}, LETTER, {"persistence": 1}),
    ({"persistenceMode": "asQdef"}, LETTER._replace(persistence=1), {"persistence": 0}),
    ({"segmentationAllowed": True}, LETTER._replace(msg_flags=8), {"msg_flags": 9}),
    ({"alternateUserAuthority": True}, LETTER, LETTER._asdict()),
    ({}, LETTER._replace(backout_count=2), {"backout_count": 0}),
    ({"messageContext": "passAll"}, LETTER, IDENTITY | ORIGIN),
    ({"messageContext": "setAll"}, LETTER, IDENTITY | ORIGIN),
    ({"messageContext": "passIdentity"}, LETTER, IDENTITY | OURS),
    ({"messageContext": "setIdentity"}, LETTER, IDENTITY | OURS),
    ({"messageContext": "default"}, LETTER, NO_IDENTITY | OURS),
    ({"messageContext": "none"}, LETTER, NO_IDENTITY | NOBODY),
    ({"request": True}, LETTER, {"msg_type": 1, "reply_to_q": "REPLY", "reply_to_q_mgr": "THERE"}),
    ({"request": True, "replyToQ": "R"}, LETTER, {"msg_type": 1, "reply_to_q": "R", "reply_to_q_mgr": "QM"}),
    ({"replyToQ": "R", "replyToQMgr": "M"}, LETTER, {"msg_type": 8, "reply_to_q": "R", "reply_to_q_mgr": "M"}),
    ({"newMsgId": False, "newCorrelId": False}, LETTER, {"msg_id": b"m" * 24, "correl_id": b"c" * 24}),
    ({"newMsgId": True}, LETTER, {"correl_id": b"c" * 24}),
    ({"newCorrelId": True}, LETTER, {"msg_id": b"m" * 24}),
]


@pytest.mark.parametrize(("properties", "given", "expected"), PROPERTIES, ids=[f"{p}" for p, *_ in PROPERTIES])
def test_properties(properties: dict[str, object], given: Descriptor, expected: dict[str, object]) -> None:
    """Each property does to the descriptor what it says, and nothing else."""
    descriptor = put_one(message_of(given), **properties)
    assert expected == {name: getattr(descriptor, name) for name in expected}


NEW_IDS = [({"newMsgId": True}, "msg_id"), ({"newCorrelId": True}, "correl_id"), ({"request": True}, "msg_id")]


@pytest.mark.parametrize(("properties", "field"), NEW_IDS, ids=[f"{p}" for p, _ in NEW_IDS])
def test_new_ids(properties: dict[str, object], field: str) -> None:
    """A new id is one that neither the message nor another put of it has; a request has one of its own."""
    mq: Folder = [("DestinationData", [("queueName", name)]) for name in ("ONE", "TWO")]
    found = put(message_of(mq=mq), destinationMode="list", **properties)
    ids = {getattr(descriptor, field) for each in found.values() for descriptor in each}
    assert len(ids - {getattr(LETTER, field), NO_ID}) == 2


REPLIES = [
    (8, 0, {"msg_type": 8, "correl_id": LETTER.msg_id}, True),
    (1, 0, {"msg_type": 2, "correl_id": LETTER.msg_id}, True),
    (1, 64, {"msg_type": 2, "correl_id": LETTER.correl_id}, True),
    (1, 128, {"msg_type": 2, "correl_id": LETTER.msg_id}, False),
    (1, 192, {"msg_type": 2, "correl_id": LETTER.correl_id}, False),
]


@pytest.mark.parametrize(("kind", "report", "expected", "new"), REPLIES)
def test_reply(kind: int, report: int, expected: dict[str, object], new: bool) -> None:
    """A reply goes to the ReplyToQ, with the ids that the request's report options ask for."""
    request = LETTER._replace(msg_type=kind, report=report, reply_to_q_mgr="QM")
    found = put(message_of(request), destinationMode="reply", queueName="OUT")
    ((queue, (descriptor,)),) = found.items()
    assert queue == "REPLY"
    assert expected == {name: getattr(descriptor, name) for name in expected}
    assert descriptor.report == 0
    assert new == (descriptor.msg_id != LETTER.msg_id)
    assert descriptor.put_date != LETTER.put_date


LISTS: list[tuple[str, Folder, dict[str, object], dict[str, list[dict[str, object]]]]] = [
    ("one", [("DestinationData", [("queueName", "ONE")])], {}, {"ONE": [{"persistence": 0}]}),
    (
        "two, and one twice",
        [("DestinationData", [("queueName", name)]) for name in ("TWO", "ONE", "TWO")],
        {},
        {"ONE": [{}], "TWO": [{}, {}]},
    ),
    ("blanks about a name", [("DestinationData", [("queueName", " ONE ")])], {}, {"ONE": [{}]}),
    ("the node's queue", [("DestinationData", [("newMsgId", "no")])], {"queueName": "TWO"}, {"TWO": [{}]}),
    (
        "DestinationData before Defaults before the node",
        [
            ("Defaults", [("queueName", "ONE"), ("persistenceMode", "yes"), ("replyToQ", "D")]),
            ("DestinationData", [("persistenceMode", "no")]),
            ("DestinationData", [("queueName", "TWO"), ("replyToQ", "X"), ("replyToQMgr", "Y")]),
        ],
        {"queueName": "OUT", "replyToQ": "N", "replyToQMgr": "M"},
        {
            "ONE": [{"persistence": 0, "reply_to_q": "D", "reply_to_q_mgr": "M"}],
            "TWO": [{"persistence": 1, "reply_to_q": "X", "reply_to_q_mgr": "Y"}],
        },
    ),
    (
        "Defaults behind DestinationData",
        [("DestinationData", []), ("Defaults", [("queueName", "ONE")])],
        {},
        {"ONE": [{}]},
    ),
    (
        "every field",
        one(
            queueName="ONE",
            queueManagerName=" QM ",
            transactionMode="yes",
            persistenceMode="asQdef",
            newMsgId="no",
            newCorrelId="no",
            segmentationAllowed="yes",
            alternateUserAuthority="no",
            replyToQ="R",
            replyToQMgr="M",
            unheardOf="x",
        ),
        {"newMsgId": True, "newCorrelId": True},
        {
            "ONE": [
                {"msg_id": b"m" * 24, "correl_id": b"c" * 24, "msg_flags": 1, "reply_to_q": "R", "reply_to_q_mgr": "M"}
            ]
        },
    ),
    (
        "automatic and NULL leave what the node says",
        one(queueName="ONE", segmentationAllowed="automatic", newMsgId=None),
        {"segmentationAllowed": True},
        {"ONE": [{"msg_flags": 1, "msg_id": b"m" * 24}]},
    ),
    (
        "values by other spellings",
        one(queueName="ONE", segmentationAllowed=True, persistenceMode="YES", newMsgId="No"),
        {"newMsgId": True},
        {"ONE": [{"msg_flags": 1, "persistence": 1, "msg_id": b"m" * 24}]},
    ),
]


@pytest.mark.parametrize(("mq", "properties", "expected"), [e[1:] for e in LISTS], ids=[e[0] for e in LISTS])
@pytest.mark.parametrize("named", ["MQ", "MQDestinationList"])
def test_list(named: str, mq: Folder, properties: dict[str, object], expected: Mapping[str, list[Any]]) -> None:
    """A list is put where Destination.MQ says, or its name in V2.1: DestinationData before Defaults before the node."""
    found = put(message_of(mq=mq, named=named), destinationMode="list", **properties)
    shown = {
        queue: [
            {name: getattr(descriptor, name) for name in each}
            for each, descriptor in zip(expected.get(queue, [{}]), descriptors, strict=True)
        ]
        for queue, descriptors in found.items()
    }
    assert expected == shown


SYNCPOINTS = [
    ("yes", True, True),
    ("yes", False, True),
    ("no", True, False),
    ("no", False, False),
    ("automatic", True, True),
    ("automatic", False, False),
]


@pytest.mark.parametrize(("mode", "transactional", "held_back"), SYNCPOINTS)
@pytest.mark.parametrize("changed", [False, True])
def test_transaction_mode(mode: str, transactional: bool, held_back: bool, changed: bool) -> None:
    """A put is part of the unit of work if the node says so, or if the message came in one; also if it was changed."""
    queues = queue_manager()
    work = queues.work()
    message = message_of(transactional=transactional)
    if changed:
        root = copy(message.root)
        body = root.at("BLOB", "BLOB")
        assert body is not None
        body.value = b"new"
        message = message.replaced(root=root)
    evaluated(work, message, {"queueName": "OUT", "transactionMode": mode})
    assert (0 if held_back else 1) == queues.depth("OUT")
    work.back_out()
    assert (0 if held_back else 1) == queues.depth("OUT")


def test_transaction_mode_of_a_destination() -> None:
    """Each destination of a list has its own transaction mode."""
    queues = queue_manager()
    work = queues.work()
    data: Folder = [
        ("DestinationData", [("queueName", name), ("transactionMode", mode)])
        for name, mode in (("ONE", "no"), ("TWO", "yes"))
    ]
    evaluated(work, message_of(mq=data), {"destinationMode": "list"})
    assert [queues.depth("ONE"), queues.depth("TWO")] == [1, 0]


LISTED: dict[str, object] = {"destinationMode": "list"}


def no_choice(name: str, choices: str) -> tuple[Message, dict[str, object], str]:
    """What is said of a field of a list that is none of its choices."""
    text = f"BIP2637: {name} is one of {choices}, not 'maybe': correct it where Destination.MQ is set"
    return message_of(mq=[("DestinationData", [("queueName", "ONE"), (name, "maybe")])]), LISTED, text


REFUSALS: list[tuple[str, Message, dict[str, object], str]] = [
    ("no such queue", message_of(), {"queueName": "NONE"}, "BIP2085: there is no queue called 'NONE': define it"),
    ("full", message_of(), {"queueName": "FULL"}, "BIP2053: queue FULL is full: it may hold 0"),
    (
        "another queue manager",
        message_of(),
        {"queueName": "OUT", "queueManagerName": "THERE"},
        "BIP2087: queue OUT is one of queue manager THERE, and nothing leads there from QM:"
        " leave the name of the queue manager empty, or name QM",
    ),
    (
        "another queue manager in a list",
        message_of(mq=one(queueName="ONE", queueManagerName="THERE")),
        LISTED,
        "BIP2087: queue ONE is one of queue manager THERE, and nothing leads there from QM:"
        " leave the name of the queue manager empty, or name QM",
    ),
    (
        "another queue manager for a reply",
        message_of(),
        {"destinationMode": "reply"},
        "BIP2087: queue REPLY is one of queue manager THERE, and nothing leads there from QM:"
        " leave the name of the queue manager empty, or name QM",
    ),
    (
        "no ReplyToQ",
        message_of(LETTER._replace(reply_to_q="")),
        {"destinationMode": "reply"},
        "BIP2635: the MQMD names no ReplyToQ to put the reply on: set it, or use another destinationMode",
    ),
    (
        "no ReplyToQ for a request",
        message_of(LETTER._replace(reply_to_q="")),
        {"queueName": "OUT", "request": True},
        "BIP2638: a request names the queue for its reply: give the node replyToQ, or set MQMD.ReplyToQ",
    ),
    (
        "no list",
        message_of(),
        LISTED,
        "BIP2634: there is no LocalEnvironment.Destination.MQ: create it before the MQOutput node",
    ),
    (
        "no DestinationData",
        message_of(mq=[("Defaults", [("queueName", "ONE")])]),
        LISTED,
        "BIP2634: LocalEnvironment.Destination.MQ needs DestinationData, each with a queueName",
    ),
    (
        "no queueName in a list",
        message_of(mq=[*one(queueName="ONE"), *one(newMsgId="yes")]),
        LISTED,
        "BIP2634: LocalEnvironment.Destination.MQ needs DestinationData, each with a queueName",
    ),
    ("a mode that is none", *no_choice("persistenceMode", "yes, no, automatic, asQdef")),
    ("a choice that is none", *no_choice("newMsgId", "yes, no, automatic")),
    ("an authority that is none", *no_choice("alternateUserAuthority", "yes, no, automatic")),
]


def test_a_queue_is_named() -> None:
    """A fixed destination needs a queueName, which deploying asks for; the other modes need none."""
    node_type = node_catalog.find("MQOutput")
    with pytest.raises(BrokerError, match=r"^BIP2211: destinationMode fixed needs a queueName: give one, or "):
        build(node_type, {"queueName": ""})
    for mode in ("list", "reply"):
        assert build(node_type, {"destinationMode": mode})


@pytest.mark.parametrize(("message", "properties", "text"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS])
def test_refusals(message: Message, properties: dict[str, object], text: str) -> None:
    """A message that cannot be put is the node's own failure, nothing is put, and the text says what to do."""
    queues = queue_manager()
    work = queues.work()
    with pytest.raises(BrokerError) as caught:
        evaluated(work, message, properties)
    assert text == str(caught.value)
    work.commit()
    assert sum(queues.depth(name) for name in queues.names()) == 0


def written(message: Message) -> list[dict[str, object]]:
    mq = message.local_environment.at("WrittenDestination", "MQ")
    assert mq is not None
    return [{field.name: field.value for field in data} for data in mq]


@pytest.mark.parametrize("report", [0, 64])
def test_written_destination(report: int) -> None:
    """WrittenDestination says of each put where it went and its ids; by replyIdentifier a reply is known."""
    queues = queue_manager()
    work = queues.work()
    mq: Folder = [*one(queueName="ONE", newMsgId="yes"), *one(queueName="TWO", queueManagerName="QM")]
    message = message_of(LETTER._replace(report=report), mq)
    sent = evaluated(work, message, {"destinationMode": "list"})
    work.commit()
    expected = []
    for queue, manager in (("ONE", "QM"), ("TWO", "QM")):
        descriptor = queues.browse(queue)[0].descriptor
        expected.append(
            {
                "queueName": queue,
                "queueManagerName": manager,
                "replyIdentifier": descriptor.correl_id if report else descriptor.msg_id,
                "msgId": descriptor.msg_id,
                "correlId": descriptor.correl_id,
                "GroupId": b"g" * 24,
            }
        )
    assert expected == written(sent)
    assert sent.local_environment.at("Destination", "MQ", "DestinationData", "queueName") is not None
    assert message.local_environment.at("WrittenDestination") is None


def test_written_destinations_add_up() -> None:
    """Behind two nodes in a row, WrittenDestination tells of both puts."""
    work, message = queue_manager().work(), message_of()
    for queue in ("ONE", "TWO"):
        message = evaluated(work, message, {"queueName": queue})
    assert [data["queueName"] for data in written(message)] == ["ONE", "TWO"]


def test_the_message_goes_on_as_it_came() -> None:
    """What is changed for a put is not changed in the message."""
    message = message_of()
    sent = evaluated(queue_manager().work(), message, {"queueName": "OUT", "persistenceMode": "yes", "newMsgId": True})
    assert sent.root is message.root
    assert sent.environment is message.environment
