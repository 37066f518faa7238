"""MQInput: what stays in order, groups, browsing, instances; and validation, which MQGet has as well."""

from __future__ import annotations

from typing import Any

import pytest

from engine.descriptor import LAST_MSG_IN_GROUP, MSG_IN_GROUP, Descriptor
from engine.errors import ParserException
from engine.flow.definition import Flow, NodeUse, Setting
from engine.message.assembly import Message
from engine.message.received import RootDomain
from engine.mq.unit import Work
from engine.node import build, node_catalog
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from parsers.mrm.model import SimpleType
from tests.nodes.bench import carried
from tests.parsers.mrm.records import field, parser


def letter(text: str) -> Descriptor:
    """`a1` is the first message of group a, `a3!` its last; `-x` is of no group, and of user x."""
    if text[0] == "-":
        return Descriptor(user_identifier=text[1:])
    flags = MSG_IN_GROUP | (LAST_MSG_IN_GROUP if text.endswith("!") else 0)
    return Descriptor(group_id=text[0].encode() * 24, msg_seq_number=int(text[1]), msg_flags=flags)


def entrance(**properties: object) -> Any:
    return build(node_catalog.find("MQInput"), {"queueName": "IN", **properties})


def queued(*texts: str) -> MemoryQueues:
    queues = MemoryQueues("IN")
    for text in texts:
        queues.work().put("IN", letter(text), text.encode(), syncpoint=False)
    return queues


def received(node: Any, work: Work, most: int = 9) -> str:
    found = []
    while len(found) < most and (message := node.receive(work)) is not None:
        found.append(message.root.source.body.decode())
    return " ".join(found)


ORDERS: list[tuple[dict[str, object], str, str]] = [
    ({}, "-x", "-y -x"),
    ({"orderMode": "byUserID"}, "-x", "-y"),
    ({"orderMode": "byQueueOrder"}, "-x", ""),
]


@pytest.mark.parametrize(("properties", "first", "second"), ORDERS)
def test_what_stays_in_order(properties: dict[str, object], first: str, second: str) -> None:
    """What another instance has in hand holds up what has to stay behind it: nothing, its user's messages, or all."""
    queues, node = queued("-x", "-y", "-x"), entrance(**properties)
    one, two = queues.work(), queues.work()
    assert (received(node, one, 1), received(node, two)) == (first, second)


@pytest.mark.parametrize(("logical", "expected"), [("true", "-x a1 a2!"), ("false", "a2! -x a1")])
def test_logical_order(logical: str, expected: str) -> None:
    """With logicalOrder the messages of a group come by their numbers, without as they stand."""
    assert received(entrance(logicalOrder=logical), queued("a2!", "-x", "a1").work()) == expected


@pytest.mark.parametrize(("whole", "expected"), [("true", "b1 b2! -x"), ("false", "a1")])
def test_whole_groups(whole: str, expected: str) -> None:
    """With allMsgsAvailable a group whose end has not come is passed over; without, it holds up all behind it."""
    queues = queued("a1", "b1", "b2!", "-x")
    assert received(entrance(allMsgsAvailable=whole), queues.work()) == expected


@pytest.mark.parametrize(("by_group", "left"), [("true", 2), ("false", 1)])
def test_commit_by_group(by_group: str, left: int) -> None:
    """With commitByMessageGroup nothing is committed before the end of a group."""
    queues = queued("a1", "a2")
    node = NodeUse("In", "MQInput", (Setting("queueName", "IN"), Setting("commitByMessageGroup", by_group)))
    deployed = deploy(Flow("F", nodes=(node,)))
    work, batch = queues.work(), deployed.batch(deployed.entrances[0])
    deployed.process(deployed.entrances[0], work, batch)
    work.back_out()
    assert left == queues.depth("IN")


@pytest.mark.parametrize(("timeout", "expected"), [(-1, ""), (0, "-x")])
def test_browsing_anew(timeout: int, expected: str) -> None:
    """Where nothing has come for resetBrowseTimeout, browsing begins again; else it does not."""
    work, node = queued("-x").work(), entrance(browse="true", resetBrowseTimeout=timeout)
    assert (received(node, work, 1), received(node, work, 1)) == ("-x", expected)


@pytest.mark.parametrize(
    ("own", "expected"),
    [({}, 4), ({"componentLevel": "node", "additionalInstances": "1"}, 2), ({"componentLevel": "node"}, 1)],
)
def test_instances(own: dict[str, str], expected: int) -> None:
    """How many instances read: the flow's, or where componentLevel is node those of additionalInstances."""
    settings = tuple(Setting(*pair) for pair in {"queueName": "IN", **own}.items())
    nodes = (NodeUse("In", "MQInput", settings),)
    deployed = deploy(Flow("F", properties=(Setting("additionalInstances", "3"),), nodes=nodes))
    assert deployed.instances(deployed.entrances[0]) == expected


SET = dict(
    zip(("messageDomainProperty", "messageSetProperty", "messageTypeProperty"), ("MRM", "SET", "M"), strict=True)
)
VALIDATIONS = [
    ({"validateMaster": "none"}, True),
    ({"validateMaster": "content"}, True),
    ({"validateMaster": "contentAndValue"}, False),
    ({"validateMaster": "contentAndValue", "validateFailureAction": "exceptionList"}, False),
    ({"validateMaster": "contentAndValue", "validateFailureAction": "userTrace"}, True),
    ({"validateMaster": "contentAndValue", "validateFailureAction": "localErrorLog"}, True),
]


def of_letters() -> Any:
    """A parser of records of one letter, which must be an A."""
    return parser(field("a", SimpleType("string", enumeration=("A",)), {"length": 1}))


@pytest.mark.parametrize(("how", "valid"), VALIDATIONS)
def test_validation(how: dict[str, str], valid: bool) -> None:
    """What validateMaster asks for is validated when the body is looked at; validateFailureAction may let it pass."""
    work = queued("-x").work()
    work.get("IN")
    work.put("IN", Descriptor(), b"B", syncpoint=False)
    message = entrance(**SET, messageFormatProperty="CWF", **how).receive(work)
    source = message.root.source
    source.domain = RootDomain({"MRM": of_letters()})
    looked(source.root(), valid=valid)


@pytest.mark.parametrize(("how", "valid"), VALIDATIONS)
def test_validation_of_what_is_got(how: dict[str, str], valid: bool) -> None:
    """MQGet has the same properties."""
    work = MemoryQueues("IN").work()
    work.put("IN", Descriptor(), b"B", syncpoint=False)
    given = Message.received(Descriptor(), b"")
    given.root.source.domain = RootDomain({"MRM": of_letters()})  # type: ignore[union-attr]  # a Received
    given.root.domain = RootDomain({"MRM": of_letters()})
    properties = {**SET, "queueName": "IN", "messageFormatProperty": "CWF", "waitInterval": 0, **how}
    looked(carried("MQGet", given, "out", properties=properties, work=work).message.root, valid=valid)


def looked(root: Any, *, valid: bool) -> None:
    """Look into the body, which is as it should be or is not."""
    if valid:
        assert root.at("MRM", "a").value == "B"
        return
    with pytest.raises(ParserException, match="must be one of A"):
        root.at("MRM", "a")
