"""Queues as a unit of work has opened them, and gets that wait there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.mq.handles import Handle

if TYPE_CHECKING:
    from engine.mq.manager import QueueManager
    from engine.mq.queue import Queue
    from engine.mq.unit import Work
    from engine.mq.waiting import Waiter
    from engine.work import Arrival, Selection


class Opened:
    """A queue as a unit of work has opened it to get messages: which it is now, and what is remembered of it."""

    __slots__ = ("handle", "queue", "seen", "version")

    def __init__(self, queue: Queue, version: int) -> None:
        self.handle = Handle()
        self.queue = queue
        self.version = version
        self.seen = 0  # how many messages had come when nothing was found


class Waiting:
    """The registration of a get that waits, for one who cannot sleep."""

    __slots__ = ("_manager", "_queue", "_waiter", "_work")

    def __init__(self, manager: QueueManager, work: Work, queue: Queue, waiter: Waiter) -> None:
        self._manager = manager
        self._work = work
        self._queue = queue
        self._waiter = waiter

    def cancel(self) -> None:
        """Stop waiting; where a message has woken it that is still there, another who wants it is woken."""
        with self._manager.lock:
            woken_by, given = self._waiter.woken_by, self._waiter.given
            self._waiter.given = None
            if given is not None:
                self._queue.put(given)
            elif not self._queue.waiters.remove(self._waiter) and woken_by is not None:
                self._queue.wake(woken_by)

    def taken(self, *, syncpoint: bool | None) -> Arrival | None:
        """Returns the message that it was given, which is part of its unit then; None: look for one."""
        if self._work.account is not None:
            self.cancel()  # its gets are counted on their way
        given, self._waiter.given = self._waiter.given, None
        if given is None:
            return None
        self._queue.counts.note_taken(given, self._waiter.selection, self._queue)
        return self._work.got([(self._queue, given)], given, syncpoint=syncpoint)


def bounded(left: float | None, selection: Selection | None) -> float | None:
    """Returns how long to sleep: not over the moment at which browsing begins anew."""
    if selection is None or not selection.browse or selection.rewind < 0:
        return left
    rewind = max(selection.rewind, 0.001)
    return rewind if left is None else min(left, rewind)
