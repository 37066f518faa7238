"""Growth: what a message costs as such and what each KiB of it adds, by a line fitted to the sizes measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from engine.costs.published import published
from engine.costs.report.lines import lines
from engine.costs.results import Key, Place, Results

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


def fit(points: Sequence[Point]) -> Fit | None:
    """The line of least squares through points; None where they are not of two sizes at least.

    >>> fit([(1, 3.0), (4, 9.0), (16, 33.0)])
    Fit(base=1.0, per_kib=2.0, explained=1.0)
    """
    if len({x for x, _ in points}) < 2:
        return None
    middle_x, middle_y = (sum(each) / len(points) for each in zip(*points, strict=True))
    square_x = sum((x - middle_x) ** 2 for x, _ in points)
    square_y = sum((y - middle_y) ** 2 for _, y in points)
    per_kib = sum((x - middle_x) * (y - middle_y) for x, y in points) / square_x
    explained = per_kib**2 * square_x / square_y if square_y else 1.0
    return Fit(middle_y - per_kib * middle_x, per_kib, min(1.0, explained))


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
