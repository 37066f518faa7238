"""A queue in memory: messages by priority and arrival, found by id, in logical order, or browsed."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from operator import attrgetter
from typing import Final, NamedTuple

from engine.descriptor import LAST_MSG_IN_GROUP, MSG_IN_GROUP, NO_ID, Descriptor
from engine.mq.definitions import QueueDefinition
from engine.work import Selection

_ANY: Final = (b"", NO_ID)
_SPARE: Final = 32  # messages that are gone, and that a line may still name without being swept
_GROUPED: Final = MSG_IN_GROUP | LAST_MSG_IN_GROUP


class Stored(NamedTuple):
    """A message on a queue; `order` is its place in the order in which messages are taken, and no other has it."""

    order: int
    descriptor: Descriptor
    body: bytes


class Line:
    """The messages of one id in the order in which they are taken; those that are gone are swept out when many."""

    __slots__ = ("live", "orders")

    def __init__(self) -> None:
        self.orders: list[int] = []
        self.live = 0

    def add(self, order: int) -> None:
        heappush(self.orders, order)
        self.live += 1

    def lose(self, waiting: Mapping[int, Stored]) -> None:
        """Say that one of the messages no longer waits."""
        self.live -= 1
        if len(self.orders) > 2 * self.live + _SPARE:
            self.orders = _swept(self.orders, waiting)

    def first(self, waiting: Mapping[int, Stored]) -> Stored | None:
        orders = self.orders
        while orders:
            stored = waiting.get(orders[0])
            if stored is not None:
                return stored
            heappop(orders)
        return None


def _swept(orders: list[int], waiting: Mapping[int, Stored]) -> list[int]:
    return sorted({order for order in orders if order in waiting})


class Handle:
    """What is remembered of a queue for one that reads it: the group in hand, and how far it has browsed."""

    __slots__ = ("_kept", "_seen", "changed", "clock", "cursor", "group", "next_number", "whole")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.group = b""
        self.next_number = 1
        self.whole: frozenset[bytes] = frozenset()  # groups that were whole when the first of them was taken
        self.cursor = -1
        self.changed = False  # since the last unit of work ended
        self._seen = 0.0
        self._kept = (self.group, self.next_number, self.whole)

    def rewind(self, seconds: float) -> None:
        """Browse from the start again, if nothing has been found for so long."""
        if 0 <= seconds <= self.clock() - self._seen:
            self.cursor = -1

    def note(self, stored: Stored, wanted: Selection) -> None:
        """Remember the message that was found."""
        self.changed = True
        descriptor = stored.descriptor
        if wanted.browse:
            self.cursor = stored.order
            self._seen = self.clock()
        if not descriptor.msg_flags & _GROUPED or descriptor.group_id == NO_ID:
            return
        ends = bool(descriptor.msg_flags & LAST_MSG_IN_GROUP)
        if wanted.logical:
            self.group = b"" if ends else descriptor.group_id
            self.next_number = descriptor.msg_seq_number + 1
        elif wanted.whole_groups:
            self.whole |= {descriptor.group_id}

    def commit(self) -> None:
        """What is remembered now is what a unit of work that is backed out comes back to."""
        self._kept = (self.group, self.next_number, self.whole)
        self.changed = False

    def back_out(self) -> None:
        """Come back to what was known before the unit of work."""
        self.group, self.next_number, self.whole = self._kept
        self.changed = False


class Queue:
    """Messages by priority and arrival; lines by id are kept once someone has asked by id."""

    __slots__ = ("_by_id", "_orders", "_waiting", "definition", "in_hand", "reserved")

    def __init__(self, definition: QueueDefinition) -> None:
        self.definition = definition
        self.reserved = 0  # messages put by units that have not committed yet
        self.in_hand: dict[bytes, Handle] = {}  # keys of an order, each with the one that has messages of it
        self._waiting: dict[int, Stored] = {}
        self._orders: list[int] = []  # a heap of those that wait, and of some that were taken by id
        self._by_id: dict[bytes, Line] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, stored: Stored) -> None:
        """Add a message, or put one back where it was before it was taken."""
        self._waiting[stored.order] = stored
        heappush(self._orders, stored.order)
        if self._by_id is not None:
            self._index(stored, self._by_id)

    def take(self, wanted: Selection | None, handle: Handle) -> Stored | None:
        """The next message that is wanted; unless it is browsed, it no longer waits."""
        if wanted is None or (wanted.next_in_turn and not handle.group and self._begins_alone()):
            stored = self._next()
        elif wanted.plain:
            keys = _keys(wanted)
            stored = self._find(wanted, keys) if keys else self._next()
        else:
            stored = self._chosen(wanted, handle)
            if stored is None or wanted.browse:
                return stored
            del self._waiting[stored.order]
            self._sweep()
        if stored is not None and self._by_id is not None:
            for key in _keys(stored.descriptor):
                line = self._by_id[key]
                line.lose(self._waiting)
                if not line.live:
                    del self._by_id[key]
        return stored

    def browse(self) -> list[Stored]:
        """The messages in the order in which they would be taken."""
        return [self._waiting[order] for order in sorted(self._waiting)]

    def _next(self) -> Stored | None:
        orders, waiting = self._orders, self._waiting
        while orders:
            stored = waiting.pop(heappop(orders), None)
            if stored is not None:
                return stored
        return None

    def _begins_alone(self) -> bool:
        """Whether the first message is of no group, which is what most are."""
        first = self._waiting.get(self._orders[0]) if self._orders else None
        return first is not None and not first.descriptor.msg_flags & _GROUPED

    def _chosen(self, wanted: Selection, handle: Handle) -> Stored | None:
        """The first message that is wanted, in turn, and in nobody else's hand."""
        if wanted.browse:
            handle.rewind(wanted.rewind)
        orders, waiting = self._orders, self._waiting
        while orders and orders[0] not in waiting:
            heappop(orders)
        stored = waiting[orders[0]] if orders else None
        if stored is None or not self._suits(stored, wanted, handle):
            found = (waiting[order] for order in self._candidates(wanted, handle) if order in waiting)
            stored = next((one for one in found if self._suits(one, wanted, handle)), None)
        if stored is None:
            return None
        key = wanted.order.key(stored.descriptor)
        if key is not None and not wanted.browse:
            self.in_hand[key] = handle
        handle.note(stored, wanted)
        return stored

    def _suits(self, stored: Stored, wanted: Selection, handle: Handle) -> bool:
        if not _selects(wanted, stored.descriptor) or not self._in_turn(stored, wanted, handle):
            return False
        key = wanted.order.key(stored.descriptor)
        return key is None or self.in_hand.get(key, handle) is handle

    def _candidates(self, wanted: Selection, handle: Handle) -> list[int]:
        """The places that are worth a look, in order."""
        keys = _keys(wanted)
        if wanted.logical and handle.group:
            keys = (*keys, b"G" + handle.group)
        if keys:
            by_id = self._indexed()
            lines: list[list[int]] = [by_id[key].orders if key in by_id else [] for key in keys]
            shortest = min(lines, key=len)
            return sorted(shortest)
        self._orders.sort()  # which leaves it a heap
        if not wanted.browse:
            return self._orders
        return self._orders[bisect_right(self._orders, handle.cursor) :]

    def _in_turn(self, stored: Stored, wanted: Selection, handle: Handle) -> bool:
        """Whether a message is the next of its group, where groups matter."""
        descriptor = stored.descriptor
        if wanted.browse and stored.order <= handle.cursor:
            return False
        if wanted.logical and handle.group:
            return descriptor.group_id == handle.group and descriptor.msg_seq_number == handle.next_number
        if not descriptor.msg_flags & _GROUPED or descriptor.group_id == NO_ID:
            return True
        if wanted.logical and descriptor.msg_seq_number != 1:
            return False
        return not wanted.whole_groups or descriptor.group_id in handle.whole or self._is_whole(descriptor.group_id)

    def _is_whole(self, group: bytes) -> bool:
        """Whether every message of a group waits here, from the first to the one that says it is the last."""
        line = self._indexed()[b"G" + group]
        members = [stored.descriptor for order in set(line.orders) if (stored := self._waiting.get(order)) is not None]
        numbers = {member.msg_seq_number for member in members}
        last = [member.msg_seq_number for member in members if member.msg_flags & LAST_MSG_IN_GROUP]
        return bool(last) and numbers.issuperset(range(1, last[0] + 1))

    def _indexed(self) -> dict[bytes, Line]:
        if self._by_id is None:
            self._by_id = {}
            for waiting in self._waiting.values():
                self._index(waiting, self._by_id)
        return self._by_id

    def _sweep(self) -> None:
        if len(self._orders) > 2 * len(self._waiting) + _SPARE:
            self._orders = _swept(self._orders, self._waiting)

    def _find(self, wanted: Selection, keys: tuple[bytes, ...]) -> Stored | None:
        by_id = self._indexed()
        lines = [line for key in keys if (line := by_id.get(key)) is not None]
        if len(lines) < len(keys):
            return None
        stored = _first(lines, wanted, self._waiting)
        if stored is not None:
            del self._waiting[stored.order]
            self._sweep()
        return stored

    @staticmethod
    def _index(stored: Stored, by_id: dict[bytes, Line]) -> None:
        for key in _keys(stored.descriptor):
            line = by_id.get(key)
            if line is None:
                line = by_id[key] = Line()
            line.add(stored.order)


def _first(lines: list[Line], wanted: Selection, waiting: Mapping[int, Stored]) -> Stored | None:
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
