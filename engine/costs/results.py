"""Results of a run of the node-cost suite, those of the WMQI V2.1 report beside them, and how both are written."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from math import floor, isfinite, log10
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
    """A row, and what the report has for it; a figure that one of both lacks is None.

    `ours`, `theirs` and `limit` are processor milliseconds a message: ours, the report's, and those of the program by
    hand. Ratios are of ours to the others': of processor time, of rates, and to the program by hand.
    """

    row: Row
    report: Published | None
    ours: float | None
    theirs: float | None
    limit: float | None
    ratio: float | None
    rate_ratio: float | None
    times_limit: float | None

    @property
    def key(self) -> Key:
        """Returns which row."""
        return self.row.key

    @property
    def taken(self) -> Taken | None:
        """Returns what was measured."""
        return self.row.taken


def line_of(row: Row) -> Line:
    """Returns a row beside what the report has for it."""
    taken, report = row.taken, published().get(row.key)
    ours, theirs = taken.cpu_ms.median if taken else None, report.cpu_ms if report else None
    limit = taken.limit_ms.median if taken and taken.limit_ms else None
    rate = divided(taken.rate.median if taken else None, report.rate if report else None)
    return Line(row, report, ours, theirs, limit, divided(ours, theirs), rate, divided(ours, limit))


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

    return tuple(map(line_of, sorted(results.rows, key=place)))


def sections(results: Results) -> tuple[Section, ...]:
    """The lines by the report's sections."""
    groups = groupby(lines(results), key=lambda line: line.key.section)
    return tuple(Section(number, tuple(each)) for number, each in groups)


DASH: Final = "–"
SECTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "7.1": "MQInput and MQOutput",
        "7.2.1": "Simple Compute node",
        "7.2.2": "Complex Compute node",
        "7.2.3": "Five complex Compute nodes",
        "7.2.4": "Very complex Compute node",
        "7.3": "Database node: insert and delete",
        "7.4": "Filter node",
        "7.5.1": "RouteToLabel node, 1 destination",
        "7.5.2": "RouteToLabel node, 100 destinations",
        "7.6": "Publication node, 1 subscriber",
        "7.7": "Conversions between formats",
        "7.8.1": "Additional instances",
        "7.8.2": "Copies of the flow",
        "7.8.3": "Execution groups",
        "7.9": "A transactional flow",
        "7.10": "Coordinated transactions",
        "7.11": "More subscribers",
    }
)
_SMALLEST_PLAIN, _LARGEST_PLAIN = 1e-4, 1e12  # anything beyond is written with an exponent
_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"mq": "MQ", "xml": "XML", "cwf": "CWF", "tds": "TDS", "mrm": "MRM", "x5": "five"}
)


def title(section: str) -> str:
    """A section of the published report with its number and what it is about.

    >>> title("7.4"), title("9.9")
    ('7.4 Filter node', '9.9')
    """
    return f"{section} {SECTIONS.get(section, '')}".strip() or "no section"


def spoken(scenario: str) -> str:
    """A scenario's name with spaces, for headings and beside charts.

    >>> spoken("convert_mrm_xml_to_cwf")
    'convert MRM XML to CWF'
    """
    return " ".join(_WORDS.get(word, word) for word in scenario.split("_"))


def size(message_bytes: int) -> str:
    """A message's size.

    >>> size(16384), size(100)
    ('16 KiB', '100 B')
    """
    return f"{message_bytes} B" if message_bytes % 1024 else f"{message_bytes // 1024} KiB"


def kind(key: Key) -> str:
    """Size and persistence, as they tell the rows of one scenario apart.

    >>> kind(Key("7.4", "filter", True, 1024))
    '1 KiB persistent'
    """
    return f"{size(key.message_bytes)}{' persistent' if key.persistent else ''}"


def run_on(place: Place) -> str:
    """Returns what is behind a scenario's name where it did not run on the broker."""
    return {"spark": " on Spark", "broker": " on a broker"}.get(place, "")


def named(row: Row) -> str:
    """A row in words.

    >>> named(Row(Key("7.8.1", "flow_copies_2", False, 4096), "spark", None))
    'flow_copies_2 on Spark, 4 KiB'
    """
    return f"{row.key.scenario}{run_on(row.place)}, {kind(row.key)}"


def figure(value: float | None, digits: int = 3) -> str:
    """A figure with as many digits as say something; a dash for none.

    >>> figure(0.08123), figure(1.5), figure(23.961), figure(1644.722), figure(0.0), figure(None)
    ('0.0812', '1.50', '24.0', '1,645', '0', '–')
    """
    if value is None:
        return DASH
    if value == 0:
        return "0"
    if not _SMALLEST_PLAIN <= abs(value) < _LARGEST_PLAIN:
        return f"{value:.{digits - 1}e}"
    places = max(0, digits - 1 - floor(log10(abs(value))))
    return f"{value:,.{places}f}"


def span(low: float, high: float) -> str:
    """Two ends of a range, to the same number of places.

    >>> span(0.0812, 0.1204)
    '0.0812–0.1204'
    """
    smaller = min(abs(low), abs(high)) or max(abs(low), abs(high))
    places = max(0, min(6, 2 - floor(log10(smaller)))) if smaller else 0
    return f"{low:,.{places}f}–{high:,.{places}f}"


def times(value: float | None) -> str:
    """A ratio.

    >>> times(0.0613), times(14.2), times(None)
    ('0.061×', '14×', '–')
    """
    return DASH if value is None else f"{figure(value, 2)}×"


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"
