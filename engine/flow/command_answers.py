"""Answers to commands of publish/subscribe: reasons, the pscr folder that tells them, and the descriptor around it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from engine.descriptor import NO_ID, UTF_8, Descriptor
from engine.errors import BrokerError, MessageException
from engine.flow.dead_letters import BROKER, put_dead_letter
from engine.flow.put_rules import NAN, PAN, REPLY, REQUEST, answer_ids
from engine.message.received import new_root
from engine.parser import Follow, Form, parser_catalog

if TYPE_CHECKING:
    from engine.tree.element import Element
    from engine.work import UnitOfWork

Own = tuple[str, bytes]

RFH_COMMAND_ERROR: Final = 2336
RFH_PARM_ERROR: Final = 2337
RFH_DUPLICATE_PARM: Final = 2338
RFH_PARM_MISSING: Final = 2339
COMMAND_FAILED: Final = 3008
TOPIC_ERROR: Final = 3072
NOT_REGISTERED: Final = 3073
Q_MGR_NAME_ERROR: Final = 3074
Q_NAME_ERROR: Final = 3076
NO_RETAINED_MSG: Final = 3077
CORREL_ID_ERROR: Final = 3080
NOT_AUTHORIZED: Final = 3081
REG_OPTIONS_ERROR: Final = 3083
PUB_OPTIONS_ERROR: Final = 3084
DEL_OPTIONS_ERROR: Final = 3087
FILTER_ERROR: Final = 3150
WRONG_USER: Final = 3151
DUPLICATE_SUBSCRIPTION: Final = 3152
SUB_NAME_ERROR: Final = 3153
SUB_IDENTITY_ERROR: Final = 3154
SUBSCRIPTION_IN_USE: Final = 3155
SUBSCRIPTION_LOCKED: Final = 3156
ALREADY_JOINED: Final = 3157

_LOG: Final = logging.getLogger("penstock.queues")
_LONGEST_PROGRAM: Final = 28
_OF_CALLS: Final = {  # what calls of the queue manager are refused with, as commands are answered
    2035: NOT_AUTHORIZED,
    2085: Q_NAME_ERROR,
    2152: Q_NAME_ERROR,
    2425: TOPIC_ERROR,
    2440: SUB_NAME_ERROR,
    2459: FILTER_ERROR,
    2510: DUPLICATE_SUBSCRIPTION,
    2551: FILTER_ERROR,
    2533: DUPLICATE_SUBSCRIPTION,
}


_REPEATED: Final = frozenset({"Topic", "RegOpt", "PubOpt", "DelOpt"})
_ONCE: Final = frozenset(
    {
        *("Command", "SubPoint", "Filter", "QMgrName", "QName", "SubName", "SubIdentity", "SubUserData"),
        *("PubTime", "SeqNum", "CorrelId", "StreamName", "UserId"),
    }
)


class RefusedError(Exception):
    """A command that is not carried out, or not for one of its topics; the reason stands in its answer.

    One that `warns` is carried out all the same.
    """

    def __init__(self, reason: int, *, warns: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.warns = warns


def answered_reason(reason: int) -> int:
    """Returns the reason in the answer to a command for the reason of a call."""
    return _OF_CALLS.get(reason, reason or COMMAND_FAILED)


def check_properties(names: Sequence[str]) -> None:
    """Refuse a psc folder without a command, with a property that no folder has, or with twice what may stand once.

    >>> check_properties(["Command", "Topic", "Topic"])
    """
    if "Command" not in names:
        raise RefusedError(RFH_PARM_MISSING)
    if not _REPEATED | _ONCE >= set(names):
        raise RefusedError(RFH_PARM_ERROR)
    single = [name for name in names if name not in _REPEATED]
    if len(set(single)) < len(single):
        raise RefusedError(RFH_DUPLICATE_PARM)


def queue_of(said: Callable[[str], str], command: Descriptor, queue_manager: str, options: Container[str]) -> Own:
    """Returns the queue and the correlation id of the subscriber that a command speaks for, which says values by name.

    Its reply-to queue is that of one that names none; the correlation id counts with CorrelAsId alone.
    """
    if (said("QMgrName") or command.reply_to_q_mgr).strip() not in {"", queue_manager}:
        raise RefusedError(Q_MGR_NAME_ERROR)
    queue = (said("QName") or command.reply_to_q).strip()
    if not queue:
        raise RefusedError(Q_NAME_ERROR)
    if "CorrelAsId" in options and command.correl_id == NO_ID:
        raise RefusedError(CORREL_ID_ERROR)
    return queue, command.correl_id if "CorrelAsId" in options else NO_ID


@dataclass(frozen=True, slots=True)
class Answered:
    """The outcome of a command: the reason of each topic that failed, with an empty topic where all of it did."""

    reasons: tuple[tuple[int, str], ...] = ()
    warns: bool = False
    said: tuple[tuple[str, str], ...] = ()  # what a full response tells

    @property
    def completion(self) -> str:
        """The word for it."""
        return "ok" if not self.reasons else "warning" if self.warns else "error"

    def is_wanted_by(self, command: Descriptor) -> bool:
        """Returns True where the sender of a command asks for this answer: by a request, or by report options.

        >>> Answered().is_wanted_by(Descriptor(reply_to_q="Q", report=1)), Answered().is_wanted_by(Descriptor(report=1))
        (True, False)
        """
        if not command.reply_to_q.strip():
            return False
        asked = PAN if not self.reasons else PAN | NAN if self.warns else NAN
        return command.msg_type == REQUEST or bool(command.report & asked)

    def message(
        self, command: Descriptor, asked: Iterable[tuple[str, str]], queue_manager: str
    ) -> tuple[Descriptor, bytes]:
        """Returns the message that answers a command: its pscr folder, and behind a failure the command itself.

        What a header cannot hold of a command is not repeated in its answer.
        """
        descriptor = _answering(command, queue_manager)
        follow = Follow("", descriptor.encoding, descriptor.coded_char_set_id)
        form = Form(descriptor.encoding, descriptor.coded_char_set_id, next=follow)
        write = parser_catalog.find("MQRFH2").write
        try:
            return descriptor, write(self._header(asked), form)
        except BrokerError:
            bare = replace(self, reasons=tuple((reason, "") for reason, _ in self.reasons), said=())
            return descriptor, write(bare._header(()), form)

    def _header(self, asked: Iterable[tuple[str, str]]) -> Element:
        header = new_root().add("MQRFH2")
        answer = header.add("pscr")
        answer.add("Completion", self.completion)
        for reason, topic in self.reasons:
            response = answer.add("Response")
            response.add("Reason", str(reason))
            if topic:
                response.add("Topic", topic)
        _add(answer, self.said)
        if self.reasons and asked:
            _add(header.add("psc"), asked)
        return header


def send(
    outcome: Answered,
    asked: Iterable[tuple[str, str]],
    command: Descriptor,
    work: UnitOfWork,
    *,
    syncpoint: bool = True,
) -> None:
    """Put the answer to a command where it is wanted, if one is; what that does not take is a dead letter."""
    if not outcome.is_wanted_by(command):
        return
    queue, message = command.reply_to_q.strip(), outcome.message(command, asked, work.queue_manager)
    try:
        work.put(queue, *message, syncpoint=syncpoint)
    except MessageException as error:
        try:
            put_dead_letter(queue, *message, work, reason=error.reason, syncpoint=syncpoint)
        except MessageException:
            text = "the answer to a command is lost, as neither %s nor the dead-letter queue takes it: %s"
            _LOG.warning(text, queue, error.text)


def _add(folder: Element, values: Iterable[tuple[str, str]]) -> None:
    for name, value in values:
        folder.add(name, value)


def _answering(command: Descriptor, queue_manager: str) -> Descriptor:
    """Returns the descriptor of the answer to a command."""
    msg_id, correl_id = answer_ids(command)
    return Descriptor(
        msg_type=REPLY,
        format="MQHRF2",
        coded_char_set_id=UTF_8,
        expiry=command.expiry,
        encoding=command.encoding,
        priority=command.priority,
        persistence=command.persistence,
        msg_id=msg_id,
        correl_id=correl_id,
        user_identifier=command.user_identifier,
        accounting_token=command.accounting_token,
        appl_identity_data=command.appl_identity_data,
        put_appl_type=BROKER,
        put_appl_name=queue_manager[:_LONGEST_PROGRAM],
    )
