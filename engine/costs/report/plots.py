"""Plots of the page: which figures of results stand as marks, points and bars on its charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from engine.costs.report.analysis import Curve, Fit, Growth, Point, Relative
from engine.costs.report.charts import (
    BY_HAND,
    OURS,
    REPORT,
    REST,
    SPARK,
    Axis,
    Bar,
    BarChart,
    DotChart,
    Dots,
    Entry,
    Frame,
    Group,
    Log,
    Plot,
    Trend,
    drawable,
    legend_rows,
    linear_scale,
    log_scale,
)
from engine.costs.report.tables import Grid
from engine.costs.report.wording import counted, figure, kind, run_on, size, spoken, times, title
from engine.costs.results import Key, Line, Node, Place

ALIKE: Final = Entry("", "alike", "as many times the rate as there are")
SYSTEMS: Final = {"ours": OURS, "report": REPORT, "spark": SPARK}
_COSTS: Final = Axis("CPU milliseconds a message, logarithmic", "ms", "ratio", 520)
_RATES: Final = Axis("round trips a second, logarithmic", "a second", "ratio", 520)
_RELATIVE: Final = Axis("times MQInput/MQOutput of the same size, logarithmic", "times", "ours/report", 1000)
_GROWTH: Final = Frame(250, 210, 28, "KiB", "CPU ms")
_STEPS: Final = 24  # of a fitted line, which is a curve on these scales
_SHAPES: Final = ("disc", "square", "diamond", "triangle")

Charts = list[tuple[str, Plot]]  # small charts alike, each with its name


def own(place: Place) -> Entry:
    """Returns the mark of our figures."""
    return SPARK if place == "spark" else OURS


def node_name(node: Node) -> str:
    """Returns what a node is called; what is around all of them has no label."""
    return node.label or REST


def section_dots(found: Grid, about: str) -> tuple[DotChart, DotChart]:
    """Returns the costs and the rates of a section's rows."""

    def groups(dots_of: Callable[[Line], Dots]) -> list[Group]:
        several = len(found.blocks) > 1
        return [
            Group(spoken(block.name) if several else "", tuple(dots_of(cells.line) for cells in block.rows))
            for block in found.blocks
        ]

    heading = title(found.section.number)
    return (
        DotChart(f"CPU milliseconds a message: {heading}", about, _COSTS, groups(_cost)),
        DotChart(f"Round trips a second: {heading}", "Ours and the report's.", _RATES, groups(_rate)),
    )


def _cost(line: Line) -> Dots:
    note = times(line.ratio) if line.taken else "not yet"
    marks = ((own(line.row.place), line.ours), (REPORT, line.theirs), (BY_HAND, line.limit))
    return Dots(kind(line.key), marks, note)


def _rate(line: Line) -> Dots:
    note = times(line.rate_ratio) if line.taken else "not yet"
    ours = line.taken.rate.median if line.taken else None
    return Dots(
        kind(line.key), ((own(line.row.place), ours), (REPORT, line.report.rate if line.report else None)), note
    )


def relative_dots(found: Sequence[Relative]) -> DotChart | None:
    """Returns the relative costs of the size and persistence that most rows have, in the report's order."""
    counts = Counter(_kind(each.line.key) for each in found if each.ours is not None and each.theirs is not None)
    if not counts:
        return None
    chosen = max(counts, key=lambda name: (counts[name], -name[1]))
    of_size = [each for each in found if _kind(each.line.key) == chosen and each.theirs]
    rows = tuple(
        Dots(spoken(each.line.key.scenario), ((OURS, each.ours), (REPORT, each.theirs)), times(each.apart))
        for each in sorted(of_size, key=lambda each: each.theirs or 0)
    )
    what = kind(Key("", "", *chosen))
    about = (
        f"Messages of {what}, the cheapest on the report's machine first; the farther apart two marks, the more "
        "our order differs. Beside each row: our relative cost over the report's."
    )
    return DotChart(f"Cost relative to MQInput/MQOutput, {what}", about, _RELATIVE, [Group("", rows)])


def _kind(key: Key) -> tuple[bool, int]:
    return key.persistent, key.message_bytes


def relative_plot(found: Sequence[Relative]) -> Plot:
    """Returns our relative costs against the report's."""
    both = [each for each in found if drawable(each.ours) and drawable(each.theirs)]
    sizes = sorted({each.line.key.message_bytes for each in both})
    entries = {each: Entry(_SHAPES[place % 4], "ours", size(each)) for place, each in enumerate(sizes)}
    width, height = 720.0, 560.0
    top = 20.0 * len(legend_rows(width, list(entries.values()))) + 32
    frame = Frame(width, height, top, "the report", "ours")
    values = [value for each in both for value in (each.ours or 1, each.theirs or 1)]
    x, y = log_scale(values, frame.left, frame.right), log_scale(values, frame.bottom, frame.top)
    points: dict[int, list[tuple[float, float, str]]] = {each: [] for each in entries}
    for each in both:
        key = each.line.key
        tip = f"{key.scenario}, {kind(key)}: ours {times(each.ours)}, the report's {times(each.theirs)}"
        points[key.message_bytes].append((each.theirs or 1, each.ours or 1, tip))
    drawn = [Trend(Entry("", "alike", ""), (), ((x.low, y.low), (x.high, y.high)))]
    drawn += (Trend(entry, tuple(points[each]), ()) for each, entry in entries.items())
    about = (
        f"{counted(len(both), 'row')}: times MQInput/MQOutput, the report's across and ours upward. On the line a "
        "row costs as many times as much on both systems; above it, more with us."
    )
    name = "Relative costs, ours against the report's"
    return Plot(name, about, frame, tuple(drawn), x, y, x.ticks(), tuple(entries.values()))


def growth_entries(found: Sequence[Growth]) -> list[Entry]:
    """Returns the systems that have a point."""
    ours = dict.fromkeys(own(each.place) for each in found if each.ours)
    return [*ours, *([REPORT] if any(each.theirs for each in found) else [])]


def growth_charts(found: Sequence[Growth]) -> Charts:
    """Returns the costs of each scenario by size, in a process or broker and on Spark, on the same scales."""
    points = [point for each in found for point in (*each.ours, *each.theirs) if point[0] > 0]
    x = log_scale((kib for kib, _ in points), _GROWTH.left + 8, _GROWTH.right - 8)
    y = log_scale((cost for _, cost in points), _GROWTH.bottom, _GROWTH.top)
    scenarios: dict[tuple[str, str], list[Growth]] = {}
    for each in found:
        scenarios.setdefault((each.section, each.scenario), []).append(each)
    return [_growth(each, x, y) for each in scenarios.values()]


def _growth(found: list[Growth], x: Log, y: Log) -> tuple[str, Plot]:
    first, name = found[0], spoken(found[0].scenario)
    drawn = [_trend(REPORT, first.theirs, first.their_fit, y)]
    drawn += (_trend(own(each.place), each.ours, each.our_fit, y) for each in found)
    ticks = tuple(sorted({kib for each in found for kib, _ in (*each.ours, *each.theirs) if kib > 0}))
    lines = (f"{own(each.place).text}: {_line(each.our_fit)}" for each in found)
    about = f"CPU ms by KiB. {'; '.join(lines)}; the report: {_line(first.their_fit)}."
    return name, Plot(f"Growth of {name}", about, _GROWTH, tuple(drawn), x, y, ticks)


def _trend(entry: Entry, points: Sequence[Point], found: Fit | None, y: Log) -> Trend:
    shown = [(kib, cost) for kib, cost in points if drawable(kib) and drawable(cost)]
    marks = tuple((kib, cost, f"{entry.text}, {kib:g} KiB: {figure(cost)} ms") for kib, cost in shown)
    if not found or not shown:
        return Trend(entry, marks, ())
    low, high = shown[0][0], shown[-1][0]
    sizes = [low * (high / low) ** (step / _STEPS) for step in range(_STEPS + 1)]
    return Trend(entry, marks, tuple((kib, found.at(kib)) for kib in sizes if y.low <= found.at(kib) <= y.high))


def _line(found: Fit | None) -> str:
    return f"{figure(found.base)} ms and {figure(found.per_kib)} ms for each KiB" if found else "not measured"


def curve_entries(curves: Iterable[Curve]) -> list[Entry]:
    """Returns the systems that have a curve."""
    return list(dict.fromkeys(SYSTEMS[curve.system] for curve in curves))


def _by_kind(curves: Sequence[Curve]) -> dict[str, list[Curve]]:
    """Returns the curves of each size and persistence, which share a chart."""
    kinds: dict[str, list[Curve]] = {}
    for curve in curves:
        kinds.setdefault(curve.kind, []).append(curve)
    return kinds


def gain_charts(curves: Sequence[Curve], what: str) -> Charts:
    """Returns rates as multiples of the rate of one."""
    numbers = sorted({float(point.number) for curve in curves for point in curve.points})
    frame = Frame(260, 230, 30, what, "times the rate of one")
    x = linear_scale([numbers[-1]], frame.left, frame.right - 8)
    y = linear_scale((curve.gain(at) or 0 for curve in curves for at in curve.points), frame.bottom, frame.top)
    most = min(x.high, y.high)
    alike = Trend(ALIKE, (), ((0, 0), (most, most)))

    def gain(curve: Curve) -> Trend:
        text = f"{SYSTEMS[curve.system].text}, {{:g}} {what}: {{}} the rate of one"
        found = [(float(at.number), gain) for at in curve.points if (gain := curve.gain(at)) is not None]
        return _curve(curve, found, text, times)

    return [
        (
            kind,
            Plot(
                f"Rate by {what}, {kind}",
                f"Rate by {what}, as a multiple of the rate of one, messages of {kind}.",
                *(frame, (alike, *map(gain, reversed(found))), x, y, tuple(numbers)),
            ),
        )
        for kind, found in _by_kind(curves).items()
    ]


def cost_charts(curves: Sequence[Curve]) -> Charts:
    """Returns costs by the number of subscribers."""
    frame = Frame(260, 230, 30, "subscribers", "CPU ms a publication")
    numbers = sorted({float(point.number) for curve in curves for point in curve.points})
    x = log_scale(numbers, frame.left + 6, frame.right - 8)
    y = log_scale((point.cpu_ms for curve in curves for point in curve.points), frame.bottom, frame.top)
    ticks = tuple(number for number in numbers if number in {1, 10, 100, 1000}) or tuple(numbers)

    def cost(curve: Curve) -> Trend:
        found = [(float(at.number), at.cpu_ms) for at in curve.points if drawable(at.cpu_ms)]
        return _curve(curve, found, f"{SYSTEMS[curve.system].text}, {{:g}} subscribers: {{}} ms", figure)

    return [
        (
            kind,
            Plot(
                f"Cost by subscribers, {kind}",
                f"CPU milliseconds for one publication by the number of its subscribers, messages of {kind}.",
                *(frame, tuple(map(cost, reversed(found))), x, y, ticks),
            ),
        )
        for kind, found in _by_kind(curves).items()
    ]


def _curve(curve: Curve, found: Sequence[Point], text: str, written: Callable[[float], str]) -> Trend:
    tips = tuple((number, value, text.format(number, written(value))) for number, value in found)
    return Trend(SYSTEMS[curve.system], tips, tuple(found))


def node_bars(found: Sequence[Line]) -> BarChart:
    """Returns what each node takes of a message's CPU, for the size and persistence that most rows have."""
    kinds = [_kind(line.key) for line in found]
    chosen = max(dict.fromkeys(kinds), key=lambda each: (kinds.count(each), not each[0], -each[1]))
    rows = [
        Bar(
            f"{spoken(line.key.scenario)}{run_on(line.row.place)}",
            tuple((node_name(node), node.cpu_ms) for node in line.taken.nodes if node.cpu_ms > 0),
        )
        for line in found
        if line.taken and _kind(line.key) == chosen
    ]
    what = kind(Key("", "", *chosen))
    about = f"Messages of {what}: the share of each node in a message's CPU, and the CPU ms of all parts together."
    return BarChart(f"CPU of each node, {what}", about, rows)
