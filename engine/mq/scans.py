"""Scans: readers that look through a queue message by message, each message once, while others put and get."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.mq.queue import Queue
    from engine.mq.queued_message import Stored

_NEVER: Final = 1 << 62


class Scan:
    """A place in a queue up to which a reader has looked, and what came since behind it.

    It holds the orders of the messages that were in memory when it began, and learns of every one that comes later. One
    that goes `onward` only is not shown what comes before its place: that is browsing.
    """

    __slots__ = ("__weakref__", "_ahead", "_epoch", "_fresh", "_run", "onward", "position")

    def __init__(self, orders: list[int], *, onward: bool) -> None:
        self.onward = onward
        self.position = -1
        self._run = sorted(orders, reverse=True)
        self._fresh: list[int] = []
        self._ahead: list[Stored] = []  # what was read ahead of messages that are not in memory, the next one last
        self._epoch = -1

    def note(self, order: int) -> None:
        """Learn of a message that is there now."""
        if not self.onward or order > self.position:
            heappush(self._fresh, order)

    def loaded(self, order: int) -> None:
        """Learn of a message that came into memory and was there before."""
        if order > self.position:
            heappush(self._fresh, order)

    def following(self, queue: Queue) -> Stored | None:
        """Returns the next message that has not been looked at yet, or None at the end."""
        while True:
            run, fresh = self._run, self._fresh
            order = run[-1] if run else _NEVER
            if fresh and fresh[0] <= order:
                order = fresh[0]
            deep = self._deep(queue) if queue.backings else None
            if deep is not None and deep.order <= order:
                self._ahead.pop()
                self.position = max(self.position, deep.order)
                if queue.is_there(deep.order):
                    return deep
                continue
            if order == _NEVER:
                return None
            if fresh and fresh[0] == order:
                heappop(fresh)
            else:
                run.pop()
            if self.onward and order <= self.position:
                continue
            stored = queue.look(order)
            if stored is not None:
                self.position = max(self.position, order)
                return stored

    def _deep(self, queue: Queue) -> Stored | None:
        """Returns the next of the messages that are not in memory."""
        if self._epoch != queue.epoch:
            self._ahead, self._epoch = [], queue.epoch
        if not self._ahead:
            self._ahead = queue.read_ahead(self.position + 1)
        return self._ahead[-1] if self._ahead else None
