"""Batches: units of work over several messages, by count, time and group, and what follows when one message fails."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import pytest

from engine.catalog import Catalog
from engine.descriptor import LAST_MSG_IN_GROUP, MSG_IN_GROUP, Descriptor
from engine.errors import BrokerError
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.message.assembly import Message
from engine.message.received import Received
from engine.mq.definitions import QueueDefinition
from engine.node import NodeType, node, node_catalog
from engine.runtime import deployment
from engine.runtime.batches import Batch
from engine.runtime.deployment import DeployedFlow, deploy
from engine.transports.memory import MemoryQueues
from engine.tree.sharing import read_only
from engine.work import QueueAttributes

catalog: Catalog[NodeType] = Catalog("node type", package="")
catalog.register("MQInput")(node_catalog.find("MQInput"))


@node("Note", catalog=catalog)
@dataclass(frozen=True, slots=True)
class Note:
    """Notes each body at once, keeps it with the unit of work, and fails for one that says so."""

    def evaluate(self, message: Message, work: Any) -> Generator[tuple[str, Message], bool, None]:
        received = message.root.source
        assert isinstance(received, Received)
        work.put("NOTES", Descriptor(), received.body, syncpoint=False)
        work.put("KEPT", Descriptor(), received.body)
        if b"!" in received.body:
            raise BrokerError(3001, "told to")
        yield "out", message


@pytest.fixture(autouse=True)
def _nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime knows MQInput and the node of this file."""
    monkeypatch.setattr(deployment, "node_catalog", catalog)


def flow_of(count: int = 1, interval: str = "0", **properties: str) -> DeployedFlow:
    given = tuple(Setting(name, value) for name, value in {"queueName": "IN", **properties}.items())
    own = (Setting("commitCount", str(count)), Setting("commitInterval", interval))
    nodes = (NodeUse("In", "MQInput", given), NodeUse("Note", "Note"))
    return deploy(Flow("F", properties=own, nodes=nodes, wires=(Wire("In", "out", "Note"),)))


def queues_of(*bodies: str, threshold: int = 0) -> MemoryQueues:
    queues = MemoryQueues(QueueDefinition("IN", QueueAttributes(threshold)), "NOTES", "KEPT", dead_letter_queue="DLQ")
    work = queues.work()
    for body in bodies:
        work.put("IN", grouped(body), body.encode())
    work.commit()
    return queues


def grouped(body: str) -> Descriptor:
    """`g1` is of a group, `g3.` its last."""
    if not body.startswith("g"):
        return Descriptor()
    flags = MSG_IN_GROUP | (LAST_MSG_IN_GROUP if body.endswith(".") else 0)
    return Descriptor(group_id=b"g" * 24, msg_seq_number=int(body[1]), msg_flags=flags)


def words(queues: MemoryQueues, queue: str) -> str:
    return " ".join(arrival.body.decode() for arrival in queues.browse(queue))


def turn(deployed: DeployedFlow, queues: MemoryQueues, *, patient: bool = False) -> list[str]:
    """What KEPT holds after each message, until there is none."""
    work, batch = queues.work(), deployed.batch(deployed.entrances[0])
    kept = []
    while deployed.process(deployed.entrances[0], work, batch, patient=patient) is not None:
        kept.append(words(queues, "KEPT"))
    return [*kept, words(queues, "KEPT")]


COUNTS = [
    (1, ["a", "a b", "a b c", "a b c"]),
    (2, ["", "a b", "a b", "a b c"]),
    (3, ["", "", "a b c", "a b c"]),
    (9, ["", "", "", "a b c"]),
]


@pytest.mark.parametrize(("count", "expected"), COUNTS)
def test_commit_count(count: int, expected: list[str]) -> None:
    """A unit of work is committed behind commitCount messages, and when the queue is empty."""
    assert turn(flow_of(count), queues_of("a", "b", "c")) == expected


def test_an_empty_queue_is_given_time() -> None:
    """Who is patient commits a smaller unit only when commitInterval is over."""
    assert turn(flow_of(9, "60"), queues_of("a", "b"), patient=True) == ["", "", ""]
    assert turn(flow_of(9, "0"), queues_of("a", "b"), patient=True) == ["", "", "a b"]


def test_commit_interval() -> None:
    """A unit that has been open for so long is committed behind the next message."""
    now = [0.0]
    batch = Batch(9, 5.0, clock=lambda: now[0])
    message = Message(read_only(Received(Descriptor(), b"").root()))
    ends = []
    for moment in (0.0, 4.0, 5.0):
        now[0] = moment
        batch.received(message)
        ends.append(batch.ends(message, patient=True))
    assert ends == [False, False, True]
    assert batch.commit(message, MemoryQueues().work(), patient=True)
    assert not batch.ends(None, patient=False)


FAILURES = [
    # what was tried in order, what is kept, what is put away
    (3, 1, ["a", "b!", "c"], "a b! a b! c", "a c", "b!"),
    (3, 2, ["a", "b!", "c"], "a b! a b! b! c", "a c", "b!"),
    (2, 1, ["a", "b", "c", "d!"], "a b c d! c d!", "a b c", "d!"),
    (4, 1, ["a!", "b", "c"], "a! b c", "b c", "a!"),
    (4, 1, ["a", "b!", "c!", "d"], "a b! a b! c! d", "a d", "b! c!"),
    (1, 1, ["a", "b!", "c"], "a b! c", "a c", "b!"),
]


@pytest.mark.parametrize(("count", "threshold", "bodies", "tried", "kept", "away"), FAILURES)
def test_a_message_that_fails(count: int, threshold: int, bodies: list[str], tried: str, kept: str, away: str) -> None:
    """The batch is undone, each of it is tried again by itself, and only who fails by itself is put away."""
    queues = queues_of(*bodies, threshold=threshold)
    turn(flow_of(count), queues)
    assert (words(queues, "NOTES"), words(queues, "KEPT")) == (tried, kept)
    assert [arrival.body[-2:].decode() for arrival in queues.browse("DLQ")] == away.split()
    assert queues.depth("IN") == 0


def test_groups() -> None:
    """With commitByMessageGroup a unit of work lasts to the end of a group."""
    kept = turn(flow_of(commitByMessageGroup="true"), queues_of("a", "g1", "g2", "g3.", "b"))
    assert kept == ["a", "a", "a", "a g1 g2 g3.", "a g1 g2 g3. b", "a g1 g2 g3. b"]


def test_a_group_that_is_not_whole_stays() -> None:
    """A group whose end has not come is not committed, also when the queue is empty."""
    queues = queues_of("g1", "g2")
    assert turn(flow_of(commitByMessageGroup="true"), queues) == ["", "", ""]


def test_a_group_that_fails() -> None:
    """What was done of a group is undone together; each message is put away by its own count, as all messages are."""
    queues = queues_of("g1", "g2!", "g3.", "a", threshold=2)
    turn(flow_of(commitByMessageGroup="true"), queues)
    assert (words(queues, "NOTES"), words(queues, "KEPT")) == ("g1 g2! g1 g2! g3. a", "g3. a")
    assert [arrival.body[172:] for arrival in queues.browse("DLQ")] == [b"g1", b"g2!"]
    assert queues.depth("IN") == 0


def test_a_group_that_fails_behind_others() -> None:
    """What was taken with a group that fails, but is not of it, is tried again and not counted against."""
    queues = queues_of("a", "h1", "h2.", "g1", "g2!", "g3.", "b", threshold=1)
    turn(flow_of(20, commitByMessageGroup="true"), queues)
    assert words(queues, "KEPT") == "a h1 h2. g3. b"
    assert [arrival.body[172:] for arrival in queues.browse("DLQ")] == [b"g1", b"g2!"]
    assert queues.depth("IN") == 0


def test_instances_and_order() -> None:
    """A deployed flow says how many instances read a queue, and what they keep in order."""
    flow = Flow(
        "F",
        properties=(Setting("additionalInstances", "4"),),
        nodes=(
            NodeUse("A", "MQInput", (Setting("queueName", "A"), Setting("orderMode", "byUserID"))),
            NodeUse(
                "B",
                "MQInput",
                (
                    Setting("queueName", "B"),
                    Setting("componentLevel", "node"),
                    Setting("additionalInstances", "2"),
                    Setting("logicalOrder", "false"),
                ),
            ),
        ),
    )
    deployed = deploy(flow)
    found = [(deployed.instances(each), deployed.order(each)) for each in deployed.entrances]
    assert [(number, order.mode, order.groups) for number, order in found] == [
        (5, "byUserID", True),
        (3, "default", False),
    ]
