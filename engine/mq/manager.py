"""The queue manager: queues by name, and the units of work that put and get their messages."""

from __future__ import annotations

import os
import threading
import time
from typing import Final

from engine.descriptor import (
    LAST_SEGMENT,
    NO_ID,
    NON_PERSISTENT,
    PERSISTENT,
    SEGMENT,
    Descriptor,
)
from engine.errors import ConfigurationException, MessageException
from engine.mq.definitions import QueueDefinition
from engine.mq.queue import Handle, Queue, Stored
from engine.mq.unit import Work
from engine.work import Arrival, QueueAttributes, Selection

DEAD_LETTER_QUEUE: Final = "SYSTEM.DEAD.LETTER.QUEUE"
UNKNOWN_OBJECT_NAME: Final = 2085
MSG_TOO_BIG_FOR_Q: Final = 2030
Q_FULL: Final = 2053
MAX_PRIORITY: Final = 9
_ORDER: Final = 50  # bits that number the messages of one priority
_EIGHT_BYTES: Final = (1 << 64) - 1
_PRIORITIES: Final = range(MAX_PRIORITY + 1)
_PERSISTENCES: Final = (NON_PERSISTENT, PERSISTENT)  # anything else: as the queue has it
_SEGMENT_UNIT: Final = 16  # segments but the last are so many bytes long, or a multiple
_STAMPED: Final = "%Y%m%d%H%M%S"


class QueueManager:
    """A queue manager that keeps its queues in this process.

    >>> queues = QueueManager("IN", "OUT")
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
        self._lock = threading.Condition(threading.RLock())
        self._numbers = 0
        self._identifier = b"AMQ " + name.encode("ascii", "replace")[:12].ljust(12)
        self._start = int.from_bytes(os.urandom(8))
        self._queues: dict[str, Queue] = {}
        for definition in definitions:
            made = QueueDefinition(definition) if isinstance(definition, str) else definition
            if made.name in self._queues:
                raise ConfigurationException(f"there are two queues called {made.name}: define it once")
            self._queues[made.name] = Queue(made)
        if dead_letter_queue:
            self._queues.setdefault(dead_letter_queue, Queue(QueueDefinition(dead_letter_queue)))

    def work(self) -> Work:
        """A new unit of work."""
        return Work(self)

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

    def find(self, queue: str) -> Queue | None:
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

    def admit(self, queue: str, descriptor: Descriptor, body: bytes) -> Stored:
        """A message as it will stand on a queue, if the queue can hold it."""
        target = self._queues.get(queue)
        if target is None:
            self.find(queue)
            target = self._queues.setdefault(queue, Queue(QueueDefinition(queue)))
        definition = target.definition
        if len(body) > definition.max_message_length:
            raise MessageException(
                2030,
                f"a message of {len(body)} bytes is longer than queue {queue} allows ({definition.max_message_length})",
                queue,
                reason=MSG_TOO_BIG_FOR_Q,
            )
        if descriptor.priority not in _PRIORITIES or descriptor.persistence not in _PERSISTENCES:
            descriptor = _by_default(descriptor, definition.attributes)
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
        if descriptor.backout_count:
            descriptor = descriptor._replace(backout_count=0)
        return Stored((MAX_PRIORITY - descriptor.priority << _ORDER) + number, descriptor, body)

    def admit_segments(self, queue: str, descriptor: Descriptor, body: bytes) -> list[Stored]:
        """A message that may be put in segments, as it will stand on a queue: in several where it is too long."""
        found = self.find(queue)
        longest = (QueueDefinition(queue) if found is None else found.definition).max_message_length
        step = longest - longest % _SEGMENT_UNIT
        if len(body) <= longest or not step:
            return [self.admit(queue, descriptor, body)]
        own = descriptor._replace(
            group_id=self.new_id() if descriptor.group_id == NO_ID else descriptor.group_id,
            msg_id=self.new_id() if descriptor.msg_id == NO_ID else descriptor.msg_id,
            original_length=len(body),
        )
        admitted: list[Stored] = []
        try:
            for at in range(0, len(body), step):
                ends = LAST_SEGMENT if at + step >= len(body) else 0
                piece = own._replace(offset=at, msg_flags=own.msg_flags | SEGMENT | ends)
                admitted.append(self.admit(queue, piece, body[at : at + step]))
        except MessageException:
            self.undo([(queue, stored) for stored in admitted], [])
            raise
        return admitted

    def new_id(self) -> bytes:
        """An id that no other message has."""
        with self._lock:
            self._numbers += 1
            return self.identifier(self._numbers)

    def identifier(self, number: int) -> bytes:
        """The id of a number: 24 bytes that begin as queue managers begin theirs."""
        return self._identifier + ((self._start + number) & _EIGHT_BYTES).to_bytes(8)

    def apply(self, puts: list[tuple[str, Stored]]) -> None:
        """Make admitted messages available, all at once."""
        with self._lock:
            for name, stored in puts:
                queue = self._queues[name]
                queue.reserved -= 1
                queue.put(stored)
            self._lock.notify_all()

    def take(self, queue: str, wanted: Selection | None, handle: Handle, wait: float = 0.0) -> Stored | None:
        """Take a message off a queue, or look at it there; where there is none, wait so many seconds for one."""
        end = time.monotonic() + wait
        with self._lock:
            while True:
                found = self.find(queue)
                stored = None if found is None else found.take(wanted, handle)
                left = end - time.monotonic() if wait >= 0 else None
                if stored is not None or (left is not None and left <= 0):
                    return stored
                self._lock.wait(left)

    def release(self, queue: str, handle: Handle) -> None:
        """Let others have messages of the keys that a handle had in hand."""
        with self._lock:
            found = self._queues.get(queue)
            if found is not None and found.in_hand:
                found.in_hand = {key: held for key, held in found.in_hand.items() if held is not handle}

    def put_back(self, taken: list[tuple[str, Stored]]) -> None:
        """Put messages that were only looked at back where they were."""
        with self._lock:
            for name, stored in taken:
                self._queues[name].put(stored)

    def undo(self, puts: list[tuple[str, Stored]], taken: list[tuple[str, Stored]]) -> None:
        """Forget admitted messages, and put those that were taken back where they were, their backout count higher."""
        with self._lock:
            for name, _ in puts:
                self._queues[name].reserved -= 1
            self._lock.notify_all()
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
