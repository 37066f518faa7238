"""The numbers and ids of messages, of which no two of a queue manager are the same."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, Final, Protocol

from engine.mq.turns import interruption, wait_for

if TYPE_CHECKING:
    from _thread import RLock

_EIGHT_BYTES: Final = (1 << 64) - 1
identifier: Final = struct.Struct(">16sQ").pack  # of the prefix of a queue manager's ids, and their number


class Ids(Protocol):
    """The source of ids that no other message of a queue manager has, whose name it knows."""

    queue_manager: str

    def new_id(self) -> bytes:
        """Return an id that no other message has."""
        ...


class Numbers:
    """Numbers and ids that no other message of a queue manager has."""

    __slots__ = ("_lock", "last", "prefix", "queue_manager", "start")

    def __init__(self, name: str, lock: RLock, last: int = 0) -> None:
        self.queue_manager = name
        self.prefix = b"AMQ " + name.encode("ascii", "replace")[:12].ljust(12)
        self.start = int.from_bytes(os.urandom(8)) >> 1  # so that ids of eight bytes never begin again
        self._lock = lock
        self.last = last

    def next(self, count: int = 1) -> int:
        """Returns the first of so many numbers."""
        lock = self._lock
        try:
            lock.acquire(False) or wait_for(lock)
            first = self.last + 1
            self.last += count
        finally:
            try:
                lock.release()
            except RuntimeError as error:
                raise interruption(error) from None
        return first

    def new_id(self, count: int = 1) -> bytes:
        """Returns the first of so many ids that no other message has; their last eight bytes count up."""
        return self.identifier(self.next(count))

    def identifier(self, number: int) -> bytes:
        """Returns the id of a number: 24 bytes that begin as queue managers begin theirs."""
        return identifier(self.prefix, self.start + number & _EIGHT_BYTES)
