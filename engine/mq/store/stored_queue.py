"""Shelves: the messages of a queue that are in a store and not in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import lmdb

from engine.errors import MessageException
from engine.mq.queued_message import Stored
from engine.mq.refusals import STORAGE_MEDIUM_FULL, refusal
from engine.mq.store.environment import Environment
from engine.mq.store.keys import LAST
from engine.mq.store.reading import message, messages, with_ids
from engine.mq.store.records import damaged
from engine.mq.store.writing import Counters, write
from engine.mq.store_changes import Record

WINDOW: Final = (100, 1_000_000)  # messages and bytes that are brought into memory at once: others wait meanwhile
OVERFLOWN: Final = (32, 1_000_000)  # of those that memory had no room for, which are removed as they are read
_SMALL: Final = (64, 1_000_000)


class Shelf:
    """The persistent messages of a queue in the store, from the order `first` on; those before it are in memory.

    `held` are messages that are in the store, or on their way, and cannot be got: a unit of work has them. Who reads
    from the first to the end meets as many messages as are counted, unless some came or went meanwhile.
    """

    __slots__ = ("_environment", "_number", "_read", "changes", "count", "first", "held")

    def __init__(self, number: int, environment: Environment, count: int) -> None:
        self._number = number
        self._environment = environment
        self.count = count  # messages that can be got and are not in memory
        self.first = 0 if count else LAST
        self.held: set[int] = set()
        self.changes = 0  # grows when what can be got here becomes more or less
        self._read = (-1, 0, 0)  # up to which order it was read, after which changes, and how many messages were met

    def keeps(self, stored: Stored) -> bool:
        self.changes += 1
        self.held.discard(stored.order)
        if stored.order < self.first:
            return False
        self.count += 1
        return True

    def evict(self, waiting: list[Stored]) -> bool:
        """Let go of messages that were in memory: the last ones, in order."""
        self.changes += 1
        self.count += len(waiting)
        self.first = min(self.first, waiting[0].order)
        return True

    def load(self) -> list[Stored]:
        self.changes += 1
        found, first = messages(self._number, self.first, self._environment, WINDOW, self.held)
        left = self.count - len(found)
        if first == LAST and left:
            raise _short(len(found), self.count)
        self.first, self.count = first, left
        return found

    def with_ids(self, keys: tuple[bytes, ...]) -> Iterator[Stored]:
        order = self.first
        while order < LAST:
            found, order = with_ids(self._number, keys, order, self._environment, self.held)
            yield from found

    def after(self, order: int) -> list[Stored]:
        if self.first == LAST:
            return []
        start = max(order, self.first)
        found, end = messages(self._number, start, self._environment, _SMALL, self.held)
        read, changes, met = self._read
        if start == self.first:
            read, changes, met = start, self.changes, 0
        if read == start and changes == self.changes:
            met += len(found)
            if end == LAST and met != self.count:
                raise _short(met, self.count)
            self._read = (found[-1].order + 1 if found else end, changes, met)
        return found

    def look(self, order: int) -> Stored | None:
        if order < self.first or order in self.held:
            return None
        return message(self._number, order, self._environment)

    def withdraw(self, stored: Stored) -> None:
        self.changes += 1
        self.held.add(stored.order)
        self.count -= 1

    def take(self, stored: Stored) -> None:
        self.held.add(stored.order)

    def forget(self, stored: Stored) -> None:
        self.held.discard(stored.order)


class Overflow:
    """The non-persistent messages of a queue for which memory has no room, in an environment that a crash discards.

    A message is here or in memory, never in both.
    """

    __slots__ = ("_environment", "_number", "count", "first")

    def __init__(self, number: int, environment: Environment, count: int) -> None:
        self._number = number
        self._environment = environment
        self.count = count
        self.first = 0 if count else LAST

    def keeps(self, stored: Stored) -> bool:
        return stored.order >= self.first and self.evict([stored])

    def evict(self, waiting: list[Stored]) -> bool:
        """Write messages that were in memory: the last ones, in order; a full disk leaves them there."""
        try:
            self._write(Record(puts=[(self._number, stored) for stored in waiting], shares=False))
        except MessageException:
            return False
        self.count += len(waiting)
        self.first = min(self.first, waiting[0].order)
        return True

    def load(self) -> list[Stored]:
        found, first = messages(self._number, self.first, self._environment, OVERFLOWN, ())
        self._write(Record(removals=[(self._number, stored) for stored in found]))
        self.first = first
        self.count = self.count - len(found) if first != LAST else 0
        return found

    def with_ids(self, keys: tuple[bytes, ...]) -> Iterator[Stored]:
        order = self.first
        while order < LAST:
            found, order = with_ids(self._number, keys, order, self._environment, ())
            yield from found

    def after(self, order: int) -> list[Stored]:
        if self.first == LAST:
            return []
        return messages(self._number, max(order, self.first), self._environment, _SMALL, ())[0]

    def look(self, order: int) -> Stored | None:
        return message(self._number, order, self._environment) if order >= self.first else None

    def withdraw(self, stored: Stored) -> None:
        self._write(Record(removals=[(self._number, stored)]))
        self.count -= 1

    def take(self, stored: Stored) -> None:
        """Nothing is to be remembered: a message in a unit of work is in memory."""

    def forget(self, stored: Stored) -> None:
        """Nothing was remembered."""

    def _write(self, record: Record) -> None:
        try:
            with self._environment.begin() as transaction:
                write([record], transaction, self._environment, Counters())
        except lmdb.Error as error:
            text = f"messages that memory has no room for cannot be written or removed ({error}): make room on the disk"
            raise refusal(STORAGE_MEDIUM_FULL, text) from error


def _short(found: int, counted: int) -> MessageException:
    return damaged(f"a queue has {found} messages at its end, and should have {counted}")
