"""Relative costs on the page: costs beside MQInput/MQOutput on both systems, and where the orders differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.costs.report.page.chart import OURS, REPORT, Entry, figure_with
from engine.costs.report.page.dots import Axis, Dots, Group, dots
from engine.costs.report.page.markup import Content, Element, body, element, head_row, row, table
from engine.costs.report.page.scales import drawable, log_scale
from engine.costs.report.page.trends import Frame, Plot, Trend, legend_height, trends
from engine.costs.report.relative import Order, Placed, Relative, correlation, differing, orders, relative
from engine.costs.report.verdicts import LEAST_CORRELATION
from engine.costs.report.wording import DASH, counted, figure, kind, size, spoken, times
from engine.costs.results import Key, Results

_AXIS: Final = Axis("times MQInput/MQOutput of the same size, logarithmic", "times", "ours/report", 1000)
_SHAPES: Final = ("disc", "square", "diamond", "triangle")
_SIZE: Final = (720.0, 560.0)


def relative_costs(results: Results) -> Element:
    """The section of the page."""
    found = relative(results)
    parts: list[Content] = [element("h2", {}, "Costs relative to MQInput/MQOutput"), *_said(results)]
    parts += _charts(found)
    if found:
        parts.append(_table(found))
    parts += _differences(results)
    return element("section", {"id": "relative"}, *parts)


def _said(results: Results) -> Iterator[Element]:
    overall = correlation(results)
    yield element(
        "p",
        {},
        "A row's CPU ms is divided by that of MQInput/MQOutput of the same size and persistence, on each system by its "
        "own: what a node adds, whatever the machine. Rows on Spark are no part of this. Where the report has no "
        "MQInput/MQOutput of that size, as with 4 KiB persistent, there is no relative cost; ranks within one size and "
        "persistence do not need it.",
    )
    if overall is None:
        yield element("p", {}, "Too few rows are measured for a rank correlation.")
        return
    like = "like" if overall >= LEAST_CORRELATION else "not enough like"
    yield element(
        "p",
        {},
        f"Over all measured rows Spearman's rank correlation with the report is {overall:.2f}: an order {like} the "
        f"report's, of which at least {LEAST_CORRELATION} is asked for.",
    )


def _charts(found: tuple[Relative, ...]) -> Iterator[Element]:
    chosen = _size_with_most(found)
    if not chosen:
        return
    of_size = [each for each in found if (each.line.key.persistent, each.line.key.message_bytes) == chosen]
    of_size = sorted((each for each in of_size if each.theirs), key=_theirs)
    rows = tuple(
        Dots(spoken(each.line.key.scenario), ((OURS, each.ours), (REPORT, each.theirs)), times(each.apart))
        for each in of_size
    )
    what = kind(Key("", "", *chosen))
    about = f"Messages of {what}, the cheapest on the report's machine first; the farther apart two marks, the more "
    about += "our order differs. Beside each row: our relative cost over the report's."
    yield figure_with(about, dots(f"Cost relative to MQInput/MQOutput, {what}", about, _AXIS, [Group("", rows)]))
    yield _scatter(found)


def _size_with_most(found: tuple[Relative, ...]) -> tuple[bool, int] | None:
    counts: dict[tuple[bool, int], int] = {}
    for each in found:
        if each.ours is not None and each.theirs is not None:
            name = (each.line.key.persistent, each.line.key.message_bytes)
            counts[name] = counts.get(name, 0) + 1
    return max(counts, key=lambda name: (counts[name], -name[1])) if counts else None


def _theirs(each: Relative) -> float:
    return each.theirs or 0


def _scatter(found: tuple[Relative, ...]) -> Element:
    both = [each for each in found if drawable(each.ours) and drawable(each.theirs)]
    sizes = sorted({each.line.key.message_bytes for each in both})
    entries = {each: Entry(_SHAPES[place % 4], "ours", size(each)) for place, each in enumerate(sizes)}
    width, height = _SIZE
    frame = Frame(width, height, legend_height(width, list(entries.values())) + 16, "the report", "ours")
    values = [value for each in both for value in (each.ours or 1, each.theirs or 1)]
    x, y = log_scale(values, frame.left, frame.right), log_scale(values, frame.bottom, frame.top)
    drawn = [Trend(Entry("", "alike", ""), (), ((x.low, y.low), (x.high, y.high)))]
    for message_bytes, entry in entries.items():
        points = tuple(
            (each.theirs or 1, each.ours or 1, _tip(each))
            for each in both
            if each.line.key.message_bytes == message_bytes
        )
        drawn.append(Trend(entry, points, ()))
    about = f"{counted(len(both), 'row')}: times MQInput/MQOutput, the report's across and ours upward. On the line a "
    about += "row costs as many times as much on both systems; above it, more with us."
    plot = Plot(tuple(drawn), x, y, x.ticks(), tuple(entries.values()))
    return figure_with(about, trends("Relative costs, ours against the report's", about, frame, plot))


def _tip(each: Relative) -> str:
    key = each.line.key
    return f"{key.scenario}, {kind(key)}: ours {times(each.ours)}, the report's {times(each.theirs)}"


def _table(found: tuple[Relative, ...]) -> Element:
    rows = [
        row(
            each.line.key.scenario,
            kind(each.line.key),
            *(figure(cost) for cost in (each.line.ours, each.line.theirs)),
            *(times(cost) for cost in (each.ours, each.theirs, each.apart)),
            texts=1,
        )
        for each in found
    ]
    head = head_row("scenario", "message", "our CPU ms", "report's", "our relative", "report's", "ours/report", texts=2)
    return table("Relative costs of all rows", [head], [body(rows)])


def _differences(results: Results) -> Iterator[Element]:
    made = orders(results)
    if not made:
        return
    yield element("h3", {"id": "order"}, "Where our order differs, and by how much")
    sums = [
        row(
            kind(Key("", "", order.persistent, order.message_bytes)),
            f"{len(order.placed)}",
            _moved(order),
            _said_of(order),
        )
        for order in made
    ]
    head = head_row("messages", "rows", "in another place", "rank correlation")
    yield table("Rank correlation by size", [head], [body(sums)])
    rows = [_difference(order, placed) for order, placed in differing(results)]
    if not rows:
        yield element("p", {}, "No row has another place in our order than in the report's.")
        return
    head = head_row(
        "scenario", "message", "our place", "report's", "places", "our relative", "report's", "ours/report", texts=2
    )
    yield element("p", {}, "Places count from 1, the cheapest; rows that cost the same share the middle of theirs.")
    yield table("Rows in another place, those that moved furthest first", [head], [body(rows)])


def _moved(order: Order) -> str:
    return f"{sum(bool(placed.moved) for placed in order.placed)}"


def _said_of(order: Order) -> str:
    return DASH if order.correlation is None else f"{order.correlation:.3f}"


def _difference(order: Order, placed: Placed) -> Element:
    each = placed.relative
    way = "dearer" if placed.moved > 0 else "cheaper"
    return row(
        each.line.key.scenario,
        kind(each.line.key),
        f"{placed.ours:g} of {len(order.placed)}",
        f"{placed.theirs:g}",
        f"{abs(placed.moved):g} {way}",
        *(times(cost) for cost in (each.ours, each.theirs, each.apart)),
        texts=1,
    )
