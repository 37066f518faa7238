"""Analyses of rows: costs beside MQInput/MQOutput and their order, growth with size, curves over numbers."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from engine.costs.results import (
    Key,
    Line,
    Place,
    Results,
    counted,
    divided,
    figure,
    kind,
    lines,
    named,
    published,
    times,
)

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
    try:
        return max(-1.0, min(1.0, statistics.correlation(ranks(one), ranks(other))))
    except statistics.StatisticsError:
        return None


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value in their order, from 1; equal values share the middle of their places.

    >>> ranks([30, 10, 20, 10])
    [4.0, 1.5, 3.0, 1.5]
    """
    inside = sorted(values)
    first = {value: place for place, value in reversed(list(enumerate(inside, 1)))}
    last = {value: place for place, value in enumerate(inside, 1)}
    return [(first[value] + last[value]) / 2 for value in values]


def differing(results: Results) -> list[tuple[Order, Placed]]:
    """Every row that has another place in our order than in the report's, those that moved furthest first."""
    moved = [(order, placed) for order in orders(results) for placed in order.placed if placed.moved]
    return sorted(moved, key=lambda each: -abs(each[1].moved))


def _order(group: list[Relative]) -> Order:
    key = group[0].line.key
    ours, theirs = [each.line.ours or 0 for each in group], [each.line.theirs or 0 for each in group]
    placed = (Placed(*each) for each in zip(group, ranks(ours), ranks(theirs), strict=True))
    return Order(key.message_bytes, key.persistent, tuple(placed), spearman(ours, theirs))


def _published(key: Key) -> float | None:
    found = published().get(key)
    return found.cpu_ms if found else None


Point: TypeAlias = tuple[float, float]

_KIB: Final = 1024


@dataclass(frozen=True, slots=True)
class Fit:
    """The line of least squares: milliseconds for a message, and more for each KiB.

    `explained` is the part of the differences that the line explains, 1 for all (R²).
    """

    base: float
    per_kib: float
    explained: float

    def at(self, kib: float) -> float:
        """Milliseconds for a message of this size."""
        return self.base + self.per_kib * kib


@dataclass(frozen=True, slots=True)
class Growth:
    """A scenario's costs by size (KiB, milliseconds), not persistent, on both systems, and the lines through them."""

    section: str
    scenario: str
    place: Place
    ours: tuple[Point, ...]
    theirs: tuple[Point, ...]

    @property
    def our_fit(self) -> Fit | None:
        """The line through ours."""
        return fit(self.ours)

    @property
    def their_fit(self) -> Fit | None:
        """The line through the report's."""
        return fit(self.theirs)

    @property
    def ratios(self) -> tuple[float | None, float | None]:
        """Returns base and slope of our line beside the report's, where both are more than nothing."""
        ours, theirs = self.our_fit, self.their_fit
        if not ours or not theirs:
            return None, None
        base = divided(ours.base, theirs.base) if min(ours.base, theirs.base) > 0 else None
        return base, divided(ours.per_kib, theirs.per_kib) if min(ours.per_kib, theirs.per_kib) > 0 else None


def fit(points: Sequence[Point]) -> Fit | None:
    """The line of least squares through points; None where they are not of two sizes at least.

    >>> fit([(1, 3.0), (4, 9.0), (16, 33.0)])
    Fit(base=1.0, per_kib=2.0, explained=1.0)
    """
    if len({x for x, _ in points}) < 2:
        return None
    x, y = zip(*points, strict=True)
    per_kib, base = statistics.linear_regression(x, y)
    explained = statistics.correlation(x, y) ** 2 if len(set(y)) > 1 else 1.0
    return Fit(base, per_kib, min(1.0, explained))


def growth(results: Results) -> tuple[Growth, ...]:
    """Every scenario of the results with its costs by size; one with a single size on both systems has no growth."""
    scenarios = dict.fromkeys((line.key.section, line.key.scenario, line.row.place) for line in lines(results))
    found = (_growth(results, *scenario) for scenario in scenarios)
    return tuple(each for each in found if each.our_fit or each.their_fit)


def _growth(results: Results, section: str, scenario: str, place: Place) -> Growth:
    ours = {row.key: row.taken.cpu_ms.median for row in results.rows if row.place == place and row.taken}
    theirs = {key: figures.cpu_ms for key, figures in published().items()}
    return Growth(section, scenario, place, _points(ours, section, scenario), _points(theirs, section, scenario))


def _points(costs: Mapping[Key, float], section: str, scenario: str) -> tuple[Point, ...]:
    points = (
        (key.message_bytes / _KIB, cost)
        for key, cost in costs.items()
        if (key.section, key.scenario, key.persistent) == (section, scenario, False)
    )
    return tuple(sorted(points))


System: TypeAlias = Literal["ours", "report", "spark"]

SCALING: Final[Mapping[str, str]] = MappingProxyType(
    {"7.8.1": "instances of the flow", "7.8.2": "copies of the flow", "7.8.3": "execution groups"}
)
SUBSCRIBERS: Final = ("7.6", "7.11")
_LAST_NUMBER: Final = re.compile(r"(?a:_(\d{1,6})(_subscribers?)?)\Z")


@dataclass(frozen=True, slots=True)
class At:
    """One point of a curve: how many there are, the rate, and what a message costs."""

    number: int
    rate: float
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Curve:
    """One system's figures for one size and persistence, by number."""

    system: System
    message_bytes: int
    persistent: bool
    points: tuple[At, ...]

    @property
    def kind(self) -> str:
        """Size and persistence."""
        return kind(Key("", "", self.persistent, self.message_bytes))

    def gain(self, point: At) -> float | None:
        """Returns how many times the rate of the first point it is."""
        first = self.points[0]
        return divided(point.rate, first.rate) if first.number == 1 else None


def scaling(results: Results, section: str) -> tuple[Curve, ...]:
    """The curves of one of the sections of SCALING: ours, the report's, and Spark's."""
    return _curves(results, lambda key: key.section == section)


def subscribers(results: Results) -> tuple[Curve, ...]:
    """The curves of publications by the number of subscribers, the report's figure 15."""
    return _curves(results, lambda key: key.section in SUBSCRIBERS)


def _curves(results: Results, wanted: Callable[[Key], bool]) -> tuple[Curve, ...]:
    """Curves for the sizes that the results name, measured or not; the report's stand beside them."""
    named = {row.key for row in results.rows if wanted(row.key)}
    kinds = sorted({(key.persistent, key.message_bytes) for key in named})
    points: dict[tuple[System, bool, int], list[At]] = {}
    for system, key, point in _points_of_curves(results):
        if wanted(key) and (key.persistent, key.message_bytes) in kinds:
            points.setdefault((system, key.persistent, key.message_bytes), []).append(point)
    systems: tuple[System, ...] = ("ours", "spark", "report")
    return tuple(
        Curve(system, message_bytes, persistent, tuple(sorted(found, key=lambda at: at.number)))
        for persistent, message_bytes in kinds
        for system in systems
        if (found := points.get((system, persistent, message_bytes)))
    )


def _points_of_curves(results: Results) -> Iterator[tuple[System, Key, At]]:
    for row in results.rows:
        if row.taken and (number := _number(row.key)):
            system: System = "spark" if row.place == "spark" else "ours"
            yield system, row.key, At(number, row.taken.rate.median, row.taken.cpu_ms.median)
    for key, figures in published().items():
        if number := _number(key):
            yield "report", key, At(number, figures.rate, figures.cpu_ms)


def _number(key: Key) -> int:
    found = _LAST_NUMBER.search(key.scenario)
    return int(found[1]) if found else 0


LEAST_CORRELATION: Final = 0.7
_MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """One thing that was to be shown, whether it was, and the figures that say so."""

    name: str
    met: bool
    says: str


def verdicts(results: Results) -> tuple[Verdict, ...]:
    """Everything that can be judged of these results; nothing measured at all is itself not met."""
    found = (*_faster(results), *_alike(results), *_within(results))
    taken = sum(row.taken is not None for row in results.rows)
    says = f"{taken:,} of {counted(len(results.rows), 'row')}, none of which the report has" if taken else "nothing was"
    return found or (Verdict("something was measured", met=taken > 0, says=says),)


def verdict_lines(found: tuple[Verdict, ...]) -> str:
    """Verdicts as text, a line each."""
    return "\n".join(f"{'met    ' if each.met else 'NOT MET'}  {each.name}: {each.says}" for each in found)


def slower(results: Results) -> tuple[Line, ...]:
    """The rows that cost no less processor time than the report's machine spent on them."""
    return tuple(line for line in lines(results) if line.ratio is not None and line.ratio >= 1)


def compared_rows(results: Results) -> tuple[Line, ...]:
    """The measured rows that the report has as well."""
    return tuple(line for line in lines(results) if line.ratio is not None)


def _faster(results: Results) -> Iterator[Verdict]:
    both, behind = compared_rows(results), slower(results)
    if not both:
        return
    says = f"{len(both) - len(behind)} of {counted(len(both), 'row')}"
    if behind:
        worst = sorted(behind, key=lambda line: -(line.ratio or 0))
        says += "; not " + "; ".join(f"{named(line.row)} ({times(line.ratio)})" for line in worst[:_MOST_NAMED])
        says += f"; and {len(worst) - _MOST_NAMED} more" if len(worst) > _MOST_NAMED else ""
    yield Verdict("less processor time than the report's machine", not behind, says)


def _alike(results: Results) -> Iterator[Verdict]:
    """The order of costs is that of all scenarios: a few of them that were chosen have none to keep."""
    chosen = results.options.get("scenarios")
    if chosen is not None and set(chosen) != {key.scenario for key in published()}:
        return
    found = correlation(results)
    if found is not None:
        says = f"rank correlation {found:.2f}, {LEAST_CORRELATION} asked for"
        yield Verdict("costs in the report's order", found >= LEAST_CORRELATION, says)


def _within(results: Results) -> Iterator[Verdict]:
    for each in results.bounds:
        unit = "×" if each.unit == "x" else f" {each.unit}"
        says = f"{figure(each.value)}{unit}, at {'least' if each.at_least else 'most'} {each.bound:,.10g}{unit}"
        yield Verdict(f"{each.group}: {each.name}", each.met, says)
