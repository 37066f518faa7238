"""Growth on the page: for each scenario its costs by message size on both systems, with the lines fitted to them."""

from __future__ import annotations

from typing import Final

from engine.costs.report.growth import Fit, Growth, Point, growth
from engine.costs.report.lines import divided
from engine.costs.report.page.chart import OURS, REPORT, SPARK, Entry, legend_line, small_multiples
from engine.costs.report.page.markup import Content, Element, body, element, head_row, row, table
from engine.costs.report.page.scales import Log, drawable, log_scale
from engine.costs.report.page.trends import Frame, Plot, Trend, trends
from engine.costs.report.wording import DASH, figure, run_on, spoken, times
from engine.costs.results import Results

_FRAME: Final = Frame(250, 210, 28, "KiB", "CPU ms")
_STEPS: Final = 24  # of a fitted line, which is a curve on these scales


def growing(results: Results) -> Element:
    """The section of the page."""
    found = growth(results)
    says = (
        "Not persistent. A line of least squares through the sizes measured tells what a message costs as such (base) "
        "and what each KiB adds. In the charts such a line is bent, because both scales are logarithmic; the scales "
        "are the same in all of them."
    )
    parts: list[Content] = [element("h2", {}, "Growth with message size"), element("p", {}, says)]
    if found:
        parts += [legend_line(_entries(found)), small_multiples(_charts(found)), _table(found)]
    return element("section", {"id": "growth"}, *parts)


def _entries(found: tuple[Growth, ...]) -> list[Entry]:
    own = dict.fromkeys(_own(each) for each in found if each.ours)
    return [*own, *([REPORT] if any(each.theirs for each in found) else [])]


def _own(each: Growth) -> Entry:
    return SPARK if each.place == "spark" else OURS


def _charts(found: tuple[Growth, ...]) -> list[tuple[str, Element]]:
    points = [point for each in found for point in (*each.ours, *each.theirs) if point[0] > 0]
    x = log_scale((kib for kib, _ in points), _FRAME.left + 8, _FRAME.right - 8)
    y = log_scale((cost for _, cost in points), _FRAME.bottom, _FRAME.top)
    scenarios: dict[tuple[str, str], list[Growth]] = {}
    for each in found:
        scenarios.setdefault((each.section, each.scenario), []).append(each)
    return [_chart(each, x, y) for each in scenarios.values()]


def _chart(found: list[Growth], x: Log, y: Log) -> tuple[str, Element]:
    """The chart of a scenario, on the broker and on Spark."""
    first, name = found[0], spoken(found[0].scenario)
    drawn = [_trend(REPORT, first.theirs, first.their_fit, y)]
    drawn += (_trend(_own(each), each.ours, each.our_fit, y) for each in found)
    ticks = tuple(sorted({kib for each in found for kib, _ in (*each.ours, *each.theirs) if kib > 0}))
    lines = (f"{_own(each).text}: {_line(each.our_fit)}" for each in found)
    about = f"CPU ms by KiB. {'; '.join(lines)}; the report: {_line(first.their_fit)}."
    return name, trends(f"Growth of {name}", about, _FRAME, Plot(tuple(drawn), x, y, ticks))


def _trend(entry: Entry, points: tuple[Point, ...], found: Fit | None, y: Log) -> Trend:
    shown = [(kib, cost) for kib, cost in points if drawable(kib) and drawable(cost)]
    marks = tuple((kib, cost, f"{entry.text}, {kib:g} KiB: {figure(cost)} ms") for kib, cost in shown)
    if not found or not shown:
        return Trend(entry, marks, ())
    low, high = shown[0][0], shown[-1][0]
    sizes = [low * (high / low) ** (step / _STEPS) for step in range(_STEPS + 1)]
    return Trend(entry, marks, tuple((kib, found.at(kib)) for kib in sizes if y.low <= found.at(kib) <= y.high))


def _line(found: Fit | None) -> str:
    return f"{figure(found.base)} ms and {figure(found.per_kib)} ms for each KiB" if found else "not measured"


def _table(found: tuple[Growth, ...]) -> Element:
    rows = [
        row(
            f"{each.scenario}{run_on(each.place)}",
            *_cells(each.our_fit),
            *_cells(each.their_fit),
            *(times(part) for part in _ratios(each)),
        )
        for each in found
    ]
    over = element(
        "tr",
        {},
        element("td", {}),
        element("th", {"scope": "colgroup", "colspan": 3, "class": "over ours"}, "ours"),
        element("th", {"scope": "colgroup", "colspan": 3, "class": "over report"}, "report"),
        element("th", {"scope": "colgroup", "colspan": 2, "class": "over"}, "ours/report"),
    )
    names = head_row("scenario", *("base ms", "ms per KiB", "R²") * 2, "base", "per KiB")
    return table("Fitted base and cost of each KiB", [over, names], [body(rows)], kind="costs")


def _cells(found: Fit | None) -> tuple[str, ...]:
    return (figure(found.base), figure(found.per_kib), f"{found.explained:.3f}") if found else (DASH,) * 3


def _ratios(each: Growth) -> tuple[float | None, float | None]:
    """Ours beside the report's, where both are more than nothing."""
    ours, theirs = each.our_fit, each.their_fit
    if not ours or not theirs:
        return None, None
    base = divided(ours.base, theirs.base) if min(ours.base, theirs.base) > 0 else None
    return base, divided(ours.per_kib, theirs.per_kib) if min(ours.per_kib, theirs.per_kib) > 0 else None
