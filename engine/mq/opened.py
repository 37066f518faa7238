"""Queues as a unit of work has opened them, and gets that wait there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.mq.handles import Handle

if TYPE_CHECKING:
    from engine.mq.manager import QueueManager
    from engine.mq.queue import Queue
    from engine.mq.waiting import Waiter
    from engine.work import Selection


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

    __slots__ = ("_manager", "_queue", "_waiter")

    def __init__(self, manager: QueueManager, queue: Queue, waiter: Waiter) -> None:
        self._manager = manager
        self._queue = queue
        self._waiter = waiter

    def cancel(self) -> None:
        """Stop waiting; where a message has woken it that is still there, another who wants it is woken."""
        with self._manager.lock:
            woken_by = self._waiter.woken_by
            if not self._queue.waiters.remove(self._waiter) and woken_by is not None:
                self._queue.wake(woken_by)


def bounded(left: float | None, selection: Selection | None) -> float | None:
    """Returns how long to sleep: not over the moment at which browsing begins anew."""
    if selection is None or not selection.browse or selection.rewind < 0:
        return left
    rewind = max(selection.rewind, 0.001)
    return rewind if left is None else min(left, rewind)
