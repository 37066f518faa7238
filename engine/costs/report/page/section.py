"""A section of the report: its table, and its chart of our CPU ms beside the published and the program by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.costs.report.cells import GROUPS, HEADS, NOT_YET, OURS, Block, Cells, Grid, grid
from engine.costs.report.lines import Line, Section
from engine.costs.report.page.chart import BY_HAND, REPORT, SPARK, figure_with
from engine.costs.report.page.chart import OURS as OUR_MARK
from engine.costs.report.page.dots import Axis, Dots, Group, dots
from engine.costs.report.page.markup import Element, body, element, table
from engine.costs.report.wording import counted, kind, spoken, times, title

_COSTS = Axis("CPU milliseconds a message, logarithmic", "ms", "ratio", 520)
_RATES = Axis("round trips a second, logarithmic", "a second", "ratio", 520)


def anchor(number: str) -> str:
    """Returns what a section is called in links."""
    return "section-" + "".join(c if c.isalnum() else "-" for c in number)


def section(found: Section) -> Element:
    """The section as a part of the page."""
    made = grid(found)
    heading = title(found.number)
    reasons = [element("li", {}, f"{NOT_YET}: {reason}") for reason in made.reasons]
    parts = [element("h3", {}, heading), _table(made, heading)]
    if reasons:
        parts.append(element("ol", {"class": "reasons"}, *reasons))
    return element("section", {"id": anchor(found.number)}, *parts, _charts(made, heading))


def _table(made: Grid, heading: str) -> Element:
    over = [element("td", {}), element("td", {"colspan": 2})]
    over += (
        element("th", {"scope": "colgroup", "colspan": behind - first, "class": f"over {name.split()[-1]}"}, name)
        for name, first, behind in GROUPS
    )
    names = [element("th", {"scope": "col"}, "scenario")]
    names += (element("th", {"scope": "col", "class": "n"}, head) for head in HEADS)
    heads = [element("tr", {}, *over), element("tr", {}, *names)]
    bodies = [body([_row(block, cells) for cells in block.rows]) for block in made.blocks]
    return table(heading, heads, bodies, kind="costs section")


def _row(block: Block, cells: Cells) -> Element:
    head = element("th", {"scope": "row"}, block.name)
    parts = [element("td", {"class": "n"}, each) for each in cells.texts]
    if cells.reason:
        says = f"{NOT_YET} [{cells.reason}]"
        parts[OURS] = [element("td", {"class": "not-yet", "colspan": OURS.stop - OURS.start}, says)]
    elif (cells.line.ratio or 0) >= 1:
        parts[HEADS.index("ratio")].set("class", "n bad")
    return element("tr", {}, head, *parts)


def _charts(made: Grid, heading: str) -> Element:
    about = " ".join(_about(made.section))
    costs = dots(f"CPU milliseconds a message: {heading}", about, _COSTS, _groups(made, _cost))
    rates = dots(f"Round trips a second: {heading}", "Ours and the report's.", _RATES, _groups(made, _rate))
    return figure_with(about, costs, rates)


def _groups(made: Grid, dots_of: Callable[[Line], Dots]) -> list[Group]:
    several = len(made.blocks) > 1
    return [
        Group(spoken(block.name) if several else "", tuple(dots_of(cells.line) for cells in block.rows))
        for block in made.blocks
    ]


def _cost(line: Line) -> Dots:
    own = SPARK if line.row.place == "spark" else OUR_MARK
    note = times(line.ratio) if line.taken else "not yet"
    return Dots(kind(line.key), ((own, line.ours), (REPORT, line.theirs), (BY_HAND, line.limit)), note)


def _rate(line: Line) -> Dots:
    own = SPARK if line.row.place == "spark" else OUR_MARK
    note = times(line.rate_ratio) if line.taken else "not yet"
    ours = line.taken.rate.median if line.taken else None
    return Dots(kind(line.key), ((own, ours), (REPORT, line.report.rate if line.report else None)), note)


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
