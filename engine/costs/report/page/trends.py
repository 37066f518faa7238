"""Trends: points and lines over a number, such as a size or how many there are of something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.costs.report.page.chart import Entry, legend, line, mark, picture, text
from engine.costs.report.page.markup import Element, element
from engine.costs.report.page.scales import Scale, tick_text

_LEFT: Final = 52
_RIGHT: Final = 14


@dataclass(frozen=True, slots=True)
class Frame:
    """The frame of a chart: its size, the bounds of its plot, and the names of its axes."""

    width: float
    height: float
    top: float
    x_label: str
    y_label: str

    @property
    def left(self) -> float:
        """Returns where the plot begins."""
        return _LEFT

    @property
    def right(self) -> float:
        """Returns where the plot ends."""
        return self.width - _RIGHT

    @property
    def bottom(self) -> float:
        """Returns where the plot ends below."""
        return self.height - (40 if self.x_label else 22)


@dataclass(frozen=True, slots=True)
class Trend:
    """Points with what each says, and the line to be drawn with them, which may be another than from point to point."""

    entry: Entry
    points: tuple[tuple[float, float, str], ...]
    course: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """The plot of a chart: its points, its scales, and the values marked on the axis at the foot."""

    trends: tuple[Trend, ...]
    x: Scale
    y: Scale
    x_ticks: tuple[float, ...]
    entries: tuple[Entry, ...] = ()


def trends(name: str, about: str, frame: Frame, plot: Plot) -> Element:
    """The chart."""
    contents = [*_legend_rows(frame, plot.entries), *_grid(frame, plot)]
    for trend in plot.trends:
        contents += _course(trend, plot)
    for trend in plot.trends:
        contents += (
            mark(trend.entry.shape, trend.entry.colour, plot.x.at(x), plot.y.at(y), tip) for x, y, tip in trend.points
        )
    return picture(name, about, frame.width, frame.height, contents)


def legend_height(frame_width: float, entries: Sequence[Entry]) -> float:
    """Returns how much room the legend needs above a plot."""
    return 20.0 * len(_rows(frame_width, entries)) + 16


def _legend_rows(frame: Frame, entries: Sequence[Entry]) -> Iterator[Element]:
    for number, entries_of_row in enumerate(_rows(frame.width, entries)):
        yield from legend(frame.left, 16 + 20 * number, entries_of_row)


def _rows(width: float, entries: Sequence[Entry]) -> list[list[Entry]]:
    rows: list[list[Entry]] = [[]]
    used = 0.0
    for entry in entries:
        needed = 34 + 6.6 * len(entry.text)
        if used + needed > width - _LEFT and rows[-1]:
            rows.append([])
            used = 0
        rows[-1].append(entry)
        used += needed
    return rows


def _grid(frame: Frame, plot: Plot) -> Iterator[Element]:
    for tick in plot.y.ticks():
        y = plot.y.at(tick)
        yield line(frame.left, y, frame.right, y, "grid")
        yield text(frame.left - 7, y + 4, tick_text(tick), kind="tick", anchor="end")
    for tick in plot.x_ticks:
        x = plot.x.at(tick)
        yield line(x, frame.top, x, frame.bottom, "grid")
        yield text(x, frame.bottom + 16, tick_text(tick), kind="tick", anchor="middle")
    if frame.x_label:
        yield text((frame.left + frame.right) / 2, frame.height - 6, frame.x_label, kind="axis", anchor="middle")
    if frame.y_label:
        yield text(4, frame.top - 10, frame.y_label, kind="axis")


def _course(trend: Trend, plot: Plot) -> Iterator[Element]:
    if len(trend.course) < 2:
        return
    points = " ".join(f"{plot.x.at(x):.1f},{plot.y.at(y):.1f}" for x, y in trend.course)
    yield element("polyline", {"points": points, "class": f"course {trend.entry.colour}"})
