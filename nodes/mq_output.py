"""MQOutput: put messages on queues: a fixed one, those of a list, or the one that a reply is wanted on."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from engine.dead_letters import BROKER, PROGRAM
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
REPLY: Final = 2
PASS_CORREL_ID: Final = 64  # report options: what a reply's ids are
PASS_MSG_ID: Final = 128
_SEGMENTATION_ALLOWED: Final = 1
_NO_IDENTITY: Final = {"user_identifier": "", "accounting_token": NO_TOKEN, "appl_identity_data": ""}
_NO_ORIGIN: Final = {"put_appl_type": 0, "put_appl_name": "", "put_date": "", "put_time": "", "appl_origin_data": ""}
_OUR_ORIGIN: Final = _NO_ORIGIN | {"put_appl_type": BROKER, "put_appl_name": PROGRAM}
_CONTEXT: Final[dict[str, dict[str, object]]] = {
    "passAll": {},
    "setAll": {},
    "passIdentity": _OUR_ORIGIN,
    "setIdentity": _OUR_ORIGIN,
    "default": {**_NO_IDENTITY, **_OUR_ORIGIN},
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
    alternate_user_authority: bool = prop(
        False, "Whether it is put with its own user's authority, if queues ask for any."
    )
    request: bool = prop(False, "Whether the message is a request, with an id of its own, that wants a reply.")
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
        received, body = write_message(message.root)
        descriptor = _reply(received) if self.destination_mode == "reply" else received
        put = []
        for destination in self._destinations(message, received):
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
                raise BrokerError(
                    2635, "the MQMD names no ReplyToQ to put the reply on: set it, or use another destinationMode"
                )
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
        if destination.new_msg_id or self.request:
            changes["msg_id"] = NO_ID
        if destination.new_correl_id:
            changes["correl_id"] = work.new_id()
        if destination.segmentation_allowed:
            changes["msg_flags"] = descriptor.msg_flags | _SEGMENTATION_ALLOWED
        if destination.reply_to_queue:
            changes["reply_to_q"] = destination.reply_to_queue
            changes["reply_to_q_mgr"] = destination.reply_to_queue_manager or work.queue_manager
        if descriptor.backout_count:
            changes["backout_count"] = 0
        if self.request:
            changes["msg_type"] = REQUEST
            if not changes.get("reply_to_q", descriptor.reply_to_q.strip()):
                raise BrokerError(
                    2638, "a request names the queue for its reply: give the node replyToQ, or set MQMD.ReplyToQ"
                )
        return descriptor._replace(**changes) if changes else descriptor  # type: ignore[arg-type]  # of each field's type


def _reply(request: Descriptor) -> Descriptor:
    """The descriptor of a reply: its ids are those that the request's report options ask for."""
    return request._replace(
        report=0,
        msg_type=REPLY if request.msg_type == REQUEST else request.msg_type,
        msg_id=request.msg_id if request.report & PASS_MSG_ID else NO_ID,
        correl_id=request.correl_id if request.report & PASS_CORREL_ID else request.msg_id,
        put_appl_type=BROKER,
        put_appl_name=PROGRAM,
        put_date="",
        put_time="",
    )


def _listed(environment: Element, own: _Destination) -> tuple[_Destination, ...]:
    """What LocalEnvironment.Destination.MQ says: DestinationData, before Defaults, before the node's properties."""
    mq = environment.at("Destination", "MQ")
    if mq is None:
        raise BrokerError(2634, "there is no LocalEnvironment.Destination.MQ: create it before the MQOutput node")
    defaults = _overridden(own, mq.at("Defaults"))
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
_YES_OR_NO: Final[dict[str, object]] = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_CHOICES: Final[dict[str, dict[str, object]]] = {
    "transaction_mode": {text: text for text in ("yes", "no", "automatic")},
    "persistence_mode": {"yes": "yes", "no": "no", "automatic": "automatic", "asqdef": "asQdef"},
    "new_msg_id": _YES_OR_NO,
    "new_correl_id": _YES_OR_NO,
    "segmentation_allowed": _YES_OR_NO,
}


def _overridden(destination: _Destination, fields: Element | None) -> _Destination:
    """The destination with what a folder of the LocalEnvironment says; `automatic` leaves a choice as it is."""
    changes: dict[str, object] = {}
    for said in fields or ():
        name = _FIELDS.get(said.name)
        if name is None or said.value is None:
            continue
        text = str(said.value).strip()
        choices = _CHOICES.get(name)
        if choices is None:
            changes[name] = text
        elif text.lower() in choices:
            changes[name] = choices[text.lower()]
        elif text.lower() != "automatic":
            raise BrokerError(
                2637, f"{said.name} is {_either(choices)}, not {text!r}: correct it where Destination.MQ is set"
            )
    return destination._replace(**changes)  # type: ignore[arg-type]  # of each field's type


def _either(choices: dict[str, object]) -> str:
    texts = {"yes" if v is True else "no" if v is False else str(v): None for v in choices.values()}
    return f"one of {', '.join([*texts, *(() if 'automatic' in texts else ('automatic',))])}"


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
        answer = descriptor.correl_id if descriptor.report & PASS_CORREL_ID else descriptor.msg_id
        data = mq.add("DestinationData")
        data.add("queueName", destination.queue)
        data.add("queueManagerName", destination.queue_manager or work.queue_manager)
        data.add("replyIdentifier", answer)
        data.add("msgId", descriptor.msg_id)
        data.add("correlId", descriptor.correl_id)
        data.add("GroupId", descriptor.group_id)
    return environment
