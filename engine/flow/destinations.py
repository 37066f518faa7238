"""Destinations: a queue and how a message is put there, and what is known of it afterwards."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.descriptor import NO_ID, NO_TOKEN, SEGMENTATION_ALLOWED, Descriptor
from engine.errors import BrokerError, MessageException
from engine.flow.dead_letters import BROKER, PROGRAM
from engine.node import Pattern
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step
from engine.work import authorise

if TYPE_CHECKING:
    from engine.message.assembly import Message
    from engine.message.writer import Written
    from engine.work import UnitOfWork

UNKNOWN_OBJECT_NAME: Final = 2085
UNKNOWN_REMOTE_Q_MGR: Final = 2087
# MQ's own names have letters, digits and ._/% alone; flows that are tried at a desk first may have others.
_IN_WORDS: Final = "the name of a {}: up to 48 ASCII characters, with no blank and no '*' among them"
_CHARACTERS: Final = "[!-)+-~]"
QUEUE_NAME: Final = Pattern(f"{_CHARACTERS}{{1,48}}", _IN_WORDS.format("queue"))
QUEUE_NAME_OR_NONE: Final = Pattern(f"{_CHARACTERS}{{0,48}}", _IN_WORDS.format("queue"))
QUEUE_MANAGER: Final = Pattern(f"{_CHARACTERS}{{1,48}}", _IN_WORDS.format("queue manager"))
QUEUE_MANAGER_OR_NONE: Final = Pattern(f"{_CHARACTERS}{{0,48}}", _IN_WORDS.format("queue manager"))
REQUEST: Final = 1
REPLY: Final = 2
PASS_CORREL_ID: Final = 64  # report options: what a reply's ids are
PASS_MSG_ID: Final = 128
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

    def put(self, sent: Written, work: UnitOfWork) -> Descriptor:
        """Put a message there; the answer is the descriptor it was given.

        A queue of another queue manager is refused: nothing leads there, and a local queue of its name is another one.
        """
        if self.queue_manager and (manager := self.queue_manager.strip()) not in {"", work.queue_manager}:
            raise _unreachable(self.queue, manager, work.queue_manager)
        descriptor, body, syncpoint = sent
        if self.alternate_user:
            authorise(work, descriptor.user_identifier, self.queue)
        if self[3:] != _AS_IT_CAME or descriptor.backout_count:
            descriptor = self._made(descriptor, work)
        if self.transaction_mode != "automatic":
            syncpoint = self.transaction_mode == "yes"
        return work.put(self.queue, descriptor, body, syncpoint=syncpoint)

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


def check_queue_name(queue: str, where: str) -> None:
    """Refuse what is no queue's name; `where` a message has it."""
    if not re.fullmatch(QUEUE_NAME.regex, queue):
        raise MessageException(
            UNKNOWN_OBJECT_NAME, f"{where} is {QUEUE_NAME.words}, not {queue!r:.60}", queue, reason=UNKNOWN_OBJECT_NAME
        )


def reply_to(descriptor: Descriptor, own: Destination, *, otherwise: str) -> Destination:
    """Returns where the reply to a request goes: to its ReplyToQ; `otherwise` is what to do where there is none."""
    queue, manager = descriptor.reply_to_q.strip(), descriptor.reply_to_q_mgr.strip()
    if not queue:
        raise BrokerError(2635, f"the MQMD names no ReplyToQ to put the reply on: {otherwise}")
    check_queue_name(queue, "MQMD.ReplyToQ")
    return own._replace(queue=queue, queue_manager=manager)


def reply(request: Descriptor) -> Descriptor:
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
