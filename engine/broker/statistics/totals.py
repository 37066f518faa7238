"""Totals: what the slots of a flow add up to, since counting began and in the last interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from engine.broker.statistics import slots
from engine.broker.statistics.slots import NodeShape, Slot


@dataclass(frozen=True, slots=True)
class Extremes:
    """The largest and the smallest of some values; `smallest` is negative where there are none."""

    largest: int = 0
    smallest: int = slots.NONE_YET

    def __add__(self, other: Extremes) -> Extremes:
        known = [value for value in (self.smallest, other.smallest) if value >= 0]
        return Extremes(max(self.largest, other.largest), min(known, default=slots.NONE_YET))


@dataclass(frozen=True, slots=True)
class NodeTotals:
    """The counts of one node."""

    shape: NodeShape
    count: int = 0
    elapsed: int = 0
    cpu: int = 0
    extremes: tuple[Extremes, ...] = (Extremes(), Extremes())
    outputs: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: NodeTotals) -> NodeTotals:
        return NodeTotals(
            other.shape,
            self.count + other.count,
            self.elapsed + other.elapsed,
            self.cpu + other.cpu,
            tuple(one + two for one, two in zip(self.extremes, other.extremes, strict=True)),
            {
                name: self.outputs.get(name, 0) + other.outputs.get(name, 0)
                for name in {**self.outputs, **other.outputs}
            },
        )

    def since(self, before: NodeTotals | None) -> NodeTotals:
        """Returns the counts added since `before`; the extremes stay, as they are those of an interval already."""
        if before is None:
            return self
        outputs = {name: count - before.outputs.get(name, 0) for name, count in self.outputs.items()}
        return replace(
            self,
            count=self.count - before.count,
            elapsed=self.elapsed - before.elapsed,
            cpu=self.cpu - before.cpu,
            outputs=outputs,
        )


@dataclass(frozen=True, slots=True)
class Totals:
    """The counts of one thread of a flow, or of all of them."""

    counts: tuple[int, ...] = (0,) * slots.INTERVALS
    extremes: tuple[Extremes, ...] = (Extremes(), Extremes(), Extremes())
    nodes: Mapping[str, NodeTotals] = field(default_factory=dict)

    @property
    def commits(self) -> int:
        """Returns how many messages were committed: all that were not backed out."""
        return self.counts[slots.MESSAGES] - self.counts[slots.BACKOUTS]

    @property
    def busy(self) -> int:
        """Returns how many messages found all other threads at work."""
        return self.counts[slots.MESSAGES] - self.counts[slots.SPARE]

    def __add__(self, other: Totals) -> Totals:
        nodes = dict(self.nodes)
        for label, node in other.nodes.items():
            nodes[label] = nodes[label] + node if label in nodes else node
        return Totals(
            tuple(map(sum, zip(self.counts, other.counts, strict=True))),
            tuple(one + two for one, two in zip(self.extremes, other.extremes, strict=True)),
            nodes,
        )

    def since(self, before: Totals | None) -> Totals:
        """Returns the counts added since `before`; the extremes stay, as they are those of an interval already."""
        if before is None:
            return self
        counts = tuple(now - then for now, then in zip(self.counts, before.counts, strict=True))
        nodes = {label: node.since(before.nodes.get(label)) for label, node in self.nodes.items()}
        return replace(self, counts=counts, nodes=nodes)


def totals_of(slot: Slot, interval: int | None = None) -> Totals:
    """Returns what a slot holds; the extremes are those of an interval, or without one those of all time."""
    words = slot.words
    bank = 0 if interval is None else 1 + (interval & 1)
    empty = interval is not None and words[slots.INTERVALS + (interval & 1)] != interval

    def extremes(first: int, count: int) -> tuple[Extremes, ...]:
        if empty:
            return (Extremes(),) * count
        places = range(first + 2 * count * bank, first + 2 * count * (bank + 1), 2)
        return tuple(Extremes(words[place], words[place + 1]) for place in places)

    nodes = {
        node.label: NodeTotals(
            node,
            words[at + slots.COUNT],
            words[at + slots.NODE_ELAPSED],
            words[at + slots.NODE_CPU],
            extremes(at + slots.NODE_EXTREMES, len(slots.OF_NODE)),
            {name: words[at + slots.NODE_TERMINALS + place] for place, name in enumerate(node.outputs)},
        )
        for node in slot.nodes
        for at in (slot.places[node.label],)
    }
    counts = (0, *words[1 : slots.INTERVALS].tolist())
    return Totals(counts, extremes(slots.EXTREMES, len(slots.OF_FLOW)), nodes)


def added(found: Iterable[Totals]) -> Totals:
    """Returns the sum of totals."""
    total = Totals()
    for one in found:
        total = total + one
    return total
