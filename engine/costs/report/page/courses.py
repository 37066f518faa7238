"""Curves on the page: rates by instances, copies and execution groups, and costs by subscribers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.costs.report.curves import SCALING, Curve, System, scaling, subscribers
from engine.costs.report.page.chart import OURS, REPORT, SPARK, Entry, figure_with
from engine.costs.report.page.markup import Content, Element, body, element, head_row, row, table
from engine.costs.report.page.scales import Scale, linear_scale, log_scale
from engine.costs.report.page.trends import Frame, Plot, Trend, legend_height, trends
from engine.costs.report.wording import DASH, figure, times
from engine.costs.results import Results

_SYSTEMS: Final[dict[System, Entry]] = {"ours": OURS, "report": REPORT, "spark": SPARK}
_SHAPES: Final = ("disc", "square", "diamond", "triangle", "tick")
_SIZE: Final = (620.0, 380.0)


def scaling_curves(results: Results) -> Element:
    """The section of the page about instances, copies and execution groups."""
    says = (
        "The rate as a multiple of that of one. The report's machine had two processors: more than two of anything "
        "could not be faster there. With Spark, instances and copies are partitions, and execution groups executors."
    )
    parts: list[Content] = [element("h2", {}, "Scaling"), element("p", {}, says)]
    for section, what in SCALING.items():
        curves = scaling(results, section)
        if curves:
            parts += [element("h3", {}, f"{section} {what[0].upper()}{what[1:]}"), *_not_measured(curves)]
            parts += [_gains(curves, what), _table(curves, f"Rates and costs by {what}", with_gain=True)]
    return element("section", {"id": "scaling"}, *parts)


def subscribers_curve(results: Results) -> Element:
    """The section of the page about subscribers."""
    curves = subscribers(results)
    parts: list[Content] = [element("h2", {}, "Subscribers")]
    if curves:
        parts += [*_not_measured(curves), _costs(curves), _table(curves, "Rates and costs by subscribers")]
    return element("section", {"id": "subscribers"}, *parts)


def _not_measured(curves: Sequence[Curve]) -> list[Element]:
    if any(curve.system != "report" for curve in curves):
        return []
    return [
        element("p", {"class": "not-yet"}, "Nothing of ours is measurable yet: only the report's curves are drawn.")
    ]


def _gains(curves: Sequence[Curve], what: str) -> Element:
    entries = _entries(curves)
    frame = _frame(list(entries.values()), what, "times the rate of one")
    gains = [curve.gain(point) for curve in curves for point in curve.points]
    numbers = sorted({point.number for curve in curves for point in curve.points})
    x = linear_scale([numbers[-1]], frame.left, frame.right - 10)
    y = linear_scale([gain for gain in gains if gain is not None], frame.bottom, frame.top)
    most = min(x.high, y.high)
    drawn = [Trend(Entry("disc", "alike", ""), (), ((0, 0), (most, most)))]
    for curve, entry in entries.items():
        found = [(point.number, gain) for point in curve.points if (gain := curve.gain(point)) is not None]
        tips = tuple((n, gain, f"{entry.text}, {n} {what}: {times(gain)} the rate of one") for n, gain in found)
        drawn.append(Trend(entry, tips, tuple(found)))
    about = f"Rate by {what}, as a multiple of the rate of one; on the thin straight line it grows as they do."
    plot = Plot(tuple(drawn), x, y, tuple(map(float, numbers)), tuple(entries.values()))
    return figure_with(about, trends(f"Rate by {what}", about, frame, plot))


def _costs(curves: Sequence[Curve]) -> Element:
    entries = _entries(curves)
    frame = _frame(list(entries.values()), "subscribers, logarithmic", "CPU ms a publication, logarithmic")
    numbers = [float(point.number) for curve in curves for point in curve.points]
    x: Scale = log_scale(numbers, frame.left + 8, frame.right - 8)
    y: Scale = log_scale((point.cpu_ms for curve in curves for point in curve.points), frame.bottom, frame.top)
    drawn = []
    for curve, entry in entries.items():
        found = tuple((float(point.number), point.cpu_ms) for point in curve.points if point.cpu_ms > 0)
        tips = tuple((n, cost, f"{entry.text}, {n:g} subscribers: {figure(cost)} ms") for n, cost in found)
        drawn.append(Trend(entry, tips, found))
    about = "CPU milliseconds for one publication by the number of its subscribers."
    plot = Plot(tuple(drawn), x, y, tuple(sorted({1.0, 10.0, 30.0, 100.0, 1000.0}.intersection(numbers))))
    plot = Plot(plot.trends, x, y, plot.x_ticks, tuple(entries.values()))
    return figure_with(about, trends("Cost by subscribers", about, frame, plot))


def _frame(entries: Sequence[Entry], x_label: str, y_label: str) -> Frame:
    width, height = _SIZE
    top = legend_height(width, entries) + 22
    return Frame(width, height + top, top, x_label, y_label)


def _entries(curves: Sequence[Curve]) -> dict[Curve, Entry]:
    """A mark for each curve: the colour says the system, the shape size and persistence."""
    kinds = list(dict.fromkeys(curve.kind for curve in curves))
    names = {"ours": "ours", "report": "report", "spark": "Spark"}
    return {
        curve: Entry(
            _SHAPES[kinds.index(curve.kind) % len(_SHAPES)],
            _SYSTEMS[curve.system].colour,
            f"{names[curve.system]} {curve.kind}",
        )
        for curve in curves
    }


def _table(curves: Sequence[Curve], caption: str, *, with_gain: bool = False) -> Element:
    numbers = sorted({point.number for curve in curves for point in curve.points})
    entries = _entries(curves)
    rows = []
    for curve, entry in entries.items():
        points = {point.number: point for point in curve.points}
        found = [points.get(number) for number in numbers]
        cells = [*(figure(point.rate if point else None) for point in found)]
        cells += (figure(point.cpu_ms if point else None) for point in found)
        cells += (times(curve.gain(point)) if point else DASH for point in found if with_gain)
        rows.append(row(entry.text, *cells))
    labels = ("rate", "CPU ms", "gain") if with_gain else ("rate", "CPU ms")
    over = [element("td", {})]
    over += (element("th", {"scope": "colgroup", "colspan": len(numbers), "class": "over"}, each) for each in labels)
    names = head_row("system, messages", *(f"{number:,}" for _ in labels for number in numbers))
    return table(caption, [element("tr", {}, *over), names], [body(rows)], kind="costs")
