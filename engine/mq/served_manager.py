"""A queue manager as its server calls it: nothing that is called waits, and nothing takes long."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from engine.mq.refusals import inconsistent
from engine.work import QueueAttributes

if TYPE_CHECKING:
    from engine.mq.admission import Target
    from engine.mq.frames import Get
    from engine.mq.unit import Work


class Facts(NamedTuple):
    """The facts of a queue that a client puts by: its attributes, how long a message may be, and how many fit."""

    attributes: QueueAttributes
    longest: int
    room: int


class Unfinished(Enum):
    """The answer of a get that has looked at many messages, and has more to look at."""

    UNFINISHED = 0


class Served(Protocol):
    """A queue manager as its server calls it; `version` grows with each definition that is made, altered or deleted."""

    name: str
    version: int

    @property
    def dead_letter_queue(self) -> str:
        """The name of the dead-letter queue, or nothing."""
        ...

    def work(self, user: str = "", application: str = "") -> Any:
        """Return a new unit of work for a user: a Work."""
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


def unprotected(work: Work, process: int = 0) -> Work:
    """Returns a process's unit of work whose messages stay as they come: its end of the socket protects them."""
    work.protects = False
    work.process = process
    return work


def check_units(get: Get, work: Work, once: Work | None) -> None:
    """Refuse a get in logical order outside a client's unit of work in the middle of a group of it, and the reverse.

    A server has two units of work for a client, of which `once` is for what is done outside its own.
    """
    selection = get.selection
    if selection is None or not selection.logical or selection.browse:
        return
    other = work if get.syncpoint is False else once
    if other is not None and other.is_amid_group(get.queue):
        raise inconsistent(get.queue, was_in_unit=other is work)
