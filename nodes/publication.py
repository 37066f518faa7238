"""Publication: send a message to those who subscribe to its topics."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.message.topics import address
from engine.message.writer import write
from engine.node import Pending, node, prop
from engine.tree.step import Step, step
from nodes.mq_output import Destination

if TYPE_CHECKING:
    from engine.tree.element import Element
    from engine.work import UnitOfWork

NO_TOPIC: Final = 3072  # MQRCCF_TOPIC_ERROR
_TOPIC: Final = step("Topic")
_OPTION: Final = step("PubOpt")


@node("Publication", outputs=("failure", "out"), category="output")
@dataclass(frozen=True, slots=True)
class Publication:
    """Publish the message on the topics of its psc folder, else of Properties; who subscribes gets it with the unit."""

    implicit_stream_naming: Annotated[bool, Pending("publications with an MQRFH of MQSeries Publish/Subscribe")] = prop(
        False, "Whether the queue that the message came by is the stream that it is published on."
    )
    subscription_point: str = prop(
        "", "The subscription point: those who subscribed to this point get the message, and nobody else."
    )

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        topics = _topics(message.root)
        if not topics:
            text = "the message has no topic: set Properties.Topic, or psc.Topic of its MQRFH2"
            raise BrokerError(NO_TOPIC, text)
        retain = "RetainPub" in _texts(message.root.at("MQRFH2", "psc"), _OPTION)
        sent = write(message.root)
        for topic in topics:
            name = address(topic, retain=retain, point=self.subscription_point)
            Destination(name).put(sent, work)
        yield "out", message


def _topics(root: Element) -> list[str]:
    """Returns the topics of a message, each once."""
    found = _texts(root.at("MQRFH2", "psc"), _TOPIC) or _texts(root.at("Properties"), _TOPIC)
    return list(dict.fromkeys(found))


def _texts(folder: Element | None, name: Step) -> list[str]:
    """Returns the values of a name in a folder; a list that a field of Properties has counts by its items."""
    found: list[str] = []
    for field in () if folder is None else folder.every(name):
        items = [field, *field] if field.value is None else [field]
        found += [str(item.value).strip() for item in items if item.value is not None]
    return [text for text in found if text]
