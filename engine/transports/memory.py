"""Queues in the memory of one process: for desks, tests and Spark."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from operator import attrgetter
from typing import Final, NamedTuple

from engine.descriptor import NO_ID, NON_PERSISTENT, PERSISTENT, Descriptor
from engine.errors import ConfigurationException, MessageException
from engine.work import Arrival, QueueAttributes, Selection

DEAD_LETTER_QUEUE: Final = "SYSTEM.DEAD.LETTER.QUEUE"
UNKNOWN_OBJECT_NAME: Final = 2085
MSG_TOO_BIG_FOR_Q: Final = 2030
Q_FULL: Final = 2053
MAX_PRIORITY: Final = 9
_PLAIN: Final = QueueAttributes()
_ANY: Final = (b"", NO_ID)
_SPARE: Final = 32  # messages that are gone, and that a line may still name without being swept
_ORDER: Final = 50  # bits that number the messages of one priority
_EIGHT_BYTES: Final = (1 << 64) - 1
_PRIORITIES: Final = range(MAX_PRIORITY + 1)
_PERSISTENCES: Final = (NON_PERSISTENT, PERSISTENT)  # anything else: as the queue has it
_STAMPED: Final = "%Y%m%d%H%M%S"


@dataclass(frozen=True, slots=True)
class QueueDefinition:
    """How a queue is defined."""

    name: str
    attributes: QueueAttributes = _PLAIN
    max_depth: int = 999_999_999
    max_message_length: int = 104_857_600


class _Stored(NamedTuple):
    """A message on a queue; `order` is its place in the order in which messages are taken, and no other has it."""

    order: int
    descriptor: Descriptor
    body: bytes


class _Line:
    """The messages of one id in the order in which they are taken; those that are gone are swept out when many."""

    __slots__ = ("live", "orders")

    def __init__(self) -> None:
        self.orders: list[int] = []
        self.live = 0

    def add(self, order: int) -> None:
        heappush(self.orders, order)
        self.live += 1

    def lose(self, waiting: Mapping[int, _Stored]) -> None:
        """Say that one of the messages no longer waits."""
        self.live -= 1
        if len(self.orders) > 2 * self.live + _SPARE:
            self.orders = _swept(self.orders, waiting)

    def first(self, waiting: Mapping[int, _Stored]) -> _Stored | None:
        orders = self.orders
        while orders:
            stored = waiting.get(orders[0])
            if stored is not None:
                return stored
            heappop(orders)
        return None


def _swept(orders: list[int], waiting: Mapping[int, _Stored]) -> list[int]:
    return sorted({order for order in orders if order in waiting})


class _Queue:
    """Messages by priority and arrival; lines by id are kept once someone has asked by id."""

    __slots__ = ("_by_id", "_orders", "_waiting", "definition", "reserved")

    def __init__(self, definition: QueueDefinition) -> None:
        self.definition = definition
        self.reserved = 0  # messages put by units that have not committed yet
        self._waiting: dict[int, _Stored] = {}
        self._orders: list[int] = []  # a heap of those that wait, and of some that were taken by id
        self._by_id: dict[bytes, _Line] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, stored: _Stored) -> None:
        """Add a message, or put one back where it was before it was taken."""
        self._waiting[stored.order] = stored
        heappush(self._orders, stored.order)
        if self._by_id is not None:
            self._index(stored, self._by_id)

    def take(self, wanted: Selection | None) -> _Stored | None:
        keys = _keys(wanted) if wanted is not None else ()
        stored = self._next() if wanted is None or not keys else self._find(wanted, keys)
        if stored is not None and self._by_id is not None:
            for key in _keys(stored.descriptor):
                line = self._by_id[key]
                line.lose(self._waiting)
                if not line.live:
                    del self._by_id[key]
        return stored

    def browse(self) -> list[_Stored]:
        """The messages in the order in which they would be taken."""
        return [self._waiting[order] for order in sorted(self._waiting)]

    def _next(self) -> _Stored | None:
        orders, waiting = self._orders, self._waiting
        while orders:
            stored = waiting.pop(heappop(orders), None)
            if stored is not None:
                return stored
        return None

    def _find(self, wanted: Selection, keys: tuple[bytes, ...]) -> _Stored | None:
        if self._by_id is None:
            self._by_id = {}
            for waiting in self._waiting.values():
                self._index(waiting, self._by_id)
        lines = [line for key in keys if (line := self._by_id.get(key)) is not None]
        if len(lines) < len(keys):
            return None
        stored = _first(lines, wanted, self._waiting)
        if stored is not None:
            del self._waiting[stored.order]
            if len(self._orders) > 2 * len(self._waiting) + _SPARE:
                self._orders = _swept(self._orders, self._waiting)
        return stored

    @staticmethod
    def _index(stored: _Stored, by_id: dict[bytes, _Line]) -> None:
        for key in _keys(stored.descriptor):
            line = by_id.get(key)
            if line is None:
                line = by_id[key] = _Line()
            line.add(stored.order)


def _first(lines: list[_Line], wanted: Selection, waiting: Mapping[int, _Stored]) -> _Stored | None:
    """The first message that has every id that is wanted; of several lines, the shortest is looked through."""
    if len(lines) == 1:
        return lines[0].first(waiting)
    shortest = min(lines, key=attrgetter("live"))
    found = (waiting.get(order) for order in sorted(shortest.orders))
    return next((stored for stored in found if stored is not None and _selects(wanted, stored.descriptor)), None)


def _keys(ids: Selection | Descriptor) -> tuple[bytes, ...]:
    """What a message is found by; where an id is not set, it is not found by it, and any message is good."""
    named = ((b"M", ids.msg_id), (b"C", ids.correl_id), (b"G", ids.group_id))
    return tuple(kind + value for kind, value in named if value not in _ANY)


def _selects(wanted: Selection, descriptor: Descriptor) -> bool:
    return all(
        want in _ANY or want == has
        for want, has in (
            (wanted.msg_id, descriptor.msg_id),
            (wanted.correl_id, descriptor.correl_id),
            (wanted.group_id, descriptor.group_id),
        )
    )


class MemoryQueues:
    """A queue manager that keeps its queues in memory.

    >>> queues = MemoryQueues("IN", "OUT")
    >>> work = queues.work()
    >>> _ = work.put("IN", Descriptor(), b"hello")
    >>> work.get("IN") is None, work.commit(), work.get("IN").body
    (True, None, b'hello')
    """

    def __init__(
        self,
        *definitions: QueueDefinition | str,
        name: str = "QM",
        open_: bool = False,
        dead_letter_queue: str = DEAD_LETTER_QUEUE,
    ) -> None:
        """`open_` says that a queue is made when a message is first put to it; no name of one: no dead-letter queue."""
        self.name = name
        self.dead_letter_queue = dead_letter_queue
        self._open = open_
        self._lock = threading.RLock()
        self._numbers = 0
        self._identifier = b"AMQ " + name.encode("ascii", "replace")[:12].ljust(12)
        self._start = int.from_bytes(os.urandom(8))
        self._queues: dict[str, _Queue] = {}
        for definition in definitions:
            made = QueueDefinition(definition) if isinstance(definition, str) else definition
            if made.name in self._queues:
                raise ConfigurationException(f"there are two queues called {made.name}: define it once")
            self._queues[made.name] = _Queue(made)
        if dead_letter_queue:
            self._queues.setdefault(dead_letter_queue, _Queue(QueueDefinition(dead_letter_queue)))

    def work(self) -> MemoryWork:
        """A new unit of work."""
        return MemoryWork(self)

    def depth(self, queue: str) -> int:
        """How many messages can be got from a queue now."""
        found = self.find(queue)
        return 0 if found is None else len(found)

    def names(self) -> list[str]:
        """The names of all queues, sorted."""
        with self._lock:
            return sorted(self._queues)

    def browse(self, queue: str) -> list[Arrival]:
        """The messages of a queue, in the order in which they would be got; they stay there."""
        with self._lock:
            found = self.find(queue)
            return [] if found is None else [Arrival(stored.descriptor, stored.body) for stored in found.browse()]

    def find(self, queue: str) -> _Queue | None:
        """The queue of that name; None where it is not there yet, but would be made by a put."""
        found = self._queues.get(queue)
        if found is None and not (self._open and queue):
            raise MessageException(
                2085, f"there is no queue called {queue!r}: define it", queue, reason=UNKNOWN_OBJECT_NAME
            )
        return found

    def attributes(self, queue: str) -> QueueAttributes | None:
        """The attributes of a queue, or None."""
        found = self._queues.get(queue)
        return None if found is None else found.definition.attributes

    def admit(self, queue: str, descriptor: Descriptor, body: bytes) -> _Stored:
        """A message as it will stand on a queue, if the queue can hold it."""
        target = self._queues.get(queue)
        if target is None:
            self.find(queue)
            target = self._queues.setdefault(queue, _Queue(QueueDefinition(queue)))
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
                raise MessageException(
                    2053, f"queue {queue} is full: it may hold {definition.max_depth}", queue, reason=Q_FULL
                )
            target.reserved += 1
            self._numbers += 1
            number = self._numbers
        if descriptor.msg_id == NO_ID:
            descriptor = descriptor._replace(msg_id=self.identifier(number))
        if not descriptor.put_date:
            now = time.time()
            moment = time.strftime(_STAMPED, time.gmtime(now))
            descriptor = descriptor._replace(put_date=moment[:8], put_time=f"{moment[8:]}{int(now * 100) % 100:02d}")
        if descriptor.priority not in _PRIORITIES or descriptor.persistence not in _PERSISTENCES:
            descriptor = _by_default(descriptor, definition.attributes)
        if descriptor.backout_count:
            descriptor = descriptor._replace(backout_count=0)
        return _Stored((MAX_PRIORITY - descriptor.priority << _ORDER) + number, descriptor, body)

    def new_id(self) -> bytes:
        """An id that no other message has."""
        with self._lock:
            self._numbers += 1
            return self.identifier(self._numbers)

    def identifier(self, number: int) -> bytes:
        """The id of a number: 24 bytes that begin as queue managers begin theirs."""
        return self._identifier + ((self._start + number) & _EIGHT_BYTES).to_bytes(8)

    def apply(self, puts: list[tuple[str, _Stored]]) -> None:
        """Make admitted messages available, all at once."""
        with self._lock:
            for name, stored in puts:
                queue = self._queues[name]
                queue.reserved -= 1
                queue.put(stored)

    def take(self, queue: str, wanted: Selection | None) -> _Stored | None:
        """Take a message off a queue."""
        with self._lock:
            found = self.find(queue)
            return None if found is None else found.take(wanted)

    def undo(self, puts: list[tuple[str, _Stored]], taken: list[tuple[str, _Stored]]) -> None:
        """Forget admitted messages, and put those that were taken back where they were, their backout count higher."""
        with self._lock:
            for name, _ in puts:
                self._queues[name].reserved -= 1
            for name, stored in taken:
                again = stored.descriptor._replace(backout_count=stored.descriptor.backout_count + 1)
                self._queues[name].put(stored._replace(descriptor=again))


def _by_default(descriptor: Descriptor, attributes: QueueAttributes) -> Descriptor:
    """The descriptor with what it leaves to the queue, as the queue has it; a priority too high is the highest."""
    priority, persistence = descriptor.priority, descriptor.persistence
    return descriptor._replace(
        priority=attributes.default_priority if priority < 0 else min(priority, MAX_PRIORITY),
        persistence=persistence if persistence in _PERSISTENCES else attributes.default_persistence,
    )


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
        return self._queues.dead_letter_queue

    @property
    def queue_manager(self) -> str:
        return self._queues.name

    def commit(self) -> None:
        self._queues.apply(self._puts)
        self._taken, self._puts = [], []

    def back_out(self) -> None:
        taken, puts, self._taken, self._puts = self._taken, self._puts, [], []
        self._queues.undo(puts, taken)
