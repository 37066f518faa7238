"""MQGet as tests use it: a queue with messages, an input message with something in its trees, and what comes out."""

from __future__ import annotations

from engine.descriptor import Descriptor
from engine.message.assembly import Message
from engine.transports.memory import MemoryQueues
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step
from tests.nodes.bench import Seen, carried, message_of, tree

BODY = b"<r><s>2</s></r>"
ASKED = {"msg_id": b"M" * 24, "correl_id": b"C" * 24, "format": "MQSTR", "priority": 3}
XML: dict[str, object] = {"queueName": "IN", "messageDomainProperty": "XMLNSC", "waitInterval": 0}
NONE: dict[str, object] = XML | {"generateMode": "none"}
MESSAGE: dict[str, object] = XML | {"generateMode": "message"}
ENVIRONMENT: dict[str, object] = XML | {"generateMode": "localEnvironment"}
BOTH: dict[str, object] = XML | {"generateMode": "messageAndLocalEnvironment"}


def queue_manager(*descriptors: Descriptor, body: bytes = BODY) -> MemoryQueues:
    queues = MemoryQueues("IN")
    work = queues.work()
    for descriptor in descriptors:
        work.put("IN", descriptor, body)
    work.commit()
    return queues


def given() -> Message:
    message = message_of(**ASKED)
    return message.replaced(local_environment=tree("LocalEnvironment", [("Variables", [("Kept", 1)])]))


def got(queues: MemoryQueues, properties: dict[str, object], message: Message | None = None, *wired: str) -> Seen:
    terminals = wired or ("out", "noMessage", "warning")
    return carried("MQGet", message or given(), *terminals, properties=properties, work=queues.work())


def at(root: Element, path: str) -> object:
    found = root.at(*path.split("."))
    return None if found is None else found.value


GMO = {"WAIT": 1, "SYNCPOINT": 2, "NO_SYNCPOINT": 4, "TRUNCATED": 64, "CONVERT": 16384, "LOGICAL": 32768}


def with_gmo(message: Message, where: str = "MQ.GET", *, mqmd: bool = False, **fields: object) -> Message:
    """The message with an MQGMO in its LocalEnvironment."""
    local = copy(message.local_environment)
    at_ = local
    for name in where.split("."):
        at_ = at_.ensure(step(name))
    folder = at_.add("MQGMO")
    for name, value in fields.items():
        folder.add(name, value)
    if mqmd:
        at_.add("MQMD")
    return message.replaced(local_environment=local)
