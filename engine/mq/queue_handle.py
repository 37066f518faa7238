"""Handles: what is remembered of a queue for one that reads it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.descriptor import LAST_MSG_IN_GROUP, MSG_IN_GROUP, NO_ID
from engine.mq.selectors import compile_selector
from engine.work import Selection

if TYPE_CHECKING:
    from engine.mq.queued_message import Stored
    from engine.mq.scans import Scan

SLICE: Final = 1_000  # messages that one look passes over before others have their turn
SCANS: Final = 64  # selectors whose place is remembered
_ALL: Final = Selection()
GROUPED: Final = MSG_IN_GROUP | LAST_MSG_IN_GROUP


class Handle:
    """The group in hand, how far the queue has been browsed, and how far each selector has been looked for.

    `unfinished` says that a look ended before the end of the queue, so that others have their turn: look again.
    `changes` are the handles of one unit of work that remember something since the unit before ended.
    """

    __slots__ = (
        "_kept",
        "_seen",
        "_with_ids",
        "changed",
        "changes",
        "clock",
        "cursor",
        "group",
        "next_number",
        "scans",
        "slice",
        "unfinished",
        "whole",
    )

    def __init__(self, changes: list[Handle] | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.changes = [] if changes is None else changes
        self.group = b""
        self.next_number = 1
        self.whole: frozenset[bytes] = frozenset()  # groups that were whole when the first of them was taken
        self.cursor = -1
        self.changed = False  # since the last unit of work ended
        self.unfinished = False
        self.slice = SLICE
        self.scans: dict[tuple[str, bool], Scan] = {}
        self._seen = 0.0
        self._with_ids = (_ALL, _ALL)  # the selection by a selector that was asked for, and with the ids that it has
        self._kept = (self.group, self.next_number, self.whole)

    def rewind(self, seconds: float) -> None:
        """Browse from the start again, if nothing has been found for so long."""
        if 0 <= seconds <= self.clock() - self._seen:
            self.cursor = -1
            self.scans.clear()

    def note(self, stored: Stored, wanted: Selection) -> None:
        """Remember the message that was found."""
        descriptor = stored.descriptor
        if wanted.browse:
            self.cursor = stored.order
            self._seen = self.clock()
        if not descriptor.msg_flags & GROUPED or descriptor.group_id == NO_ID:
            return
        self.change()
        ends = bool(descriptor.msg_flags & LAST_MSG_IN_GROUP)
        if wanted.logical:
            self.group = b"" if ends else descriptor.group_id
            self.next_number = descriptor.msg_seq_number + 1
        elif wanted.whole_groups:
            self.whole |= {descriptor.group_id}

    def change(self) -> None:
        """Say that the end of the unit of work concerns this handle, which has a group or an order in hand."""
        if not self.changed:
            self.changed = True
            self.changes.append(self)

    def with_ids_of_selector(self, wanted: Selection) -> Selection:
        """Returns the selection with the ids that its selector asks for, so that an index finds them."""
        asked, found = self._with_ids
        if asked is not wanted and asked != wanted:  # one is remembered: who asks by ids asks by others the next time
            selector = compile_selector(wanted.selector)
            ids = {
                name: getattr(wanted, name) or getattr(selector, name) for name in ("msg_id", "correl_id", "group_id")
            }
            found = replace(wanted, **ids)
            self._with_ids = wanted, found
        return found

    def commit(self) -> None:
        """Make what is remembered now what a unit of work that is backed out comes back to."""
        self._kept = (self.group, self.next_number, self.whole)
        self.changed = False

    def back_out(self) -> None:
        """Come back to what was known before the unit of work."""
        self.group, self.next_number, self.whole = self._kept
        self.changed = False
