"""The seams of a queue manager that its server needs: nothing that a server calls waits, and nothing takes long."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from engine.errors import BrokerError
from engine.work import Arrival, Selection, UnitOfWork


class Unfinished(Enum):
    """The answer of a get that has looked at many messages, and has more to look at."""

    UNFINISHED = 0


class Waiter(Protocol):
    """A get that waits: `wake` is called once, by whichever thread makes a message visible that the get may want."""

    def cancel(self) -> None:
        """Stop waiting; nothing is done where it has been woken."""
        ...


class ServedWork(UnitOfWork, Protocol):
    """A unit of work whose commit does not hold the thread that asks for it."""

    def commit_then(self, then: Callable[[BrokerError | None], None]) -> None:
        """Commit, and call `then` once it is synced or refused: at once, or later from the thread that writes.

        A unit without persistent work is committed before this returns.
        """
        ...

    def back_out_then(self, then: Callable[[BrokerError | None], None]) -> None:
        """Back out, and call `then` once the backout counts are kept."""
        ...

    def get_some(
        self, queue: str, selection: Selection | None, *, syncpoint: bool | None, most: int
    ) -> Arrival | Unfinished | None:
        """Get without waiting, and look at so many messages at most: UNFINISHED says to ask again, which goes on there.

        Only a selector, or an order, makes a get look at more than one.
        """
        ...

    def give_back(self) -> None:
        """Undo the unit as if its gets had never been: backout counts stay as they were, in memory and on disk."""
        ...


class Served(Protocol):
    """A queue manager as its server calls it."""

    def work(self, user: str = "") -> ServedWork:
        """Return a new unit of work for a user."""
        ...

    def waiter(self, work: ServedWork, queue: str, selection: Selection | None, wake: Callable[[], None]) -> Waiter:
        """Register a get of a unit that found nothing; the server asks again when it is woken."""
        ...

    def purge_some(self, queue: str, most: int) -> int:
        """Remove so many messages of a queue at most, and return how many were removed."""
        ...

    def new_ids(self, count: int) -> bytes:
        """Reserve ids that no other message has: the first of so many, whose last eight bytes count up."""
        ...
