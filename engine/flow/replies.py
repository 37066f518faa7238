"""Replies and reports: message types, the ids that an answer has, and messages that ask for one."""

from __future__ import annotations

from typing import Final

from engine.descriptor import NO_ID, Descriptor
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
_MISSING_REPLY_TO_Q: Final = 2027


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

    >>> check_reply_to(0x100, 8, "REPORTS"), check_reply_to(PASS_CORREL_ID | PASS_MSG_ID, 8, "")
    (None, None)
    """
    if (message_type == REQUEST or report & _ANSWERED) and not reply_to_q.strip():
        asks = "is a request" if message_type == REQUEST else f"asks for reports ({report:#x})"
        text = f"a message {asks}, and names no queue for the answer: give it a reply_to_q"
        raise MessageException(_MISSING_REPLY_TO_Q, text, reason=_MISSING_REPLY_TO_Q)
