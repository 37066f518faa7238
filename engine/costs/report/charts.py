"""Charts: scales, and pictures of shapes laid out as rows of dots, plots over a number, and bars of shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10
from typing import Any, Final, NamedTuple, TypeAlias

from engine.costs.results import figure

REST: Final = "around the nodes"  # a part of bars that has a colour of its own
_LETTER: Final = 6.6  # how wide a letter of a chart's text is, about, with some room
_COLOURS: Final = 7  # that parts of bars have; the last is for all others
_LINE: Final = 17  # of room that a value beside an upright axis needs
_SMALLEST: Final = 1e-9
_STEPS: Final = (1, 2, 2.5, 5, 10)

Point: TypeAlias = tuple[float, float]


class Entry(NamedTuple):
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
        step = _rounded(self.high / 5, _STEPS)
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
    least = min(found)
    below = [part * 10.0 ** floor(log10(least)) for part in (1, 2, 5)]
    low, high = max(each for each in below if each <= least * (1 + 1e-9)), _rounded(max(found), (1, 2, 5, 10))
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
    step = _rounded(most / 5, _STEPS)
    return Linear(ceil(most / step - 1e-9) * step, start, end)


def _rounded(least: float, parts: Sequence[float]) -> float:
    """Returns the next value that is one of some parts of a power of ten."""
    decade = 10.0 ** floor(log10(least))
    return min(part * decade for part in parts if part * decade >= least * (1 - 1e-9))


def tick_text(value: float) -> str:
    """Writes a value beside an axis.

    >>> tick_text(0.05), tick_text(2000.0)
    ('0.05', '2,000')
    """
    return f"{value:,.10g}" if 1e-6 <= abs(value) < 1e9 or value == 0 else f"{value:g}"


class Shape(NamedTuple):
    """An element of a picture: its tag, its attributes, the words in it, and what is shown to who points at it."""

    tag: str
    attributes: dict[str, Any]
    words: str = ""
    tip: str = ""


@dataclass(slots=True)
class Picture:
    """A picture and its shapes, in the order in which they are drawn; the template writes them as SVG."""

    name: str
    about: str
    width: float
    height: float
    shapes: list[Shape] = field(default_factory=list)

    def add(self, tag: str, kind: str = "", words: str = "", tip: str = "", **places: Any) -> None:
        """Draw a shape, its places with two digits behind the point at most."""
        named = {name.replace("_", "-"): _place(value) for name, value in places.items()}
        self.shapes.append(Shape(tag, named | ({"class": kind} if kind else {}), words, tip))

    def text(self, x: float, y: float, words: str, kind: str, anchor: str = "start") -> None:
        """Write words that begin, end or have their middle at a place."""
        self.add("text", kind, words, x=x, y=y, **({} if anchor == "start" else {"text_anchor": anchor}))

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """Draw a straight line."""
        self.add("line", kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def mark(self, entry: Entry, x: float, y: float, tip: str = "") -> None:
        """Draw the mark of an entry; one that says something is a point of the chart."""
        kind = f"{'point ' if tip else ''}{entry.colour} {entry.shape}"
        if entry.shape == "disc":
            self.add("circle", kind, tip=tip, cx=x, cy=y, r=5)
        elif entry.shape == "square":
            self.add("rect", kind, tip=tip, x=x - 4.5, y=y - 4.5, width=9, height=9)
        else:
            above, way = {"diamond": (6, "l6 6l-6 6l-6 -6z"), "triangle": (6, "l5.8 10h-11.6z")}.get(
                entry.shape, (7, "v14")
            )
            self.add("path", kind, tip=tip, d=f"M{x:.1f} {y - above:.1f}{way}")

    def legend(self, left: float, y: float, entries: Iterable[Entry]) -> None:
        """Write entries beside each other."""
        for entry in entries:
            self.mark(entry, left + 5, y - 4)
            self.text(left + 16, y, entry.text, "key")
            left += 34 + _LETTER * len(entry.text)


def _place(value: Any) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else str(value)


def key_picture(entry: Entry) -> Picture:
    """Returns the picture beside a line of a legend in the text."""
    made = Picture("", "", 30, 14)
    made.line(0, 7, 30, 7, f"course {entry.colour}")
    if entry.shape:
        made.mark(entry, 15, 7)
    return made


def _left(labels: Iterable[str]) -> float:
    """Returns where a chart begins beside the longest label."""
    return max([60.0, *(_LETTER * len(label) + 16 for label in labels)])


class Dots(NamedTuple):
    """A row of marks: what it is called, the value of each mark, and a word at its end."""

    label: str
    marks: tuple[tuple[Entry, float | None], ...]
    note: str = ""

    def placed(self) -> list[tuple[Entry, float]]:
        """Returns the marks that have a place."""
        return [(entry, value) for entry, value in self.marks if value is not None and drawable(value)]


class Axis(NamedTuple):
    """An axis: the names of the scale and of the ends of rows, the unit of values, and the width of the chart."""

    label: str
    unit: str
    notes: str
    width: float


def dot_rows(name: str, about: str, axis: Axis, groups: Sequence[tuple[str, Sequence[Dots]]]) -> Picture:
    """Draws rows of marks on one logarithmic scale, each joined by a line, so that ratios are seen as lengths."""
    rows = [row for _, found in groups for row in found]
    foot = 102 + 20 * len(rows) + 26 * sum(bool(heading) for heading, _ in groups)
    made = Picture(name, about, axis.width, foot)
    values = (value for row in rows for _, value in row.marks if value is not None)
    scale = log_scale(values, _left(row.label for row in rows), axis.width - 90)
    for tick in scale.ticks():
        x = scale.at(tick)
        made.line(x, 52, x, foot - 42, "grid")
        made.text(x, 46, tick_text(tick), "tick", "middle")
        made.text(x, foot - 28, tick_text(tick), "tick", "middle")
    made.text((scale.start + scale.end) / 2, foot - 8, axis.label, "axis", "middle")
    made.text(axis.width - 6, 46, axis.notes, "tick", "end")
    made.legend(8, 16, dict.fromkeys(entry for row in rows for entry, _ in row.placed()))
    y = 66
    for heading, found in groups:
        if heading:
            made.text(6, y + 7, heading, "strong")
            y += 26
        for row in found:
            _dots_row(made, row, scale, y, axis)
            y += 20
    return made


def _dots_row(made: Picture, row: Dots, scale: Log, y: float, axis: Axis) -> None:
    made.text(scale.start - 12, y + 4, row.label, "label", "end")
    placed = [(entry, value, scale.at(value)) for entry, value in row.placed()]
    if placed:
        made.line(min(x for *_, x in placed), y, max(x for *_, x in placed), y, "join")
    for entry, value, x in reversed(placed):  # the first is drawn last, above the others
        made.mark(entry, x, y, f"{row.label}, {entry.text}: {figure(value)} {axis.unit}")
    made.text(axis.width - 6, y + 4, row.note, "note", "end")


class Frame(NamedTuple):
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


class Trend(NamedTuple):
    """Points with what each says, and the line to be drawn with them, which may be another than from point to point."""

    entry: Entry
    points: Sequence[tuple[float, float, str]]
    course: Sequence[Point]


def legend_rows(width: float, entries: Iterable[Entry]) -> list[list[Entry]]:
    """Returns the entries of a legend in as many rows as they need above a plot."""
    rows: list[list[Entry]] = [[]]
    used = 0.0
    for entry in entries:
        needed = 34 + _LETTER * len(entry.text)
        if used + needed > width - 52 and rows[-1]:
            rows.append([])
            used = 0
        rows[-1].append(entry)
        used += needed
    return rows


class Scales(NamedTuple):
    """The scales of a plot, and the values marked on the axis at its foot."""

    x: Log | Linear
    y: Log | Linear
    x_ticks: Sequence[float]


def plot(
    name: str, about: str, frame: Frame, scales: Scales, trends: Sequence[Trend], entries: Iterable[Entry] = ()
) -> Picture:
    """Draws points and lines over a number, such as a size."""
    made = Picture(name, about, frame.width, frame.height)
    for number, row in enumerate(legend_rows(frame.width, entries)):
        made.legend(frame.left, 16 + 20 * number, row)
    for tick in scales.y.ticks():
        y = scales.y.at(tick)
        made.line(frame.left, y, frame.right, y, "grid")
        made.text(frame.left - 7, y + 4, tick_text(tick), "tick", "end")
    for tick in scales.x_ticks:
        x = scales.x.at(tick)
        made.line(x, frame.top, x, frame.bottom, "grid")
        made.text(x, frame.bottom + 16, tick_text(tick), "tick", "middle")
    made.text((frame.left + frame.right) / 2, frame.height - 6, frame.x_label, "axis", "middle")
    made.text(4, frame.top - 10, frame.y_label, "axis")
    for trend in trends:
        if len(trend.course) > 1:
            points = " ".join(f"{scales.x.at(x):.1f},{scales.y.at(y):.1f}" for x, y in trend.course)
            made.add("polyline", f"course {trend.entry.colour}", points=points)
    for trend in trends:
        for across, up, tip in trend.points:
            made.mark(trend.entry, scales.x.at(across), scales.y.at(up), tip)
    return made


Bar: TypeAlias = tuple[str, Sequence[tuple[str, float]]]  # a whole: what it is called, and its parts with their names


def bars(name: str, about: str, rows: Sequence[Bar]) -> Picture:
    """Draws wholes with their parts as shares of each; the colour of a part goes by its name."""
    colours, left, right = _colours(rows), _left(label for label, _ in rows), 910
    made = Picture(name, about, 1000, 0)
    top = _bars_key(made, colours) + 32
    made.height = top + 26 * len(rows) + 44
    for share in range(0, 101, 25):
        x = left + (right - left) * share / 100
        made.line(x, top - 4, x, made.height - 40, "grid")
        made.text(x, made.height - 26, f"{share} %", "tick", "middle")
    made.text((left + right) / 2, made.height - 6, "share of a message's CPU", "axis", "middle")
    for number, (label, parts) in enumerate(rows):
        y, whole, at = top + 26 * number, sum(value for _, value in parts), left
        made.text(left - 10, y + 17, label, "label", "end")
        for part, value in parts:
            share_of = value / whole if whole else 0.0
            width = (right - left) * share_of
            tip = f"{label}, {part}: {figure(value)} ms, {f'{share_of:.0%}' if whole else ''}"
            made.add("rect", f"part p{colours[part]}", tip=tip, x=at, y=y + 4.0, width=width, height=18)
            if width > _LETTER * len(part) + 8:
                made.text(at + width / 2, y + 17, part, "inside", "middle")
            at += width
        made.text(994, y + 17, f"{figure(whole)} ms", "note", "end")
    return made


def _colours(rows: Sequence[Bar]) -> dict[str, int]:
    """Returns a number for each name, those in most rows first; of too many, the others share one."""
    counts = Counter(name for _, parts in rows for name, _ in parts)
    shares = dict.fromkeys(counts, 0.0)
    for _, parts in rows:
        whole = sum(value for _, value in parts)
        for name, value in parts:
            shares[name] += value / whole if whole else 0
    first = sorted((name for name in counts if name != REST), key=lambda name: (-counts[name], -shares[name]))
    colours = {name: min(place, _COLOURS - 1) for place, name in enumerate(first)}
    return {**colours, REST: _COLOURS} if REST in counts else colours


def _bars_key(made: Picture, colours: dict[str, int]) -> float:
    """Draw each name with its colour, in as many lines as they need; returns where the last of them stands."""
    others = [name for name, colour in colours.items() if colour == _COLOURS - 1]
    entries = [(name, colour) for name, colour in colours.items() if colour < _COLOURS - 1]
    entries += [(others[0] if len(others) == 1 else f"{len(others)} other nodes", _COLOURS - 1)] if others else []
    entries += [(REST, _COLOURS)] if REST in colours else []
    x, y = 8.0, 8.0
    for name, colour in entries:
        needed = 36 + _LETTER * len(name)
        if x + needed > made.width and x > 8:
            x, y = 8.0, y + 20
        made.add("rect", f"part p{colour}", x=x, y=y, width=12, height=12)
        made.text(x + 18, y + 11, name, "key")
        x += needed
    return y
