"""Metering: what a worker counts of the messages that it takes through a flow."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.broker.statistics import slots
from engine.broker.statistics.extremes import interval_bank, note_extremes
from engine.broker.statistics.slots import MESSAGES, SIZE, Slot
from engine.errors import MessageException
from engine.message.received import Received

if TYPE_CHECKING:
    from pathlib import Path

    from engine.broker.statistics.node_metering import NodeMeter
    from engine.message.assembly import Message
    from engine.runtime.deployment import Outcome, Station
    from engine.work import UnitOfWork

_EXACT: Final = 64  # messages behind each of which the clock is read
_OFTEN: Final = 10_000_000  # nanoseconds after which the processor time of a flow is counted anew
_LEAST_POOL: Final = 4096  # bytes of the file of a flow's threads


class Pool:
    """The threads of a flow, each a byte of a file that they share: which of them have a message in hand."""

    __slots__ = ("_marks", "_own", "_size")

    def __init__(self, folder: Path, number: int, size: int) -> None:
        """`number` is that of this thread, from 1, among so many."""
        self._marks: mmap.mmap | bytearray = bytearray(size)  # of its own, where the disk has no room
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / "pool").open("a+b", buffering=0) as file:
                there = file.seek(0, os.SEEK_END)
                if there < size:  # written, as a page that a full disk has no room for would end the process
                    file.write(bytes(max(size, _LEAST_POOL) - there))
                if len(mapped := mmap.mmap(file.fileno(), 0)) >= size:
                    self._marks = mapped
        self._own, self._size = number - 1, size
        self.end()

    def begin(self) -> bool:
        """Marks that the thread has a message; True where all have one now."""
        self._marks[self._own] = 1
        return self._marks.find(b"\0", 0, self._size) < 0

    def end(self) -> None:
        """Marks that the thread has none any more."""
        self._marks[self._own] = 0


class _Usual(NamedTuple):
    """The values that no message has to be looked at for: until when, and between what times and sizes."""

    until: int = 0
    most: int = 0
    least: int = 0
    longest: int = 0
    shortest: int = 0


_USUAL: Final = _Usual()


class FlowMeter:
    """Counts the messages of one thread at one of the flow's entrances, in a slot.

    The clock of the thread takes longer to read than all else that is done here for a message. It is read behind each
    of the first messages, and then once in 10 ms. All processor time is counted; between two readings, the waits
    are taken to be as long as one that was measured. Counters are read anew for each message: a worker whose place
    this one takes may have one in hand still.

    What is done for each message is in functions that share variables, where Python finds them soonest.
    """

    __slots__ = (
        *("_clock", "_due", "_each", "_first", "_lazy", "_looked", "_node", "_nodes", "_pool"),
        *("_range", "_seen", "_slot", "_spare", "_usual", "_wait", "_words", "done", "receive"),
    )

    def __init__(
        self,
        slot: Slot,
        entrance: Station,
        pool: Pool | None,
        nodes: NodeMeter | None = None,
        *,
        one_by_one: bool = False,
    ) -> None:
        """`pool` is that of several threads; one that is alone is always all of them. `nodes` are counted, too.

        With `one_by_one`, the clock is read behind each message.
        """
        self._pool = pool
        self._spare = False  # another thread had no message in hand when this one got its own
        self._nodes = nodes
        self._lazy = not one_by_one
        self._seen = 0  # messages, until the clock was read
        self._first = 0  # the processor time of the wait for the first message since then,
        self._wait = 0  # of a usual wait,
        self._each = 0  # and of a message
        self._slot = slot
        self._words = slot.words
        node: Any = entrance.node
        self._node = node
        entrance.node = self
        self._range: tuple[int, ...] = (-1, 0, 0)  # an interval, and between what processor times lie in it
        self._usual = _USUAL
        self.receive: Callable[[UnitOfWork], Message | None]
        self.done: Callable[[Outcome | None], None]
        self.receive, self.done = self._counting(node.receive)
        self._looked = perf_counter_ns()
        self._clock = thread_time_ns()

    def __getattr__(self, name: str) -> Any:
        """Returns what the entrance has, in whose place the meter stands."""
        return getattr(self._node, name)

    def _counting(self, get: Callable[[UnitOfWork], Message | None]) -> tuple[Any, Any]:
        """Returns what gives the next message of the entrance, and what is told of its end, or of a wait."""
        clock, words, begins, ends = perf_counter_ns, self._words, *self._around()
        waited, look, idle, failed = self._waited, self._look, self._idle, self._failed
        got = size = pending = total = 0
        until, most, least, longest, shortest = self._usual

        def receive(work: UnitOfWork) -> Message | None:
            nonlocal got, size
            message = get(work)
            got = clock()
            if message is None:
                return None
            if not pending:
                waited()
            for begin in begins:
                begin(got)
            source = message.root.source
            size = len(source.body) if isinstance(source, Received) else 0
            return message

        def done(outcome: Outcome | None) -> None:
            nonlocal until, most, least, longest, shortest, pending, total
            now = clock()
            if outcome is None:
                idle(now, pending, total)
                pending = total = 0
                return
            elapsed = now - got
            pending += 1
            total += elapsed
            words[MESSAGES] += 1
            words[SIZE] += size
            for end in ends:
                end(now)
            if outcome.error is not None:
                failed(outcome.error)
            if now >= until or not (least <= elapsed <= most and shortest <= size <= longest):
                until, most, least, longest, shortest = look(now, elapsed, size, pending, total)
                pending = total = 0

        return receive, done

    def _around(self) -> tuple[list[Callable[[int], None]], list[Callable[[int], None]]]:
        """Returns what else is told of the moments at which a message begins and ends."""
        nodes = self._nodes
        counted = [] if nodes is None else [(nodes.begin, nodes.end)]
        shared = [] if self._pool is None else [(self._take, self._leave)]
        return [begin for begin, _ in counted + shared], [end for _, end in counted + shared]

    def _take(self, _: int) -> None:
        """Mark that the thread has a message."""
        self._spare = self._pool is not None and not self._pool.begin()

    def _leave(self, _: int) -> None:
        """Mark that it has none any more."""
        if self._pool is not None:
            self._pool.end()
        if self._spare:
            self._words[slots.SPARE] += 1

    def broken(self, error: Exception) -> None:
        """A get has failed."""
        self._words[slots.MQ_ERRORS] += 1
        self._words[slots.ERRORS] += not isinstance(error, MessageException)
        self.done(None)

    def _waited(self) -> None:
        """Note the processor time of a wait, as that of the waits to come; one that stands out is none of many."""
        self._first = waited = thread_time_ns() - self._clock
        self._wait = min(waited, 2 * self._wait) if self._usual.until else waited

    def _look(self, now: int, elapsed: int, size: int, pending: int, total: int) -> _Usual:
        """Count the processor time of pending messages, which took a total of time; the last took `elapsed` of it.

        Returns for which messages that is not to be done at once.
        """
        clock = thread_time_ns()
        spent = whole = clock - self._clock
        spent -= min(self._first + (pending - 1) * self._wait, whole)
        own = spent // pending
        if pending > 1 and 2 * elapsed > now - self._looked:  # most of it is the last message's
            own = max(own, spent - (pending - 1) * self._each)
        else:
            self._each = own
        self._count(now, clock, spent, pending, total)
        until = now + _OFTEN if self._lazy and self._seen >= _EXACT else 0
        interval, most_cpu, least_cpu = self._range
        _, most, least, longest, shortest = self._usual
        within = least <= elapsed <= most and least_cpu <= own <= most_cpu and shortest <= size <= longest
        if not within or interval != self._words[slots.INTERVAL]:
            most, least, longest, shortest = self._extremes(elapsed, own, size)
        self._usual = usual = _Usual(until, most, least, longest, shortest)
        return usual

    def _idle(self, now: int, pending: int, total: int) -> None:
        """Count the processor time since the clock was read as that of a wait, but for the messages in between."""
        if self._pool is not None:
            self._pool.end()  # a get that has failed may have had a message
        clock = thread_time_ns()
        self._count(now, clock, min(pending * self._each, clock - self._clock), pending, total)

    def _count(self, now: int, clock: int, spent: int, pending: int, total: int) -> None:
        """Count the times since the clock was read; so much of its time was spent on messages."""
        words = self._words
        words[slots.ELAPSED] += total
        words[slots.ELAPSED_WAITING] += now - self._looked - total
        words[slots.CPU] += spent
        words[slots.CPU_WAITING] += clock - self._clock - spent
        self._seen += pending
        self._clock, self._looked = clock, now
        if self._nodes is not None:
            self._nodes.settle()

    def _failed(self, error: Exception) -> None:
        words = self._words
        words[slots.BACKOUTS] += 1
        words[slots.FAILED] += 1
        words[slots.ERRORS] += 1
        words[slots.MQ_ERRORS] += isinstance(error, MessageException)

    def _extremes(self, elapsed: int, cpu: int, size: int) -> tuple[int, int, int, int]:
        """Note values that are larger or smaller than those before; returns between what times and sizes all lie."""
        words = self._words
        place = slots.EXTREMES + 6 * interval_bank(self._slot)
        for first in (slots.EXTREMES, place):
            note_extremes(words, first, (elapsed, cpu, size))
        most, least, *of_cpu, longest, shortest = words[place : place + 6].tolist()
        self._range = (words[slots.INTERVAL], *of_cpu)
        return most, least, longest, shortest


class Listening:
    """An entrance that tells what it has received; all else is the node's."""

    __slots__ = ("_node", "_tell")

    def __init__(self, node: Any, tell: Callable[[Message | None], None]) -> None:
        self._node = node
        self._tell = tell

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def receive(self, work: UnitOfWork) -> Message | None:
        """The next message of the entrance."""
        message: Message | None = self._node.receive(work)
        self._tell(message)
        return message
