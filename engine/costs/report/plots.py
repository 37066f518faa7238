"""Plots of the page: which figures of results stand as marks, points and bars on its pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from engine.costs.report.analysis import Curve, Fit, Growth, Relative
from engine.costs.report.charts import (
    BY_HAND,
    OURS,
    REPORT,
    REST,
    SPARK,
    Axis,
    Dots,
    Entry,
    Frame,
    Log,
    Picture,
    Point,
    Scales,
    Trend,
    bars,
    dot_rows,
    drawable,
    legend_rows,
    linear_scale,
    log_scale,
    plot,
)
from engine.costs.report.tables import Grid
from engine.costs.results import Key, Line, Node, Place, counted, figure, kind, run_on, size, spoken, times, title

ALIKE: Final = Entry("", "alike", "as many times the rate as there are")
SYSTEMS: Final = {"ours": OURS, "report": REPORT, "spark": SPARK}
_COSTS: Final = Axis("CPU milliseconds a message, logarithmic", "ms", "ratio", 520)
_RATES: Final = Axis("round trips a second, logarithmic", "a second", "ratio", 520)
_RELATIVE: Final = Axis("times MQInput/MQOutput of the same size, logarithmic", "times", "ours/report", 1000)
_GROWTH: Final = Frame(250, 210, 28, "KiB", "CPU ms")
_STEPS: Final = 24  # of a fitted line, which is a curve on these scales
_SHAPES: Final = ("disc", "square", "diamond", "triangle")


class Charts(NamedTuple):
    """Small charts alike, each with its name, and the systems that their marks stand for."""

    keys: list[Entry]
    found: list[tuple[str, Picture]]


def own(place: Place) -> Entry:
    """Returns the mark of our figures."""
    return SPARK if place == "spark" else OURS


def node_name(node: Node) -> str:
    """Returns what a node is called; what is around all of them has no label."""
    return node.label or REST


def section_dots(found: Grid, about: str) -> tuple[Picture, Picture]:
    """Draws the costs and the rates of a section's rows."""

    def drawn(name: str, says: str, axis: Axis, dots_of: Callable[[Line], Dots]) -> Picture:
        several = len(found.blocks) > 1
        groups = [
            (spoken(block.name) if several else "", [dots_of(cells.line) for cells in block.rows])
            for block in found.blocks
        ]
        return dot_rows(f"{name}: {title(found.section.number)}", says, axis, groups)

    return (
        drawn("CPU milliseconds a message", about, _COSTS, _cost),
        drawn("Round trips a second", "Ours and the report's.", _RATES, _rate),
    )


def _cost(line: Line) -> Dots:
    note = times(line.ratio) if line.taken else "not yet"
    marks = ((own(line.row.place), line.ours), (REPORT, line.theirs), (BY_HAND, line.limit))
    return Dots(kind(line.key), marks, note)


def _rate(line: Line) -> Dots:
    note = times(line.rate_ratio) if line.taken else "not yet"
    ours, theirs = line.taken.rate.median if line.taken else None, line.report.rate if line.report else None
    return Dots(kind(line.key), ((own(line.row.place), ours), (REPORT, theirs)), note)


def _most_frequent(keys: Iterable[Key]) -> tuple[bool, int]:
    """Returns the persistence and size that most rows have; of several, that of smaller messages."""
    counts = Counter(map(_kind, keys))
    return max(counts, key=lambda each: (counts[each], not each[0], -each[1]))


def relative_dots(found: Sequence[Relative]) -> Picture | None:
    """Draws the relative costs of the size and persistence that most rows have, in the report's order."""
    both = [each.line.key for each in found if each.ours is not None and each.theirs is not None]
    if not both:
        return None
    chosen = _most_frequent(both)
    of_size = [each for each in found if _kind(each.line.key) == chosen and each.theirs]
    rows = [
        Dots(spoken(each.line.key.scenario), ((OURS, each.ours), (REPORT, each.theirs)), times(each.apart))
        for each in sorted(of_size, key=lambda each: each.theirs or 0)
    ]
    what = kind(Key("", "", *chosen))
    about = (
        f"Messages of {what}, the cheapest on the report's machine first; the farther apart two marks, the more "
        "our order differs. Beside each row: our relative cost over the report's."
    )
    return dot_rows(f"Cost relative to MQInput/MQOutput, {what}", about, _RELATIVE, [("", rows)])


def _kind(key: Key) -> tuple[bool, int]:
    return key.persistent, key.message_bytes


def relative_plot(found: Sequence[Relative]) -> Picture:
    """Draws our relative costs against the report's."""
    both = [each for each in found if drawable(each.ours) and drawable(each.theirs)]
    sizes = sorted({each.line.key.message_bytes for each in both})
    entries = {each: Entry(_SHAPES[place % 4], "ours", size(each)) for place, each in enumerate(sizes)}
    frame = Frame(720.0, 560.0, 20.0 * len(legend_rows(720.0, entries.values())) + 32, "the report", "ours")
    values = [value for each in both for value in (each.ours or 1, each.theirs or 1)]
    x, y = log_scale(values, frame.left, frame.right), log_scale(values, frame.bottom, frame.top)
    points: dict[int, list[tuple[float, float, str]]] = {each: [] for each in entries}
    for each in both:
        key = each.line.key
        tip = f"{key.scenario}, {kind(key)}: ours {times(each.ours)}, the report's {times(each.theirs)}"
        points[key.message_bytes].append((each.theirs or 1, each.ours or 1, tip))
    drawn = [Trend(Entry("", "alike", ""), (), ((x.low, y.low), (x.high, y.high)))]
    drawn += (Trend(entry, points[each], ()) for each, entry in entries.items())
    about = (
        f"{counted(len(both), 'row')}: times MQInput/MQOutput, the report's across and ours upward. On the line a "
        "row costs as many times as much on both systems; above it, more with us."
    )
    name = "Relative costs, ours against the report's"
    return plot(name, about, frame, Scales(x, y, x.ticks()), drawn, entries.values())


def growth_charts(found: Sequence[Growth]) -> Charts:
    """Draws the costs of each scenario by size, in a process or broker and on Spark, on the same scales."""
    points = [point for each in found for point in (*each.ours, *each.theirs) if point[0] > 0]
    x = log_scale((kib for kib, _ in points), _GROWTH.left + 8, _GROWTH.right - 8)
    y = log_scale((cost for _, cost in points), _GROWTH.bottom, _GROWTH.top)
    scenarios: dict[tuple[str, str], list[Growth]] = {}
    for each in found:
        scenarios.setdefault((each.section, each.scenario), []).append(each)
    keys = dict.fromkeys(own(each.place) for each in found if each.ours)
    theirs = [REPORT] if any(each.theirs for each in found) else []
    return Charts([*keys, *theirs], [_growth(each, x, y) for each in scenarios.values()])


def _growth(found: list[Growth], x: Log, y: Log) -> tuple[str, Picture]:
    first, name = found[0], spoken(found[0].scenario)
    drawn = [_trend(REPORT, first.theirs, first.their_fit, y)]
    drawn += (_trend(own(each.place), each.ours, each.our_fit, y) for each in found)
    ticks = sorted({kib for each in found for kib, _ in (*each.ours, *each.theirs) if kib > 0})
    lines = (f"{own(each.place).text}: {_line(each.our_fit)}" for each in found)
    about = f"CPU ms by KiB. {'; '.join(lines)}; the report: {_line(first.their_fit)}."
    return name, plot(f"Growth of {name}", about, _GROWTH, Scales(x, y, ticks), drawn)


def _trend(entry: Entry, points: Sequence[Point], found: Fit | None, y: Log) -> Trend:
    shown = [(kib, cost) for kib, cost in points if drawable(kib) and drawable(cost)]
    marks = [(kib, cost, f"{entry.text}, {kib:g} KiB: {figure(cost)} ms") for kib, cost in shown]
    if not found or not shown:
        return Trend(entry, marks, ())
    low, high = shown[0][0], shown[-1][0]
    sizes = [low * (high / low) ** (step / _STEPS) for step in range(_STEPS + 1)]
    return Trend(entry, marks, [(kib, found.at(kib)) for kib in sizes if y.low <= found.at(kib) <= y.high])


def _line(found: Fit | None) -> str:
    return f"{figure(found.base)} ms and {figure(found.per_kib)} ms for each KiB" if found else "not measured"


Courses: TypeAlias = dict[Curve, list[Point]]


def gain_charts(curves: Sequence[Curve], what: str) -> Charts:
    """Draws rates as multiples of the rate of one."""
    gains = {
        curve: [(float(at.number), gain) for at in curve.points if (gain := curve.gain(at)) is not None]
        for curve in curves
    }
    frame, numbers = Frame(260, 230, 30, what, "times the rate of one"), _numbers(curves)
    x = linear_scale([numbers[-1]], frame.left, frame.right - 8)
    y = linear_scale((gain for found in gains.values() for _, gain in found), frame.bottom, frame.top)
    most = min(x.high, y.high)
    alike = Trend(ALIKE, (), ((0, 0), (most, most)))
    name, tip = f"Rate by {what}", f"{{:g}} {what}: {{}} the rate of one"
    about = f"{name}, as a multiple of the rate of one, messages of {{}}."
    made = _by_kind(
        gains, (name, about), frame, Scales(x, y, numbers), lambda at, gain: tip.format(at, times(gain)), alike
    )
    return Charts([*_systems(curves), ALIKE], made)


def cost_charts(curves: Sequence[Curve]) -> Charts:
    """Draws costs by the number of subscribers."""
    costs = {curve: [(float(at.number), at.cpu_ms) for at in curve.points if drawable(at.cpu_ms)] for curve in curves}
    frame, numbers = Frame(260, 230, 30, "subscribers", "CPU ms a publication"), _numbers(curves)
    x = log_scale(numbers, frame.left + 6, frame.right - 8)
    y = log_scale((cost for found in costs.values() for _, cost in found), frame.bottom, frame.top)
    scales = Scales(x, y, [number for number in numbers if number in {1, 10, 100, 1000}] or numbers)
    about = "CPU milliseconds for one publication by the number of its subscribers, messages of {}."
    said = ("Cost by subscribers", about)
    made = _by_kind(costs, said, frame, scales, lambda at, cost: f"{at:g} subscribers: {figure(cost)} ms")
    return Charts(_systems(curves), made)


def _numbers(curves: Sequence[Curve]) -> list[float]:
    return sorted({float(point.number) for curve in curves for point in curve.points})


def _systems(curves: Sequence[Curve]) -> list[Entry]:
    return list(dict.fromkeys(SYSTEMS[curve.system] for curve in curves))


def _by_kind(
    found: Courses,
    said: tuple[str, str],
    frame: Frame,
    scales: Scales,
    tip: Callable[[float, float], str],
    *first: Trend,
) -> list[tuple[str, Picture]]:
    """Draws the curves of each size and persistence on a chart, ours above the report's."""
    kinds: dict[str, list[Trend]] = {curve.kind: [*first] for curve in found}
    for curve, course in reversed(found.items()):
        entry = SYSTEMS[curve.system]
        points = [(number, value, f"{entry.text}, {tip(number, value)}") for number, value in course]
        kinds[curve.kind].append(Trend(entry, points, course))
    name, about = said
    return [
        (kind, plot(f"{name}, {kind}", about.format(kind), frame, scales, trends)) for kind, trends in kinds.items()
    ]


def node_bars(found: Sequence[Line]) -> Picture:
    """Draws what each node takes of a message's CPU, for the size and persistence that most rows have."""
    chosen = _most_frequent(line.key for line in found)
    rows = [
        (
            f"{spoken(line.key.scenario)}{run_on(line.row.place)}",
            [(node_name(node), node.cpu_ms) for node in line.taken.nodes if node.cpu_ms > 0],
        )
        for line in found
        if line.taken and _kind(line.key) == chosen
    ]
    what = kind(Key("", "", *chosen))
    about = f"Messages of {what}: the share of each node in a message's CPU, and the CPU ms of all parts together."
    return bars(f"CPU of each node, {what}", about, rows)
