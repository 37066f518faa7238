"""The part of a durable queue that is in memory: the first persistent messages, and others within a common budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.mq.queued_message import Stored

WINDOW: Final = (2_000, 8_000_000)  # persistent messages of a queue that are in memory at most, and bytes of them
BUDGET: Final = 256_000_000  # bytes of non-persistent messages of a queue manager that are in memory at most
LEAST: Final = 16  # non-persistent messages of a queue that stay in memory
_LEAVE: Final = (
    500  # non-persistent messages of a queue that leave memory at once, or a sixteenth: others wait meanwhile
)
_OVERHEAD: Final = 1_024  # bytes of a message beside its body


class Budget:
    """Bytes of non-persistent messages in memory, of all queues together."""

    __slots__ = ("most", "used")

    def __init__(self, most: int = 0) -> None:
        self.most = most or BUDGET
        self.used = 0


class Memory:
    """The messages of a queue in memory: how many are persistent, and how many bytes there are of either kind."""

    __slots__ = ("budget", "bytes", "count")

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self.count = 0
        self.bytes = 0

    def add(self, stored: Stored) -> bool:
        """Count a message that is in memory now; returns True where there is more than may be."""
        budget = self.budget
        if stored.descriptor.persistence:
            self.count += 1
            self.bytes += len(stored.body)
        else:
            budget.used += len(stored.body) + _OVERHEAD
        return (self.count > 1 and (self.count > WINDOW[0] or self.bytes > WINDOW[1])) or budget.used > budget.most

    def lose(self, stored: Stored) -> None:
        """Count a message no more."""
        if stored.descriptor.persistence:
            self.count -= 1
            self.bytes -= len(stored.body)
        else:
            self.budget.used -= len(stored.body) + _OVERHEAD

    def most(self, here: list[Stored]) -> int:
        """Returns how many of the messages of a kind may stay, the first of them."""
        if not here or not here[0].descriptor.persistence:
            if self.budget.used <= self.budget.most:
                return len(here)
            return max(LEAST, len(here) - max(_LEAVE, len(here) // 16))
        if self.count <= WINDOW[0] and self.bytes <= WINDOW[1]:
            return len(here)
        size = 0
        for number, stored in enumerate(here):
            size += len(stored.body)
            if number and (number >= WINDOW[0] // 2 or size > WINDOW[1] // 2):
                return number
        return len(here)
