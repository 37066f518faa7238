"""Streaming queues: the copy of each message that its queue's STREAMQ asks for, in the unit of work of its original."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from engine.errors import MessageException
from engine.mq.admission import released
from engine.mq.refusals import refusal

if TYPE_CHECKING:
    from engine.mq.admission import Target
    from engine.mq.manager import QueueManager
    from engine.mq.queue import Queue
    from engine.mq.unit import Moved, Work

_LOG: Final = logging.getLogger("penstock.streams")


def add_streamed(manager: QueueManager, work: Work, target: Target, puts: Moved, *, syncpoint: bool) -> None:
    """Add messages that were just admitted to a queue that streams to a unit of work, and their copies with them.

    A copy that cannot be made is left out; where it must be made, the messages are not admitted any more either.
    """
    base, stream = target.queue, target.queue.stream
    assert stream is not None  # it is asked for queues that have one
    copies: Moved = []
    try:
        to = manager.targets.get(stream.name) or manager.target(stream.name)
        if to.topic is None and len(puts) == 1:
            copies = [(to.queue, manager.admission.copy(to, puts[0][1]))]
        else:
            copies = _copies(manager, work, to, puts)
        base.counts.streamed += len(puts)
    except MessageException as error:
        note_failure(base, error, work.refused_streams)
        if stream.must:
            manager.admission.undo(puts, [])
            text = f"the message is to be copied from {target.name} to {stream.name}, which does not take it"
            raise refusal(error.reason, f"{text}: {error.text}", stream.name) from error
    spare = [(base, copies)] if copies and not stream.must and manager.store is not None else ()
    if syncpoint:
        work.copied += len(copies)
        work.spare += spare
    work.add(puts + copies, spare, syncpoint=syncpoint)


def _copies(manager: QueueManager, work: Work, to: Target, puts: Moved) -> Moved:
    copies: Moved = []
    try:
        for _, stored in puts:
            if to.topic is None:
                copies.append((to.queue, manager.admission.copy(to, stored)))
                continue
            own, user = released(stored.descriptor), manager.security.owner[:12]
            copies += manager.topics.publish(to, own, stored.body, work, user=user)[1]
    except MessageException:
        manager.admission.undo(copies, [])
        raise
    return copies


def note_failure(base: Queue, error: MessageException, told: dict[str, int]) -> None:
    """Count a copy that is not made, and tell the log why, unless the same was `told` for the queue before."""
    base.counts.stream_failed += 1
    name, stream = base.definition.name, base.stream
    if told.get(name) != error.reason:
        told[name] = error.reason
        to = "" if stream is None else stream.name
        _LOG.warning("messages of queue %s are not copied to %s (reason %d): %s", name, to, error.reason, error.text)
