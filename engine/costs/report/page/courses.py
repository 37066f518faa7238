"""Curves on the page: rates by instances, copies and execution groups, and costs by subscribers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from engine.costs.report.curves import SCALING, Curve, System, scaling, subscribers
from engine.costs.report.page.chart import OURS, REPORT, SPARK, Entry, legend_line, small_multiples
from engine.costs.report.page.markup import Content, Element, body, element, head_row, row, table
from engine.costs.report.page.scales import Scale, drawable, linear_scale, log_scale
from engine.costs.report.page.trends import Frame, Plot, Trend, trends
from engine.costs.report.wording import DASH, figure, times
from engine.costs.results import Results

_SYSTEMS: Final[dict[System, Entry]] = {"ours": OURS, "report": REPORT, "spark": SPARK}
_ALIKE: Final = Entry("", "alike", "as many times the rate as there are")
_WIDTH: Final = 260.0
_HEIGHT: Final = 230.0
_SAYS: Final = (
    "The rate as a multiple of that of one. The report's machine had two processors, so that more than two of anything "
    "were not faster there. On Spark, instances and copies are partitions, and execution groups are executors."
)


def scaling_curves(results: Results) -> Element:
    """The section of the page about instances, copies and execution groups."""
    parts: list[Content] = [element("h2", {}, "Scaling"), element("p", {}, _SAYS)]
    for section, what in SCALING.items():
        curves = scaling(results, section)
        if curves:
            parts += [element("h3", {}, f"{section} {what[0].upper()}{what[1:]}"), *_not_measured(curves)]
            parts += [legend_line([*_entries(curves), _ALIKE]), _gains(curves, what)]
            parts.append(_table(curves, f"Rates and costs by {what}", with_gain=True))
    return element("section", {"id": "scaling"}, *parts)


def subscribers_curve(results: Results) -> Element:
    """The section of the page about subscribers."""
    says = "What a publication costs, and how often it can be made, by the number of its subscribers."
    parts: list[Content] = [element("h2", {}, "Subscribers"), element("p", {}, says)]
    curves = subscribers(results)
    if curves:
        parts += [*_not_measured(curves), legend_line(_entries(curves)), _costs(curves)]
        parts.append(_table(curves, "Rates and costs by subscribers"))
    return element("section", {"id": "subscribers"}, *parts)


def _not_measured(curves: Sequence[Curve]) -> list[Element]:
    if any(curve.system != "report" for curve in curves):
        return []
    return [element("p", {"class": "not-yet"}, "Nothing of ours is measured: only the report's curves are drawn.")]


def _entries(curves: Iterable[Curve]) -> list[Entry]:
    return list(dict.fromkeys(_SYSTEMS[curve.system] for curve in curves))


def _by_kind(curves: Sequence[Curve]) -> dict[str, list[Curve]]:
    """The curves of each size and persistence, which share a chart."""
    kinds: dict[str, list[Curve]] = {}
    for curve in curves:
        kinds.setdefault(curve.kind, []).append(curve)
    return kinds


def _gains(curves: Sequence[Curve], what: str) -> Element:
    gains = [curve.gain(point) or 0 for curve in curves for point in curve.points]
    numbers = _numbers(curves)
    frame = Frame(_WIDTH, _HEIGHT, 30, what, "times the rate of one")
    x = linear_scale([numbers[-1]], frame.left, frame.right - 8)
    y = linear_scale(gains, frame.bottom, frame.top)
    most = min(x.high, y.high)
    alike = Trend(_ALIKE, (), ((0, 0), (most, most)))
    charts = []
    for kind, found in _by_kind(curves).items():
        drawn = (alike, *(_gain(curve, what) for curve in reversed(found)))
        about = f"Rate by {what}, as a multiple of the rate of one, messages of {kind}."
        chart = trends(f"Rate by {what}, {kind}", about, frame, Plot(drawn, x, y, tuple(map(float, numbers))))
        charts.append((kind, chart))
    return small_multiples(charts)


def _gain(curve: Curve, what: str) -> Trend:
    entry = _SYSTEMS[curve.system]
    found = [(float(point.number), gain) for point in curve.points if (gain := curve.gain(point)) is not None]
    tips = ((number, gain, f"{entry.text}, {number:g} {what}: {times(gain)} the rate of one") for number, gain in found)
    return Trend(entry, tuple(tips), tuple(found))


def _costs(curves: Sequence[Curve]) -> Element:
    frame = Frame(_WIDTH, _HEIGHT, 30, "subscribers", "CPU ms a publication")
    numbers = [float(number) for number in _numbers(curves)]
    x: Scale = log_scale(numbers, frame.left + 6, frame.right - 8)
    y: Scale = log_scale((point.cpu_ms for curve in curves for point in curve.points), frame.bottom, frame.top)
    ticks = tuple(number for number in numbers if number in {1, 10, 100, 1000}) or tuple(numbers)
    charts = []
    for kind, found in _by_kind(curves).items():
        drawn = tuple(_cost(curve) for curve in reversed(found))
        about = f"CPU milliseconds for one publication by the number of its subscribers, messages of {kind}."
        charts.append((kind, trends(f"Cost by subscribers, {kind}", about, frame, Plot(drawn, x, y, ticks))))
    return small_multiples(charts)


def _cost(curve: Curve) -> Trend:
    entry = _SYSTEMS[curve.system]
    found = [(float(point.number), point.cpu_ms) for point in curve.points if drawable(point.cpu_ms)]
    tips = ((number, cost, f"{entry.text}, {number:g} subscribers: {figure(cost)} ms") for number, cost in found)
    return Trend(entry, tuple(tips), tuple(found))


def _numbers(curves: Sequence[Curve]) -> list[int]:
    return sorted({point.number for curve in curves for point in curve.points})


def _table(curves: Sequence[Curve], caption: str, *, with_gain: bool = False) -> Element:
    numbers = _numbers(curves)
    rows = []
    for curve in curves:
        points = {point.number: point for point in curve.points}
        found = [points.get(number) for number in numbers]
        cells = [figure(point.rate if point else None) for point in found]
        cells += (figure(point.cpu_ms if point else None) for point in found)
        cells += (times(curve.gain(point)) if point else DASH for point in found if with_gain)
        rows.append(row(curve.kind, _SYSTEMS[curve.system].text, *cells, texts=1))
    labels = ("rate", "CPU ms", "gain") if with_gain else ("rate", "CPU ms")
    over = [element("td", {"colspan": 2})]
    over += (element("th", {"scope": "colgroup", "colspan": len(numbers), "class": "over"}, each) for each in labels)
    names = head_row("messages", "system", *(f"{number:,}" for _ in labels for number in numbers), texts=2)
    return table(caption, [element("tr", {}, *over), names], [body(rows)], kind="costs")
