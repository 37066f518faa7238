"""PartitionWork: the unit of work of one message in a batch, whose puts become rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from engine.descriptor import NO_ID, Descriptor
from engine.errors import MessageException
from engine.work import Arrival, QueueAttributes, Selection

NO_SUCH_QUEUE: int = 2085
_MAX_PRIORITY = 9
_PLAIN = QueueAttributes()


class Put(NamedTuple):
    """A message that was put."""

    queue: str
    descriptor: Descriptor
    body: bytes


class PartitionWork:
    """A unit of work over one message at a time; its ids follow from that message, so every try has the same."""

    __slots__ = ("_attributes", "_count", "_key", "_moment", "_open", "_puts", "_taken", "_waiting", "done", "named")

    def __init__(
        self, attributes: Mapping[str, QueueAttributes], named: tuple[str, str], moment: tuple[str, str]
    ) -> None:
        """`named` are the queue manager and its dead-letter queue, `moment` the date and time that puts have."""
        self._attributes = attributes
        self.named = named
        self._moment = moment
        self._key = b""
        self._count = 0
        self._waiting: tuple[str, Arrival] | None = None
        self._taken: tuple[str, Arrival] | None = None
        self._puts: list[Put] = []
        self.done: list[Put] = []

    def offer(self, key: bytes, queue: str, descriptor: Descriptor, body: bytes) -> None:
        """Let a message wait on its queue; what was put before is forgotten."""
        self._key, self._count = key, 0
        self._waiting, self._taken = (queue, Arrival(descriptor, body)), None
        self._puts, self.done = [], []

    @property
    def is_waiting(self) -> bool:
        """Whether the message that was offered still is, or is again, on its queue."""
        return self._waiting is not None

    def get(self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True) -> Arrival | None:
        waiting = self._waiting
        if waiting is None or waiting[0] != queue or not _selects(selection, waiting[1].descriptor):
            return None
        self._waiting = None
        if syncpoint or (syncpoint is None and waiting[1].descriptor.persistence == 1):
            self._taken = waiting
        return waiting[1]

    def put(self, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True) -> Descriptor:
        if not queue:
            raise MessageException(2085, "a message was put to a queue without a name", "", reason=NO_SUCH_QUEUE)
        own = self._attributes.get(queue, _PLAIN)
        priority = own.default_priority if descriptor.priority < 0 else min(descriptor.priority, _MAX_PRIORITY)
        persistence = descriptor.persistence if descriptor.persistence in {0, 1} else own.default_persistence
        descriptor = descriptor._replace(
            msg_id=self.new_id() if descriptor.msg_id == NO_ID else descriptor.msg_id,
            put_date=descriptor.put_date or self._moment[0],
            put_time=descriptor.put_time or self._moment[1],
            priority=priority,
            persistence=persistence,
            backout_count=0,
        )
        (self._puts if syncpoint else self.done).append(Put(queue, descriptor, body))
        return descriptor

    def attributes(self, queue: str) -> QueueAttributes | None:
        return self._attributes.get(queue, _PLAIN)

    def new_id(self) -> bytes:
        self._count += 1
        return hashlib.sha256(b"%s %d" % (self._key, self._count)).digest()[:24]

    @property
    def dead_letter_queue(self) -> str:
        return self.named[1]

    @property
    def queue_manager(self) -> str:
        return self.named[0]

    def commit(self) -> None:
        self.done += self._puts
        self._puts, self._taken = [], None

    def back_out(self) -> None:
        self._puts = []
        if self._taken is not None:
            queue, arrival = self._taken
            again = arrival.descriptor._replace(backout_count=arrival.descriptor.backout_count + 1)
            self._waiting, self._taken = (queue, Arrival(again, arrival.body)), None


def _selects(selection: Selection | None, descriptor: Descriptor) -> bool:
    if selection is None:
        return True
    pairs = (
        (selection.msg_id, descriptor.msg_id),
        (selection.correl_id, descriptor.correl_id),
        (selection.group_id, descriptor.group_id),
    )
    return all(wanted in {b"", NO_ID} or wanted == has for wanted, has in pairs)
