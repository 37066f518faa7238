"""Selection of the messages of a queue by more than their ids: by selectors, and in the order of groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final
from weakref import ref

from engine.descriptor import NO_ID
from engine.mq.properties import RFH2, properties_of
from engine.mq.property_types import Property
from engine.mq.queue_handle import GROUPED, SCANS
from engine.mq.queued_message import has_ids, keys_of
from engine.mq.scans import Scan
from engine.mq.selectors import compile_selector

if TYPE_CHECKING:
    from engine.mq.queue import Queue
    from engine.mq.queue_handle import Handle
    from engine.mq.queued_message import Stored
    from engine.mq.waiters import Waiter
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


def chosen(queue: Queue, wanted: Selection, handle: Handle) -> Stored | None:
    """Returns the first message that is wanted, in turn, and in nobody else's hand."""
    if wanted.browse:
        handle.rewind(wanted.rewind)
    handle.unfinished = False
    wanted = handle.with_ids_of_selector(wanted) if wanted.selector else wanted
    stored = _scanned(queue, wanted, handle) if is_scan(wanted) else _in_order(queue, wanted, handle)
    if stored is None:
        return None
    key = wanted.order.key(stored.descriptor)
    if key is not None and not wanted.browse:
        queue.in_hand[key] = handle
        handle.change()
    handle.note(stored, wanted)
    if not wanted.browse:
        queue.withdraw(stored)
    return stored


def _scanned(queue: Queue, wanted: Selection, handle: Handle) -> Stored | None:
    """Returns the next message that a selector wants, from where the look before this ended."""
    scan = handle.scans.get((wanted.selector, wanted.browse))
    if scan is None:
        scan = Scan(queue.orders_in_memory(), onward=wanted.browse)
        if len(handle.scans) >= SCANS:
            del handle.scans[next(iter(handle.scans))]
        handle.scans[wanted.selector, wanted.browse] = scan
        queue.scans.append(ref(scan))
    for _ in range(handle.slice):
        stored = scan.following(queue)
        if stored is None:
            return None
        if queue.is_late(stored):
            queue.drop(stored)
        elif not wanted.selector or matches(wanted.selector, stored):
            return stored
    handle.unfinished = True
    return None


def _in_order(queue: Queue, wanted: Selection, handle: Handle) -> Stored | None:
    keys = keys_of(wanted)
    if wanted.logical and (group := handle.in_hand(wanted)[0]):
        keys = (*keys, b"G" + group)
    stored = queue.find(wanted, keys) if keys else queue.first()
    if stored is not None and not queue.is_late(stored) and _suits(queue, stored, wanted, handle):
        return stored
    late: list[Stored] = []
    found = None
    for one in queue.with_ids(keys) if keys else queue.walk(handle.cursor if wanted.browse else -1):
        if queue.is_late(one):
            late.append(one)
        elif _suits(queue, one, wanted, handle):
            found = one
            break
    for one in late:
        queue.drop(one)
    return found


def _suits(queue: Queue, stored: Stored, wanted: Selection, handle: Handle) -> bool:
    is_next = has_ids(stored.descriptor, wanted) and in_turn(stored, wanted, handle, queue.is_whole)
    return is_next and _may_have(queue, stored, wanted, handle)


def _may_have(queue: Queue, stored: Stored, wanted: Selection, handle: Handle) -> bool:
    if wanted.selector and not matches(wanted.selector, stored):
        return False
    key = wanted.order.key(stored.descriptor)
    return key is None or queue.in_hand.get(key, handle) is handle


def is_wanted(stored: Stored, waiter: Waiter) -> bool:
    """Returns True where a message that has just come may be what one waits for."""
    wanted, handle = waiter.selection, waiter.handle
    if wanted is None:
        return True
    queue = handle.queue
    if not has_ids(stored.descriptor, wanted) or not ends_wait(stored, wanted, handle, queue.is_whole):
        return False
    return wanted.plain or _may_have(queue, stored, wanted, handle)
