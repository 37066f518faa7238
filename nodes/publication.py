"""Publication: send a message to those who subscribe to its topics."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from engine.errors import BrokerError, MessageException
from engine.message.assembly import Message
from engine.message.topics import LOCAL, address, deletion
from engine.node import Pending, node, prop
from engine.tree.step import Step, step
from engine.work import authorise
from nodes.mq_output import Destination

if TYPE_CHECKING:
    from engine.tree.element import Element
    from engine.work import UnitOfWork

NO_TOPIC: Final = 3072  # MQRCCF_TOPIC_ERROR
_TOPIC: Final = step("Topic")
_OPTION: Final = step("PubOpt")
_COMMAND: Final = step("Command")
_DELETION: Final = step("DelOpt")
_NOT_AUTHORISED: Final = 2035


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
        sent = message.written()
        for name in _allowed(self._addresses(message.root, topics), sent.descriptor.user_identifier, work):
            Destination(name).put(sent, work)
        yield "out", message

    def _addresses(self, root: Element, topics: list[str]) -> list[str]:
        """Returns the addresses that a message is put to: those of its topics, or of what is retained on them."""
        folder, point = root.at("MQRFH2", "psc"), self.subscription_point
        if _texts(folder, _COMMAND) == ["DeletePub"]:
            scope = LOCAL if "Local" in _texts(folder, _DELETION) else ""
            return [deletion(topic, point=point, scope=scope) for topic in topics]
        options = _texts(folder, _OPTION)
        scope, retain = (LOCAL if "Local" in options else ""), "RetainPub" in options
        return [address(topic, retain=retain, point=point, scope=scope) for topic in topics]


def _allowed(addresses: list[str], user: str, work: UnitOfWork) -> list[str]:
    """Returns the addresses of topics on which the user of a message may publish; a message without one is refused."""
    found: list[str] = []
    refused: MessageException | None = None
    for name in addresses:
        try:
            if user:
                authorise(work, user, name)
            found.append(name)
        except MessageException as error:
            if error.reason != _NOT_AUTHORISED:
                raise
            refused = error
    if refused is not None and not found:
        raise refused
    return found


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
