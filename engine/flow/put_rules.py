"""The rules of MQPUT for a descriptor, wherever a message is put; and the ids that an answer to it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.descriptor import (
    DATAGRAM,
    LAST_MSG_IN_GROUP,
    LAST_SEGMENT,
    LENGTHS,
    MSG_IN_GROUP,
    NO_ID,
    NON_PERSISTENT,
    PERSISTENT,
    SEGMENT,
    UNLIMITED,
    UTF_8,
    Descriptor,
)
from engine.errors import MessageException

REQUEST: Final = 1  # message types
REPLY: Final = 2
REPORT: Final = 4
PAN: Final = 0x1  # report options: word of success,
NAN: Final = 0x2  # of failure,
ACTIVITY: Final = 0x4
PASS_CORREL_ID: Final = 0x40  # and what the ids of an answer are
PASS_MSG_ID: Final = 0x80
_COA, _COD, _EXPIRATION, _EXCEPTION = 0x100, 0x800, 0x200000, 0x1000000
_ANSWERED: Final = PAN | NAN | ACTIVITY | _COA | _COD | _EXPIRATION | _EXCEPTION
_MD_ERROR: Final = 2026
_MISSING_REPLY_TO_Q: Final = 2027

ASK_NOTHING: Final = frozenset({REPLY, REPORT, DATAGRAM})  # message types that are good and want no reply

MAX_PRIORITY: Final = 9

_PERSISTENCES: Final = (NON_PERSISTENT, PERSISTENT)
_PERSISTENCE_AS_DEFINED: Final = 2  # MQPER_PERSISTENCE_AS_Q_DEF
_PRIORITY_AS_DEFINED: Final = -1
_MSG_TYPE_ERROR: Final = 2029
_REPORT_OPTIONS_ERROR: Final = 2061
_MSG_FLAGS_ERROR: Final = 2249
_FEEDBACK_ERROR: Final = 2014
_MSG_SEQ_NUMBER_ERROR: Final = 2250
_OFFSET_ERROR: Final = 2251
_PRIORITY_ERROR: Final = 2050
_PERSISTENCE_ERROR: Final = 2047
_EXPIRY_ERROR: Final = 2013
_WORD: Final = 0xFFFFFFFF
_LAST: Final = 999_999_999  # of the numbers that programs may use
# Report options that are unknown are refused in these places, for a queue of the queue manager, and accepted in others.
_REJECTED: Final = 0x101C0000 | 0x0003FF00  # MQRO_REJECT_UNSUP_MASK and MQRO_ACCEPT_UNSUP_IF_XMIT_MASK
_COA_AND_COD: Final = 0x3F00
_PASS_DISCARD_AND_EXPIRY: Final = 0x4000
_UNKNOWN_OPTIONS: Final = _REJECTED & ~(_COA_AND_COD | _PASS_DISCARD_AND_EXPIRY)
_FLAGS_REJECTED: Final = 0x00000FFF | 0x000FF000  # MQMF_REJECT_UNSUP_MASK and MQMF_ACCEPT_UNSUP_IF_XMIT_MASK
_KNOWN_FLAGS: Final = 0x1F
_UNKNOWN_FLAGS: Final = _FLAGS_REJECTED & ~_KNOWN_FLAGS


def check_put(descriptor: Descriptor, new_id: Callable[[], bytes] | None = None) -> Descriptor:
    """Returns a descriptor as MQPUT fills it in, or refuses it for its type, options, flags, feedback or place.

    It has the CCSID of the queue manager where it has MQCCSI_Q_MGR, and is in the group that it is the last of; one
    whose flags want a group id and that has none has a new one, where `new_id` gives those.

    >>> check_put(Descriptor(msg_type=65_536, coded_char_set_id=0)).coded_char_set_id
    1208
    """
    report, kind, flags = descriptor.report, descriptor.msg_type, descriptor.msg_flags
    if not 1 <= kind <= _LAST:
        text = f"a msg_type of {kind} is none: give 1 to 65535 for those of MQ, 65536 to {_LAST} for your own"
        raise _refusal(_MSG_TYPE_ERROR, text)
    if unknown := report & _UNKNOWN_OPTIONS:
        text = f"a report of {report & _WORD:#x} has options that there are none of ({unknown:#x}): take them out"
        raise _refusal(_REPORT_OPTIONS_ERROR, text)
    if not 0 <= descriptor.feedback <= _LAST:
        text = f"a feedback of {descriptor.feedback} is none: give 0 to {_LAST}"
        raise _refusal(_FEEDBACK_ERROR, text)
    check_reply_to(report, kind, descriptor.reply_to_q)
    if flags:
        _check_flags(flags, descriptor)
        descriptor = _grouped(flags, descriptor, new_id)
    return descriptor if descriptor.coded_char_set_id else descriptor._replace(coded_char_set_id=UTF_8)


def _grouped(flags: int, descriptor: Descriptor, new_id: Callable[[], bytes] | None) -> Descriptor:
    """Returns a descriptor with the flags that others imply, and with a group id where its flags want one."""
    flags |= MSG_IN_GROUP if flags & LAST_MSG_IN_GROUP else 0
    flags |= SEGMENT if flags & LAST_SEGMENT else 0
    group_id = descriptor.group_id
    if group_id == NO_ID and new_id is not None and flags & _KNOWN_FLAGS:
        group_id = new_id()
    return descriptor._replace(msg_flags=flags, group_id=group_id)


def _check_flags(flags: int, descriptor: Descriptor) -> None:
    """Refuse flags that there are none of, and places in a group or in a message that none can have."""
    if unknown := flags & _UNKNOWN_FLAGS:
        text = f"msg_flags of {flags & _WORD:#x} have some that there are none of ({unknown:#x}): take them out"
        raise _refusal(_MSG_FLAGS_ERROR, text)
    number, offset = descriptor.msg_seq_number, descriptor.offset
    if flags & (MSG_IN_GROUP | LAST_MSG_IN_GROUP) and not 1 <= number <= _LAST:
        text = f"a msg_seq_number of {number} is none: those of a group are 1 to {_LAST}"
        raise _refusal(_MSG_SEQ_NUMBER_ERROR, text)
    if flags & (SEGMENT | LAST_SEGMENT) and not 0 <= offset <= _LAST:
        text = f"an offset of {offset} is none: segments begin at 0 to {_LAST}"
        raise _refusal(_OFFSET_ERROR, text)


def defaulted(given: tuple[int, int], defaults: tuple[int, int]) -> tuple[int, int]:
    """Returns a priority and a persistence, or the defaults where left to queue or topic; others are refused.

    >>> defaulted((-1, 2), (4, 1)), defaulted((12, 0), (4, 1))
    ((4, 1), (9, 0))
    """
    priority, persistence = given
    if priority < _PRIORITY_AS_DEFINED:
        text = f"a priority of {priority} is none: give 0 to {MAX_PRIORITY}, or {_PRIORITY_AS_DEFINED} for the default"
        raise _refusal(_PRIORITY_ERROR, text)
    if persistence not in _PERSISTENCES and persistence != _PERSISTENCE_AS_DEFINED:
        text = f"a persistence of {persistence} is none: give 0, 1, or {_PERSISTENCE_AS_DEFINED} for the default"
        raise _refusal(_PERSISTENCE_ERROR, text)
    return (
        defaults[0] if priority < 0 else min(priority, MAX_PRIORITY),
        persistence if persistence in _PERSISTENCES else defaults[1],
    )


def wrong_expiry(expiry: int) -> MessageException:
    """Returns the error for an expiry that no message can have."""
    text = f"an expiry of {expiry} is none: give tenths of a second, or {UNLIMITED} for a message that stays"
    return _refusal(_EXPIRY_ERROR, text)


def _refusal(reason: int, text: str) -> MessageException:
    return MessageException(reason, text, reason=reason)


def answer_ids(asked: Descriptor) -> tuple[bytes, bytes]:
    """Returns message id and correlation id of the answer to a message, as its report options ask.

    >>> answer_ids(Descriptor(msg_id=b"A" * 24)) == (NO_ID, b"A" * 24)
    True
    """
    options = asked.report
    return (
        asked.msg_id if options & PASS_MSG_ID else NO_ID,
        asked.correl_id if options & PASS_CORREL_ID else asked.msg_id,
    )


def check_reply_to(report: int, message_type: int, reply_to_q: str) -> None:
    """Refuse a message that asks for a reply or a report and does not say where it goes, as MQPUT does.

    No queue has a name that is longer than the field of an MQMD, nor has the header of a dead letter room for it.

    >>> check_reply_to(0x100, 8, "REPORTS"), check_reply_to(PASS_CORREL_ID | PASS_MSG_ID, 8, "")
    (None, None)
    """
    if (message_type == REQUEST or report & _ANSWERED) and not reply_to_q.strip():
        asks = "is a request" if message_type == REQUEST else f"asks for reports ({report:#x})"
        text = f"a message {asks}, and names no queue for the answer: give it a reply_to_q"
        raise _refusal(_MISSING_REPLY_TO_Q, text)
    if report & _ANSWERED and (length := len(reply_to_q.encode("utf-8", "surrogatepass"))) > LENGTHS["reply_to_q"]:
        text = f"a message asks for reports ({report:#x}), and its reply_to_q has {length} bytes: give it 48 at most"
        raise _refusal(_MD_ERROR, text)
