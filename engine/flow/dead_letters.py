"""Dead letters: where messages go that cannot be processed; none is ever dropped."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from engine.descriptor import UTF_8, Descriptor
from engine.errors import BrokerError, MessageException
from engine.message.received import new_root
from engine.parser import Follow, Form, parser_catalog
from engine.work import Dated, UnitOfWork, put_as_it_is

FORMAT: Final = "MQDEAD"
BACKOUT_THRESHOLD_REACHED: Final = 2362
BLOCKED: Final = 2630  # the number of the refusal
UNPARSEABLE: Final = 2110  # MQRC_FORMAT_ERROR
FAILED_FOR_GOOD: Final = 2362  # a message that was tried once: its threshold is that


NOT_READ: Final = 2645  # what the local error log says of a message that is put away as it cannot be read,
FAILED_TOO_OFTEN: Final = 2649  # also after the failure terminal was tried
PUT_AWAY: Final = (NOT_READ, FAILED_TOO_OFTEN)
BACKED_OUT: Final = 2648  # as often as the threshold says,
FAILURE_FAILED: Final = 2650  # and as often again on its way to failure
TOLD_PUT_AWAY: Final = (*PUT_AWAY, BACKED_OUT, FAILURE_FAILED)

BROKER: Final = 26  # MQAT_BROKER
PROGRAM: Final = "Penstock"


def put_away(
    queue: str, descriptor: Descriptor, body: bytes, work: UnitOfWork, *, reason: int, syncpoint: bool = True
) -> None:
    """Put a message on its queue's backout-requeue queue, else with an MQDLH on the dead-letter queue, else refuse.

    The refusal leaves the message to the unit of work, which backs it out: it blocks its queue until someone acts.
    One that was got outside the unit is put outside it too, and the refusal says that it is gone.
    A queue that is its own backout-requeue queue has none: the message would come round for ever.
    """
    attributes = work.attributes(queue)
    requeue = attributes.backout_requeue_queue if attributes else ""
    descriptor = descriptor._replace(backout_count=0)
    refusal: MessageException | None = None
    if requeue not in {"", queue}:
        try:
            put_as_it_is(work, requeue, descriptor, body, syncpoint=syncpoint)
        except MessageException as refused:
            refusal = refused
        else:
            return
    if work.dead_letter_queue not in {"", queue}:
        try:
            put_dead_letter(queue, descriptor, body, work, reason=reason, syncpoint=syncpoint)
        except MessageException as refused:
            refused.__cause__ = refusal
            refusal = refused
        else:
            return
    ends = "stays where it is" if syncpoint else "is lost, because transactionMode keeps it out of the unit of work"
    raise BrokerError(
        BLOCKED,
        f"a message on {queue} cannot be processed, and neither its backout-requeue queue nor the dead-letter queue"
        f" takes it, so it {ends}: define or empty one of them",
        queue,
    ) from refusal


def put_dead_letter(
    queue: str, descriptor: Descriptor, body: bytes, work: UnitOfWork, *, reason: int, syncpoint: bool = True
) -> None:
    """Put a message with an MQDLH, which says why it is not on its queue, on the dead-letter queue."""
    above, ccsid = _header_in_characters(queue, descriptor, work, reason)
    letter = descriptor._replace(format=FORMAT, coded_char_set_id=ccsid)
    put_as_it_is(work, work.dead_letter_queue, letter, above + body, syncpoint=syncpoint)


def _header_in_characters(queue: str, descriptor: Descriptor, work: UnitOfWork, reason: int) -> tuple[bytes, int]:
    """The MQDLH, and the CCSID that it is written in: that of the message, where its name can be written in that."""
    ccsid = descriptor.coded_char_set_id
    try:
        return header(queue, descriptor, work, reason, ccsid), ccsid
    except BrokerError:
        return header(queue, descriptor, work, reason, UTF_8), UTF_8


def header(queue: str, descriptor: Descriptor, work: UnitOfWork, reason: int, ccsid: int) -> bytes:
    """The MQDLH that says where a message was, why it is no longer there, and who moved it when."""
    tree = new_root().add("MQDLH")
    now = work.now if isinstance(work, Dated) else datetime.now(UTC)
    for name, value in {
        "Reason": reason,
        "DestQName": queue,
        "DestQMgrName": work.queue_manager,
        "PutApplType": BROKER,
        "PutApplName": PROGRAM,
        "PutDate": now.date(),
        "PutTime": now.time(),
    }.items():
        tree.add(name, value)
    follow = Follow(descriptor.format, descriptor.encoding, descriptor.coded_char_set_id)
    return parser_catalog.find("MQDLH").write(tree, Form(follow.encoding, ccsid, next=follow))
