"""Selection of messages by more than their ids: by selectors, and in the order of groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from engine.descriptor import NO_ID
from engine.mq.properties import RFH2, properties_of
from engine.mq.property_types import Property
from engine.mq.queue_handle import GROUPED
from engine.mq.queued_message import keys_of
from engine.mq.selectors import compile_selector

if TYPE_CHECKING:
    from engine.mq.queue_handle import Handle
    from engine.mq.queued_message import Stored
    from engine.work import Selection

_NO_PROPERTIES: Final[Mapping[str, Property]] = {}


def matches(selector: str, stored: Stored) -> bool:
    """Returns True where a message is what a selector asks for; its properties are read once, if they are asked for."""
    descriptor = stored.descriptor
    properties = _none if descriptor.format != RFH2 else cache(lambda: properties_of(descriptor, stored.body))
    return compile_selector(selector).evaluate(descriptor, properties) is True


def _none() -> Mapping[str, object]:
    return _NO_PROPERTIES


def in_turn(stored: Stored, wanted: Selection, handle: Handle, is_whole: Callable[[bytes], bool]) -> bool:
    """Returns True where a message is the next of its group, or groups do not matter."""
    descriptor = stored.descriptor
    if wanted.browse and stored.order <= handle.cursor:
        return False
    if wanted.logical:
        group, number, _ = handle.in_hand(wanted)
        if group:
            return descriptor.group_id == group and descriptor.msg_seq_number == number
    if not descriptor.msg_flags & GROUPED or descriptor.group_id == NO_ID:
        return True
    if wanted.logical and descriptor.msg_seq_number != 1:
        return False
    return not wanted.whole_groups or descriptor.group_id in handle.in_hand(wanted)[2] or is_whole(descriptor.group_id)


def ends_wait(stored: Stored, wanted: Selection, handle: Handle, is_whole: Callable[[bytes], bool]) -> bool:
    """Returns True where a message that has just come is in turn, or makes a group whole whose first one is."""
    group = stored.descriptor.group_id
    begins = wanted.whole_groups and not (wanted.logical and handle.in_hand(wanted)[0])
    if begins and stored.descriptor.msg_flags & GROUPED and group != NO_ID:
        return group in handle.in_hand(wanted)[2] or is_whole(group)
    return in_turn(stored, wanted, handle, is_whole)


def is_scan(wanted: Selection) -> bool:
    """Returns True where the messages are to be looked at one after the other, whatever ids and groups they have."""
    return not (wanted.logical or wanted.whole_groups or keys_of(wanted)) and wanted.order.mode == "default"
