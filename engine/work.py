"""The UnitOfWork protocol: the only way into and out of a flow while it carries a message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from engine.descriptor import Descriptor


@dataclass(frozen=True, slots=True)
class Selection:
    """Which message of a queue is wanted: the next one, or the next that has these ids."""

    msg_id: bytes = b""
    correl_id: bytes = b""
    group_id: bytes = b""


class Arrival(NamedTuple):
    """A message that a queue gave."""

    descriptor: Descriptor
    body: bytes


@dataclass(frozen=True, slots=True)
class QueueAttributes:
    """What a flow may want to know of a queue."""

    backout_threshold: int = 0
    backout_requeue_queue: str = ""
    default_persistence: int = 0
    default_priority: int = 0


class UnitOfWork(Protocol):
    """What a flow may do to the world; all of it happens at commit, or nothing does.

    `syncpoint=False` says that a get or a put is not part of the unit: it happens at once and stays.
    """

    def get(self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True) -> Arrival | None:
        """Take the next message of a queue, or None where there is none; syncpoint None: if it is persistent."""
        ...

    def put(self, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True) -> Descriptor:
        """Put a message on a queue; the answer is the descriptor it was given there."""
        ...

    def attributes(self, queue: str) -> QueueAttributes | None:
        """The attributes of a queue, or None where there is no such queue."""
        ...

    def new_id(self) -> bytes:
        """A message or correlation id that no other message has."""
        ...

    @property
    def dead_letter_queue(self) -> str:
        """The queue for what can be delivered nowhere else, or an empty name."""
        ...

    @property
    def queue_manager(self) -> str:
        """The name of the queue manager whose queues these are."""
        ...

    def commit(self) -> None:
        """Make everything done since the last commit last."""
        ...

    def back_out(self) -> None:
        """Undo everything done since the last commit; messages got are back on their queues, their count one higher."""
        ...
