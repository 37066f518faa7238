"""Units of work over queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.descriptor import LAST_SEGMENT, PERSISTENT, SEGMENT, SEGMENTATION_ALLOWED, Descriptor
from engine.mq.queue import Handle, Stored
from engine.work import Arrival, QueueAttributes, Selection

if TYPE_CHECKING:
    from engine.mq.manager import QueueManager


class Work:
    """A unit of work over queues, one behind the other, and what is remembered from one to the next."""

    __slots__ = ("_handles", "_puts", "_queues", "_taken", "patience")

    def __init__(self, queues: QueueManager) -> None:
        self._queues = queues
        self.patience = 0.0
        self._handles: dict[str, Handle] = {}
        self._taken: list[tuple[str, Stored]] = []
        self._puts: list[tuple[str, Stored]] = []

    def get(
        self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True, wait: float = 0.0
    ) -> Arrival | None:
        handle = self._handles.get(queue)
        if handle is None:
            handle = self._handles[queue] = Handle()
        stored = self._queues.take(queue, selection, handle, wait)
        if stored is None:
            return None
        if selection is not None and selection.browse:
            return Arrival(stored.descriptor, stored.body)
        if stored.descriptor.msg_flags & SEGMENT:
            return self._assembled(queue, stored, handle, syncpoint=syncpoint)
        if syncpoint or (syncpoint is None and stored.descriptor.persistence == PERSISTENT):
            self._taken.append((queue, stored))
        return Arrival(stored.descriptor, stored.body)

    def _assembled(self, queue: str, first: Stored, handle: Handle, *, syncpoint: bool | None) -> Arrival:
        """The whole message whose first segment was found; a segment whose others are not there comes as it is."""
        descriptor, pieces = first.descriptor, [first]
        wanted = Selection(group_id=descriptor.group_id)
        length = len(first.body) if descriptor.offset == 0 else -1
        while length >= 0 and not pieces[-1].descriptor.msg_flags & LAST_SEGMENT:
            found = self._queues.take(queue, wanted, handle)
            if found is not None:
                pieces.append(found)
            if found is None or found.descriptor.offset != length:
                self._queues.put_back([(queue, one) for one in pieces[1:]])
                pieces = [first]
                break
            length += len(found.body)
        if syncpoint or (syncpoint is None and descriptor.persistence == PERSISTENT):
            self._taken.extend((queue, one) for one in pieces)
        if len(pieces) == 1:
            return Arrival(descriptor, first.body)
        flags = descriptor.msg_flags & ~(SEGMENT | LAST_SEGMENT)
        return Arrival(descriptor._replace(msg_flags=flags, original_length=-1), b"".join(one.body for one in pieces))

    def put(self, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True) -> Descriptor:
        if descriptor.msg_flags & SEGMENTATION_ALLOWED:
            puts = [(queue, stored) for stored in self._queues.admit_segments(queue, descriptor, body)]
        else:
            puts = [(queue, self._queues.admit(queue, descriptor, body))]
        if syncpoint:
            self._puts += puts
        else:
            self._queues.apply(puts)
        return puts[0][1].descriptor

    def attributes(self, queue: str) -> QueueAttributes | None:
        return self._queues.attributes(queue)

    def new_id(self) -> bytes:
        return self._queues.new_id()

    @property
    def dead_letter_queue(self) -> str:
        return self._queues.dead_letter_queue

    @property
    def queue_manager(self) -> str:
        return self._queues.name

    def commit(self) -> None:
        self._queues.apply(self._puts)
        self._taken, self._puts = [], []
        for name, handle in self._handles.items():
            if handle.changed:
                handle.commit()
                self._queues.release(name, handle)

    def back_out(self) -> None:
        taken, puts, self._taken, self._puts = self._taken, self._puts, [], []
        self._queues.undo(puts, taken)
        for name, handle in self._handles.items():
            if handle.changed:
                handle.back_out()
                self._queues.release(name, handle)
