"""Dead letters: where messages go that cannot be processed; none is ever dropped."""

from __future__ import annotations

from typing import Final

from engine.descriptor import Descriptor
from engine.errors import BrokerError, MessageException
from engine.parser import Follow, Form, parser_catalog
from engine.received import new_root
from engine.work import UnitOfWork

FORMAT: Final = "MQDEAD"
BACKOUT_THRESHOLD_REACHED: Final = 2362
UNPARSEABLE: Final = 2110  # MQRC_FORMAT_ERROR


def put_away(queue: str, descriptor: Descriptor, body: bytes, work: UnitOfWork, *, reason: int) -> None:
    """Put a message on its queue's backout-requeue queue, else with an MQDLH on the dead-letter queue, else refuse.

    The refusal leaves the message to the unit of work, which backs it out: it blocks its queue until someone acts.
    """
    attributes = work.attributes(queue)
    requeue = attributes.backout_requeue_queue if attributes else ""
    refusal: MessageException | None = None
    for name, letter, content in (
        (requeue, descriptor, body),
        (work.dead_letter_queue, descriptor._replace(format=FORMAT), header(queue, descriptor, reason) + body),
    ):
        if not name:
            continue
        try:
            work.put(name, letter, content)
        except MessageException as refused:
            refusal = refused
        else:
            return
    raise BrokerError(
        2630,
        f"a message on {queue} cannot be processed, and neither its backout-requeue queue nor the dead-letter queue"
        " takes it, so it stays where it is: define or empty one of them",
        queue,
    ) from refusal


def header(queue: str, descriptor: Descriptor, reason: int) -> bytes:
    """The MQDLH that says where a message was and why it is no longer there."""
    tree = new_root().add("MQDLH")
    for name, value in {
        "Reason": reason,
        "DestQName": queue,
        "PutApplType": descriptor.put_appl_type,
        "PutApplName": descriptor.put_appl_name,
    }.items():
        tree.add(name, value)
    follow = Follow(descriptor.format, descriptor.encoding, descriptor.coded_char_set_id)
    return parser_catalog.find("MQDLH").write(tree, Form(follow.encoding, follow.ccsid, next=follow))
