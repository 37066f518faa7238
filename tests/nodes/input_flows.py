"""Flows that begin with MQInput, and what becomes of a message that goes through one."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

from engine.catalog import Catalog
from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.message.assembly import Message
from engine.message.received import Received
from engine.mq.definitions import QueueDefinition
from engine.node import NodeType, node, node_catalog, prop
from engine.runtime.deployment import DeployedFlow, deploy
from engine.transports.memory import MemoryQueues
from engine.work import QueueAttributes

catalog: Catalog[NodeType] = Catalog("node type", package="")
catalog.register("MQInput")(node_catalog.find("MQInput"))


@node("Note", catalog=catalog)
@dataclass(frozen=True, slots=True)
class Note:
    """Puts what it saw on the queue NOTES, outside the unit of work, and fails if told."""

    word: str = prop("", "Where it stands.")
    fails: bool = prop(False, "Whether it fails.")

    def evaluate(self, message: Message, work: Any) -> Generator[tuple[str, Message], bool, None]:
        exceptions = "E" if message.exceptions.first_child is not None else ""
        work.put("NOTES", Descriptor(), f"{self.word}{exceptions}".encode(), syncpoint=False)
        work.put("KEPT", Descriptor(), self.word.encode())
        if self.fails:
            raise BrokerError(3001, "told to")
        yield "out", message


@node("Look", catalog=catalog)
@dataclass(frozen=True, slots=True)
class Look:
    """Shows what it is given to the test."""

    seen: str = prop("", "Ignored.")

    def evaluate(self, message: Message, work: Any) -> Generator[tuple[str, Message], bool, None]:
        work.seen.append(message)
        yield "out", message


LAST = 20  # more turns than any rule allows
LETTER = Descriptor(
    format="MQSTR", msg_id=b"m" * 24, correl_id=b"c" * 24, put_date="20010203", put_time="04050607", put_appl_name="app"
)
BODY = b"poison \x00\xff"


class Case(NamedTuple):
    """How queues and wires are, and what becomes of one message that fails."""

    notes: str  # what nodes saw, in order; F is seen at failure, C at catch, O at out; E: with an ExceptionList
    ends: str  # the queue on which it ends, or a letter: it was consumed
    threshold: int = 0
    wired: str = "O!"  # a letter for each terminal that is wired, ! behind one that fails
    requeue: str = ""
    full: tuple[str, ...] = ()
    letters: str = "DLQ"
    body: bytes = BODY
    timing: str = "deferred"
    errors: tuple[int, ...] = ()  # of each turn in which something failed


def input_flow(wired: str, **properties: str) -> DeployedFlow:
    """MQInput with a Note at each of these terminals."""
    names = {"O": "out", "C": "catch", "F": "failure"}
    uses = [NodeUse("In", "MQInput", tuple(Setting(n, v) for n, v in {"queueName": "IN", **properties}.items()))]
    wires = []
    for at, letter in enumerate(wired):
        if letter in names:
            fails = str(wired[at + 1 : at + 2] == "!").lower()
            uses.append(NodeUse(letter, "Note", (Setting("word", letter), Setting("fails", fails))))
            wires.append(Wire("In", names[letter], letter))
    return deploy(Flow("F", nodes=tuple(uses), wires=tuple(wires)))


def queues_for(case: Case) -> MemoryQueues:
    attributes = QueueAttributes(backout_threshold=case.threshold, backout_requeue_queue=case.requeue)
    depths = {name: 0 if name in case.full else 10 for name in ("BOQ", "DLQ")}
    definitions = [
        QueueDefinition(name, max_depth=depth) for name, depth in depths.items() if name != "DLQ" or case.letters
    ]
    return MemoryQueues(
        QueueDefinition("IN", attributes), "NOTES", "KEPT", *definitions, dead_letter_queue=case.letters
    )


def turns(deployed: DeployedFlow, queues: MemoryQueues) -> list[int]:
    """The errors of all turns until the queue is empty, or for so long that it never will be."""
    work, errors = queues.work(), []
    for _ in range(LAST):
        outcome = deployed.process(deployed.entrances[0], work)
        if outcome is None:
            break
        if outcome.error is not None:
            errors.append(outcome.error.number)
    return errors


def dead_letter(descriptor: Descriptor, body: bytes, **properties: str) -> Received:
    """What stands on the dead-letter queue after a message has failed."""
    queues = queues_for(Case("", ""))
    work = queues.work()
    work.put("IN", descriptor, body)
    work.commit()
    turns(input_flow("O!", **properties), queues)
    return Received(*queues.browse("DLQ")[0])


class Looking:
    """A unit of work that keeps the messages that a Look node sees."""

    def __init__(self, queues: MemoryQueues) -> None:
        self._work = queues.work()
        self.seen: list[Message] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)


def looked(descriptor: Descriptor, body: bytes, **properties: str) -> Message:
    """The message that stands behind `out`."""
    settings = tuple(Setting(name, value) for name, value in {"queueName": "IN", **properties}.items())
    nodes = (NodeUse("In", "MQInput", settings), NodeUse("Look", "Look"))
    deployed = deploy(Flow("F", nodes=nodes, wires=(Wire("In", "out", "Look"),)))
    work: Any = Looking(MemoryQueues("IN"))
    work.put("IN", descriptor, body)
    work.commit()
    outcome = deployed.process(deployed.entrances[0], work)
    assert outcome is not None
    assert outcome.error is None
    (message,) = work.seen
    assert isinstance(message, Message)
    return message
