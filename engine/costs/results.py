"""Results of a run of the node-cost suite, and those of the WMQI V2.1 report (its appendix B) beside them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from math import isfinite
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from engine.costs.measuring import Measured, Spread

FORMAT: Final = 1  # of the JSON form; a reader refuses any other
Place: TypeAlias = Literal["memory", "broker", "spark"]


@dataclass(frozen=True, slots=True)
class Key:
    """The row and table of a result: the names are those of the published ones."""

    section: str
    scenario: str
    persistent: bool
    message_bytes: int


@dataclass(frozen=True, slots=True)
class Run:
    """One run: how long it took, the processor time of this process in it, and how many round trips there were."""

    seconds: float
    cpu_seconds: float
    messages: int


@dataclass(frozen=True, slots=True)
class Node:
    """The cost of one node of the flow a message, in milliseconds of processor time; no label: what is around."""

    label: str
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Taken:
    """One row as it was measured: round trips a second, and processor time by the published formula."""

    runs: int
    messages: int
    drivers: int
    rate: Spread
    cpu_percent: Spread
    cpu_ms: Spread  # cpu_percent of all processors, times their number, over the rate
    limit_ms: Spread | None  # the program by hand for the same work, run in turn with ours
    nodes: tuple[Node, ...]
    rss_mib: float


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: measured, or with the reason why it cannot be yet."""

    key: Key
    place: Place
    taken: Taken | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Results:
    """Everything of one run: where, when and how, the rows, and the figures beside their bounds."""

    machine: Mapping[str, str]
    started: str
    options: Mapping[str, Any]
    rows: tuple[Row, ...]
    bounds: tuple[Measured, ...] = ()

    def data(self) -> dict[str, Any]:
        """The results as JSON has them."""
        return {"format": FORMAT, **asdict(self), "bounds": [each.data() for each in self.bounds]}


MACHINE: Final = "two processors of a 9672-XZ7, OS/390, WMQI V2.1 (2002)"
PROCESSORS: Final = 2


@dataclass(frozen=True, slots=True)
class Published:
    """One row of the report: round trips a second, how busy its processors were, and what a message cost them."""

    rate: float
    cpu_percent: float
    cpu_ms: float


@cache
def published() -> Mapping[Key, Published]:
    """Every row of the report, in its order.

    >>> published()[Key("7.1", "mq_input_output", False, 1024)].cpu_ms
    1.351
    """
    text = files("engine.costs").joinpath("wmqi_v21.csv").read_text(encoding="utf-8")
    return MappingProxyType({_key(row): _figures(row) for row in csv.DictReader(text.splitlines())})


def _key(row: Mapping[str, str]) -> Key:
    return Key(row["section"], row["scenario"], row["persistent"] == "yes", int(row["message_bytes"]))


def _figures(row: Mapping[str, str]) -> Published:
    return Published(float(row["messages_per_s"]), float(row["cpu_percent"]), float(row["cpu_ms_per_message"]))


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


def section_order(section: str) -> tuple[tuple[int, int | str], ...]:
    """Returns what sorts sections as the report does: 7.10 behind 7.9.

    >>> sorted(["7.10", "7.9", "7.2.1", "7.2"], key=section_order)
    ['7.2', '7.2.1', '7.9', '7.10']
    """
    return tuple((0, int(part)) if part.isdecimal() and len(part) < 9 else (1, part) for part in section.split("."))


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
