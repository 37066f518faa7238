"""A queue: messages by priority and arrival, found by id or selector, in logical order, or browsed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from heapq import heappop, heappush, merge
from itertools import islice
from operator import attrgetter
from time import time
from typing import TYPE_CHECKING
from weakref import ref

from engine.descriptor import LAST_MSG_IN_GROUP
from engine.mq.memory import Memory
from engine.mq.queue_counts import Counts
from engine.mq.queue_handle import GROUPED, Handle
from engine.mq.queued_message import Line, Stored, first_of, has_too_many, index, keys_of, swept
from engine.mq.scans import Scan
from engine.mq.selection import chosen, is_wanted
from engine.mq.waiters import Waiters
from engine.work import Selection

if TYPE_CHECKING:
    from engine.mq.backing import Backing
    from engine.mq.definitions import QueueDefinition


class Queue:
    """Messages by priority and arrival; lines by id are kept once someone has asked by id."""

    __slots__ = (
        *("_by_id", "_orders", "_waiting", "arrivals", "backings", "definition", "depth", "epoch", "expired"),
        *("counts", "in_hand", "memory", "most", "now", "number", "reserved", "scans", "stream", "waiters"),
    )

    def __init__(self, definition: QueueDefinition, now: Callable[[], float] = time, number: int = 0) -> None:
        self.now = now
        self.number = number  # in the store
        self.depth = 0  # messages that can be got
        self.arrivals = 0  # messages that became available, ever
        self.reserved = 0  # messages put by units that have not committed yet
        self.in_hand: dict[bytes, Handle] = {}  # keys of an order, each with the one that has messages of it
        self.expired: list[Stored] = []  # met past their time and taken off, and to be discarded
        self.backings: tuple[Backing, ...] = ()  # of non-persistent messages, and of persistent ones
        self.memory = Memory()
        self.epoch = 0  # grows when messages move between memory and backings
        self.scans: list[ref[Scan]] = []
        self.waiters = Waiters()
        self.counts = Counts()
        self._waiting: dict[int, Stored] = {}
        self._orders: list[int] = []  # a heap of those that wait, and of some that were taken by id
        self._by_id: dict[bytes, Line] | None = None
        self.redefine(definition)

    def redefine(self, definition: QueueDefinition) -> None:
        """Give the queue another definition."""
        self.definition = definition
        self.most = definition.max_depth
        self.stream = definition.stream

    def put(self, stored: Stored) -> None:
        """Make a message available, or put one back where it was before it was taken."""
        self.arrivals = arrivals = self.arrivals + 1
        if self.waiters.count and self.waiters.hand(stored, self):
            return
        self.depth = depth = self.depth + 1
        counts = self.counts
        if depth > counts.high:  # noqa: PLR1730 - a call of max takes longer
            counts.high = depth
        if arrivals >= counts.next_timed:
            counts.note_arrival(stored, self)
        if self.backings:
            self._keep(stored)
        else:  # as `hold` does, which is worth a call less
            order = stored.order
            self._waiting[order] = stored
            heappush(self._orders, order)
            if self._by_id is not None:
                index(stored, self._by_id)
        for scan in self._live_scans() if self.scans else ():
            scan.note(stored.order)
        if waiting := self.waiters.count:
            self.wake(stored)
            self.counts.not_queued += self.waiters.count < waiting

    def _keep(self, stored: Stored) -> None:
        """Keep a message in memory, or where those are that memory has no room for."""
        if not self.backings[stored.descriptor.persistence].keeps(stored):
            self.hold(stored)
            if self.memory.add(stored):
                self._evict()

    def wake(self, stored: Stored) -> None:
        """Wake one who waits for a message that is there."""
        if self.is_there(stored.order):
            self.waiters.wake(stored, is_wanted)

    def hold(self, stored: Stored) -> None:
        """Keep a message in memory."""
        self._waiting[stored.order] = stored
        heappush(self._orders, stored.order)
        if self._by_id is not None:
            index(stored, self._by_id)

    def release(self, order: int) -> None:
        """Keep a message in memory no longer."""
        stored = self._waiting.pop(order)
        if self.backings:
            self.memory.lose(stored)
        if has_too_many(self._orders, len(self._waiting)):
            self._orders = swept(self._orders, self._waiting)
        if self._by_id is not None:
            self._unindex(stored, self._by_id)

    def take(self, wanted: Selection | None, handle: Handle) -> Stored | None:
        """Returns the next message that is wanted; unless it is browsed, it no longer waits."""
        if not self.depth and (wanted is None or wanted.plain):
            stored = None
        elif wanted is None or (
            wanted.next_in_turn
            and not handle.group
            and (first := self.first()) is not None
            and not first.descriptor.msg_flags & GROUPED  # as most are
        ):
            stored = self._next()
        elif wanted.plain:
            stored = self._found(wanted, keys) if (keys := keys_of(wanted)) else self._next()
        else:
            stored = chosen(self, wanted, handle)
        if stored is None:
            return None
        counts = self.counts
        if self.depth < counts.noted_below or (wanted is not None and wanted.browse):
            counts.note_taken(stored, wanted, self)
        else:
            persistence = stored.descriptor.persistence
            counts.gets[persistence] += 1
            counts.get_bytes[persistence] += len(stored.body)
        return stored

    def browse(self) -> list[Stored]:
        """Returns the messages in the order in which they would be taken."""
        return [stored for stored in self.walk(-1) if not self.is_late(stored)]

    def is_in_memory(self, order: int) -> bool:
        """Returns True where a message waits in memory."""
        return order in self._waiting

    def in_memory(self) -> list[Stored]:
        """Returns the messages that wait in memory."""
        return list(self._waiting.values())

    def orders_in_memory(self) -> list[int]:
        """Returns the orders of the messages that wait in memory."""
        return list(self._waiting)

    def take_some(self, most: int) -> list[Stored]:
        """Returns so many of the next messages at most, expired or not; they no longer wait."""
        taken, self.expired = self.expired, []
        while len(taken) < most and (stored := self._next()) is not None:
            taken.append(stored)
        taken, self.expired = taken + self.expired, []
        return taken

    def expire(self, order: int) -> bool:
        """Take a message off if it waits and its time has passed."""
        stored = self.look(order)
        if stored is None or not self.is_late(stored):
            return False
        self.drop(stored)
        return True

    def look(self, order: int) -> Stored | None:
        """Returns a message that waits."""
        stored = self._waiting.get(order)
        if stored is None and self.backings:
            stored = next((found for backing in self.backings if (found := backing.look(order)) is not None), None)
        return stored

    def is_there(self, order: int) -> bool:
        """Returns True where a message waits."""
        return self.look(order) is not None

    def withdraw(self, stored: Stored) -> None:
        """Take a message off the queue that waits there."""
        self.depth -= 1
        if stored.order in self._waiting:
            self.release(stored.order)
            if self.backings:
                self.backings[stored.descriptor.persistence].take(stored)
        elif self.backings:
            self.backings[stored.descriptor.persistence].withdraw(stored)

    def read_ahead(self, order: int) -> list[Stored]:
        """Returns messages that are not in memory, from an order on, the next one last."""
        runs = [run for backing in self.backings if (run := backing.after(order))]
        if len(runs) < 2:
            return runs[0][::-1] if runs else []
        known = min(run[-1].order for run in runs)
        found = (stored for run in runs for stored in run if stored.order <= known)
        return sorted(found, key=attrgetter("order"), reverse=True)

    def _next(self) -> Stored | None:
        orders, waiting = self._orders, self._waiting
        while True:
            if self.backings:
                self._fill()
            stored = None
            while orders and stored is None:
                stored = waiting.pop(heappop(orders), None)
            if stored is None:
                return None
            self.depth -= 1
            if self._by_id is not None:
                self._unindex(stored, self._by_id)
            if self.backings:
                self.memory.lose(stored)
                self.backings[stored.descriptor.persistence].take(stored)
            if not stored.expires or not self.is_late(stored):
                return stored
            self.expired.append(stored)

    def _evict(self) -> None:
        """Keep the first messages in memory, and leave the others to the backings."""
        for persistence, backing in enumerate(self.backings):
            here = [one for one in self._waiting.values() if one.descriptor.persistence == persistence]
            here.sort(key=attrgetter("order"))
            others = here[self.memory.most(here) :]
            if others and backing.evict(others):
                for stored in others:
                    self.release(stored.order)
                self.epoch += 1

    def _fill(self) -> None:
        """Bring into memory what comes before all that is there."""
        orders, waiting = self._orders, self._waiting
        while orders and orders[0] not in waiting:
            heappop(orders)
        for backing in self.backings:
            while backing.first < (orders[0] if orders else 1 << 62):
                self._load(backing)

    def _load(self, backing: Backing) -> None:
        for stored in backing.load():
            self.hold(stored)
            self.memory.add(stored)
            for scan in self._live_scans():
                scan.loaded(stored.order)
        self.epoch += 1

    def _live_scans(self) -> list[Scan]:
        live = [scan for one in self.scans if (scan := one()) is not None]
        if len(live) < len(self.scans):
            self.scans = [one for one in self.scans if one() is not None]
        return live

    def is_late(self, stored: Stored) -> bool:
        """Returns True where the time of a message has passed."""
        return 0 < stored.expires <= self.now() * 10

    def first(self) -> Stored | None:
        """Returns the first message, which stays where it is."""
        orders, waiting = self._orders, self._waiting
        if self.backings:
            self._fill()
        while orders and orders[0] not in waiting:
            heappop(orders)
        return waiting[orders[0]] if orders else None

    def _found(self, wanted: Selection, keys: tuple[bytes, ...]) -> Stored | None:
        while True:
            stored = self.find(wanted, keys)
            if stored is None:
                return None
            self.withdraw(stored)
            if not self.is_late(stored):
                return stored
            self.expired.append(stored)

    def find(self, wanted: Selection, keys: tuple[bytes, ...]) -> Stored | None:
        """Returns the first message with these ids, which stays where it is."""
        by_id, stored = self._indexed(), None
        lines = [line for key in keys if (line := by_id.get(key)) is not None]
        if len(lines) == len(keys):
            stored = first_of(lines, wanted, self._waiting)
        for backing in self.backings:
            if backing.count:
                found = next(backing.with_ids(keys), None)
                stored = found if stored is None or (found is not None and found.order < stored.order) else stored
        return stored

    def drop(self, stored: Stored) -> None:
        """Take a message off whose time has passed, to be discarded."""
        self.withdraw(stored)
        self.expired.append(stored)

    def with_ids(self, keys: tuple[bytes, ...]) -> Iterator[Stored]:
        """Yields messages that may have all these ids, in order, those with one of them among others."""
        by_id = self._indexed()
        lines: list[list[int]] = [by_id[key].orders if key in by_id else [] for key in keys]
        shortest = min(lines, key=len)
        here = (self._waiting[order] for order in sorted(shortest) if order in self._waiting)
        if not self.backings:
            return here
        return merge(here, *(backing.with_ids(keys) for backing in self.backings), key=attrgetter("order"))

    def has_another(self, key: bytes, stored: Stored) -> bool:
        """Returns True where another message than one that waits has an id."""
        line = self._indexed().get(key)
        if line is not None and line.live > (stored.order in self._waiting):
            return True
        return any(one.order != stored.order for backing in self.backings for one in backing.with_ids((key,)))

    def walk(self, after: int) -> Iterator[Stored]:
        """Yields all messages behind an order, in order."""
        orders, waiting = self._orders, self._waiting
        orders.sort()  # which leaves it a heap; of what is sorted but for its end this takes a third of making it anew
        start = bisect_right(orders, after)
        if not self.backings:
            for order in islice(orders, start, None):
                if order > after and order in waiting:  # one that came back may be there twice
                    after = order
                    yield waiting[order]
            return
        scan = Scan([order for order in islice(orders, start, None) if order in waiting], onward=True)
        scan.position = after
        while (stored := scan.following(self)) is not None:
            yield stored

    def is_whole(self, group: bytes) -> bool:
        """Returns True where every message of a group waits here, from the first to the one that is the last."""
        members = [stored.descriptor for stored in self.with_ids((b"G" + group,))]
        numbers = {member.msg_seq_number for member in members}
        last = [member.msg_seq_number for member in members if member.msg_flags & LAST_MSG_IN_GROUP]
        return bool(last) and numbers.issuperset(range(1, last[0] + 1))

    def _indexed(self) -> dict[bytes, Line]:
        if self._by_id is None:
            self._by_id = {}
            for waiting in self._waiting.values():
                index(waiting, self._by_id)
        return self._by_id

    def _unindex(self, stored: Stored, by_id: dict[bytes, Line]) -> None:
        for key in keys_of(stored.descriptor):
            line = by_id[key]
            line.lose(self._waiting)
            if not line.live:
                del by_id[key]
