"""MQOutput: put messages on queues: a fixed one, those of a list, or the one that a reply is wanted on."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from engine.descriptor import NO_ID, NO_TOKEN, Descriptor
from engine.errors import BrokerError
from engine.message import Message
from engine.node import node, prop
from engine.received import Received
from engine.sharing import copy
from engine.step import step
from engine.tree import Element
from engine.writing import write_message

if TYPE_CHECKING:
    from engine.work import UnitOfWork

REQUEST: Final = 1
_SEGMENTATION_ALLOWED: Final = 1
_NO_IDENTITY: Final = {"user_identifier": "", "accounting_token": NO_TOKEN, "appl_identity_data": ""}
_NO_ORIGIN: Final = {"put_appl_type": 0, "put_appl_name": "", "put_date": "", "put_time": "", "appl_origin_data": ""}
_CONTEXT: Final[dict[str, dict[str, object]]] = {
    "passAll": {},
    "setAll": {},
    "passIdentity": _NO_ORIGIN,
    "setIdentity": _NO_ORIGIN,
    "default": {**_NO_IDENTITY, **_NO_ORIGIN},
    "none": {**_NO_IDENTITY, **_NO_ORIGIN},
}


class _Destination(NamedTuple):
    """One queue and how the message is put there."""

    queue: str
    queue_manager: str
    transaction_mode: str
    persistence_mode: str
    new_msg_id: bool
    new_correl_id: bool
    segmentation_allowed: bool
    reply_to_queue: str = ""
    reply_to_queue_manager: str = ""


@node("MQOutput", outputs=("failure", "out"), category="output")
@dataclass(frozen=True, slots=True)
class MQOutput:
    """Put the message on one or more queues; what was done is in LocalEnvironment.WrittenDestination behind `out`."""

    queue_name: str = prop("", "The queue, where destinationMode is fixed.")
    queue_manager_name: str = prop("", "The queue manager of the queue; empty: the flow's own.")
    destination_mode: Literal["fixed", "list", "reply"] = prop(
        "fixed", "Which queue: queueName; those that LocalEnvironment.Destination.MQ lists; the MQMD's ReplyToQ."
    )
    transaction_mode: Literal["automatic", "yes", "no"] = prop(
        "automatic", "Whether the put is part of the unit of work; automatic: if the message came in one."
    )
    persistence_mode: Literal["automatic", "yes", "no", "asQdef"] = prop(
        "automatic", "Whether the message is persistent; automatic: as the MQMD says."
    )
    new_msg_id: bool = prop(False, "Whether the message gets an id of its own.")
    new_correl_id: bool = prop(False, "Whether the message gets a correlation id of its own.")
    segmentation_allowed: bool = prop(False, "Whether the queue manager may put it in segments.")
    message_context: Literal["passAll", "passIdentity", "setAll", "setIdentity", "default", "none"] = prop(
        "passAll", "Which of the sender's identity and origin the message keeps."
    )
    request: bool = prop(False, "Whether the message is a request that wants a reply.")
    reply_to_q: str = prop("", "Where replies to a request are to go.", name="replyToQ")
    reply_to_q_mgr: str = prop("", "The queue manager of that queue.", name="replyToQMgr")

    _own: _Destination = field(init=False, repr=False)

    def __post_init__(self) -> None:
        own = _Destination(
            self.queue_name,
            self.queue_manager_name,
            self.transaction_mode,
            self.persistence_mode,
            self.new_msg_id,
            self.new_correl_id,
            self.segmentation_allowed,
            self.reply_to_q,
            self.reply_to_q_mgr,
        )
        object.__setattr__(self, "_own", own)

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        descriptor, body = write_message(message.root)
        put = []
        for destination in self._destinations(message, descriptor):
            made = self._made(descriptor, destination, work)
            syncpoint = _syncpoint(destination, message)
            put.append((destination, work.put(destination.queue, made, body, syncpoint=syncpoint)))
        yield "out", message.replaced(local_environment=lambda: _written(message, put, work))

    def _destinations(self, message: Message, descriptor: Descriptor) -> tuple[_Destination, ...]:
        own = self._own
        if self.destination_mode == "list":
            return _listed(message.local_environment, own)
        if self.destination_mode == "reply":
            queue, manager = descriptor.reply_to_q.strip(), descriptor.reply_to_q_mgr.strip()
            if not queue:
                raise BrokerError(2635, "the MQMD names no ReplyToQ to put the reply on")
            return (own._replace(queue=queue, queue_manager=manager),)
        if not own.queue:
            raise BrokerError(2636, "no queueName is set: give the node one, or another destinationMode")
        return (own,)

    def _made(self, descriptor: Descriptor, destination: _Destination, work: UnitOfWork) -> Descriptor:
        changes: dict[str, object] = _CONTEXT[self.message_context].copy()
        mode = destination.persistence_mode
        if mode == "asQdef":
            attributes = work.attributes(destination.queue)
            changes["persistence"] = attributes.default_persistence if attributes else 0
        elif mode != "automatic":
            changes["persistence"] = int(mode == "yes")
        if destination.new_msg_id:
            changes["msg_id"] = NO_ID
        if destination.new_correl_id:
            changes["correl_id"] = work.new_id()
        if destination.segmentation_allowed:
            changes["msg_flags"] = descriptor.msg_flags | _SEGMENTATION_ALLOWED
        if self.request:
            changes["msg_type"] = REQUEST
        if destination.reply_to_queue:
            changes["reply_to_q"] = destination.reply_to_queue
            changes["reply_to_q_mgr"] = destination.reply_to_queue_manager or work.queue_manager
        if descriptor.backout_count:
            changes["backout_count"] = 0
        return descriptor._replace(**changes) if changes else descriptor  # type: ignore[arg-type]  # of each field's type


def _listed(environment: Element, own: _Destination) -> tuple[_Destination, ...]:
    """What LocalEnvironment.Destination.MQ says: DestinationData, before Defaults, before the node's properties."""
    mq = environment.at("Destination", "MQ")
    if mq is None:
        raise BrokerError(2634, "there is no LocalEnvironment.Destination.MQ: create it before the MQOutput node")
    defaults = _overridden(own._replace(queue=""), mq.at("Defaults"))
    found = tuple(_overridden(defaults, data) for data in mq.every(step("DestinationData")))
    if not found or not all(destination.queue for destination in found):
        raise BrokerError(2634, "LocalEnvironment.Destination.MQ needs DestinationData, each with a queueName")
    return found


_FIELDS: Final = {
    "queueName": "queue",
    "queueManagerName": "queue_manager",
    "transactionMode": "transaction_mode",
    "persistenceMode": "persistence_mode",
    "newMsgId": "new_msg_id",
    "newCorrelId": "new_correl_id",
    "segmentationAllowed": "segmentation_allowed",
    "replyToQ": "reply_to_queue",
    "replyToQMgr": "reply_to_queue_manager",
}
_YES: Final = frozenset({"yes", "true", "1"})
_MODES: Final = {
    "transaction_mode": frozenset({"yes", "no", "automatic"}),
    "persistence_mode": frozenset({"yes", "no", "automatic", "asQdef"}),
}


def _overridden(destination: _Destination, fields: Element | None) -> _Destination:
    changes: dict[str, object] = {}
    for field in fields or ():
        name = _FIELDS.get(field.name)
        if name is None or field.value is None:
            continue
        text = str(field.value).strip()
        if name in _MODES and text not in _MODES[name]:
            raise BrokerError(2637, f"{field.name} is one of {', '.join(sorted(_MODES[name]))}, not {text!r}")
        changes[name] = text.lower() in _YES if isinstance(getattr(destination, name), bool) else text
    return destination._replace(**changes)  # type: ignore[arg-type]  # of each field's type


def _syncpoint(destination: _Destination, message: Message) -> bool:
    if destination.transaction_mode != "automatic":
        return destination.transaction_mode == "yes"
    arrived = message.root.source
    return arrived.transactional if isinstance(arrived, Received) else _says_transactional(message.root)


def _says_transactional(root: Element) -> bool:
    """What Properties says of a message that was made or changed in the flow; it is taken to be transactional."""
    field = root.at("Properties", "Transactional")
    return field is None or field.value is not False


def _written(message: Message, put: list[tuple[_Destination, Descriptor]], work: UnitOfWork) -> Element:
    environment = copy(message.local_environment)
    mq = environment.ensure(step("WrittenDestination")).ensure(step("MQ"))
    for destination, descriptor in put:
        data = mq.add("DestinationData")
        data.add("queueName", destination.queue)
        data.add("queueManagerName", destination.queue_manager or work.queue_manager)
        data.add("replyIdentifier", descriptor.correl_id)
        data.add("msgId", descriptor.msg_id)
        data.add("correlId", descriptor.correl_id)
        data.add("GroupId", descriptor.group_id)
    return environment
