"""Dots: rows of marks on one logarithmic scale, each row joined by a line, so that ratios are seen as lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.costs.report.page.chart import LETTER, Entry, legend, line, mark, picture, text
from engine.costs.report.page.markup import Element
from engine.costs.report.page.scales import Log, drawable, log_scale, tick_text
from engine.costs.report.wording import figure

_ROW: Final = 20
_HEAD: Final = 26  # above a group's rows
_TOP: Final = 56
_BOTTOM: Final = 46
_NOTES: Final = 76  # at the right, beside the rows


@dataclass(frozen=True, slots=True)
class Dots:
    """A row: what it is called, the value of each mark, and a word at its end."""

    label: str
    marks: tuple[tuple[Entry, float | None], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under a heading, or without one."""

    heading: str
    rows: tuple[Dots, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: the names of the scale and of the ends of rows, the unit of values, and the width of the chart."""

    label: str
    unit: str
    notes: str
    width: float


def dots(name: str, about: str, axis: Axis, groups: Sequence[Group]) -> Element:
    """The chart."""
    rows = [row for group in groups for row in group.rows]
    values = [value for row in rows for _, value in row.marks if value is not None]
    left = max(60, *(LETTER * len(row.label) + 16 for row in rows), 0) if rows else 60
    scale = log_scale(values, left, axis.width - _NOTES - 14)
    height = _TOP + sum(_ROW * len(group.rows) + (_HEAD if group.heading else 0) for group in groups) + _BOTTOM
    contents = [*_grid(scale, axis, height), *legend(8, 16, _entries(rows))]
    top: float = _TOP
    for group in groups:
        if group.heading:
            contents.append(text(6, top + _HEAD - 9, group.heading, kind="strong"))
            top += _HEAD
        for row in group.rows:
            contents += _drawn(row, scale, top + _ROW / 2, axis)
            top += _ROW
    return picture(name, about, axis.width, height, contents)


def _entries(rows: Sequence[Dots]) -> list[Entry]:
    """The entries that have a mark somewhere."""
    return list(dict.fromkeys(entry for row in rows for entry, value in row.marks if drawable(value)))


def _grid(scale: Log, axis: Axis, height: float) -> Iterator[Element]:
    for tick in scale.ticks():
        x = scale.at(tick)
        yield line(x, _TOP - 4, x, height - _BOTTOM + 4, "grid")
        for y in (_TOP - 10, height - _BOTTOM + 18):
            yield text(x, y, tick_text(tick), kind="tick", anchor="middle")
    yield text((scale.start + scale.end) / 2, height - 8, axis.label, kind="axis", anchor="middle")
    yield text(axis.width - 6, _TOP - 10, axis.notes, kind="tick", anchor="end")


def _drawn(row: Dots, scale: Log, y: float, axis: Axis) -> Iterator[Element]:
    placed = [(entry, value) for entry, value in row.marks if value is not None and drawable(value)]
    yield text(scale.start - 12, y + 4, row.label, kind="label", anchor="end")
    if placed:
        ends = [scale.at(value) for _, value in placed]
        yield line(min(ends), y, max(ends), y, "join")
    for entry, value in reversed(placed):  # the first is drawn last, above the others
        tip = f"{row.label}, {entry.text}: {figure(value)} {axis.unit}"
        yield mark(entry.shape, entry.colour, scale.at(value), y, tip)
    yield text(axis.width - 6, y + 4, row.note, kind="note", anchor="end")
