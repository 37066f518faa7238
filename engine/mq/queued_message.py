"""Messages as they stand on queues, the ids that they are found by, and lines of those that share one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from operator import attrgetter
from typing import Final

from engine.descriptor import NO_ID, Descriptor
from engine.work import Selection

_ANY: Final = (b"", NO_ID)
_SPARE: Final = 32  # messages that are gone, and that a line may still name without being swept


@dataclass(slots=True, eq=False)
class Stored:
    """A message on a queue; `order` is its place in the order in which messages are taken, and no other has it.

    `expires` is the moment from which it is no longer delivered, in tenths of seconds since 1970; 0: never. Nobody
    changes one: it is no tuple, and not frozen, as the one takes ten times as long to read and the other to make.
    """

    order: int
    descriptor: Descriptor
    body: bytes
    expires: int = 0


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
            self.orders = swept(self.orders, waiting)

    def first(self, waiting: Mapping[int, Stored]) -> Stored | None:
        orders = self.orders
        while orders:
            stored = waiting.get(orders[0])
            if stored is not None:
                return stored
            heappop(orders)
        return None


def index(stored: Stored, by_id: dict[bytes, Line]) -> None:
    """Add a message to the lines of its ids."""
    for key in keys_of(stored.descriptor):
        line = by_id.get(key)
        if line is None:
            line = by_id[key] = Line()
        line.add(stored.order)


def has_too_many(orders: list[int], live: int) -> bool:
    """Returns True when most of the orders in a heap belong to messages that are gone."""
    return len(orders) > 2 * live + _SPARE


def swept(orders: list[int], waiting: Mapping[int, Stored]) -> list[int]:
    """Returns the orders of messages that still wait, sorted, which is a heap as well."""
    return sorted({order for order in orders if order in waiting})


def first_of(lines: list[Line], wanted: Selection, waiting: Mapping[int, Stored]) -> Stored | None:
    """Returns the first message that has every id that is wanted; of several lines, the shortest is looked through."""
    if len(lines) == 1:
        return lines[0].first(waiting)
    shortest = min(lines, key=attrgetter("live"))
    found = (waiting.get(order) for order in sorted(shortest.orders))
    return next((stored for stored in found if stored is not None and has_ids(stored.descriptor, wanted)), None)


def keys_of(ids: Selection | Descriptor) -> tuple[bytes, ...]:
    """Returns what a message is found by; where an id is not set, it is not found by it, and any message is good."""
    msg_id, correl_id, group_id = ids.msg_id, ids.correl_id, ids.group_id
    keys: tuple[bytes, ...] = (b"M" + msg_id,) if msg_id and msg_id != NO_ID else ()
    if correl_id and correl_id != NO_ID:
        keys += (b"C" + correl_id,)
    if group_id and group_id != NO_ID:
        keys += (b"G" + group_id,)
    return keys


def has_ids(descriptor: Descriptor, wanted: Selection) -> bool:
    """Returns True when a message has every id that is asked for."""
    msg_id, correl_id, group_id = wanted.msg_id, wanted.correl_id, wanted.group_id
    return (
        (msg_id == descriptor.msg_id or msg_id in _ANY)
        and (correl_id == descriptor.correl_id or correl_id in _ANY)
        and (group_id == descriptor.group_id or group_id in _ANY)
    )


def backed_out(stored: Stored) -> Stored:
    """Returns a message with its backout count one higher."""
    again = stored.descriptor._replace(backout_count=stored.descriptor.backout_count + 1)
    return replace(stored, descriptor=again)
