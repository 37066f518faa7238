"""Metering: what a worker counts of the messages that it takes through a flow, and of the nodes that they meet."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Generator, Iterable
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any, Final

from engine.broker.statistics import slots
from engine.broker.statistics.slots import NodeShape, Slot
from engine.errors import MessageException
from engine.message.received import Received
from engine.node import ANY_TERMINAL, FAILURE

if TYPE_CHECKING:
    from pathlib import Path

    from engine.message.assembly import Message
    from engine.runtime.deployment import DeployedFlow, Outcome, Station
    from engine.work import UnitOfWork

_ELAPSED, _CPU, _SIZE = 0, 1, 2
_EXACT: Final = 64  # messages whose processor time is counted node by node,
_SAMPLED: Final = 16  # and of how many behind them it is one's
_OFTEN: Final = 5_000_000  # nanoseconds after which the processor time of a flow is counted anew
_LEAST_POOL: Final = 4096  # bytes of the file of a flow's threads
OTHER: Final = "other"  # terminals whose names only messages say


def shapes_of(deployed: DeployedFlow) -> list[NodeShape]:
    """Returns the nodes of a flow as they are counted."""
    return [
        NodeShape(
            label,
            f"{station.type.name}Node",
            tuple(station.type.inputs),
            tuple(OTHER if name == ANY_TERMINAL else name for name in station.type.outputs),
        )
        for label, station in deployed.stations.items()
    ]


class Pool:
    """The threads of a flow, each a byte of a file that they share: which of them have a message in hand."""

    __slots__ = ("_marks", "_own", "_size")

    def __init__(self, folder: Path, number: int, size: int) -> None:
        """`number` is that of this thread, from 1, among so many."""
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "pool").open("a+b") as file:
            there = file.seek(0, os.SEEK_END)
            if there < size:  # written, as a page that a full disk has no room for would end the process
                file.write(bytes(max(size, _LEAST_POOL) - there))
                file.flush()
            self._marks = mmap.mmap(file.fileno(), 0)
        self._own, self._size = number - 1, size
        self.end()

    def begin(self) -> bool:
        """Marks that the thread has a message; True where all have one now."""
        self._marks[self._own] = 1
        return self._marks.find(b"\0", 0, self._size) < 0

    def end(self) -> None:
        """Marks that the thread has none any more."""
        self._marks[self._own] = 0


class FlowMeter:
    """Counts the messages of one thread at one of the flow's entrances, in a slot.

    The clock of the thread takes longer to read than all else that is done here for a message. It is read behind each
    of the first messages, and then once in 5 ms. All processor time is counted; between two readings, the waits
    are taken to be as long as one that was measured. Counters are read anew for each message: a worker whose place
    this one takes may have one in hand still.
    """

    __slots__ = (
        *("_busy", "_clock", "_count_of", "_due", "_each", "_elapsed", "_first", "_got", "_lazy", "_looked", "_node"),
        *("_pending", "_pool", "_range", "_receive", "_seen", "_set", "_size", "_slot", "_usual", "_wait", "_words"),
    )

    def __init__(self, slot: Slot, entrance: Station, pool: Pool | None, *, one_by_one: bool = False) -> None:
        """`pool` is that of several threads; one that is alone is always all of them.

        With `one_by_one`, the clock is read behind each message.
        """
        self._pool = pool
        self._lazy = not one_by_one
        self._seen = 0  # messages, until the clock was read,
        self._pending = 0  # and since then;
        self._elapsed = 0  # the time that these took,
        self._first = 0  # the processor time of the wait for the first of them,
        self._wait = 0  # of a usual wait,
        self._each = 0  # and of a message
        self._slot = slot
        self._words = slot.words
        self._count_of, self._set = slot.usual, slot.set_usual
        self._busy = False  # all threads had a message in hand when this one got its own
        node: Any = entrance.node
        self._node = node
        self._receive: Callable[[UnitOfWork], Message | None] = node.receive
        entrance.node = self
        self._size = -1
        self._range: tuple[int, ...] = (-1, 0, 0)  # an interval, and between what processor times lie in it,
        self._usual: tuple[int, ...] = (0,) * 4  # and other times and sizes
        self._got = self._due = 0
        self._looked = perf_counter_ns()
        self._clock = thread_time_ns()

    def __getattr__(self, name: str) -> Any:
        """Returns what the entrance has, in whose place the meter stands."""
        return getattr(self._node, name)

    def receive(self, work: UnitOfWork) -> Message | None:
        """The next message of the entrance."""
        message = self._receive(work)
        self._got = perf_counter_ns()
        if message is None:
            self._size = -1
            return None
        if not self._pending:
            self._waited()
        self._busy = self._pool is None or self._pool.begin()
        source = message.root.source
        self._size = len(source.body) if isinstance(source, Received) else 0
        return message

    def done(self, outcome: Outcome | None) -> None:
        """Counts a receive that has ended: a message with its outcome, or a wait without a message."""
        now, size = perf_counter_ns(), self._size
        if outcome is None or size < 0:
            self._idle(now)
            return
        elapsed = now - self._got
        self._pending += 1
        self._elapsed += elapsed
        if self._pool is not None:
            self._pool.end()
        error = outcome.error
        messages, sizes, commits, busy = self._count_of()
        self._set(messages + 1, sizes + size, commits + (error is None), busy + self._busy)
        if error is not None:
            self._failed(error)
        most, least, longest, shortest = self._usual
        if now >= self._due or not (least <= elapsed <= most and shortest <= size <= longest):
            self._look(now, elapsed, size)
        self._size = -1

    def broken(self, error: Exception) -> None:
        """A get has failed."""
        self._words[slots.MQ_ERRORS] += 1
        self._words[slots.ERRORS] += not isinstance(error, MessageException)
        self._idle(perf_counter_ns())

    def _waited(self) -> None:
        """Note the processor time of a wait, as that of the waits to come; one that stands out is none of many."""
        self._first = waited = thread_time_ns() - self._clock
        self._wait = min(waited, 2 * self._wait) if self._due else waited

    def _look(self, now: int, elapsed: int, size: int) -> None:
        """Count the processor time since the clock was read; the last message took so long, and is of this size."""
        clock, count = thread_time_ns(), self._pending
        spent = whole = clock - self._clock
        spent -= min(self._first + (count - 1) * self._wait, whole)
        own = spent // count
        if count > 1 and 2 * elapsed > now - self._looked:  # most of it is the last message's
            own = max(own, spent - (count - 1) * self._each)
        else:
            self._each = own
        self._count(now, clock, spent)
        self._due = now + _OFTEN if self._lazy and self._seen >= _EXACT else 0
        interval, most_cpu, least_cpu = self._range
        most, least, longest, shortest = self._usual
        within = least <= elapsed <= most and least_cpu <= own <= most_cpu and shortest <= size <= longest
        if not within or interval != self._words[slots.INTERVAL]:
            self._extremes(elapsed, own, size)

    def _idle(self, now: int) -> None:
        """Count the processor time since the clock was read as that of a wait, but for the messages in between."""
        if self._pool is not None:
            self._pool.end()  # a get that has failed may have had a message
        clock = thread_time_ns()
        self._count(now, clock, min(self._pending * self._each, clock - self._clock))
        self._size = -1

    def _count(self, now: int, clock: int, spent: int) -> None:
        """Count the times since the clock was read; so much of its time was spent on messages."""
        words = self._words
        words[slots.ELAPSED] += self._elapsed
        words[slots.ELAPSED_WAITING] += now - self._looked - self._elapsed
        words[slots.CPU] += spent
        words[slots.CPU_WAITING] += clock - self._clock - spent
        self._seen += self._pending
        self._clock, self._looked, self._pending, self._elapsed = clock, now, 0, 0

    def _failed(self, error: Exception) -> None:
        words = self._words
        words[slots.BACKOUTS] += 1
        words[slots.FAILED] += 1
        words[slots.ERRORS] += 1
        words[slots.MQ_ERRORS] += isinstance(error, MessageException)

    def _extremes(self, elapsed: int, cpu: int, size: int) -> None:
        """Note values that are larger or smaller than those before, which few are."""
        words = self._words
        bank = interval_bank(self._slot)
        place = slots.EXTREMES + 6 * bank
        for first in (slots.EXTREMES, place):
            note_extremes(words, first, (elapsed, cpu, size))
        of_elapsed, of_cpu, of_size = (words[at : at + 2].tolist() for at in range(place, place + 6, 2))
        self._range, self._usual = (words[slots.INTERVAL], *of_cpu), (*of_elapsed, *of_size)


def interval_bank(slot: Slot) -> int:
    """Returns which of the two banks the values of this interval go to, 1 or 2, emptied when the interval is new."""
    words = slot.words
    interval = words[slots.INTERVAL]
    odd = interval & 1
    if words[slots.INTERVALS + odd] != interval:
        words[slots.INTERVALS + odd] = interval
        first = slots.EXTREMES + 6 * (1 + odd)
        for place in range(first, first + 6, 2):
            words[place], words[place + 1] = 0, slots.NONE_YET
        for at in slot.places.values():
            first = at + slots.NODE_EXTREMES + 4 * (1 + odd)
            for place in range(first, first + 4, 2):
                words[place], words[place + 1] = 0, slots.NONE_YET
    return 1 + odd


def note_extremes(words: memoryview[int], place: int, values: Iterable[int]) -> None:
    """Keep the largest and the smallest of values, from a place on."""
    for value in values:
        words[place] = max(words[place], value)
        if value < words[place + 1] or words[place + 1] < 0:
            words[place + 1] = value
        place += 2


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


class NodeMeter:
    """Counts what each node of a flow does in one thread: the time that passes in it, and what it sends where.

    The clock of a thread takes longer to read than some nodes work. Behind the first messages it is read for one
    message in a few, whose processor time then counts for all of them.
    """

    __slots__ = ("_cpu", "_current", "_now", "_seen", "_slot", "_weight", "_words")

    def __init__(self, slot: Slot, deployed: DeployedFlow) -> None:
        self._slot = slot
        self._words = slot.words
        self._current = -1
        self._seen = 0
        self._weight = 0  # messages that the processor time of this one counts for
        self._now = self._cpu = 0
        for shape in slot.nodes:
            station = deployed.stations[shape.label]
            station.evaluate = self._metered(station, shape, slot.places[shape.label])

    def _begin(self) -> None:
        """Begin a message: its processor time counts for none, one or several."""
        self._seen = seen = self._seen + 1
        self._weight = 1 if seen <= _EXACT else 0 if seen % _SAMPLED else _SAMPLED

    def _switch(self, place: int) -> int:
        """From now on time counts for the node whose counters stand there; returns for which it did."""
        now, before, words = perf_counter_ns(), self._current, self._words
        if before >= 0:
            words[before + slots.NODE_ELAPSED] += now - self._now
        if weight := self._weight:
            cpu = thread_time_ns()
            if before >= 0:
                words[before + slots.NODE_CPU] += (cpu - self._cpu) * weight
            self._cpu = cpu
        self._now, self._current = now, place
        return before

    def _metered(self, station: Station, shape: NodeShape, place: int) -> Any:
        evaluate = station.evaluate
        terminals = {name: place + slots.NODE_TERMINALS + at for at, name in enumerate(shape.outputs)}
        words, switch, begins = self._words, self._switch, station.type.is_source
        other = terminals.get(OTHER, 0)
        known = [-1, 0, 0, 0, 0]
        if FAILURE in terminals:
            station.listen = self._counting(terminals)

        def measured(message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
            if begins:
                self._begin()
            words[place + slots.COUNT] += 1
            before = switch(place)
            start = words[place + slots.NODE_ELAPSED], words[place + slots.NODE_CPU]
            try:
                evaluation = evaluate(message, work)
                sent = next(evaluation)
                while True:
                    if at := terminals.get(sent[0], other):
                        words[at] += 1
                    try:
                        wired = yield sent  # the nodes behind switch to themselves, and back
                    except BaseException as error:  # whatever it is, the node is to see it
                        sent = evaluation.throw(error)
                    else:
                        sent = evaluation.send(wired)
            except StopIteration:
                return
            finally:
                switch(before)
                self._ended(place, start, known)

        return measured

    def _counting(self, terminals: dict[str, int]) -> Callable[[str, str, Message], None]:
        """Returns a function that counts messages that a station sends to the failure terminal in its node's place."""
        words = self._words

        def heard(label: str, terminal: str, message: Message) -> None:
            words[terminals[terminal]] += 1

        return heard

    def _ended(self, place: int, start: tuple[int, int], known: list[int]) -> None:
        """Note times that are longer or shorter than those `known` of the interval, which few are."""
        words, weight = self._words, self._weight
        elapsed = words[place + slots.NODE_ELAPSED] - start[0]
        interval, most, least, most_cpu, least_cpu = known
        cpu = (words[place + slots.NODE_CPU] - start[1]) // weight if weight else least_cpu
        if least <= elapsed <= most and least_cpu <= cpu <= most_cpu and interval == words[slots.INTERVAL]:
            return
        bank = interval_bank(self._slot)
        first = place + slots.NODE_EXTREMES
        for each in (first, first + 4 * bank):
            note_extremes(words, each, (elapsed, cpu) if weight else (elapsed,))
        known[:] = words[slots.INTERVAL], *words[first + 4 * bank : first + 4 * bank + 4].tolist()
