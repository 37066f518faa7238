"""MQOutput: put messages on queues: a fixed one, those of a list, or the one that a reply is wanted on."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from engine.descriptor import NO_ID, NO_TOKEN, SEGMENTATION_ALLOWED, Descriptor
from engine.errors import BrokerError, MessageException
from engine.flow.dead_letters import BROKER, PROGRAM
from engine.flow.put_rules import PASS_CORREL_ID, REPLY, REQUEST, answer_ids
from engine.flow.queue_options import QUEUE_MANAGER_OR_NONE, QUEUE_NAME_OR_NONE, check_queue_name
from engine.message.assembly import Message
from engine.message.received import Received
from engine.message.validation import ACTION_WORDS, Action, InheritedMaster, validate_written
from engine.message.writer import Written
from engine.node import UNSUITABLE_VALUE, node, prop
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step
from engine.work import authorise

if TYPE_CHECKING:
    from engine.work import UnitOfWork


UNKNOWN_REMOTE_Q_MGR: Final = 2087
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


_CONTEXT_BEGINS: Final = Descriptor._fields.index("user_identifier")
_PASSED: Final = {"passAll": "appl_origin_data", "passIdentity": "appl_identity_data"}
_ENDS: Final = {context: Descriptor._fields.index(last) + 1 for context, last in _PASSED.items()}


class Destination(NamedTuple):
    """One queue and how a message is put there."""

    queue: str = ""
    queue_manager: str = ""
    transaction_mode: str = "automatic"
    persistence_mode: str = "automatic"
    new_msg_id: bool = False
    new_correl_id: bool = False
    segmentation_allowed: bool = False
    reply_to_queue: str = ""
    reply_to_queue_manager: str = ""
    context: str = "passAll"
    request: bool = False
    alternate_user: bool = False  # the message's own user has to have the authority to put

    def put(self, sent: Written, work: UnitOfWork, came: Received | None = None) -> Descriptor:
        """Put a message there; the answer is the descriptor it was given.

        What of its context is passed is that of the message that came. A queue of another queue manager is refused:
        nothing leads there, and a local queue of its name is another one.
        """
        if self.queue_manager and (manager := self.queue_manager.strip()) not in {"", work.queue_manager}:
            raise _unreachable(self.queue, manager, work.queue_manager)
        descriptor, body, syncpoint = sent
        if self.alternate_user:
            authorise(work, descriptor.user_identifier, self.queue)
        if came is not None and descriptor is not came.descriptor:
            descriptor = self._passed(descriptor, came.descriptor)
        if self[3:] != _AS_IT_CAME or descriptor.backout_count:
            descriptor = self._made(descriptor, work)
        if self.transaction_mode != "automatic":
            syncpoint = self.transaction_mode == "yes"
        return work.put(self.queue, descriptor, body, syncpoint=syncpoint)

    def _passed(self, descriptor: Descriptor, came: Descriptor) -> Descriptor:
        """Returns the descriptor with the part of its context that MQPUT takes from the message that came."""
        begin, end = _CONTEXT_BEGINS, _ENDS.get(self.context, _CONTEXT_BEGINS)
        if descriptor[begin:end] == came[begin:end]:
            return descriptor
        return Descriptor._make(came[at] if begin <= at < end else said for at, said in enumerate(descriptor))

    def _made(self, descriptor: Descriptor, work: UnitOfWork) -> Descriptor:
        changes: dict[str, object] = _CONTEXT[self.context].copy()
        if self.persistence_mode == "asQdef":
            attributes = work.attributes(self.queue)
            changes["persistence"] = attributes.default_persistence if attributes else 0
        elif self.persistence_mode != "automatic":
            changes["persistence"] = int(self.persistence_mode == "yes")
        if self.new_msg_id or self.request:
            changes["msg_id"] = NO_ID
        if self.new_correl_id:
            changes["correl_id"] = work.new_id()
        if self.segmentation_allowed:
            changes["msg_flags"] = descriptor.msg_flags | SEGMENTATION_ALLOWED
        if self.reply_to_queue:
            changes["reply_to_q"] = self.reply_to_queue
            changes["reply_to_q_mgr"] = self.reply_to_queue_manager or work.queue_manager
        if descriptor.backout_count:
            changes["backout_count"] = 0
        if self.request:
            changes["msg_type"] = REQUEST
            if not changes.get("reply_to_q", descriptor.reply_to_q.strip()):
                raise BrokerError(
                    2638, "a request names the queue for its reply: give the node replyToQ, or set MQMD.ReplyToQ"
                )
        return descriptor._replace(**changes) if changes else descriptor  # type: ignore[arg-type]  # of each field's type


_AS_IT_CAME: Final = Destination()[3:]  # most destinations change nothing, and this is seen at once


def _unreachable(queue: str, manager: str, own: str) -> MessageException:
    text = (
        f"queue {queue} is one of queue manager {manager}, and nothing leads there from {own}:"
        f" leave the name of the queue manager empty, or name {own}"
    )
    return MessageException(UNKNOWN_REMOTE_Q_MGR, text, queue, manager, reason=UNKNOWN_REMOTE_Q_MGR)


@node("MQOutput", outputs=("failure", "out"), category="output")
@dataclass(frozen=True, slots=True)
class MQOutput:
    """Put the message on one or more queues; what was done is in LocalEnvironment.WrittenDestination behind `out`."""

    queue_name: Annotated[str, QUEUE_NAME_OR_NONE] = prop("", "The queue, where destinationMode is fixed.")
    queue_manager_name: Annotated[str, QUEUE_MANAGER_OR_NONE] = prop(
        "", "The queue manager of the queue; empty: the flow's own. A put to any other fails."
    )
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
    segmentation_allowed: bool = prop(
        False, "Whether a message that is longer than the queue allows is put in segments, which are got as one."
    )
    message_context: Literal["passAll", "passIdentity", "setAll", "setIdentity", "default", "none"] = prop(
        "passAll",
        "Whose identity and origin the message has: passAll and passIdentity those of the message that came, whatever"
        " its MQMD says now; setAll and setIdentity those of the MQMD; else those of the flow, or none.",
    )
    alternate_user_authority: bool = prop(
        False, "Whether the user that the MQMD names has to have the authority to put it, by the records of its queue."
    )
    request: bool = prop(False, "Whether the message is a request, with an id of its own, that wants a reply.")
    reply_to_q: Annotated[str, QUEUE_NAME_OR_NONE] = prop("", "Where replies to a request are to go.", name="replyToQ")
    reply_to_q_mgr: Annotated[str, QUEUE_MANAGER_OR_NONE] = prop(
        "", "The queue manager of that queue.", name="replyToQMgr"
    )
    validate_master: InheritedMaster = prop(
        "none",
        "What of the body is validated by its message set before it is put; inherit: what the node that made it asked"
        " for, and has done.",
    )
    validate_failure_action: Action = prop("exception", ACTION_WORDS)

    _own: Destination = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.destination_mode == "fixed" and not self.queue_name:
            text = "destinationMode fixed needs a queueName: give one, or another destinationMode"
            raise BrokerError(UNSUITABLE_VALUE, text)
        own = Destination(
            self.queue_name,
            self.queue_manager_name,
            self.transaction_mode,
            self.persistence_mode,
            self.new_msg_id,
            self.new_correl_id,
            self.segmentation_allowed,
            self.reply_to_q,
            self.reply_to_q_mgr,
            self.message_context,
            self.request,
            self.alternate_user_authority,
        )
        object.__setattr__(self, "_own", own)

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        if self.validate_master != "none":
            validate_written(message.root, self.validate_master, self.validate_failure_action)
        following = message.replaced(local_environment=lambda: written(message, put, work))
        sent = message.written()
        if self.destination_mode == "fixed":
            put = [(self._own, self._own.put(sent, work, message.came))]
        elif self.destination_mode == "list":
            listed = _listed(message.local_environment, self._own)
            put = [(destination, destination.put(sent, work, message.came)) for destination in listed]
        else:
            destination = reply_to(sent.descriptor, self._own, otherwise="set it, or use another destinationMode")
            put = [(destination, destination.put(sent._replace(descriptor=reply(sent.descriptor)), work))]
        yield "out", following


def _listed(environment: Element, own: Destination) -> tuple[Destination, ...]:
    """Returns what Destination.MQ lists: DestinationData before Defaults before the node's properties.

    Programs for V2.1 call it MQDestinationList.
    """
    mq = environment.at("Destination", "MQ") or environment.at("Destination", "MQDestinationList")
    if mq is None:
        raise BrokerError(2634, "there is no LocalEnvironment.Destination.MQ: create it before the MQOutput node")
    defaults = _overridden(own, mq.at("Defaults"))
    found = tuple(_overridden(defaults, data) for data in mq.every(step("DestinationData")))
    if not found or not all(destination.queue for destination in found):
        raise BrokerError(2634, "LocalEnvironment.Destination.MQ needs DestinationData, each with a queueName")
    for destination in found:
        check_queue_name(destination.queue, "queueName of LocalEnvironment.Destination.MQ")
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
    "alternateUserAuthority": "alternate_user",
}
_YES_OR_NO: Final[dict[str, object]] = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_CHOICES: Final[dict[str, dict[str, object]]] = {
    "transaction_mode": {text: text for text in ("yes", "no", "automatic")},
    "persistence_mode": {"yes": "yes", "no": "no", "automatic": "automatic", "asqdef": "asQdef"},
    "new_msg_id": _YES_OR_NO,
    "new_correl_id": _YES_OR_NO,
    "segmentation_allowed": _YES_OR_NO,
    "alternate_user": _YES_OR_NO,
}


def _overridden(destination: Destination, fields: Element | None) -> Destination:
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


def reply_to(descriptor: Descriptor, own: Destination, *, otherwise: str) -> Destination:
    """Returns where the reply to a request goes: to its ReplyToQ; `otherwise` is what to do where there is none."""
    queue, manager = descriptor.reply_to_q.strip(), descriptor.reply_to_q_mgr.strip()
    if not queue:
        raise BrokerError(2635, f"the MQMD names no ReplyToQ to put the reply on: {otherwise}")
    check_queue_name(queue, "MQMD.ReplyToQ")
    return own._replace(queue=queue, queue_manager=manager)


def reply(request: Descriptor) -> Descriptor:
    """The descriptor of a reply: its ids are those that the request's report options ask for."""
    msg_id, correl_id = answer_ids(request)
    return request._replace(
        report=0,
        msg_type=REPLY if request.msg_type == REQUEST else request.msg_type,
        msg_id=msg_id,
        correl_id=correl_id,
        put_appl_type=BROKER,
        put_appl_name=PROGRAM,
        put_date="",
        put_time="",
    )


def written(message: Message, put: list[tuple[Destination, Descriptor]], work: UnitOfWork) -> Element:
    """The LocalEnvironment of a message with what was put where in its WrittenDestination."""
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
