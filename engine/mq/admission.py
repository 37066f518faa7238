"""Admission: what a message is given when it is put, and what it may not be put to."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from engine.descriptor import (
    LAST_SEGMENT,
    NO_ID,
    NON_PERSISTENT,
    PERSISTENT,
    SEGMENT,
    UNLIMITED,
    Descriptor,
)
from engine.errors import MessageException
from engine.flow.put_rules import ASK_NOTHING, MAX_PRIORITY, REQUEST, check_put, defaulted, wrong_expiry
from engine.mq.packed_descriptor import pack, with_whole_ids
from engine.mq.queued_message import Stored, backed_out
from engine.mq.refusals import (
    MSG_TOO_BIG_FOR_Q_MGR,
    full,
    refusal,
    too_long,
)
from engine.mq.reports import REPORTS
from engine.mq.turns import interruption, wait_for

if TYPE_CHECKING:
    from _thread import RLock
    from collections.abc import Callable

    from engine.message.topics import TopicAddress
    from engine.mq.definitions import QueueDefinition
    from engine.mq.expiry import Expiry
    from engine.mq.message_numbers import Ids, Numbers
    from engine.mq.protection.policies import Policy
    from engine.mq.queue import Queue
    from engine.mq.topics.routes import Route
    from engine.mq.unit import Moved
    from engine.work import QueueAttributes

ID_LENGTH: Final = len(NO_ID)
ORDER_BITS: Final = 50  # number the messages of one priority
SEGMENT_UNIT: Final = 16  # segments but the last are so many bytes long, or a multiple
LARGEST: Final = (1 << 31) - 1  # of a number of 32 bits
_PERSISTENCES: Final = (NON_PERSISTENT, PERSISTENT)
_STAMPED: Final = "%Y%m%d%H%M%S"
_USER_APPLICATION: Final = 6  # MQAT_UNIX


class Target:
    """A queue as messages are put to it by a name: its own, or that of an alias, whose defaults count then.

    Where `topic` is set, the name leads to a topic, and the queue is one that holds nothing.
    """

    __slots__ = (
        "attributes",
        "changes_nothing",
        "longest",
        "longest_expiry",
        "name",
        "policy",
        "queue",
        "route",
        "topic",
    )

    def __init__(self, name: str, queue: Queue, definition: QueueDefinition, longest: int) -> None:
        self.name = name
        self.queue = queue
        self.attributes = definition.attributes
        self.longest = longest
        limits = {definition.longest_expiry, queue.definition.longest_expiry} - {0}
        self.longest_expiry = min(limits, default=0)
        self.changes_nothing = queue.stream is None and not limits  # of a message that asks for nothing
        self.policy: Policy | None = None  # by which its messages are protected
        self.topic: TopicAddress | None = None
        self.route: Route | None = None  # of the topic, once it is known


class Admission:
    """The way of a message onto a queue: not available until its unit of work is committed, its place kept."""

    __slots__ = ("_lock", "_stamped_at", "clock", "expiry", "longest", "numbers")

    expiry: Expiry

    def __init__(self, numbers: Numbers, lock: RLock, clock: Callable[[], float] = time.time) -> None:
        self.numbers = numbers
        self.clock = clock
        self.longest = 104_857_600  # MAXMSGL of the queue manager
        self._lock = lock
        self._stamped_at = (-1, ("", ""))

    def admit(self, target: Target, descriptor: Descriptor, body: bytes, context: tuple[str, str]) -> Stored:
        """Returns a message as it will stand on a queue, if the queue can hold it."""
        length, priority, persistence = len(body), descriptor.priority, descriptor.persistence
        if length > target.longest:
            raise self._too_long(target, length)
        if not len(descriptor.msg_id) == len(descriptor.correl_id) == len(descriptor.group_id) == ID_LENGTH:
            descriptor = with_whole_ids(descriptor)
        if not 0 <= priority <= MAX_PRIORITY or persistence not in _PERSISTENCES:
            descriptor = by_default(descriptor, target.attributes)
            priority, persistence = descriptor.priority, descriptor.persistence
        if target.longest_expiry:
            descriptor = limited(descriptor, target.longest_expiry)
        queue, numbers, expires, now = target.queue, self.numbers, 0, self.clock()
        if descriptor.expiry != UNLIMITED:
            expires = expires_at(descriptor.expiry, now)
        number = self._reserved(queue, persistence, length)
        msg_id = descriptor.msg_id
        if msg_id == NO_ID:
            msg_id = numbers.identifier(number)
        stamp = descriptor[19:21] if descriptor.put_date else self.stamped(int(now * 100))
        try:
            own = completed(descriptor, msg_id, stamp, context, numbers)
        except BaseException:  # also where a number is none
            self._give_up(queue, persistence, length)
            raise
        if queue.definition.fifo:
            priority = target.attributes.default_priority
        return Stored((MAX_PRIORITY - priority << ORDER_BITS) + number, own, body, expires)

    def pass_on(self, target: Target, descriptor: Descriptor, body: bytes, context: tuple[str, str]) -> bool:
        """Makes a message available at once that is in memory alone, asks for nothing, and is complete.

        It is complete with its id, when it was put, and by whom. False: nothing is done, it has to be admitted.
        """
        # fmt: off
        (report, message_type, expiry, feedback, _, ccsid, _, priority, persistence, msg_id, _, backouts, reply_to_q,
         reply_to_q_mgr, user, _, _, program_kind, program, date, _, _, _, _, _, flags, _) = descriptor
        # fmt: on
        queue, numbers = target.queue, self.numbers
        if report or persistence or backouts or flags or feedback or expiry != UNLIMITED or not date or msg_id == NO_ID:
            return False
        if not ccsid or (message_type not in ASK_NOTHING and not (message_type == REQUEST and reply_to_q)):
            return False
        if reply_to_q and not reply_to_q_mgr:
            return False
        if context is not _NO_CONTEXT and not (user and program_kind and (program or not context[1])):
            return False
        if queue.definition.fifo:
            priority = target.attributes.default_priority
        if not 0 <= priority <= MAX_PRIORITY or len(body) > target.longest:
            return False
        lock = self._lock
        try:
            lock.acquire(False) or wait_for(lock)
            if queue.depth + queue.reserved >= queue.most:
                return False
            numbers.last = number = numbers.last + 1
            counts = queue.counts
            counts.puts[0] += 1
            counts.put_bytes[0] += len(body)
            order = (MAX_PRIORITY - priority << ORDER_BITS) + number
            queue.put(Stored(order, descriptor, body))
        finally:
            try:
                lock.release()
            except RuntimeError as error:
                raise interruption(error) from None
        return True

    def copy(self, target: Target, stored: Stored) -> Stored:
        """Returns the copy of an admitted message as it will stand on another queue, if that can hold it.

        It is the same in all but its reports and its expiry: what it is given depends on no default of the queue.
        """
        length, descriptor = len(stored.body), stored.descriptor
        if length > target.longest:
            raise self._too_long(target, length)
        queue, expires = target.queue, 0
        if descriptor.report or descriptor.expiry != UNLIMITED:
            descriptor = released(descriptor)
        if target.longest_expiry:
            descriptor = limited(descriptor, target.longest_expiry)
            expires = expires_at(descriptor.expiry, self.clock())
        number = self._reserved(queue, descriptor.persistence, length)
        priority = target.attributes.default_priority if queue.definition.fifo else descriptor.priority
        order = (MAX_PRIORITY - priority << ORDER_BITS) + number
        return Stored(order, descriptor, stored.body, expires)

    def segments(self, target: Target, descriptor: Descriptor, body: bytes, context: tuple[str, str]) -> list[Stored]:
        """Returns a message that may be put in segments as it will stand: in several where it is too long."""
        step = target.longest - target.longest % SEGMENT_UNIT
        if len(body) <= target.longest or not step:
            return [self.admit(target, descriptor, body, context)]
        numbers = self.numbers
        own = descriptor._replace(
            group_id=numbers.identifier(numbers.next()) if descriptor.group_id == NO_ID else descriptor.group_id,
            msg_id=numbers.identifier(numbers.next()) if descriptor.msg_id == NO_ID else descriptor.msg_id,
            original_length=len(body),
        )
        admitted: list[Stored] = []
        try:
            for at in range(0, len(body), step):
                ends = LAST_SEGMENT if at + step >= len(body) else 0
                piece = own._replace(offset=at, msg_flags=own.msg_flags | SEGMENT | ends)
                admitted.append(self.admit(target, piece, body[at : at + step], context))
        except MessageException:
            with self._lock:
                target.queue.reserved -= len(admitted)
            raise
        return admitted

    def apply(self, puts: Moved, taken: Moved) -> None:
        """Make admitted messages available, all at once; those that were taken are gone."""
        lock = self._lock
        try:
            lock.acquire(False) or wait_for(lock)
            for queue, stored in taken:
                if queue.backings:
                    queue.backings[stored.descriptor.persistence].forget(stored)
            for queue, stored in puts:
                queue.reserved -= 1
                queue.put(stored)
                if stored.expires:
                    self.expiry.note(queue, stored)
        finally:
            try:
                lock.release()
            except RuntimeError as error:
                raise interruption(error) from None

    def undo(self, puts: Moved, taken: Moved, *, counted: bool = True) -> None:
        """Forget admitted messages, and put those that were taken back where they were, their backout count higher."""
        with self._lock:
            for queue, _ in puts:
                queue.reserved -= 1
            for queue, stored in taken:
                queue.put(backed_out(stored) if counted else stored)
                if stored.expires:
                    self.expiry.note(queue, stored)

    def _reserved(self, queue: Queue, persistence: int, length: int) -> int:
        """Returns the number of a message that a queue has room for, and counts it."""
        counts, numbers, lock = queue.counts, self.numbers, self._lock
        try:
            lock.acquire(False) or wait_for(lock)
            if queue.depth + queue.reserved >= queue.most:
                counts.puts_failed += 1
                raise full(queue.definition.name, queue.most)
            queue.reserved += 1
            numbers.last = number = numbers.last + 1
            counts.puts[persistence] += 1
            counts.put_bytes[persistence] += length
        finally:
            try:
                lock.release()
            except RuntimeError as error:
                raise interruption(error) from None
        return number

    def _give_up(self, queue: Queue, persistence: int, length: int) -> None:
        """Gives back the place of a message that is refused."""
        counts = queue.counts
        with self._lock:
            queue.reserved -= 1
            counts.puts[persistence] -= 1
            counts.put_bytes[persistence] -= length
            counts.puts_failed += 1

    def _too_long(self, target: Target, length: int) -> MessageException:
        most = target.queue.definition.max_message_length
        target.queue.counts.puts_failed += 1
        if length > most:
            return too_long(target.queue.definition.name, length, most)
        text = f"a message of {length} bytes is longer than the queue manager allows ({target.longest})"
        return refusal(MSG_TOO_BIG_FOR_Q_MGR, text, target.name)

    def stamped(self, moment: int) -> tuple[str, str]:
        """Returns the date and the time of a moment, in hundredths of seconds since 1970."""
        known = self._stamped_at
        if known[0] == moment:
            return known[1]
        stamp = stamp_of(moment)
        self._stamped_at = (moment, stamp)
        return stamp


_NO_CONTEXT: Final = ("", "")


def context_of(user: str, application: str) -> tuple[str, str]:
    """Returns what a message's origin is filled with, user and application; nothing where neither is known."""
    return (user, application) if user or application else _NO_CONTEXT


def by_default(descriptor: Descriptor, attributes: QueueAttributes) -> Descriptor:
    """Returns the descriptor with what it leaves to the queue, as that has it; a priority too high is the highest."""
    given = descriptor.priority, descriptor.persistence
    if 0 <= given[0] <= MAX_PRIORITY and given[1] in _PERSISTENCES:
        return descriptor
    defaults = attributes.default_priority, attributes.default_persistence
    priority, persistence = defaulted(given, defaults)
    return descriptor._replace(priority=priority, persistence=persistence)


def completed(
    descriptor: Descriptor, msg_id: bytes, stamp: tuple[str, str], context: tuple[str, str], ids: Ids
) -> Descriptor:
    """Returns the descriptor with its ids, when it was put, and, where it does not say, who put it.

    Where a reply-to queue is named alone, it is one of this queue manager.
    """
    # fmt: off
    (report, kind, expiry, feedback, encoding, ccsid, form, priority, persistence, own_id, correl_id, backouts, queue,
     queue_manager, user, token, identity, program_kind, program, date, moment, origin, group_id, number, offset,
     flags, length) = descriptor
    numbers = report | kind | feedback | encoding | ccsid | program_kind | number | offset | flags | length + 1
    if not 0 <= numbers <= LARGEST:
        pack(descriptor)  # some that are negative are good; it refuses others
    if report or feedback or flags or not ccsid or kind not in ASK_NOTHING:
        descriptor = check_put(descriptor, ids.new_id)
        ccsid, group_id, flags = descriptor.coded_char_set_id, descriptor.group_id, descriptor.msg_flags
    answered_here = queue and not queue_manager
    if answered_here:
        queue_manager = ids.queue_manager
    if context is not _NO_CONTEXT and not (user and program):
        program_kind = program_kind or (0 if program else _USER_APPLICATION)
        user, program = user or context[0], program or context[1]
    elif msg_id is own_id and not (backouts or answered_here) and (date, moment) == stamp:
        return descriptor  # its client has completed it
    return tuple.__new__(Descriptor, (
        report, kind, expiry, feedback, encoding, ccsid, form, priority, persistence, msg_id, correl_id, 0, queue,
        queue_manager, user, token, identity, program_kind, program, stamp[0], stamp[1], origin, group_id, number,
        offset, flags, length,
    ))
    # fmt: on


def stamp_of(moment: int) -> tuple[str, str]:
    """Returns the date and the time of a moment, in hundredths of seconds since 1970, as a descriptor has them."""
    text = time.strftime(_STAMPED, time.gmtime(moment // 100))
    return text[:8], f"{text[8:]}{moment % 100:02d}"


def limited(descriptor: Descriptor, longest: int) -> Descriptor:
    """Returns a descriptor that expires after so many tenths of a second at the latest.

    >>> [limited(Descriptor(expiry=expiry), 20).expiry for expiry in (50, UNLIMITED, 5)]
    [20, 20, 5]
    """
    if descriptor.expiry == UNLIMITED or descriptor.expiry > longest:
        return descriptor._replace(expiry=longest)
    return descriptor


def released(descriptor: Descriptor) -> Descriptor:
    """Returns the descriptor of a copy: it asks for no reports, and does not expire.

    >>> released(Descriptor(expiry=30, report=0x100 + 0x40)).report
    64
    """
    if descriptor.expiry == UNLIMITED and not descriptor.report & REPORTS:
        return descriptor
    return descriptor._replace(expiry=UNLIMITED, report=descriptor.report & ~REPORTS)


def expires_at(expiry: int, now: float) -> int:
    """Returns the moment, in tenths of seconds since 1970, at which a message of an expiry is no longer delivered."""
    if not 0 < expiry <= LARGEST:
        raise wrong_expiry(expiry)
    return int(now * 10) + expiry
