"""The protocol of what keeps messages of a queue, all persistent or none, that are not in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from engine.mq.queued_message import Stored


class Backing(Protocol):
    """Messages of a queue that are not in memory: all of them from the order `first` on."""

    first: int
    count: int

    def keeps(self, stored: Stored) -> bool:
        """Returns True where a message that is available now need not be in memory."""
        ...

    def load(self) -> list[Stored]:
        """Bring the next messages into memory."""
        ...

    def with_ids(self, keys: tuple[bytes, ...]) -> Iterator[Stored]:
        """Yields the messages that have all ids, in order."""
        ...

    def after(self, order: int) -> list[Stored]:
        """Returns the next messages from an order on."""
        ...

    def evict(self, waiting: list[Stored]) -> bool:
        """Keep messages from now on that were in memory, the last ones in order; returns False where it cannot."""
        ...

    def look(self, order: int) -> Stored | None:
        """Returns a message that is available and not in memory."""
        ...

    def withdraw(self, stored: Stored) -> None:
        """Make a message unavailable that it has."""
        ...

    def take(self, stored: Stored) -> None:
        """Learn that a unit of work has a message: it is not to be brought into memory again."""
        ...

    def forget(self, stored: Stored) -> None:
        """Know a message no more that was taken and is gone for good."""
        ...
