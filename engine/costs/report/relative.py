"""Relative costs: what scenarios cost beside MQInput/MQOutput on both systems, and how alike the two orders are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from engine.costs.published import published
from engine.costs.report.lines import Line, divided, lines
from engine.costs.results import Key, Results

YARDSTICK: Final = ("7.1", "mq_input_output")
FEWEST: Final = 3  # rows that a rank correlation says anything about


@dataclass(frozen=True, slots=True)
class Relative:
    """A row's cost as a multiple of MQInput/MQOutput's of the same size and persistence, on both systems."""

    line: Line
    ours: float | None
    theirs: float | None

    @property
    def apart(self) -> float | None:
        """Returns how many times as much it costs with us as the report's order has it: 1 is alike."""
        return divided(self.ours, self.theirs)


@dataclass(frozen=True, slots=True)
class Placed:
    """A row with its places in both orders, from 1 for the cheapest; those that cost the same share the middle one."""

    relative: Relative
    ours: float
    theirs: float

    @property
    def moved(self) -> float:
        """Returns how many places further up (dearer) it is with us."""
        return self.ours - self.theirs


@dataclass(frozen=True, slots=True)
class Order:
    """The rows of one size and persistence in both orders, and their rank correlation."""

    message_bytes: int
    persistent: bool
    placed: tuple[Placed, ...]
    correlation: float | None


def relative(results: Results) -> tuple[Relative, ...]:
    """Every row on the broker beside MQInput/MQOutput of its size and persistence; the report has none on Spark."""
    on_broker = [line for line in lines(results) if line.row.place != "spark"]
    own = {line.key: line.ours for line in on_broker}
    return tuple(
        Relative(line, divided(line.ours, own.get(key)), divided(line.theirs, _published(key)))
        for line in on_broker
        for key in [Key(*YARDSTICK, line.key.persistent, line.key.message_bytes)]
    )


def correlation(results: Results) -> float | None:
    """The rank correlation of relative costs over all rows that have one on both systems."""
    both = [each for each in relative(results) if each.ours is not None and each.theirs is not None]
    return spearman([each.ours or 0 for each in both], [each.theirs or 0 for each in both])


def orders(results: Results) -> tuple[Order, ...]:
    """Both orders for each size and persistence; within one, costs stand in the order of relative costs."""
    groups: dict[tuple[bool, int], list[Relative]] = {}
    for each in relative(results):
        if each.line.ours is not None and each.line.theirs is not None:
            groups.setdefault((each.line.key.persistent, each.line.key.message_bytes), []).append(each)
    return tuple(_order(groups[group]) for group in sorted(groups))


def spearman(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's rank correlation; None for fewer than three pairs, or where one side is all the same.

    >>> spearman([1, 2, 3, 4], [10, 20, 30, 40]), spearman([1, 2, 3], [3, 2, 1]), spearman([1, 2], [1, 2])
    (1.0, -1.0, None)
    """
    if len(one) < FEWEST:
        return None
    middle = (len(one) + 1) / 2
    pairs = [(a - middle, b - middle) for a, b in zip(ranks(one), ranks(other), strict=True)]
    spread = sqrt(sum(a * a for a, _ in pairs) * sum(b * b for _, b in pairs))
    return max(-1.0, min(1.0, sum(a * b for a, b in pairs) / spread)) if spread else None


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value in their order, from 1; equal values share the middle of their places.

    >>> ranks([30, 10, 20, 10])
    [4.0, 1.5, 3.0, 1.5]
    """
    inside = sorted(values)
    first = {value: place for place, value in reversed(list(enumerate(inside, 1)))}
    last = {value: place for place, value in enumerate(inside, 1)}
    return [(first[value] + last[value]) / 2 for value in values]


def differing(results: Results) -> Iterator[tuple[Order, Placed]]:
    """Every row that has another place in our order than in the report's, those that moved furthest first."""
    moved = [(order, placed) for order in orders(results) for placed in order.placed if placed.moved]
    return iter(sorted(moved, key=_furthest))


def _furthest(moved: tuple[Order, Placed]) -> float:
    return -abs(moved[1].moved)


def _order(group: list[Relative]) -> Order:
    key = group[0].line.key
    ours, theirs = [each.line.ours or 0 for each in group], [each.line.theirs or 0 for each in group]
    placed = (Placed(*each) for each in zip(group, ranks(ours), ranks(theirs), strict=True))
    return Order(key.message_bytes, key.persistent, tuple(placed), spearman(ours, theirs))


def _published(key: Key) -> float | None:
    found = published().get(key)
    return found.cpu_ms if found else None
