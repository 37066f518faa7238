"""Cells: the columns of a section's table, as the terminal and the page both show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.costs.report.lines import Line, Section
from engine.costs.report.wording import figure, printable, run_on, span, times
from engine.costs.results import Taken

NOT_YET: Final = "not yet measurable"
HEADS: Final = (
    *("KiB", "pers.", "rate", "CPU %", "CPU ms", "quartiles"),
    *("rate", "CPU ms", "ratio"),
    *("CPU ms", "times"),
    "MiB",
)
GROUPS: Final = (("ours", 2, 6), ("report", 6, 9), ("by hand", 9, 11), ("RSS", 11, 12))  # over which columns
OURS: Final = slice(2, 6)


@dataclass(frozen=True, slots=True)
class Cells:
    """A row's cells under HEADS; of one that is not measured, the number of its reason in the section."""

    line: Line
    texts: tuple[str, ...]
    reason: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of one scenario."""

    name: str
    rows: tuple[Cells, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A section as blocks of cells, with the reasons why rows are not measured."""

    section: Section
    blocks: tuple[Block, ...]
    reasons: tuple[str, ...]


def grid(section: Section) -> Grid:
    """A section's cells."""
    reasons = tuple(dict.fromkeys(_reason(line) for line in section.lines if not line.taken))
    blocks: dict[str, list[Cells]] = {}
    for line in section.lines:
        name = f"{printable(line.key.scenario)}{run_on(line.row.place)}"
        number = 0 if line.taken else reasons.index(_reason(line)) + 1
        blocks.setdefault(name, []).append(Cells(line, _texts(line), number))
    return Grid(section, tuple(Block(name, tuple(rows)) for name, rows in blocks.items()), reasons)


def _reason(line: Line) -> str:
    return printable(line.row.reason) or "no reason given"


def _texts(line: Line) -> tuple[str, ...]:
    report = line.report
    return (
        _kib(line.key.message_bytes),
        "yes" if line.key.persistent else "no",
        *_ours(line.taken),
        figure(report.rate if report else None),
        figure(report.cpu_ms if report else None),
        times(line.ratio),
        figure(line.limit),
        times(line.times_limit),
        figure(line.taken.rss_mib if line.taken else None, 2),
    )


def _ours(taken: Taken | None) -> tuple[str, ...]:
    if not taken:
        return ("", "", "", "")
    spread = taken.cpu_ms
    percent = f"{taken.cpu_percent.median:.1f}"
    return figure(taken.rate.median), percent, figure(spread.median), span(spread.low, spread.high)


def _kib(message_bytes: int) -> str:
    return figure(message_bytes / 1024) if message_bytes % 1024 else f"{message_bytes >> 10}"
