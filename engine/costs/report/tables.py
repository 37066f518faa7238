"""Tables for a terminal or a file: one a section of the report, our figures beside the published ones."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from textwrap import wrap
from typing import Final

from rich.text import Text

from engine.costs import measuring
from engine.costs.report.analysis import verdict_lines, verdicts
from engine.costs.results import (
    Line,
    Results,
    Section,
    Taken,
    counted,
    figure,
    lines,
    run_on,
    sections,
    span,
    times,
    title,
)
from engine.errors import printable

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


WIDTH: Final = 100
_LEGEND: Final = (
    "pers.: persistent · rate: round trips a second · CPU ms: processor milliseconds a message (median, quartiles) · "
    "ratio: our CPU ms beside the report's · by hand: the program written by hand for the same work, and our CPU ms "
    "beside its · RSS: memory of all processes"
)
_STYLES: Final = (
    (r"(?m)^7\.[0-9.]+ .*$", "bold"),
    (r"(?m)^[a-z]\w+( on Spark)?$", "cyan"),
    (r"(?m)^ .*\bKiB  ?pers\..*$", "dim"),
    (r"-{2,} [a-zR].*$", "dim"),
    (r"not yet measurable( \[\d+\])?", "yellow"),
    (r"\bNOT MET\b", "bold red"),
    (r"(?m)\bmet *(?=$|  )", "green"),
)


def tables(results: Results, *, width: int = WIDTH) -> str:
    """Every section as a table of text, then the figures beside their bounds, then what follows from all."""
    found = ["\n".join(_section(grid(section), width)) for section in sections(results)]
    if found:
        found.append("\n".join(wrap(_LEGEND, width)))
    if results.bounds:
        found.append(measuring.table(results.bounds))
    found.append(f"{_summary(results)}\n{verdict_lines(verdicts(results))}")
    return "\n\n".join(found) + "\n"


def terminal_tables(results: Results, *, width: int = WIDTH) -> Text:
    """The same for a terminal, coloured by Rich."""
    text = Text(tables(results, width=width), no_wrap=True, overflow="ignore")
    for pattern, style in _STYLES:
        text.highlight_regex(pattern, style)
    return text


def _summary(results: Results) -> str:
    taken = sum(row.taken is not None for row in results.rows)
    return f"{taken:,} of {counted(len(results.rows), 'row')} measured"


def _section(found: Grid, width: int) -> Iterator[str]:
    rows = [row.texts for block in found.blocks for row in block.rows]
    widths = [max(len(row[column]) for row in [HEADS, *rows]) for column in range(len(HEADS))]
    _widen(widths, found)
    gap = "  " if sum(widths) + 2 * len(widths) <= width else " "
    yield printable(title(found.section.number))
    yield _over(widths, gap)
    yield gap + gap.join(cell.rjust(size) for cell, size in zip(HEADS, widths, strict=True))
    for block in found.blocks:
        yield block.name
        yield from (gap + _row(row, widths, gap) for row in block.rows)
    for reason, text in enumerate(found.reasons, 1):
        yield from wrap(f"[{reason}] {NOT_YET}: {text}", width, subsequent_indent="    ")


def _widen(widths: list[int], found: Grid) -> None:
    """Give the words that stand in place of our figures the room they need."""
    needed = len(f"{NOT_YET} [{len(found.reasons)}]") if found.reasons else 0
    ours = sum(widths[OURS]) + len(widths[OURS]) - 1
    widths[OURS.stop - 1] += max(0, needed - ours)


def _over(widths: list[int], gap: str) -> str:
    """The line above the heads: what belongs to whom, in rules as long as their columns."""
    line = ""
    for name, first, behind in GROUPS:
        start = sum(widths[:first]) + len(gap) * (first + 1)
        room = sum(widths[first:behind]) + len(gap) * (behind - first - 1)
        line = line.ljust(start) + (f" {name} ".center(room, "-") if room > len(name) + 3 else name.rjust(room))
    return line


def _row(row: Cells, widths: list[int], gap: str) -> str:
    cells = [cell.rjust(size) for cell, size in zip(row.texts, widths, strict=True)]
    if row.reason:
        room = sum(widths[OURS]) + len(gap) * (len(widths[OURS]) - 1)
        cells[OURS] = [f"{NOT_YET} [{row.reason}]".rjust(room)]
    return gap.join(cells)


_MEASURED: Final = ("messages_per_s", "cpu_percent", "cpu_ms_per_message", "limit_cpu_ms_per_message")
_COLUMNS: Final = (
    *("section", "scenario", "persistent", "message_bytes", "place", "runs", "messages", "drivers"),
    *(f"{name}{end}" for name in _MEASURED for end in ("", "_low", "_high")),
    *("rss_mib", "report_messages_per_s", "report_cpu_percent", "report_cpu_ms_per_message"),
    *("cpu_ms_ratio_to_report", "rate_ratio_to_report", "cpu_ms_ratio_to_limit", "nodes_cpu_ms", "reason"),
)


def rows_csv(results: Results) -> str:
    """Every row, in the report's order; a cell is empty where there is no figure."""
    stream = StringIO()
    writer = csv.DictWriter(stream, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(dict(_cells(line)) for line in lines(results))
    return stream.getvalue()


def _cells(line: Line) -> Iterator[tuple[str, object]]:
    """The cells of a row that there are figures for, each with its column."""
    key, taken, report = line.key, line.taken, line.report
    yield "section", _inert(key.section)
    yield "scenario", _inert(key.scenario)
    yield "persistent", "yes" if key.persistent else "no"
    yield "message_bytes", key.message_bytes
    yield "place", line.row.place
    if taken:
        yield from (("runs", taken.runs), ("messages", taken.messages), ("drivers", taken.drivers))
        spreads = (taken.rate, taken.cpu_percent, taken.cpu_ms, taken.limit_ms)
        for name, spread in zip(_MEASURED, spreads, strict=True):
            if spread:
                yield from ((name, spread.median), (f"{name}_low", spread.low), (f"{name}_high", spread.high))
        yield from (("rss_mib", taken.rss_mib), ("nodes_cpu_ms", _nodes(taken)))
    if report:
        yield "report_messages_per_s", report.rate
        yield "report_cpu_percent", report.cpu_percent
        yield "report_cpu_ms_per_message", report.cpu_ms
    yield "cpu_ms_ratio_to_report", line.ratio
    yield "rate_ratio_to_report", line.rate_ratio
    yield "cpu_ms_ratio_to_limit", line.times_limit
    yield "reason", _inert(line.row.reason)


def _nodes(taken: Taken) -> str:
    """Returns the cost of each node in the order of the flow, around them last: `In=0.01; Compute=0.2; =0.005`."""
    return _inert("; ".join(f"{node.label}={node.cpu_ms:g}" for node in taken.nodes))


def _inert(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
