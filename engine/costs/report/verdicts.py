"""Verdicts: what a run must show, and whether it does: bounds, the report's machine, and the order of costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from engine.costs.published import published
from engine.costs.report.analysis import correlation
from engine.costs.report.lines import Line, lines
from engine.costs.report.reading import measured
from engine.costs.report.wording import counted, figure, named, times
from engine.costs.results import Results

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
    for bound in results.bounds:
        each = measured(bound)
        unit = "×" if each.unit == "x" else f" {each.unit}"
        says = f"{figure(each.value)}{unit}, at most {each.bound:,.10g}{unit}"
        yield Verdict(f"{each.group}: {each.name}", each.met, says)
