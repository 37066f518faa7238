"""Charts of the page as data: scales, marks, and where things stand; the template draws them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Final

LETTER: Final = 6.6  # how wide a letter of a chart's text is, about, with some room
REST: Final = "around the nodes"  # a part of bars that has a colour of its own
_COLOURS: Final = 7  # that parts of bars have; the last is for all others
_LINE: Final = 17  # of room that a value beside an upright axis needs
_SMALLEST: Final = 1e-9
_STEPS: Final = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a legend: a mark, if it has one, how it is coloured, and what it stands for."""

    shape: str
    colour: str
    text: str


OURS: Final = Entry("disc", "ours", "ours")
REPORT: Final = Entry("diamond", "report", "the report, 2002")
BY_HAND: Final = Entry("tick", "hand", "by hand, here")
SPARK: Final = Entry("square", "spark", "ours on Spark")


@dataclass(frozen=True, slots=True)
class Log:
    """A scale on which equal ways are equal ratios."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Returns where a value stands."""
        along = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return self.start + along * (self.end - self.start)

    def ticks(self) -> tuple[float, ...]:
        """Returns the values that are written beside it."""
        first, last = floor(log10(self.low) + 1e-9), ceil(log10(self.high) - 1e-9)
        decade = abs(self.end - self.start) / (log10(self.high) - log10(self.low))
        longest = max(len(tick_text(self.low)), len(tick_text(self.high)))
        room = _LINE if self.start > self.end else 6.4 * longest + 8
        parts = (1, 2, 5) if decade * log10(2) >= room else (1,)  # 2 is the smallest step
        found = (part * 10.0**power for power in range(first, last + 1, ceil(room / decade)) for part in parts)
        return tuple(tick for tick in found if self.low * 0.999 <= tick <= self.high * 1.001)


@dataclass(frozen=True, slots=True)
class Linear:
    """A scale on which equal ways are equal differences, from nothing."""

    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Returns where a value stands."""
        return self.start + value / self.high * (self.end - self.start)

    def ticks(self) -> tuple[float, ...]:
        """Returns the values that are written beside it."""
        step = _step(self.high / 5)
        return tuple(number * step for number in range(floor(self.high / step + 1e-9) + 1))


def drawable(value: float | None) -> bool:
    """Returns whether a value has a place on a scale of ratios: nothing has none, next to nothing would fill it."""
    return value is not None and value >= _SMALLEST


def log_scale(values: Iterable[float], start: float, end: float) -> Log:
    """Returns a scale for the drawable ones of these values, from a round one to a round one, over a decade at least.

    >>> log_scale([0.034, 7.0], 0, 100)
    Log(low=0.02, high=10.0, start=0, end=100)
    """
    found = [value for value in values if drawable(value)] or [1.0]
    low, high = _round_down(min(found)), _round_up(max(found))
    if high < low * 9.99:
        low, high = 10.0 ** floor(log10(low)), 10.0 ** ceil(log10(high))
    if high < low * 9.99:
        low, high = low / 10, high * 10
    return Log(low, high, start, end)


def linear_scale(values: Iterable[float], start: float, end: float) -> Linear:
    """Returns a scale from nothing to a round value above these.

    >>> linear_scale([3.1], 0, 100)
    Linear(high=4.0, start=0, end=100)
    """
    most = max([*values, 0.0]) or 1.0
    step = _step(most / 5)
    return Linear(ceil(most / step - 1e-9) * step, start, end)


def tick_text(value: float) -> str:
    """Writes a value beside an axis.

    >>> tick_text(0.05), tick_text(2000.0)
    ('0.05', '2,000')
    """
    return f"{value:,.10g}" if 1e-6 <= abs(value) < 1e9 or value == 0 else f"{value:g}"


def _round_down(value: float) -> float:
    decade = 10.0 ** floor(log10(value))
    return max(part * decade for part in (1, 2, 5) if part * decade <= value * (1 + 1e-9)) if decade else value


def _round_up(value: float) -> float:
    decade = 10.0 ** floor(log10(value))
    return min(part * decade for part in (1, 2, 5, 10) if part * decade >= value * (1 - 1e-9)) if decade else value


def _step(least: float) -> float:
    decade = 10.0 ** floor(log10(least))
    return min(part * decade for part in _STEPS if part * decade >= least * (1 - 1e-9))


@dataclass(frozen=True, slots=True)
class Dots:
    """A row of marks: what it is called, the value of each mark, and a word at its end."""

    label: str
    marks: tuple[tuple[Entry, float | None], ...]
    note: str = ""

    @property
    def placed(self) -> tuple[tuple[Entry, float], ...]:
        """Returns the marks that have a place."""
        return tuple((entry, value) for entry, value in self.marks if value is not None and drawable(value))


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


@dataclass(frozen=True, slots=True)
class DotChart:
    """Rows of marks on one logarithmic scale, each joined by a line, so that ratios are seen as lengths."""

    name: str
    about: str
    axis: Axis
    groups: Sequence[Group]

    @property
    def rows(self) -> list[Dots]:
        """Returns the rows of all groups."""
        return [row for group in self.groups for row in group.rows]

    def scale(self) -> Log:
        """Returns the scale of all marks, beside the longest label."""
        left = max([60.0, *(LETTER * len(row.label) + 16 for row in self.rows)])
        values = [value for row in self.rows for _, value in row.marks if value is not None]
        return log_scale(values, left, self.axis.width - 90)

    def entries(self) -> list[Entry]:
        """Returns the entries that have a mark somewhere."""
        return list(dict.fromkeys(entry for row in self.rows for entry, _ in row.placed))


@dataclass(frozen=True, slots=True)
class Frame:
    """The frame of a plot: its size, the top of what is drawn, and the names of its axes."""

    width: float
    height: float
    top: float
    x_label: str
    y_label: str

    @property
    def left(self) -> float:
        """Returns where the plot begins."""
        return 52

    @property
    def right(self) -> float:
        """Returns where the plot ends."""
        return self.width - 14

    @property
    def bottom(self) -> float:
        """Returns where the plot ends below."""
        return self.height - 40


@dataclass(frozen=True, slots=True)
class Trend:
    """Points with what each says, and the line to be drawn with them, which may be another than from point to point."""

    entry: Entry
    points: tuple[tuple[float, float, str], ...]
    course: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """Points and lines over a number, such as a size: its scales, and the values marked on the axis at the foot."""

    name: str
    about: str
    frame: Frame
    trends: tuple[Trend, ...]
    x: Log | Linear
    y: Log | Linear
    x_ticks: tuple[float, ...]
    entries: tuple[Entry, ...] = ()

    def legend(self) -> list[list[Entry]]:
        """Returns the entries in as many rows as they need."""
        return legend_rows(self.frame.width, self.entries)


def legend_rows(width: float, entries: Sequence[Entry]) -> list[list[Entry]]:
    """Returns the entries of a legend in as many rows as they need above a plot."""
    rows: list[list[Entry]] = [[]]
    used = 0.0
    for entry in entries:
        needed = 34 + LETTER * len(entry.text)
        if used + needed > width - 52 and rows[-1]:
            rows.append([])
            used = 0
        rows[-1].append(entry)
        used += needed
    return rows


@dataclass(frozen=True, slots=True)
class Bar:
    """A whole: what it is called, and its parts with their names."""

    label: str
    parts: tuple[tuple[str, float], ...]

    @property
    def whole(self) -> float:
        """Returns all parts together."""
        return sum(value for _, value in self.parts)

    def drawn(self, left: float, right: float) -> Iterator[tuple[str, float, float, float]]:
        """Returns each part with its value, where it begins, and its width."""
        at = left
        for name, value in self.parts:
            width = (right - left) * value / self.whole if self.whole else 0
            yield name, value, at, width
            at += width


@dataclass(frozen=True, slots=True)
class BarChart:
    """Wholes with their parts as shares of each; the colour of a part goes by its name."""

    name: str
    about: str
    rows: Sequence[Bar]

    @property
    def left(self) -> float:
        """Returns where the bars begin, beside the longest label."""
        return max([60.0, *(LETTER * len(row.label) + 16 for row in self.rows)])

    def colours(self) -> Mapping[str, int]:
        """Returns a number for each name, those in most rows first; of too many, the others share one."""
        counts = Counter(name for row in self.rows for name, _ in row.parts)
        shares: Counter[str] = Counter()
        for row in self.rows:
            for name, value in row.parts:
                shares[name] += value / row.whole if row.whole else 0  # type: ignore[assignment]  # shares add up too
        first = sorted((name for name in counts if name != REST), key=lambda name: (-counts[name], -shares[name]))
        colours = {name: min(place, _COLOURS - 1) for place, name in enumerate(first)}
        return {**colours, REST: _COLOURS} if REST in counts else colours

    def key(self, width: float) -> list[tuple[str, int, float, float]]:
        """Returns the legend: each name with its colour and its place, in as many lines as they need."""
        colours = self.colours()
        entries = [(name, colour) for name, colour in colours.items() if colour < _COLOURS - 1]
        others = [name for name, colour in colours.items() if colour == _COLOURS - 1]
        entries += [(others[0] if len(others) == 1 else f"{len(others)} other nodes", _COLOURS - 1)] if others else []
        entries += [(REST, _COLOURS)] if REST in colours else []
        found = []
        x, y = 8.0, 8.0
        for name, colour in entries:
            needed = 36 + LETTER * len(name)
            if x + needed > width and x > 8:
                x, y = 8.0, y + 20
            found.append((name, colour, x, y))
            x += needed
        return found
