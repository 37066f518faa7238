"""PartitionWork: a unit of work over one message, or over those of one group, whose puts become rows."""

from __future__ import annotations

import hashlib
from bisect import insort
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Final, NamedTuple

from engine.descriptor import LAST_MSG_IN_GROUP, MSG_IN_GROUP, NO_ID, UNLIMITED, Descriptor
from engine.errors import MessageException
from engine.flow.put_rules import MAX_PRIORITY, check_put, defaulted, wrong_expiry
from engine.message.topics import ADDRESS
from engine.work import Arrival, QueueAttributes, Selection

NO_SUCH_QUEUE: int = 2085
LONGEST_NAME: Final = 48
LONGEST_ADDRESS: Final = 80  # of a topic: rows can be filed by it, with each of its characters written as three
_PLAIN = QueueAttributes()
_GROUPED: Final = MSG_IN_GROUP | LAST_MSG_IN_GROUP
_PLACE: Final = itemgetter(0)
_MSG_ID, _PUT_DATE, _PUT_TIME, _PRIORITY, _PERSISTENCE, _BACKOUT_COUNT = map(
    Descriptor._fields.index, ("msg_id", "put_date", "put_time", "priority", "persistence", "backout_count")
)  # several fields are changed at once in a fraction of the time that _replace takes


class Put(NamedTuple):
    """A message that was put, and which of those that were offered it came of."""

    of: int
    queue: str
    descriptor: Descriptor
    body: bytes


class PartitionWork:
    """A unit of work over what was offered; its ids and its moment follow from that, so every try has the same.

    What belongs to one group is offered together, or, where each message is a unit of its own, one behind the other.
    """

    __slots__ = (
        *(
            "_attributes",
            "_count",
            "_expected",
            "_group",
            "_key",
            "_moment",
            "_named_by",
            "_offered",
            "_puts",
            "_queue",
            "_taken",
            "_waiting",
        ),
        *("done", "in_hand", "named", "patience"),
    )

    def __init__(
        self, attributes: Mapping[str, QueueAttributes], named: tuple[str, str], moment: tuple[str, str]
    ) -> None:
        """`named` are the queue manager and its dead-letter queue, `moment` the date and time that puts have."""
        self._attributes = attributes
        self.named = named
        self.patience = 0.0
        self._moment = moment
        self._key = self._named_by = b""
        self._count = 0
        self._queue = ""
        self._waiting: list[tuple[int, Arrival]] = []  # each with its place among those that were offered
        self._taken: list[tuple[int, Arrival]] = []
        self._puts: list[Put] = []
        self._offered: Sequence[tuple[Descriptor, bytes]] = ()
        self._group, self._expected = NO_ID, 1
        self.in_hand = 0
        self.done: list[Put] = []

    def offer(self, key: bytes, queue: str, messages: Sequence[tuple[Descriptor, bytes]]) -> None:
        """Let messages wait on their queue; what was put before is forgotten."""
        self._key, self._count, self._queue, self._offered = key, 0, queue, messages
        self._named_by = b""
        self._waiting = [(place, Arrival(*message)) for place, message in enumerate(messages)]
        self._taken, self._puts, self.done, self.in_hand = [], [], [], 0
        first = messages[0][0]
        if not first.msg_flags & _GROUPED or first.group_id != self._group:
            self._group, self._expected = first.group_id, 1

    @property
    def is_waiting(self) -> bool:
        """Returns whether a message that was offered still is, or is again, on its queue."""
        return bool(self._waiting)

    @property
    def left(self) -> list[int]:
        """The places of the messages that are on their queue."""
        return [place for place, _ in self._waiting]

    def get(
        self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True, wait: float = 0.0
    ) -> Arrival | None:
        waiting = self._waiting
        if queue != self._queue or not waiting:
            return None
        found = waiting[0]
        if not self._selects(selection, found[1].descriptor):
            others = (other for other in waiting if self._selects(selection, other[1].descriptor))
            if (other := next(others, None)) is None:
                return None
            found = other
        waiting.remove(found)
        self.in_hand, arrival = found
        descriptor = arrival.descriptor
        if descriptor.msg_flags & _GROUPED:
            self._expected = descriptor.msg_seq_number + 1
        if selection is not None and selection.browse:
            return arrival
        if syncpoint or (syncpoint is None and descriptor.persistence == 1):
            self._taken.append(found)
        return arrival

    def _selects(self, selection: Selection | None, descriptor: Descriptor) -> bool:
        """Returns whether a message is asked for: by its ids, and in turn where it is of a group."""
        grouped = descriptor.msg_flags & _GROUPED and descriptor.group_id != NO_ID
        if selection is None or (selection.next_in_turn and not grouped):
            return True
        pairs = (
            (selection.msg_id, descriptor.msg_id),
            (selection.correl_id, descriptor.correl_id),
            (selection.group_id, descriptor.group_id),
        )
        if not all(wanted in {b"", NO_ID} or wanted == has for wanted, has in pairs):
            return False
        if not grouped:
            return True
        if selection.logical and descriptor.msg_seq_number != self._expected:
            return False
        return not selection.whole_groups or _is_whole([offered for offered, _ in self._offered])

    def put(self, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True) -> Descriptor:
        descriptor = check_put(descriptor, self.new_id)
        if descriptor.expiry != UNLIMITED and descriptor.expiry <= 0:
            raise wrong_expiry(descriptor.expiry)
        defaulted((descriptor.priority, descriptor.persistence), (0, 0))  # which refuses what no message has
        return self.put_as_it_is(queue, descriptor, body, syncpoint=syncpoint)

    def put_as_it_is(self, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True) -> Descriptor:
        """Put a message that came out of an archive, whose descriptor nobody has checked."""
        if not queue:
            raise MessageException(2085, "a message was put to a queue without a name", "", reason=NO_SUCH_QUEUE)
        if len(queue) > (
            LONGEST_ADDRESS if queue.startswith(ADDRESS) else LONGEST_NAME
        ):  # no queue manager has it, and no file system could keep its rows
            text = f"there is no queue called {queue[:LONGEST_NAME]}...: a name has at most {LONGEST_NAME} characters"
            raise MessageException(2085, text, queue, reason=NO_SUCH_QUEUE)
        own = self._attributes.get(queue, _PLAIN)
        priority = own.default_priority if descriptor.priority < 0 else min(descriptor.priority, MAX_PRIORITY)
        persistence = descriptor.persistence if descriptor.persistence in {0, 1} else own.default_persistence
        values = list(descriptor)
        values[_MSG_ID] = self.new_id() if descriptor.msg_id == NO_ID else descriptor.msg_id
        if not descriptor.put_date:
            values[_PUT_DATE], values[_PUT_TIME] = self._moment
        values[_PRIORITY], values[_PERSISTENCE], values[_BACKOUT_COUNT] = priority, persistence, 0
        descriptor = Descriptor._make(values)
        (self._puts if syncpoint else self.done).append(Put(self.in_hand, queue, descriptor, body))
        return descriptor

    def attributes(self, queue: str) -> QueueAttributes | None:
        return self._attributes.get(queue, _PLAIN)

    def new_id(self) -> bytes:
        if not self._named_by:  # messages of two archives may stand in the same place, and have ids of their own
            descriptor, body = self._offered[0]
            said = b"%s %s %s" % (self._key, descriptor.msg_id, hashlib.sha256(body).digest())
            self._named_by = hashlib.sha256(said).digest()
        self._count += 1
        return hashlib.sha256(b"%s %d" % (self._named_by, self._count)).digest()[:24]

    @property
    def now(self) -> datetime:
        moment = datetime.strptime("".join(self._moment)[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        return moment.replace(microsecond=int(self._moment[1][6:] or 0) * 10_000)

    @property
    def dead_letter_queue(self) -> str:
        return self.named[1]

    @property
    def queue_manager(self) -> str:
        return self.named[0]

    def commit(self) -> None:
        self.done += self._puts
        self._puts, self._taken = [], []

    def back_out(self) -> None:
        self._puts = []
        for place, arrival in self._taken:
            again = arrival.descriptor._replace(backout_count=arrival.descriptor.backout_count + 1)
            insort(self._waiting, (place, Arrival(again, arrival.body)), key=_PLACE)
            if again.msg_flags & _GROUPED:
                self._expected = min(self._expected, again.msg_seq_number)
        self._taken = []


def _is_whole(group: Sequence[Descriptor]) -> bool:
    """Returns whether all messages of a group are there, from the first to the one that says it is the last."""
    last = next((one.msg_seq_number for one in group if one.msg_flags & LAST_MSG_IN_GROUP), 0)
    return last > 0 and {one.msg_seq_number for one in group}.issuperset(range(1, last + 1))
