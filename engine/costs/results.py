"""Results: the data that a run of the node-cost suite finds, and that of the WMQI V2.1 report (its appendix B)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

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
class Spread:
    """A figure over repeated runs: the median, and the quartiles about it."""

    median: float
    low: float
    high: float


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
    bounds: tuple[Mapping[str, Any], ...] = field(default=())

    def data(self) -> dict[str, Any]:
        """The results as JSON has them."""
        return {"format": FORMAT, **asdict(self)}


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
