"""The seams of a queue manager that its server needs: nothing that a server calls waits, and nothing takes long."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from engine.errors import BrokerError
from engine.mq.refusals import inconsistent
from engine.work import Arrival, QueueAttributes, Selection, UnitOfWork

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.mq.admission import Target
    from engine.mq.frames import Get


class Facts(NamedTuple):
    """The facts of a queue that a client puts by: its attributes, how long a message may be, and how many fit."""

    attributes: QueueAttributes
    longest: int
    room: int


class Unfinished(Enum):
    """The answer of a get that has looked at many messages, and has more to look at."""

    UNFINISHED = 0


class Waiter(Protocol):
    """A get that waits: `wake` is called once, by whichever thread makes a message visible that the get may want."""

    def cancel(self) -> None:
        """Stop waiting; where a message has woken it that is still there, another who wants it is woken."""
        ...

    def taken(self, *, syncpoint: bool | None) -> Arrival | None:
        """Return the message that it was given beside the queue, which is part of its unit then; None: get one."""
        ...


class ServedWork(UnitOfWork, Protocol):
    """A unit of work whose calls do not hold the thread that makes them."""

    protects: bool  # messages by policies, which is not for a server to do
    process: int  # that works
    examines: bool  # it browses for a dump, also where gets are inhibited

    @property
    def is_idle(self) -> bool:
        """True where nothing has been put or got since the unit began."""
        ...

    def is_amid_group(self, queue: str) -> bool:
        """Returns True where a part of a group of a queue has been got in logical order."""
        ...

    def get_some(
        self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True, most: int
    ) -> Arrival | Unfinished | None:
        """Get without waiting, and look at so many messages at most; UNFINISHED says to ask again."""
        ...

    def put_at_once(self, queue: str, descriptor: Descriptor, body: bytes) -> bool:
        """Put, and commit the unit with it, where nothing of it lasts; False: nothing is done, and it goes by steps."""
        ...

    def get_or_wait(
        self, queue: str, wanted: Selection | None, wake: Callable[[], None]
    ) -> tuple[Arrival | None, Waiter | None]:
        """Get in the unit by ids, or register the get as `waiter` does, so that it takes what it is given."""
        ...

    def waiter(self, queue: str, wanted: Selection | None, wake: Callable[[], None], *, takes: bool = False) -> Waiter:
        """Register a get that found nothing; it is woken at once where a message came since.

        One that `takes` may be given its message beside the queue, and has to ask for it, or to cancel.
        """
        ...

    def commit_then(self, then: Callable[[BrokerError | None], None], decision: tuple[bytes, ...] = ()) -> None:
        """Commit, and call `then` once it is synced or refused: at once, or later from the thread that writes.

        A unit without persistent work is committed before this returns.
        """
        ...

    def back_out_then(self, then: Callable[[BrokerError | None], None]) -> None:
        """Back out, and call `then` once the backout counts are kept."""
        ...

    def give_back(self) -> None:
        """Undo the unit as if its gets had never been: backout counts stay as they were, in memory and on disk."""
        ...


class Served(Protocol):
    """A queue manager as its server calls it; `version` grows with each definition that is made, altered or deleted."""

    name: str
    version: int

    @property
    def dead_letter_queue(self) -> str:
        """The name of the dead-letter queue, or nothing."""
        ...

    def work(self, user: str = "", application: str = "") -> Any:
        """Return a new unit of work for a user: a ServedWork."""
        ...

    def acting_for(self, user: str) -> Any:
        """Return the queue manager as a user sees it, who is held to authority records unless it is the owner."""
        ...

    def decisions(self) -> dict[bytes, bool]:
        """Return the branches of two-phase commits that are decided, and whether they commit."""
        ...

    def delete(self, kind: str, name: str) -> None:
        """Delete an object."""
        ...

    def new_ids(self, count: int) -> bytes:
        """Reserve ids that no other message has: the first of so many, whose last eight bytes count up."""
        ...

    def target(self, queue: str) -> Target:
        """Return what messages are put to by a name."""
        ...


def unprotected(work: ServedWork, process: int = 0) -> ServedWork:
    """Returns a process's unit of work whose messages stay as they come: its end of the socket protects them."""
    work.protects = False
    work.process = process
    return work


def check_units(get: Get, work: ServedWork, once: ServedWork | None) -> None:
    """Refuse a get in logical order outside a client's unit of work in the middle of a group of it, and the reverse.

    A server has two units of work for a client, of which `once` is for what is done outside its own.
    """
    selection = get.selection
    if selection is None or not selection.logical or selection.browse:
        return
    other = work if get.syncpoint is False else once
    if other is not None and other.is_amid_group(get.queue):
        raise inconsistent(get.queue, was_in_unit=other is work)
