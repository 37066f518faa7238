"""Waiters: those who wait for messages of a queue, each woken by a message that it wants."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.mq.queued_message import has_ids, keys_of
from engine.work import NO_ORDER

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.mq.queue import Queue
    from engine.mq.queue_handle import Handle
    from engine.mq.queued_message import Stored
    from engine.work import Selection


class Waiter:
    """One who waits; `notify` is called once, under the queue manager's lock, when a message comes that it wants."""

    __slots__ = ("given", "handle", "key", "notify", "place", "selection", "takes", "woken_by")

    def __init__(
        self, selection: Selection | None, handle: Handle, notify: Callable[[], None], *, takes: bool = False
    ) -> None:
        """One who `takes` is given a message that need not be on the queue for a moment, and then has it."""
        self.takes = takes
        self.given: Stored | None = None
        self.selection = selection
        self.handle = handle
        self.notify = notify
        self.woken_by: Stored | None = None
        self.key = b""  # an id that it waits for, where ids are all that it wants
        if selection is not None and selection.plain and (keys := keys_of(selection)):
            self.key = keys[0]
        self.place: dict[Waiter, None] | None = None  # where it stands among others

    def wake(self, stored: Stored | None) -> None:
        """Say that a message came, or None where something else of the queue has changed."""
        self.woken_by = stored
        self.notify()

    def leave(self) -> None:
        """Wait no longer; where a message has woken it that is still there, another who wants it is woken."""
        queue = self.handle.queue
        if not queue.waiters.remove(self) and self.woken_by is not None:
            queue.wake(self.woken_by)


class Sleep:
    """A thread's sleep until it is woken."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def end(self) -> None:
        """Wake the thread; two may do so at once, as one that has the queue manager's lock, and a journal's writer."""
        try:
            self._lock.release()
        except RuntimeError:
            return  # it is awake

    def wait(self, seconds: float | None) -> None:
        """Sleep until woken, or for so many seconds."""
        self._lock.acquire(timeout=-1 if seconds is None else max(0.0, min(seconds, threading.TIMEOUT_MAX)))


class Waiters:
    """The waiters of a queue by what they want: any message, one of an id, or something that takes a closer look."""

    __slots__ = ("_anything", "_by_key", "_particular", "count")

    def __init__(self) -> None:
        self._anything: dict[Waiter, None] = {}
        self._by_key: dict[bytes, dict[Waiter, None]] = {}
        self._particular: dict[Waiter, None] = {}
        self.count = 0

    def add(self, waiter: Waiter) -> None:
        """Let one wait, behind those who do."""
        wanted = waiter.selection
        if waiter.key:
            place = self._by_key.setdefault(waiter.key, {})
        else:
            is_next = wanted is None or wanted.plain or (wanted.next_in_turn and not waiter.handle.group)
            place = self._anything if is_next else self._particular
        waiter.place = place
        place[waiter] = None
        self.count += 1

    def remove(self, waiter: Waiter) -> bool:
        """Let one no longer wait; returns False where it did not."""
        place, waiter.place = waiter.place, None
        if place is None:
            return False
        del place[waiter]
        self.count -= 1
        if waiter.key and not place:
            del self._by_key[waiter.key]
        return True

    def hand(self, stored: Stored, queue: Queue) -> bool:
        """Gives a message to the first who wants it; False where it has to go by its queue."""
        descriptor = stored.descriptor
        if (
            self._particular
            or queue.counts.is_watched
            or stored.expires
            or descriptor.persistence
            or descriptor.msg_flags
        ):
            return False
        waiter = self._first_by_id(descriptor) if self._by_key else None
        if waiter is None and self._anything and not queue.depth:
            waiter = next(iter(self._anything))
        if waiter is None or not waiter.takes:
            return False
        self.remove(waiter)
        waiter.given = waiter.woken_by = stored
        queue.counts.not_queued += 1
        waiter.notify()
        return True

    def _first_by_id(self, descriptor: Descriptor) -> Waiter | None:
        by_key = self._by_key
        for key in keys_of(descriptor):
            if key in by_key:
                for waiter in by_key[key]:
                    if waiter.selection is not None and has_ids(descriptor, waiter.selection):
                        return waiter
        return None

    def wake(self, stored: Stored, suits: Callable[[Stored, Waiter], bool]) -> None:
        """Wake the first who wants a message; who browses, or waits for a whole group, is woken beside it."""
        if self._by_key:
            for key in keys_of(stored.descriptor):
                for waiter in self._by_key.get(key, ()):
                    if suits(stored, waiter):
                        self._woken(waiter, stored)
                        return
        for waiter in list(self._particular):
            if suits(stored, waiter):
                self._woken(waiter, stored)
                if waiter.selection is None or not (waiter.selection.browse or waiter.selection.whole_groups):
                    return
        for waiter in self._anything:
            if suits(stored, waiter):
                self._woken(waiter, stored)
                return

    def wake_all(self) -> None:
        """Wake all: the queue is no longer what it was."""
        if not self.count:  # as on most of many queues, all of which each definition comes by
            return
        for place in (self._anything, self._particular, *list(self._by_key.values())):
            for waiter in list(place):
                self._woken(waiter, None)

    def wake_those_in_order(self) -> None:
        """Wake all who want messages in an order that another has just left."""
        for waiter in (*self._anything, *self._particular):
            if waiter.selection is not None and waiter.selection.order != NO_ORDER:
                self._woken(waiter, None)

    def _woken(self, waiter: Waiter, stored: Stored | None) -> None:
        self.remove(waiter)
        waiter.wake(stored)
