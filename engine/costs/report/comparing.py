"""Comparing: what has changed from one run to a later one, beyond what repeated runs differ by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, Final, Literal, TypeAlias

from engine.costs.measuring import Spread, aligned
from engine.costs.results import Results, Row, counted, divided, figure, kind, lines, named, run_on, span, times

_MOST_NAMED: Final = 5

Figure: TypeAlias = Literal["cpu_ms", "rate"]

LEAST_CHANGE: Final = 0.05
DRIFT: Final = 0.1  # by which programs by hand may differ before machines are said to


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of one row in both runs.

    It is beyond the spread when two things hold: the ranges between the quartiles do not overlap, so that not even
    the nearer quartiles of both runs meet, and the medians differ by more than 5 % of the earlier one. Either alone
    is no change: a busy minute moves the median of a wide range, and a quiet machine has ranges so narrow that a
    difference that no one would notice lies outside.
    """

    row: Row
    figure: Figure
    old: Spread
    new: Spread

    @property
    def ratio(self) -> float | None:
        """The later median beside the earlier one."""
        return divided(self.new.median, self.old.median)

    @property
    def beyond_spread(self) -> bool:
        """Returns whether the figure has changed by more than repeated runs differ."""
        apart = self.new.low > self.old.high or self.new.high < self.old.low
        return apart and abs(self.new.median - self.old.median) > LEAST_CHANGE * self.old.median

    @property
    def better(self) -> bool:
        """Returns whether the later figure is the better one: less processor time, or a higher rate."""
        lower, higher = self.old.median > self.new.median, self.old.median < self.new.median
        return higher if self.figure == "rate" else lower


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs: figures of rows measured in both, rows measured in one only, and what makes them hard to compare."""

    old_started: str
    new_started: str
    changes: tuple[Change, ...]
    appeared: tuple[Row, ...]
    vanished: tuple[Row, ...]
    warnings: tuple[str, ...]

    @property
    def flagged(self) -> tuple[Change, ...]:
        """The changes beyond the spread, the worst first."""
        found = [change for change in self.changes if change.beyond_spread]
        return tuple(sorted(found, key=lambda change: (change.better, -_size(change))))


def compare(old: Results, new: Results) -> Comparison:
    """Returns what has changed from `old` to `new`."""
    before = {(line.key, line.row.place): line.row for line in lines(old) if line.taken}
    after = {(line.key, line.row.place): line.row for line in lines(new) if line.taken}
    both = [(before[name], row) for name, row in after.items() if name in before]
    return Comparison(
        old_started=old.started,
        new_started=new.started,
        changes=tuple(change for pair in both for change in _changes(*pair)),
        appeared=tuple(row for name, row in after.items() if name not in before),
        vanished=tuple(row for name, row in before.items() if name not in after),
        warnings=(*_machines(old, new), *_options(old, new), *_drift(both)),
    )


def changes_table(comparison: Comparison) -> str:
    """A comparison as text: warnings, what changed beyond the spread, and rows that appeared or vanished."""
    flagged, rows = comparison.flagged, len(comparison.changes) // 2
    found = [f"Compared with the run of {comparison.old_started}: {counted(rows, 'row')} measured in both"]
    found += (f"  warning: {warning}" for warning in comparison.warnings)
    found.append(f"  {counted(len(flagged), 'figure')} changed beyond the spread")
    if flagged:
        head = ("row", "figure", "before", "quartiles", "now", "quartiles", "now/before", "")
        told = ((*texts, f"{judged:6}") for *texts, judged in map(cells, flagged))
        found += (f"  {line}" for line in aligned([head, *told], words=2))
    for word, rows_of in (("appeared", comparison.appeared), ("vanished", comparison.vanished)):
        found += (f"  {word}: {scenario}" for scenario in by_scenario(rows_of))
    return "\n".join(found) + "\n"


def by_scenario(rows: Iterable[Row]) -> Iterator[str]:
    """Rows in words, those of one scenario together."""
    kinds: dict[str, list[str]] = {}
    for row in rows:
        kinds.setdefault(f"{row.key.scenario}{run_on(row.place)}", []).append(kind(row.key))
    return (f"{scenario}, {' and '.join(found)}" for scenario, found in kinds.items())


def cells(change: Change) -> tuple[str, ...]:
    """A change in words: its row, its figure, medians and quartiles before and now, their ratio, and a verdict."""
    name = {"cpu_ms": "CPU ms", "rate": "rate"}[change.figure]
    old, new = change.old, change.new
    ranges = [(figure(each.median), span(each.low, each.high)) for each in (old, new)]
    return (
        named(change.row),
        name,
        *ranges[0],
        *ranges[1],
        times(change.ratio),
        "better" if change.better else "WORSE",
    )


def _changes(old: Row, new: Row) -> Iterator[Change]:
    if old.taken and new.taken:
        yield Change(new, "cpu_ms", old.taken.cpu_ms, new.taken.cpu_ms)
        yield Change(new, "rate", old.taken.rate, new.taken.rate)


def _size(change: Change) -> float:
    ratio = change.ratio or 1
    return max(ratio, divided(1, ratio) or ratio)


def _machines(old: Results, new: Results) -> Iterator[str]:
    for name in sorted({*old.machine, *new.machine}):
        before, after = old.machine.get(name, "not said"), new.machine.get(name, "not said")
        if before != after:
            yield f"the machines differ in {name}: {before}, now {after}"


def _options(old: Results, new: Results) -> Iterator[str]:
    for name in sorted({*old.options, *new.options}):
        before, after = old.options.get(name), new.options.get(name)
        if before != after:
            yield f"the runs were made differently in {name}: {_difference(before, after)}"


def _difference(before: Any, after: Any) -> str:
    """Returns what became of an option; of a list, what came and what went."""
    if not isinstance(before, list) or not isinstance(after, list):
        return f"{before}, now {after}"
    found = (("now with", after, before), ("now without", before, after))
    parts = [f"{words} {_some(only)}" for words, one, other in found if (only := [x for x in one if x not in other])]
    return " and ".join(parts) or "in another order"


def _some(values: list[Any]) -> str:
    more = f" and {len(values) - _MOST_NAMED} more" if len(values) > _MOST_NAMED else ""
    return ", ".join(map(str, values[:_MOST_NAMED])) + more


def _drift(both: list[tuple[Row, Row]]) -> Iterator[str]:
    """Programs by hand are the same work in both runs: where they take longer, the machine is slower or busier."""
    pairs = [(old.taken.limit_ms, new.taken.limit_ms) for old, new in both if old.taken and new.taken]
    found = [divided(new.median, old.median) for old, new in pairs if old and new]
    ratios = [ratio for ratio in found if ratio is not None]
    if ratios and not 1 - DRIFT <= (moved := median(ratios)) <= 1 + DRIFT:
        yield f"the programs by hand took {times(moved)} what they took before: the machine is another, or busier"
