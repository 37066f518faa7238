"""The rest of the page: what nodes take of a message, figures beside bounds, and the comparison with a run before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.costs.report.comparing import LEAST_CHANGE, Change, Comparison, by_scenario
from engine.costs.report.lines import Line, lines
from engine.costs.report.page.bars import REST, Bar, bars
from engine.costs.report.page.chart import figure_with
from engine.costs.report.page.markup import Content, Element, body, element, head_row, row, table
from engine.costs.report.reading import measured
from engine.costs.report.wording import counted, figure, kind, named, run_on, size, span, spoken, times
from engine.costs.results import Node, Results, Row


def nodes(results: Results) -> Element:
    """Returns what each node takes of a message's CPU: a chart for one size, and a table of all rows."""
    found = [line for line in lines(results) if line.taken and line.taken.nodes]
    parts: list[Content] = [element("h2", {}, "CPU of each node"), element("p", {}, _SAYS)]
    if found:
        parts += [_bars(found), _nodes_table(found)]
    else:
        parts.append(element("p", {"class": "not-yet"}, "No row has figures of its nodes."))
    return element("section", {"id": "nodes"}, *parts)


def bounds(results: Results) -> Element:
    """Figures beside their bounds."""
    rows = []
    for each in map(measured, results.bounds):
        unit = "×" if each.unit == "x" else f" {each.unit}"
        met = element("strong", {"class": "good" if each.met else "bad"}, "met" if each.met else "NOT MET")
        cells = (figure(each.microseconds), figure(each.beside), f"{figure(each.value)}{unit}")
        rows.append(
            row(each.group, each.name, *cells, span(each.low, each.high), f"{each.bound:,.10g}{unit}", met, texts=1)
        )
    head = head_row("group", "benchmark", "µs", "by hand µs", "figure", "quartiles", "at most", "", texts=2)
    parts: list[Content] = [element("h2", {}, "Bounds")]
    parts.append(table("Figures beside their bounds", [head], [body(rows)]) if rows else element("p", {}, _NO_BOUNDS))
    return element("section", {"id": "bounds"}, *parts)


def comparison(compared: Comparison) -> Element:
    """Returns what has changed since an earlier run."""
    says = (
        f"With the run of {compared.old_started}: {counted(len(compared.changes) // 2, 'row')} measured in both. "
        f"A figure has changed beyond the spread when the ranges between its quartiles do not overlap and the medians "
        f"differ by more than {LEAST_CHANGE:.0%} of the earlier one."
    )
    parts: list[Content] = [element("h2", {}, "Compared with an earlier run"), element("p", {}, says)]
    if compared.warnings:
        warnings = (element("li", {}, warning) for warning in compared.warnings)
        parts.append(element("ul", {"class": "warnings"}, *warnings))
    if compared.flagged:
        names = ("row", "figure", "before", "quartiles", "now", "quartiles", "now/before", "")
        rows = [_change(change) for change in compared.flagged]
        parts.append(table("Changed beyond the spread", [head_row(*names, texts=2)], [body(rows)]))
    else:
        parts.append(element("p", {}, "No figure has changed beyond the spread."))
    parts += _listed("Measured now, and not before", compared.appeared)
    parts += _listed("Measured before, and not now", compared.vanished)
    return element("section", {"id": "comparison"}, *parts)


_SAYS = (
    "From the flow's own accounting: the processor time of each node without the nodes behind it. What is around the "
    "nodes is the rest: drivers, queues, the unit of work and the engine between nodes. A message is parsed by the "
    "node that first looks into it and written by MQOutput. All this is taken in a run by itself, because accounting "
    "costs something too, so the parts together are not quite the row's CPU ms."
)
_NO_BOUNDS = "No bound was measured in this run."


def _label(label: str) -> str:
    return label or REST


def _bars(found: Sequence[Line]) -> Element:
    kinds = [(line.key.persistent, line.key.message_bytes) for line in found]
    chosen = max(dict.fromkeys(kinds), key=lambda each: (kinds.count(each), not each[0], -each[1]))
    rows = [
        Bar(
            f"{spoken(line.key.scenario)}{run_on(line.row.place)}",
            tuple((_label(node.label), node.cpu_ms) for node in line.taken.nodes if node.cpu_ms > 0),
        )
        for line in found
        if line.taken and (line.key.persistent, line.key.message_bytes) == chosen
    ]
    what = f"{size(chosen[1])}{' persistent' if chosen[0] else ''}"
    about = f"Messages of {what}: the share of each node in a message's CPU, and the CPU ms of all parts together."
    return figure_with(about, bars(f"CPU of each node, {what}", about, "ms", rows))


def _nodes_table(found: Sequence[Line]) -> Element:
    rows = []
    for line in found:
        nodes = line.taken.nodes if line.taken else ()
        whole = figure(sum(node.cpu_ms for node in nodes))
        name = f"{line.key.scenario}{run_on(line.row.place)}"
        rows.append(row(name, kind(line.key), " · ".join(_parts(nodes)), whole, figure(line.ours), texts=2))
    head = head_row("scenario", "message", "CPU ms of each", "together", "row's CPU ms", texts=3)
    return table("CPU of each node, all rows", [head], [body(rows)], kind="parts")


def _parts(nodes: Sequence[Node]) -> Iterator[str]:
    """Each node with what it took; those that took nothing, such as labels not gone to, are only counted."""
    yield from (f"{_label(node.label)} {figure(node.cpu_ms)}" for node in nodes if node.cpu_ms > 0)
    idle = sum(node.cpu_ms == 0 for node in nodes)
    if idle:
        yield f"{counted(idle, 'node')} with nothing"


def _change(change: Change) -> Element:
    ranges = [(figure(each.median), span(each.low, each.high)) for each in (change.old, change.new)]
    judged = element("strong", {"class": "good" if change.better else "bad"}, "better" if change.better else "WORSE")
    name = {"cpu_ms": "CPU ms", "rate": "rate"}[change.figure]
    return row(named(change.row), name, *ranges[0], *ranges[1], times(change.ratio), judged, texts=1)


def _listed(heading: str, rows: Sequence[Row]) -> Iterator[Element]:
    if rows:
        yield element("h3", {}, heading)
        yield element("ul", {}, *(element("li", {}, each) for each in by_scenario(rows)))
