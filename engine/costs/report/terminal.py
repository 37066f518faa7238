"""Tables for a terminal or a file: one a section of the report, our figures beside the published ones."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

from rich.text import Text

from engine.costs import bounds
from engine.costs.report.cells import GROUPS, HEADS, NOT_YET, OURS, Cells, Grid, grid
from engine.costs.report.lines import sections
from engine.costs.report.reading import measured
from engine.costs.report.verdicts import verdict_lines, verdicts
from engine.costs.report.wording import counted, printable, title
from engine.costs.results import Results

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
        found.append(bounds.table([measured(each) for each in results.bounds]))
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
