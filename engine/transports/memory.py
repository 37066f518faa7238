"""Queues in the memory of one process: for desks, tests and Spark."""

from __future__ import annotations

import threading
import time
from bisect import insort
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from engine.descriptor import NO_ID, PERSISTENT, Descriptor
from engine.errors import MessageException
from engine.work import Arrival, QueueAttributes, Selection

DEAD_LETTER_QUEUE: Final = "SYSTEM.DEAD.LETTER.QUEUE"
UNKNOWN_OBJECT_NAME: Final = 2085
MSG_TOO_BIG_FOR_Q: Final = 2030
Q_FULL: Final = 2053
MAX_PRIORITY: Final = 9
_PLAIN: Final = QueueAttributes()


@dataclass(frozen=True, slots=True)
class QueueDefinition:
    """How a queue is defined."""

    name: str
    attributes: QueueAttributes = _PLAIN
    max_depth: int = 999_999_999
    max_message_length: int = 104_857_600


@dataclass(slots=True, order=True)
class _Stored:
    """A message on a queue; `number` is its place in the order of arrival."""

    number: int
    descriptor: Descriptor = field(compare=False)
    body: bytes = field(compare=False)
    gone: bool = field(default=False, compare=False)


class _Queue:
    """Messages by priority and arrival; an index by id is kept once someone has asked by id."""

    __slots__ = ("_by_id", "_by_priority", "_depth", "definition", "reserved")

    def __init__(self, definition: QueueDefinition) -> None:
        self.definition = definition
        self._by_priority: tuple[deque[_Stored], ...] = tuple(deque() for _ in range(MAX_PRIORITY + 1))
        self._by_id: dict[bytes, list[_Stored]] | None = None
        self._depth = 0
        self.reserved = 0  # messages put by units that have not committed yet

    def __len__(self) -> int:
        return self._depth

    def put(self, stored: _Stored) -> None:
        self._by_priority[stored.descriptor.priority].append(stored)
        self._count_in(stored)

    def put_back(self, stored: _Stored) -> None:
        """Put a message where it was before it was taken."""
        waiting = self._by_priority[stored.descriptor.priority]
        ahead = []
        while waiting and waiting[0] < stored:
            ahead.append(waiting.popleft())
        waiting.appendleft(stored)
        waiting.extendleft(reversed(ahead))
        self._count_in(stored)

    def take(self, wanted: Selection | None) -> _Stored | None:
        stored = self._next() if wanted is None else self._find(wanted)
        if stored is None:
            return None
        self._depth -= 1
        if self._by_id is not None:
            for key in _keys(stored.descriptor):
                self._by_id[key].remove(stored)
                if not self._by_id[key]:
                    del self._by_id[key]
        return stored

    def browse(self) -> Iterator[_Stored]:
        """The messages in the order in which they would be taken."""
        for waiting in reversed(self._by_priority):
            yield from (stored for stored in waiting if not stored.gone)

    def _next(self) -> _Stored | None:
        for waiting in reversed(self._by_priority):
            while waiting:
                stored = waiting.popleft()
                if not stored.gone:
                    return stored
        return None

    def _find(self, wanted: Selection) -> _Stored | None:
        if self._by_id is None:
            self._by_id = {}
            for stored in self.browse():
                self._index(stored, self._by_id)
        for stored in self._by_id.get(_key(wanted), ()):
            if _selects(wanted, stored.descriptor):
                stored.gone = True
                return stored
        return None

    def _count_in(self, stored: _Stored) -> None:
        self._depth += 1
        if self._by_id is not None:
            self._index(stored, self._by_id)

    @staticmethod
    def _index(stored: _Stored, by_id: dict[bytes, list[_Stored]]) -> None:
        for key in _keys(stored.descriptor):
            insort(by_id.setdefault(key, []), stored, key=lambda s: (-s.descriptor.priority, s.number))


def _keys(descriptor: Descriptor) -> tuple[bytes, ...]:
    return b"M" + descriptor.msg_id, b"C" + descriptor.correl_id, b"G" + descriptor.group_id


def _key(wanted: Selection) -> bytes:
    if wanted.msg_id:
        return b"M" + wanted.msg_id
    return b"C" + wanted.correl_id if wanted.correl_id else b"G" + wanted.group_id


def _selects(wanted: Selection, descriptor: Descriptor) -> bool:
    return (
        wanted.msg_id in {b"", descriptor.msg_id}
        and wanted.correl_id in {b"", descriptor.correl_id}
        and wanted.group_id in {b"", descriptor.group_id}
    )


class MemoryQueues:
    """A queue manager that keeps its queues in memory.

    >>> queues = MemoryQueues("IN", "OUT")
    >>> work = queues.work()
    >>> _ = work.put("IN", Descriptor(), b"hello")
    >>> work.get("IN") is None, work.commit(), work.get("IN").body
    (True, None, b'hello')
    """

    def __init__(self, *definitions: QueueDefinition | str, name: str = "QM", open_: bool = False) -> None:
        """`open_` says that a queue is made when a message is first put to it."""
        self.name = name
        self._open = open_
        self._lock = threading.RLock()
        self._numbers = 0
        self._identifier = b"AMQ " + name.encode("ascii", "replace")[:12].ljust(12) + time.time_ns().to_bytes(8)[2:6]
        self._queues: dict[str, _Queue] = {}
        for definition in (*definitions, DEAD_LETTER_QUEUE):
            made = QueueDefinition(definition) if isinstance(definition, str) else definition
            self._queues.setdefault(made.name, _Queue(made))

    def work(self) -> MemoryWork:
        """A new unit of work."""
        return MemoryWork(self)

    def depth(self, queue: str) -> int:
        """How many messages can be got from a queue now."""
        return len(self.find(queue))

    def names(self) -> list[str]:
        """The names of all queues, sorted."""
        return sorted(self._queues)

    def browse(self, queue: str) -> list[Arrival]:
        """The messages of a queue, in the order in which they would be got; they stay there."""
        with self._lock:
            return [Arrival(stored.descriptor, stored.body) for stored in self.find(queue).browse()]

    def find(self, queue: str) -> _Queue:
        """The queue of that name."""
        found = self._queues.get(queue)
        if found is None:
            if not self._open or not queue:
                raise MessageException(
                    2085, f"there is no queue called {queue!r}: define it", queue, reason=UNKNOWN_OBJECT_NAME
                )
            found = self._queues.setdefault(queue, _Queue(QueueDefinition(queue)))
        return found

    def attributes(self, queue: str) -> QueueAttributes | None:
        """The attributes of a queue, or None."""
        found = self._queues.get(queue)
        return None if found is None else found.definition.attributes

    def admit(self, queue: str, descriptor: Descriptor, body: bytes) -> _Stored:
        """A message as it will stand on a queue, if the queue can hold it."""
        target = self.find(queue)
        definition = target.definition
        if len(body) > definition.max_message_length:
            raise MessageException(
                2030,
                f"a message of {len(body)} bytes is longer than queue {queue} allows ({definition.max_message_length})",
                queue,
                reason=MSG_TOO_BIG_FOR_Q,
            )
        with self._lock:
            if len(target) + target.reserved >= definition.max_depth:
                raise MessageException(2053, f"queue {queue} is full: it may hold {len(target)}", queue, reason=Q_FULL)
            target.reserved += 1
            self._numbers += 1
            number = self._numbers
        if descriptor.msg_id == NO_ID:
            descriptor = descriptor._replace(msg_id=self.identifier(number))
        if not descriptor.put_date:
            now = time.time()
            moment = time.strftime("%Y%m%d%H%M%S", time.gmtime(now))
            descriptor = descriptor._replace(put_date=moment[:8], put_time=f"{moment[8:]}{int(now * 100) % 100:02d}")
        if not 0 <= descriptor.priority <= MAX_PRIORITY:
            descriptor = descriptor._replace(priority=definition.attributes.default_priority)
        return _Stored(number, descriptor, body)

    def new_id(self) -> bytes:
        """An id that no other message has."""
        with self._lock:
            self._numbers += 1
            return self.identifier(self._numbers)

    def identifier(self, number: int) -> bytes:
        """The id of a number: 24 bytes that begin as queue managers begin theirs."""
        return self._identifier + number.to_bytes(4)

    def apply(self, puts: list[tuple[str, _Stored]]) -> None:
        """Make admitted messages available."""
        with self._lock:
            for name, stored in puts:
                queue = self._queues[name]
                queue.reserved -= 1
                queue.put(stored)

    def dismiss(self, puts: list[tuple[str, _Stored]]) -> None:
        """Forget admitted messages."""
        with self._lock:
            for name, _ in puts:
                self._queues[name].reserved -= 1

    def take(self, queue: str, wanted: Selection | None) -> _Stored | None:
        """Take a message off a queue."""
        with self._lock:
            return self.find(queue).take(wanted)

    def put_back(self, taken: list[tuple[str, _Stored]]) -> None:
        """Put messages back where they were, each with its backout count one higher."""
        with self._lock:
            for name, stored in reversed(taken):
                count = stored.descriptor.backout_count + 1
                again = _Stored(stored.number, stored.descriptor._replace(backout_count=count), stored.body)
                self._queues[name].put_back(again)


class MemoryWork:
    """A unit of work over queues in memory."""

    __slots__ = ("_puts", "_queues", "_taken")

    def __init__(self, queues: MemoryQueues) -> None:
        self._queues = queues
        self._taken: list[tuple[str, _Stored]] = []
        self._puts: list[tuple[str, _Stored]] = []

    def get(self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True) -> Arrival | None:
        stored = self._queues.take(queue, selection)
        if stored is None:
            return None
        if syncpoint or (syncpoint is None and stored.descriptor.persistence == PERSISTENT):
            self._taken.append((queue, stored))
        return Arrival(stored.descriptor, stored.body)

    def put(self, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True) -> Descriptor:
        stored = self._queues.admit(queue, descriptor, body)
        if syncpoint:
            self._puts.append((queue, stored))
        else:
            self._queues.apply([(queue, stored)])
        return stored.descriptor

    def attributes(self, queue: str) -> QueueAttributes | None:
        return self._queues.attributes(queue)

    def new_id(self) -> bytes:
        return self._queues.new_id()

    @property
    def dead_letter_queue(self) -> str:
        return DEAD_LETTER_QUEUE

    @property
    def queue_manager(self) -> str:
        return self._queues.name

    def commit(self) -> None:
        self._queues.apply(self._puts)
        self._taken, self._puts = [], []

    def back_out(self) -> None:
        taken, puts, self._taken, self._puts = self._taken, self._puts, [], []
        self._queues.dismiss(puts)
        self._queues.put_back(taken)
