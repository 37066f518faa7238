"""The numbers and ids of messages, of which no two of a queue manager are the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _thread import RLock

EIGHT_BYTES: Final = (1 << 64) - 1


class Numbers:
    """Numbers and ids that no other message of a queue manager has."""

    __slots__ = ("_lock", "last", "prefix", "start")

    def __init__(self, name: str, lock: RLock, last: int = 0) -> None:
        self.prefix = b"AMQ " + name.encode("ascii", "replace")[:12].ljust(12)
        self.start = int.from_bytes(os.urandom(8))
        self._lock = lock
        self.last = last

    def next(self, count: int = 1) -> int:
        """Returns the first of so many numbers."""
        with self._lock:
            first = self.last + 1
            self.last += count
        return first

    def new_id(self, count: int = 1) -> bytes:
        """Returns the first of so many ids that no other message has; their last eight bytes count up."""
        return self.identifier(self.next(count))

    def identifier(self, number: int) -> bytes:
        """Returns the id of a number: 24 bytes that begin as queue managers begin theirs."""
        return self.prefix + (self.start + number & EIGHT_BYTES).to_bytes(8)
