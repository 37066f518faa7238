"""Segments: a message that stands on a queue in pieces, put together again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.descriptor import LAST_SEGMENT, SEGMENT
from engine.work import Selection

if TYPE_CHECKING:
    from engine.mq.manager import QueueManager
    from engine.mq.queue import Queue
    from engine.mq.queue_handle import Handle
    from engine.mq.queued_message import Stored

_PIECE: Final = SEGMENT | LAST_SEGMENT


def taken_whole(manager: QueueManager, opened: Handle, first: Stored) -> tuple[list[tuple[Queue, Stored]], Stored]:
    """Returns a segment and those behind it, taken off their queue, and the message that they are together."""
    pieces = _taken_with(manager, opened, first)
    return [(opened.queue, one) for one in pieces], _joined(pieces)


def _taken_with(manager: QueueManager, opened: Handle, first: Stored) -> list[Stored]:
    """Returns a segment and those behind it, taken off their queue; it alone where they are not all there."""
    queue, pieces = opened.queue, [first]
    wanted = Selection(group_id=first.descriptor.group_id)
    length = len(first.body) if first.descriptor.offset == 0 else -1
    while length >= 0 and not pieces[-1].descriptor.msg_flags & LAST_SEGMENT:
        with manager.lock:
            found = queue.take(wanted, opened)
        if found is not None:
            pieces.append(found)
        if found is None or found.descriptor.offset != length:
            manager.admission.undo([], [(queue, one) for one in pieces[1:]], counted=False)
            return [first]
        length += len(found.body)
    return pieces


def _joined(pieces: list[Stored]) -> Stored:
    """Returns the whole message of its segments."""
    if len(pieces) == 1:
        return pieces[0]
    descriptor = pieces[0].descriptor
    whole = descriptor._replace(msg_flags=descriptor.msg_flags & ~_PIECE, original_length=-1)
    return replace(pieces[0], descriptor=whole, body=b"".join([one.body for one in pieces]))
