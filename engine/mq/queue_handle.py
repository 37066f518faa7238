"""Handles: queues as units of work have opened them to get messages."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.descriptor import LAST_MSG_IN_GROUP, MSG_IN_GROUP, NO_ID, SEGMENT
from engine.mq.refusals import inconsistent
from engine.mq.selectors import compile_selector
from engine.work import Selection

if TYPE_CHECKING:
    from engine.mq.protection.policies import Policy
    from engine.mq.queue import Queue
    from engine.mq.queued_message import Stored
    from engine.mq.scans import Scan

SLICE: Final = 1_000  # messages that one look passes over before others have their turn
SCANS: Final = 64  # selectors whose place is remembered
_ALL: Final = Selection()
InHand = tuple[bytes, int, frozenset[bytes]]
_NOTHING: Final[InHand] = (b"", 1, frozenset())
GROUPED: Final = MSG_IN_GROUP | LAST_MSG_IN_GROUP


class Handle:
    """A queue as a unit of work has opened it to get messages, and what is remembered of it.

    That is the group in hand, how far the queue has been browsed, and how far each selector has been looked for.
    `unfinished` says that a look ended before the end of the queue, so that others have their turn: look again.
    `changes` are the handles of one unit of work that remember something since the unit before ended.
    """

    __slots__ = (
        "_browsed",
        "_kept",
        "_seen",
        "_with_ids",
        "changed",
        "changes",
        "cursor",
        "group",
        "is_outside",
        "next_number",
        "policy",
        "queue",
        "scans",
        "seen",
        "slice",
        "unfinished",
        "version",
        "whole",
    )

    def __init__(self, queue: Queue, changes: list[Handle]) -> None:
        self.queue = queue
        self.version = -1  # of the definitions by which it is open
        self.policy: Policy | None = None  # by which its messages are protected
        self.seen = 0  # how many messages had come when nothing was found
        self.changes = changes
        self.group = b""
        self.next_number = 1
        self.is_outside = False  # the group in hand is got outside units of work
        # groups that were whole when their first message was taken, and of which more is to come
        self.whole: frozenset[bytes] = frozenset()
        self.cursor = -1
        self.changed = False  # since the last unit of work ended
        self.unfinished = False
        self.slice = SLICE
        self.scans: dict[tuple[str, bool], Scan] = {}
        self._seen = 0.0
        self._browsed = _NOTHING  # the group in hand of who browses
        self._with_ids = (_ALL, _ALL)  # the selection by a selector that was asked for, and with the ids that it has
        self._kept = (self.group, self.next_number, self.whole)

    def rewind(self, seconds: float) -> None:
        """Browse from the start again, if nothing has been found for so long."""
        if 0 <= seconds <= time.monotonic() - self._seen:
            self.cursor, self._browsed = -1, _NOTHING
            self.scans.clear()

    def in_hand(self, wanted: Selection) -> InHand:
        """Returns the group in hand, the number of its next message, and the groups that were whole.

        Who browses has others than who gets.
        """
        return self._browsed if wanted.browse else (self.group, self.next_number, self.whole)

    def note(self, stored: Stored, wanted: Selection) -> None:
        """Remember the message that was found."""
        descriptor = stored.descriptor
        if wanted.browse:
            self.cursor = stored.order
            self._seen = time.monotonic()
        if not descriptor.msg_flags & GROUPED or descriptor.group_id == NO_ID:
            return
        self.change()
        group, number, whole = self.in_hand(wanted)
        if wanted.logical:
            group = b"" if descriptor.msg_flags & LAST_MSG_IN_GROUP else descriptor.group_id
            number = descriptor.msg_seq_number + 1
        elif wanted.whole_groups:
            whole = whole | {descriptor.group_id} if self._has_more(stored, wanted) else whole - {descriptor.group_id}
        if wanted.browse:
            self._browsed = group, number, whole
        else:
            self.group, self.next_number, self.whole = group, number, whole

    def _has_more(self, stored: Stored, wanted: Selection) -> bool:
        """Returns True where other messages of a group are there; a group that comes later may have its id.

        One that is browsed stays whole, so that its last message ends it, wherever that stands.
        """
        descriptor = stored.descriptor
        if wanted.browse:
            return not descriptor.msg_flags & LAST_MSG_IN_GROUP
        return self.queue.has_another(b"G" + descriptor.group_id, stored)

    def check_group(self, wanted: Selection | None, *, in_unit: bool | None) -> None:
        """Refuse the next message of a group in a unit of work where those before it were not, and the reverse.

        A get that leaves it to the message, whose group is all alike, counts as one in a unit.
        """
        goes_on = self.group and wanted is not None and wanted.logical and not wanted.browse
        if goes_on and (in_unit is False) != self.is_outside:
            raise inconsistent(self.queue.definition.name, was_in_unit=not self.is_outside)

    def note_unit(self, stored: Stored, wanted: Selection | None, *, in_unit: bool | None) -> bool:
        """Remember whether a message of a group was got in a unit of work; outside, it is got for good.

        Returns True for a message that is no segment.
        """
        if wanted is not None and (wanted.logical or wanted.whole_groups):
            if wanted.logical:
                self.is_outside = in_unit is False
            if not (stored.descriptor.persistence if in_unit is None else in_unit):
                group, number, _ = (self.group, self.next_number, b"") if wanted.logical else self._kept
                self._kept = (group, number, self.whole)
        return not stored.descriptor.msg_flags & SEGMENT

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
