"""Batches: when a unit of work over several messages is committed, and what follows when one of them fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from engine.message.received import Received

if TYPE_CHECKING:
    from engine.message.assembly import Message
    from engine.work import UnitOfWork

_AGAIN: Final = 1.0  # seconds within which messages that are to be tried again are back, or others have taken them


class Batch:
    """The messages that one instance of a flow has taken since it last committed.

    A unit of work ends behind commitCount messages, after commitInterval seconds, or where the queue is empty; if
    messages are committed by group, only behind the last of a group. When a unit of several messages is backed out,
    each of them is tried again in a unit of its own, and the time it was backed out for another's sake does not count.
    """

    __slots__ = (
        "_by_group",
        "_clock",
        "_count",
        "_group",
        "_group_open",
        "_groups",
        "_interval",
        "_since",
        "_spared",
        "_taken",
    )

    def __init__(
        self, count: int, interval: float = 0.0, *, by_group: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._count = count
        self._interval = interval
        self._by_group = by_group
        self._clock = clock
        self._taken: list[bytes] = []
        self._spared: set[bytes] = set()
        self._since = 0.0
        self._group_open = False
        self._group = b""  # of the last message that was taken
        self._groups: list[bytes] = []

    def received(self, message: Message) -> None:
        """A message has come in."""
        source = message.root.source
        if not isinstance(source, Received):
            return
        if not self._taken:
            self._since = self._clock()
        msg_id = source.descriptor.msg_id
        if msg_id in self._spared and source.descriptor.backout_count:
            source.spared = 1
        self._taken.append(msg_id)
        self._group = source.descriptor.group_id if self._by_group and source.is_of_group else b""
        self._groups.append(self._group)
        self._group_open = self._by_group and source.is_within_group

    def ends(self, message: Message | None, *, patient: bool) -> bool:
        """Returns True when the unit of work is to be committed now; `patient` waits out commitInterval for more."""
        if message is None and not self._taken:
            self._spared.clear()  # no message is left that is to be tried again
        if self._group_open or not self._taken:
            return False
        passed = self._clock() - self._since
        if message is None:
            return not patient or passed >= self._interval
        return bool(self._spared) or len(self._taken) >= self._count or 0 < self._interval <= passed

    @property
    def patience(self) -> float:
        """The seconds that the next get may wait before the unit is to be committed; negative: without end."""
        if self._group_open or not self._taken:
            return _AGAIN if self._spared else -1.0
        return max(0.0, self._interval - (self._clock() - self._since))

    def commit(self, message: Message | None, work: UnitOfWork, *, patient: bool) -> bool:
        """Commit the unit of work, behind a message or where none has come, if that is to be done now."""
        if not self.ends(message, patient=patient):
            return False
        work.commit()
        self._spared.difference_update(self._taken)
        self._taken.clear()
        self._groups.clear()
        return True

    def backed_out(self) -> None:
        """The unit of work has been backed out; a group fails or succeeds as a whole, so none of it is spared."""
        if len(self._taken) > 1:
            taken = zip(self._taken, self._groups, strict=True)
            self._spared.update(msg_id for msg_id, group in taken if not group or group != self._group)
        self._taken.clear()
        self._groups.clear()
        self._group_open = False
