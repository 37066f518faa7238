"""Node metering: the time that passes in each node of a flow, and the messages that take each of its wires."""

from __future__ import annotations

from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Final

from engine.broker.statistics import slots
from engine.broker.statistics.extremes import interval_bank, note_extremes
from engine.broker.statistics.slots import NodeShape, Slot
from engine.node import ANY_LABEL, ANY_TERMINAL

if TYPE_CHECKING:
    from engine.message.assembly import Message
    from engine.runtime.deployment import DeployedFlow, Go, Station
    from engine.work import UnitOfWork

_EXACT: Final = 64  # messages whose processor time is counted node by node,
_SAMPLED: Final = 16  # and of how many behind them it is one's
OTHER: Final = "other"  # terminals whose names only messages say


def shapes_of(deployed: DeployedFlow) -> list[NodeShape]:
    """Returns the nodes of a flow as they are counted; the hidden terminals that lead to Labels are not."""
    return [
        NodeShape(
            label,
            f"{station.type.name}Node",
            tuple(station.type.inputs),
            tuple(OTHER if name == ANY_TERMINAL else name for name in station.type.outputs if name != ANY_LABEL),
        )
        for label, station in deployed.stations.items()
    ]


class _Hand:
    """The message in hand: how long the node that has it has worked on it, until the clocks were read last."""

    __slots__ = ("cpu", "cpu_since", "elapsed", "since", "weight")

    def __init__(self) -> None:
        self.elapsed = self.since = self.cpu = self.cpu_since = 0
        self.weight = 0  # messages that the processor time of this one counts for


class _Spent:
    """The times of a node that are not in its slot yet, and between what times all of this interval lie."""

    __slots__ = ("cpu", "elapsed", "least", "least_cpu", "most", "most_cpu", "place")

    def __init__(self, place: int) -> None:
        self.place = place
        self.elapsed = self.cpu = 0
        self.forget()

    def forget(self) -> None:
        """Begin an interval, in which nothing is the longest or the shortest yet."""
        self.most = self.most_cpu = -1
        self.least = self.least_cpu = 0


class NodeMeter:
    """Counts what each node of a flow does in one thread: the time that passes in it, and what it sends where.

    One look at the clock ends a node's time and begins that of the next. The node at which messages enter has the time
    of the commit, too. Invocations are counted as they come, times when the flow's are. The clock of a thread takes
    longer to read than some nodes work: behind the first messages it is read for one in a few, whose processor time
    then counts for all of them.
    """

    __slots__ = ("_entrance", "_hand", "_interval", "_seen", "_slot", "_spent", "_words")

    def __init__(self, slot: Slot, deployed: DeployedFlow, entrance: Station) -> None:
        self._slot = slot
        self._words = slot.words
        self._hand = _Hand()
        self._spent = {label: _Spent(place) for label, place in slot.places.items()}
        self._entrance = self._spent[entrance.label]
        self._interval = -1
        self._seen = 0
        for shape in slot.nodes:
            self._count(deployed.stations[shape.label], shape)

    def _count(self, station: Station, shape: NodeShape) -> None:
        """Have what a node sends counted, on the wires of its terminals and where there are none."""
        first = self._spent[shape.label].place + slots.NODE_TERMINALS
        terminals = {name: first + at for at, name in enumerate(shape.outputs)}
        other = terminals.get(OTHER, 0)
        for name, wires in station.wires.items():
            ends = [self._spent[label] for label in station.ends.get(name, ())]
            sent = [terminals.get(name, other), *(0 for _ in wires[1:])]  # once, on however many wires
            station.wires[name] = tuple(map(self._wire, wires, ends, sent))
        words = self._words

        def stray(terminal: str) -> None:
            if at := terminals.get(terminal, other):
                words[at] += 1

        station.stray = stray

    def begin(self, now: int) -> None:
        """Begin a message that has been received: its processor time counts for none, one or several."""
        hand, words = self._hand, self._words
        hand.since, hand.elapsed = now, 0
        words[self._entrance.place + slots.COUNT] += 1
        self._seen = seen = self._seen + 1
        if seen <= _EXACT or not seen % _SAMPLED:
            hand.weight = 1 if seen <= _EXACT else _SAMPLED
            hand.cpu_since, hand.cpu = thread_time_ns(), 0
        elif hand.weight:
            hand.weight = 0
        if words[slots.INTERVAL] != self._interval:
            self._interval = words[slots.INTERVAL]
            for spent in self._spent.values():
                spent.forget()

    def end(self, now: int) -> None:
        """End a message: the rest of its time is that of the node at which it entered."""
        hand, spent = self._hand, self._entrance
        elapsed = hand.elapsed + now - hand.since
        spent.elapsed += elapsed
        if not spent.least <= elapsed <= spent.most:
            self._extremes(spent, elapsed)
        if hand.weight:
            self._end_cpu(spent, hand.cpu + thread_time_ns() - hand.cpu_since)

    def settle(self) -> None:
        """Write the times to the slot."""
        words = self._words
        for spent in self._spent.values():
            words[spent.place + slots.NODE_ELAPSED] += spent.elapsed
            words[spent.place + slots.NODE_CPU] += spent.cpu
            spent.elapsed = spent.cpu = 0

    def _wire(self, go: Go, spent: _Spent, sent: int) -> Go:
        """Returns a wire that counts its messages for the node at its end, and `sent` for the terminal it begins at."""
        clock, words, hand, count = perf_counter_ns, self._words, self._hand, spent.place + slots.COUNT
        with_cpu, extremes = self._with_cpu(go, spent), self._extremes

        def counted(message: Message, work: UnitOfWork) -> None:
            now = clock()
            before = hand.elapsed + now - hand.since
            hand.elapsed, hand.since = 0, now
            if sent:
                words[sent] += 1
            words[count] += 1
            try:
                if hand.weight:
                    with_cpu(message, work)
                else:
                    go(message, work)
            finally:
                now = clock()
                elapsed = hand.elapsed + now - hand.since
                hand.elapsed, hand.since = before, now
                spent.elapsed += elapsed
                if not spent.least <= elapsed <= spent.most:
                    extremes(spent, elapsed)

        return counted

    def _with_cpu(self, go: Go, spent: _Spent) -> Go:
        """Returns a wire that counts the processor time of the node at its end."""
        clock, hand, end = thread_time_ns, self._hand, self._end_cpu

        def counted(message: Message, work: UnitOfWork) -> None:
            now = clock()
            before = hand.cpu + now - hand.cpu_since
            hand.cpu, hand.cpu_since = 0, now
            try:
                go(message, work)
            finally:
                now = clock()
                own = hand.cpu + now - hand.cpu_since
                hand.cpu, hand.cpu_since = before, now
                end(spent, own)

        return counted

    def _end_cpu(self, spent: _Spent, own: int) -> None:
        """Count the processor time that a node has taken for a message."""
        spent.cpu += own * self._hand.weight
        if not spent.least_cpu <= own <= spent.most_cpu:
            spent.least_cpu, spent.most_cpu = self._noted(spent.place + slots.NODE_EXTREMES + 2, own)

    def _extremes(self, spent: _Spent, elapsed: int) -> None:
        """Note a time that is longer or shorter than those of the interval, which few are."""
        spent.least, spent.most = self._noted(spent.place + slots.NODE_EXTREMES, elapsed)

    def _noted(self, first: int, value: int) -> tuple[int, int]:
        """Note a value that is the largest or the smallest; returns those of the interval, the smallest first."""
        words, of_interval = self._words, first + 4 * interval_bank(self._slot)
        for place in (first, of_interval):
            note_extremes(words, place, (value,))
        most, least = words[of_interval : of_interval + 2].tolist()
        return least, most
