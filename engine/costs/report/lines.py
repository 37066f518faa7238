"""Lines: each row of the results beside the published one, with what follows from both."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import isfinite

from engine.costs.report.wording import section_order
from engine.costs.results import Key, Published, Results, Row, Taken, published


def divided(one: float | None, other: float | None) -> float | None:
    """A ratio; None where one of both is not there, or the other is nothing or next to it.

    >>> divided(3, 4), divided(3, 0), divided(None, 4), divided(3, 1e-320)
    (0.75, None, None, None)
    """
    ratio = one / other if one is not None and other else None
    return ratio if ratio is not None and isfinite(ratio) else None


@dataclass(frozen=True, slots=True)
class Line:
    """A row, and what the report has for it; a figure that one of both lacks is None."""

    row: Row
    report: Published | None

    @property
    def key(self) -> Key:
        """Returns which row."""
        return self.row.key

    @property
    def taken(self) -> Taken | None:
        """Returns what was measured."""
        return self.row.taken

    @property
    def ours(self) -> float | None:
        """Processor milliseconds a message."""
        return self.row.taken.cpu_ms.median if self.row.taken else None

    @property
    def theirs(self) -> float | None:
        """The report's processor milliseconds a message."""
        return self.report.cpu_ms if self.report else None

    @property
    def ratio(self) -> float | None:
        """Our processor time beside the report's: below 1 is less."""
        return divided(self.ours, self.theirs)

    @property
    def rate_ratio(self) -> float | None:
        """Our rate beside the report's: above 1 is more."""
        rate = self.row.taken.rate.median if self.row.taken else None
        return divided(rate, self.report.rate if self.report else None)

    @property
    def limit(self) -> float | None:
        """Processor milliseconds a message of the program by hand."""
        spread = self.row.taken.limit_ms if self.row.taken else None
        return spread.median if spread else None

    @property
    def times_limit(self) -> float | None:
        """Our processor time beside that of the program by hand."""
        return divided(self.ours, self.limit)


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of one section of the report."""

    number: str
    lines: tuple[Line, ...]


def lines(results: Results) -> tuple[Line, ...]:
    """Every row of the results beside the published one, in the report's order; what it does not have comes behind."""
    scenarios: dict[tuple[str, str], int] = {}
    for key in (*published(), *(row.key for row in results.rows)):
        scenarios.setdefault((key.section, key.scenario), len(scenarios))

    def place(row: Row) -> tuple[object, ...]:
        key = row.key
        scenario = scenarios[key.section, key.scenario]
        return section_order(key.section), scenario, row.place, key.persistent, key.message_bytes

    return tuple(Line(row, published().get(row.key)) for row in sorted(results.rows, key=place))


def sections(results: Results) -> tuple[Section, ...]:
    """The lines by the report's sections."""
    return tuple(Section(number, tuple(each)) for number, each in groupby(lines(results), _number))


def _number(line: Line) -> str:
    return line.key.section
