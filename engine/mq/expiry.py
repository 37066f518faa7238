"""Expiry: messages whose time has passed, found by time, removed, and reported where they ask for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final

from engine.mq.reports import EXPIRATION, is_asked, put_report, report
from engine.work import Arrival

if TYPE_CHECKING:
    from engine.mq.manager import QueueManager
    from engine.mq.queue import Queue
    from engine.mq.queued_message import Stored

EXPIRY: Final = "EXPIRY"  # what REFRESH QMGR names: messages whose time has passed are removed at once
_MANY: Final = 10_000


class Expiry:
    """The messages of a queue manager that expire, by the moment at which they do."""

    __slots__ = ("_clock", "_due", "_manager", "_most")

    def __init__(self, manager: QueueManager, clock: Callable[[], float]) -> None:
        self._manager = manager
        self._clock = clock
        self._most = _MANY  # entries after which those of messages that are gone are swept out
        self._due: list[tuple[int, int, int, Queue]] = []  # a heap, by moment, order and place in memory

    def note(self, queue: Queue, stored: Stored) -> None:
        """Learn of a message that expires and can be got."""
        if len(self._due) >= self._most:
            self._due = [entry for entry in self._due if entry[3].is_in_memory(entry[1])]
            heapify(self._due)
            self._most = max(_MANY, 2 * len(self._due))
        heappush(self._due, (stored.expires, stored.order, id(queue), queue))

    def run(self, most: int) -> int:
        """Remove messages whose time has passed, so many at most, and return how many were removed.

        Those that units of work have are passed over, a slice after the other, while others put and get.
        """
        now, manager = int(self._clock() * 10), self._manager
        late: dict[Queue, None] = {}
        with manager.lock:
            for _ in range(most):
                if not self._due or self._due[0][0] > now:
                    break
                _, order, _, queue = heappop(self._due)
                if queue.expire(order):
                    late[queue] = None
        for due in () if manager.store is None else manager.store.due(now, most):
            with manager.lock:
                late.update({queue: None for queue, order in due if queue.expire(order)})
            if late:
                break
        return sum(self.discard(queue) for queue in late)

    def discard(self, queue: Queue) -> int:
        """Remove messages that were met past their time, with a report where they ask for it."""
        manager = self._manager
        with manager.lock:
            late, queue.expired = queue.expired, []
        if late:
            queue.counts.expired += len(late)
            manager.remove([(queue, stored) for stored in late])
            work = manager.work()
            for stored in late:
                if is_asked(EXPIRATION, stored.descriptor):
                    made = report(EXPIRATION, stored.descriptor, stored.body, manager.name)
                    put_report(work, *made, stored.descriptor.reply_to_q, syncpoint=False)
        return len(late)

    def arrival(self, stored: Stored) -> Arrival:
        """Returns a message as it is handed out: its expiry is what remains of it."""
        if not stored.expires:
            return Arrival(stored.descriptor, stored.body)
        left = max(1, stored.expires - int(self._clock() * 10))
        return Arrival(stored.descriptor._replace(expiry=left), stored.body)


class ExpiryTask:
    """A thread that removes messages whose time has passed, every EXPRYINT seconds of its queue manager; 0: never."""

    __slots__ = ("_expire", "_interval", "_said", "_stopped", "_thread")

    def __init__(self, expire: Callable[[], int]) -> None:
        self._expire = expire
        self._interval = 0
        self._stopped = False
        self._said = threading.Event()
        self._thread: threading.Thread | None = None

    def every(self, seconds: int) -> None:
        """Run every so many seconds from now on, and once at once where that is another interval than before."""
        if seconds == self._interval:
            return
        self._interval = seconds
        self._said.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="penstock-expiry", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopped = True
        self._said.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while True:
            self._said.wait(self._interval or None)
            self._said.clear()
            while not self._stopped and self._interval and self._expire():
                pass
            if self._stopped:
                return
