"""Reports: messages that say what became of another, where it asked for them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from engine.descriptor import LITTLE_ENDIAN, UNLIMITED, UTF_8, Descriptor
from engine.errors import BrokerError, MessageException
from engine.flow.dead_letters import FORMAT, header
from engine.flow.put_rules import ACTIVITY, REPORT, answer_ids

if TYPE_CHECKING:
    from engine.mq.unit import Work

_PASS_DISCARD_AND_EXPIRY: Final = 0x4000
_DISCARD: Final = 0x8000000
_HEADER: Final = 172  # bytes of an MQDLH; its reason stands behind StrucId and Version
_INTEGERS: Final = 0xF  # the digit of an Encoding that says how integers are
_DATA: Final = 100  # bytes of the message in a report with data
_QMGR: Final = 7  # MQAT_QMGR


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of report: the option that asks for it, those that ask for data too, and its feedback."""

    name: str
    asked: int
    data: int
    full: int
    feedback: int


COA: Final = Kind("COA", 0x100, 0x200, 0x400, 259)
COD: Final = Kind("COD", 0x800, 0x1000, 0x2000, 260)
EXPIRATION: Final = Kind("expiration", 0x200000, 0x400000, 0x800000, 258)
EXCEPTION: Final = Kind("exception", 0x1000000, 0x2000000, 0x4000000, 0)
REPORTS: Final = ACTIVITY | sum(kind.asked | kind.data | kind.full for kind in (COA, COD, EXPIRATION, EXCEPTION))


def is_asked(kind: Kind, descriptor: Descriptor) -> bool:
    """Returns True where a message asks for a report and says where it goes.

    >>> is_asked(COA, Descriptor(report=0x100, reply_to_q="REPORTS")), is_asked(COD, Descriptor(reply_to_q="REPORTS"))
    (True, False)
    """
    return bool(descriptor.report & kind.asked and descriptor.reply_to_q)


def on_arrival(
    descriptor: Descriptor, body: bytes, queue_manager: str, *, put_away: bool
) -> list[tuple[Descriptor, bytes]]:
    """Returns the reports for which a message asks when it arrives; `put_away` says: on the dead-letter queue."""
    made = [report(COA, descriptor, body, queue_manager)] if is_asked(COA, descriptor) else []
    told = exception(descriptor, body, queue_manager) if put_away else None
    return made if told is None else [*made, told]


def exception(descriptor: Descriptor, body: bytes, queue_manager: str) -> tuple[Descriptor, bytes] | None:
    """Returns the report on a message that is put away with an MQDLH, if it asks for one; its feedback is why."""
    if not is_asked(EXCEPTION, descriptor) or descriptor.format != FORMAT or len(body) < _HEADER:
        return None
    little = descriptor.encoding & _INTEGERS == LITTLE_ENDIAN & _INTEGERS
    reason = int.from_bytes(body[8:12], "little" if little else "big")
    form = body[116:124].decode("latin-1").rstrip(" \0")
    return report(EXCEPTION, descriptor._replace(format=form), body[_HEADER:], queue_manager, reason)


def report(
    kind: Kind, descriptor: Descriptor, body: bytes, queue_manager: str, feedback: int = 0
) -> tuple[Descriptor, bytes]:
    """Returns a report on a message: its ids and its expiry as the message asks, and as much of the body.

    The descriptor is that of the message as it is now: its expiry is what remains.
    """
    options = descriptor.report
    data = body if options & kind.full else body[:_DATA] if options & kind.data else b""
    passes = options & _PASS_DISCARD_AND_EXPIRY
    msg_id, correl_id = answer_ids(descriptor)
    made = Descriptor(
        report=options & _DISCARD if passes else 0,
        msg_type=REPORT,
        expiry=descriptor.expiry if passes and kind is not EXPIRATION else UNLIMITED,  # what expired has none left
        feedback=feedback or kind.feedback,
        encoding=descriptor.encoding,
        coded_char_set_id=descriptor.coded_char_set_id,
        format=descriptor.format if data else "",
        priority=descriptor.priority,
        persistence=descriptor.persistence,
        msg_id=msg_id,
        correl_id=correl_id,
        reply_to_q_mgr=queue_manager,
        user_identifier=descriptor.user_identifier,
        accounting_token=descriptor.accounting_token,
        put_appl_type=_QMGR,
        put_appl_name=queue_manager,
        group_id=descriptor.group_id,
        msg_seq_number=descriptor.msg_seq_number,
        offset=descriptor.offset,
        msg_flags=descriptor.msg_flags & ~1,
        original_length=len(body),
    )
    return made, data


def put_report(work: Work, descriptor: Descriptor, body: bytes, queue: str, *, syncpoint: bool) -> None:
    """Put a report where it is wanted, else with an MQDLH on the dead-letter queue; else it is dropped, as in MQ."""
    work.as_manager(partial(_put_where_taken, work, queue, descriptor, body, syncpoint=syncpoint))


def _put_where_taken(work: Work, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool) -> None:
    try:
        work.put(queue, descriptor, body, syncpoint=syncpoint)
    except MessageException as refused:
        if work.dead_letter_queue in {"", queue}:
            return
        letter = descriptor._replace(format=FORMAT, coded_char_set_id=UTF_8)
        try:
            above = header(queue, descriptor, work, refused.reason, UTF_8)
        except BrokerError:  # as of a message that was stored with a name that no header can have
            return
        with suppress(MessageException):
            work.put(work.dead_letter_queue, letter, above + body, syncpoint=syncpoint)
