"""Queues as a client knows them: puts that need not ask are admitted by the rules of the queue manager itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from engine.descriptor import NO_ID, NON_PERSISTENT, PERSISTENT, SEGMENTATION_ALLOWED, UNLIMITED, Descriptor
from engine.flow.put_rules import MAX_PRIORITY
from engine.mq.admission import by_default, completed, stamp_of
from engine.mq.served_manager import Facts

_LEAST_ROOM: Final = 64  # messages that a queue must still take for a put not to ask
_IDS: Final = 4096  # reserved at once
_PERSISTENCES: Final = (NON_PERSISTENT, PERSISTENT)
_COUNTER: Final = 8  # bytes at the end of an id that count


class ReservedNumbers:
    """Ids that no other message of the queue manager has, reserved there many at a time."""

    __slots__ = ("_left", "_lock", "_next", "_prefix", "_reserve", "queue_manager")

    def __init__(self, reserve: Callable[[int], bytes], queue_manager: str = "") -> None:
        self.queue_manager = queue_manager
        self._reserve = reserve
        self._lock = threading.Lock()
        self._prefix = b""
        self._next = 0
        self._left = 0

    def new_id(self) -> bytes:
        """Returns an id that no other message has."""
        with self._lock:
            if not self._left:
                first = self._reserve(_IDS)
                self._prefix, self._next = first[:-_COUNTER], int.from_bytes(first[-_COUNTER:])
                self._left = _IDS
            self._left -= 1
            self._next += 1
            return self._prefix + (self._next - 1 & (1 << 64) - 1).to_bytes(_COUNTER)


class Known:
    """The facts of a queue that a client was told at its last answered put; `changes` says when, `name` in UTF-8."""

    __slots__ = ("_context", "_facts", "_room", "_stamped", "changes", "name")

    def __init__(self, name: bytes, facts: Facts, changes: int, context: tuple[str, str]) -> None:
        self.name = name
        self.changes = changes
        self._facts = facts
        self._context = context
        self._room = facts.room // 2  # others put as well
        self._stamped = (-1, ("", ""))

    def takes(self, descriptor: Descriptor, length: int) -> bool:
        """Returns True where there is nothing in a message that the queue might refuse."""
        return (
            self._room > _LEAST_ROOM
            and length <= self._facts.longest
            and (descriptor.expiry > 0 or descriptor.expiry == UNLIMITED)
            and not descriptor.msg_flags & SEGMENTATION_ALLOWED
        )

    def admitted(self, descriptor: Descriptor, numbers: ReservedNumbers) -> Descriptor:
        """Returns a descriptor as the queue will have it."""
        self._room -= 1
        if not 0 <= descriptor.priority <= MAX_PRIORITY or descriptor.persistence not in _PERSISTENCES:
            descriptor = by_default(descriptor, self._facts.attributes)
        stamp = (descriptor.put_date, descriptor.put_time) if descriptor.put_date else self._stamp()
        msg_id = numbers.new_id() if descriptor.msg_id == NO_ID else descriptor.msg_id
        return completed(descriptor, msg_id, stamp, self._context, numbers)

    def _stamp(self) -> tuple[str, str]:
        """Returns the date and the time of now, which are made once for each hundredth of a second."""
        moment = int(time.time() * 100)
        if self._stamped[0] != moment:
            self._stamped = moment, stamp_of(moment)
        return self._stamped[1]
