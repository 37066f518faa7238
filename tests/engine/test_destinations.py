"""Queues that messages name: what is no queue's name is refused before anything is put."""

from __future__ import annotations

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.message.assembly import Message
from engine.message.received import Received
from engine.node import build, node_catalog
from engine.transports.memory import MemoryQueues
from engine.tree.element import Element

NAMES = [
    ("OUT", True),
    ("OUT ", True),
    ("a.B_1/2%", True),
    ("orders-in#2", True),
    ("A" * 48, True),
    ("A B", False),
    ("Ä", False),
    ("A" * 49, False),
    ("*", False),
]


def listing(name: str) -> Message:
    environment = Element("LocalEnvironment")
    environment.add("Destination").add("MQ").add("DestinationData").add("queueName", name)
    return Message.received(Descriptor(), b"x").replaced(local_environment=environment)


def replying(name: str) -> Message:
    return Message(Received(Descriptor(reply_to_q=name), b"x").root())


@pytest.mark.parametrize(("name", "is_sound"), NAMES)
@pytest.mark.parametrize("mode", ["list", "reply"])
def test_names_in_messages(mode: str, name: str, is_sound: bool) -> None:
    """A list of destinations and a ReplyToQ may have names of queues alone, filled up with blanks or not."""
    queues = MemoryQueues(name="QM", open_=True)
    output, work = build(node_catalog.find("MQOutput"), {"destinationMode": mode}), queues.work()
    message, where = (listing(name), "queueName of Local") if mode == "list" else (replying(name), "MQMD.ReplyToQ")
    before = queues.names()
    if is_sound:
        assert [terminal for terminal, _ in output.evaluate(message, work)] == ["out"]
        return
    with pytest.raises(MessageException, match=rf"^BIP2085: {where}.* is the name of a queue: .*, not '") as caught:
        list(output.evaluate(message, work))
    assert (caught.value.reason, queues.names()) == (2085, before)
