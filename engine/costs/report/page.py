"""The page: everything that follows from results in one HTML file, which needs no other, no script and no network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from engine.costs.report import analysis, earlier_results, plots, tables
from engine.costs.report.charts import key_picture
from engine.costs.results import (
    DASH,
    MACHINE,
    PROCESSORS,
    Key,
    Line,
    Node,
    Results,
    Section,
    counted,
    divided,
    figure,
    kind,
    lines,
    published,
    run_on,
    sections,
    span,
    times,
    title,
)
from engine.errors import printable

_GLOBALS: Final = (counted, figure, kind, run_on, span, times, title, key_picture, earlier_results.by_scenario)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its heads, the first `texts` of which stand over words, its rows, and heads over several columns."""

    caption: str
    heads: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    texts: int = 1
    kind: str = ""
    over: tuple[tuple[str, int, str], ...] = ()  # each with its number of columns, and whose they are
    before: int = 0  # columns that nothing stands over


def html(results: Results, compared: earlier_results.Comparison | None = None) -> str:
    """Returns the page for results, and for their comparison with an earlier run if there is one."""
    return _template().render(
        **_opening(results),
        **_relative(results),
        results=results,
        compared=compared,
        changes=_changes(compared) if compared else None,
        sections=sections(results),
        plots=plots,
        accounted=[line for line in lines(results) if line.taken and line.taken.nodes],
        growth=analysis.growth(results),
        scaling=[(section, what, analysis.scaling(results, section)) for section, what in analysis.SCALING.items()],
        subscribers=analysis.subscribers(results),
        bounds=_bounds(results),
        least_change=earlier_results.LEAST_CHANGE,
        not_yet=tables.NOT_YET,
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("engine.costs.report"), autoescape=True, finalize=_printable, undefined=StrictUndefined
    )
    called = (_anchor, _grid_parts, _nodes_table, _growth_table, _curves_table, *_GLOBALS)
    environment.globals |= {each.__name__.strip("_"): each for each in called}
    return environment.get_template("page.html")


def _printable(value: object) -> object:
    """Returns a value as the page has it: no text can hold what XML cannot, or turns the order of letters about."""
    if isinstance(value, float):
        return f"{round(value, 2):g}"
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value, "\n")


def _judged(words: str, *, good: bool) -> str:
    return Markup('<strong class="{}">{}</strong>').format("good" if good else "bad", words)


def _met(*, is_met: bool) -> str:
    return _judged("met" if is_met else "NOT MET", good=is_met)


def _anchor(number: str) -> str:
    """Returns what a section is called in links."""
    return "section-" + "".join(c if c.isalnum() else "-" for c in number)


def _opening(results: Results) -> dict[str, Any]:
    """Returns the figures that say most, every verdict, and how and where it was measured."""
    shown = [(each.name, each.says, _met(is_met=each.met)) for each in analysis.verdicts(results)]
    options = [(name, _option(value)) for name, value in results.options.items()]
    told = (
        Table("This machine", ("what", "is"), list(results.machine.items()), 2, "words"),
        Table("Options of the run", ("option", "value"), options, 2, "words"),
    )
    return {
        "taken": sum(row.taken is not None for row in results.rows),
        "cards": list(_cards(results)),
        "verdicts": Table("What was to be shown", ("what", "figures", ""), shown, 3, "words"),
        "told": [table for table in told if table.rows],
        "report_machine": MACHINE,
        "report_processors": PROCESSORS,
    }


def _cards(results: Results) -> Iterator[tuple[str, str]]:
    taken = [each for each in results.rows if each.taken]
    yield f"{len(taken):,}", f"of {counted(len(results.rows), 'row')} measured"
    both = analysis.compared_rows(results)
    if both:
        faster = len(both) - len(analysis.slower(results))
        yield f"{faster} of {len(both)}", "rows take less processor time than on the report's machine"
        middle = median(line.ratio or 0 for line in both)
        less = f": {figure(divided(1, middle), 2)} times less" if 0 < middle < 1 else ""
        yield times(middle), f"the report's CPU ms in the median row{less}"
    found = analysis.correlation(results)
    said = f"rank correlation of relative costs with the report's; {analysis.LEAST_CORRELATION} asked for"
    yield DASH if found is None else f"{found:.2f}", said
    if results.bounds:
        met = sum(each.met for each in results.bounds)
        yield f"{met} of {len(results.bounds)}", "bounds met"


def _option(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and {key.scenario for key in published()} == {str(each) for each in value}:
        return "all scenarios of the report"
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        return ", ".join(map(str, value)) or "all"
    return json.dumps(value, ensure_ascii=False)


def _changes(compared: earlier_results.Comparison) -> Table:
    """Returns what has changed since an earlier run."""
    rows = [
        (*texts, _judged(judged, good=change.better))
        for change in compared.flagged
        for *texts, judged in [earlier_results.cells(change)]
    ]
    heads = ("row", "figure", "before", "quartiles", "now", "quartiles", "now/before", "")
    return Table("Changed beyond the spread", heads, rows, 2)


def _grid_parts(section: Section) -> dict[str, Any]:
    """Returns the cells of a section's table, and what is said about its charts."""
    found = tables.grid(section)
    about = " ".join(_about(section))
    return {"found": found, "heads": tables.HEADS, "over": tables.GROUPS, "ours": tables.OURS, "about": about}


def _about(found: Section) -> Iterator[str]:
    ratios = [line.ratio for line in found.lines if line.ratio is not None]
    if len(ratios) == 1 or (ratios and min(ratios) == max(ratios)):
        yield f"Our processor time is {times(ratios[0])} the report's."
    elif ratios:
        yield f"Our processor time is {times(min(ratios))} to {times(max(ratios))} the report's."
    missing = sum(line.taken is None for line in found.lines)
    if missing:
        yield f"{counted(missing, 'row')} not yet measurable: only the report's marks are drawn."
    if not ratios and not missing:
        yield "The report has no figures for these rows."


def _relative(results: Results) -> dict[str, Any]:
    """Returns costs beside MQInput/MQOutput on both systems, and where the orders differ."""
    found, made = analysis.relative(results), analysis.orders(results)
    rows = [
        (
            each.line.key.scenario,
            kind(each.line.key),
            *(figure(cost) for cost in (each.line.ours, each.line.theirs)),
            *(times(cost) for cost in (each.ours, each.theirs, each.apart)),
        )
        for each in found
    ]
    heads = ("scenario", "message", "our CPU ms", "report's", "our relative", "report's", "ours/report")
    sums = [
        (
            kind(Key("", "", order.persistent, order.message_bytes)),
            f"{len(order.placed)}",
            f"{sum(bool(placed.moved) for placed in order.placed)}",
            DASH if order.correlation is None else f"{order.correlation:.3f}",
        )
        for order in made
    ]
    moved = [
        (
            placed.relative.line.key.scenario,
            kind(placed.relative.line.key),
            f"{placed.ours:g} of {len(order.placed)}",
            f"{placed.theirs:g}",
            f"{abs(placed.moved):g} {'dearer' if placed.moved > 0 else 'cheaper'}",
            *(times(cost) for cost in (placed.relative.ours, placed.relative.theirs, placed.relative.apart)),
        )
        for order, placed in analysis.differing(results)
    ]
    places = ("scenario", "message", "our place", "report's", "places", "our relative", "report's", "ours/report")
    return {
        "relative": found,
        "correlation": analysis.correlation(results),
        "least_correlation": analysis.LEAST_CORRELATION,
        "relative_table": Table("Relative costs of all rows", heads, rows, 2),
        "order_table": Table(
            "Rank correlation by size", ("messages", "rows", "in another place", "rank correlation"), sums
        ),
        "moved_table": Table("Rows in another place, those that moved furthest first", places, moved, 2),
    }


def _growth_table(found: Sequence[analysis.Growth]) -> Table:
    rows = [
        (
            f"{each.scenario}{run_on(each.place)}",
            *(
                text
                for fit in (each.our_fit, each.their_fit)
                for text in ((figure(fit.base), figure(fit.per_kib), f"{fit.explained:.3f}") if fit else (DASH,) * 3)
            ),
            *(times(part) for part in each.ratios),
        )
        for each in found
    ]
    heads = ("scenario", *("base ms", "ms per KiB", "R²") * 2, "base", "per KiB")
    over = (("ours", 3, " ours"), ("report", 3, " report"), ("ours/report", 2, ""))
    return Table("Fitted base and cost of each KiB", heads, rows, kind="costs", over=over, before=1)


def _curves_table(curves: Sequence[analysis.Curve], caption: str, *labels: str) -> Table:
    numbers = sorted({point.number for curve in curves for point in curve.points})
    rows = []
    for curve in curves:
        points = {point.number: point for point in curve.points}
        found = [points.get(number) for number in numbers]
        cells = [figure(point.rate if point else None) for point in found]
        cells += (figure(point.cpu_ms if point else None) for point in found)
        cells += (times(curve.gain(point)) if point else DASH for point in found if "gain" in labels)
        rows.append((curve.kind, plots.SYSTEMS[curve.system].text, *cells))
    heads = ("messages", "system", *(f"{number:,}" for _ in labels for number in numbers))
    over = tuple((label, len(numbers), "") for label in labels)
    return Table(caption, heads, rows, 2, "costs", over, 2)


def _nodes_table(found: Sequence[Line]) -> Table:
    rows = []
    for line in found:
        nodes = line.taken.nodes if line.taken else ()
        whole = figure(sum(node.cpu_ms for node in nodes))
        name = f"{line.key.scenario}{run_on(line.row.place)}"
        rows.append((name, kind(line.key), " · ".join(_parts(nodes)), whole, figure(line.ours)))
    heads = ("scenario", "message", "CPU ms of each", "together", "row's CPU ms")
    return Table("CPU of each node, all rows", heads, rows, 3, "parts")


def _parts(nodes: Sequence[Node]) -> Iterator[str]:
    """Returns each node with what it took; those that took nothing, such as labels not gone to, are only counted."""
    yield from (f"{plots.node_name(node)} {figure(node.cpu_ms)}" for node in nodes if node.cpu_ms > 0)
    idle = sum(node.cpu_ms == 0 for node in nodes)
    if idle:
        yield f"{counted(idle, 'node')} with nothing"


def _bounds(results: Results) -> Table:
    rows = []
    for each in results.bounds:
        unit = "×" if each.unit == "x" else f" {each.unit}"
        cells = (figure(each.microseconds), figure(each.beside), f"{figure(each.value)}{unit}")
        bound = f"{'at least ' if each.at_least else ''}{each.bound:,.10g}{unit}"
        rows.append((each.group, each.name, *cells, span(each.low, each.high), bound, _met(is_met=each.met)))
    heads = ("group", "benchmark", "µs", "by hand µs", "figure", "quartiles", "at most", "")
    return Table("Figures beside their bounds", heads, rows, 2)
