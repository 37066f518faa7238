"""Gets that wait: for one who sleeps until a message comes, and for one who cannot sleep and is called."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.mq.turns import interruption, wait_for
from engine.mq.waiters import Sleep, Waiter
from engine.work import Arrival, Selection

if TYPE_CHECKING:
    from engine.mq.queue_handle import Handle
    from engine.mq.queued_message import Stored
    from engine.mq.unit import Work


class Waiting(Waiter):
    """The registration of a get that waits, for one who cannot sleep."""

    __slots__ = ("_work",)

    def __init__(
        self, work: Work, opened: Handle, selection: Selection | None, notify: Callable[[], None], *, takes: bool
    ) -> None:
        super().__init__(selection, opened, notify, takes=takes)
        self._work = work

    def cancel(self) -> None:
        """Stop waiting, and give back what it was given."""
        with self._work.manager.lock:
            given, self.given = self.given, None
            if given is not None:
                self.handle.queue.put(given)
            else:
                self.leave()

    def taken(self, *, syncpoint: bool | None) -> Arrival | None:
        """Returns the message that it was given, which is part of its unit then; None: look for one."""
        work = self._work
        if work.account is not None:
            self.cancel()  # its gets are counted on their way
        given, self.given = self.given, None
        if given is None:
            return None
        queue = self.handle.queue
        queue.counts.note_taken(given, self.selection, queue)
        if given.descriptor.report or not syncpoint:
            return work.got([(queue, given)], given, syncpoint=syncpoint)
        work.taken.append((queue, given))  # it neither lasts nor expires, or its queue would have it
        return tuple.__new__(Arrival, (given.descriptor, given.body))


def register(
    work: Work, queue: str, wanted: Selection | None, wake: Callable[[], None], *, takes: bool = False
) -> Waiting:
    """Register a get that found nothing; it is woken at once where a message came since.

    One that `takes` may be given its message beside the queue, and has to ask for it, or to cancel.
    """
    opened = work.opened.get(queue)
    if opened is None or opened.version != work.manager.version:
        opened = work.open(queue)
    assert opened is not None  # one that found nothing has opened it
    waiting = Waiting(work, opened, wanted, wake, takes=takes)
    with work.manager.lock:
        is_late = opened.seen != opened.queue.arrivals
        if is_late:
            waiting.wake(None)
        else:
            opened.queue.waiters.add(waiting)
    return waiting


def get_or_wait(
    work: Work, queue: str, wanted: Selection | None, wake: Callable[[], None]
) -> tuple[Arrival | None, Waiting | None]:
    """Get in the unit by ids, or register the get as `register` does, so that it takes what it is given."""
    opened = work.opened.get(queue)
    if not (
        opened is None
        or opened.queue.depth
        or opened.version != work.manager.version
        or work.taken
        or work.puts
        or work.rights is not None
        or work.account is not None
        or work.protects
    ):
        waiting = Waiting(work, opened, wanted, wake, takes=True)
        with work.manager.lock:
            if not opened.queue.depth:
                opened.queue.counts.gets_failed += 1
                opened.queue.waiters.add(waiting)
                return None, waiting
    found = work.get(queue, wanted)
    return found, register(work, queue, wanted, wake, takes=True) if found is None else None


def looked_further(
    work: Work, queue: str, opened: Handle, selection: Selection | None, wait: float, stored: Stored | None
) -> Stored | None:
    """Returns what is found in the rest of the queue, or comes in time, and discards what was met past its time."""
    try:
        if stored is None and (wait or opened.unfinished):
            stored = _awaited(work, queue, opened, selection, wait)
    finally:
        if opened.queue.expired:
            work.manager.expiry.discard(opened.queue)
    if stored is None and not opened.unfinished:
        opened.queue.counts.note_nothing(selection)
    return stored


def _awaited(work: Work, queue: str, opened: Handle, selection: Selection | None, wait: float) -> Stored | None:
    """Returns the message that comes in the time that is waited, or that the rest of the queue holds."""
    waits: list[Waiter] = []  # one at most, since the queue was last looked at
    try:
        return _taken_in_time(work, queue, opened, selection, wait, waits)
    except BaseException:  # Ctrl-C, as a rule
        with work.manager.lock:
            for waiter in waits:
                waiter.leave()
        raise


def _taken_in_time(
    work: Work, queue: str, opened: Handle, selection: Selection | None, wait: float, waits: list[Waiter]
) -> Stored | None:
    """Returns what `_awaited` does; who waits is among `waits` until the queue has been looked at again."""
    manager, lock, end = work.manager, work.manager.lock, time.monotonic() + wait if wait >= 0 else None
    while True:
        if opened.version != manager.version:
            opened = work.open(queue) or opened
        try:
            lock.acquire(False) or wait_for(lock)
            stored = opened.queue.take(selection, opened)
            waits.clear()
            work.unfinished = stored is None and opened.unfinished
            left = None if end is None else end - time.monotonic()
            if stored is not None or (work.unfinished and work.sliced):
                return stored
            if work.unfinished or opened.version != manager.version:
                continue
            if work.interrupted or (left is not None and left <= 0):
                return None
            work.sleep = sleep = Sleep() if manager.store is None else manager.store.absence()
            waiter = Waiter(selection, opened, sleep.end)
            waits.append(waiter)
            opened.queue.waiters.add(waiter)
        finally:
            try:
                lock.release()
            except RuntimeError as error:
                raise interruption(error) from None
        sleep.wait(_bounded(left, selection))
        with lock:
            opened.queue.waiters.remove(waiter)


def _bounded(left: float | None, selection: Selection | None) -> float | None:
    """Returns how long to sleep: not over the moment at which browsing begins anew."""
    if selection is None or not selection.browse or selection.rewind < 0:
        return left
    rewind = max(selection.rewind, 0.001)
    return rewind if left is None else min(left, rewind)
