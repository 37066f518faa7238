"""The page: everything that follows from results in one HTML file, which needs no other, no script and no network."""

from __future__ import annotations

from importlib.resources import files

from engine.costs.report.comparing import Comparison
from engine.costs.report.lines import sections
from engine.costs.report.page import closing, courses, growing, opening, orders
from engine.costs.report.page.markup import Content, Element, element, written
from engine.costs.report.page.section import anchor, section
from engine.costs.report.wording import counted, title
from engine.costs.results import Results

_TITLE = "Penstock: what nodes cost, beside the WMQI V2.1 report"


def html(results: Results, compared: Comparison | None = None) -> str:
    """The page for results, and for their comparison with an earlier run if there is one."""
    style = files("engine.costs.report.page").joinpath("style.css").read_text(encoding="utf-8")
    head = element(
        "head",
        {},
        element("meta", {"charset": "utf-8"}),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("meta", {"name": "color-scheme", "content": "light dark"}),
        element("title", {}, _TITLE),
        element("style", {}, style),
    )
    main = element("main", {"id": "main"}, *_parts(results, compared))
    skip = element("a", {"href": "#main", "class": "skip"}, "To the content")
    parts = (skip, _header(results), _contents(results, compared), main)
    return written(element("html", {"lang": "en"}, head, element("body", {}, *parts)))


def _header(results: Results) -> Element:
    taken = sum(row.taken is not None for row in results.rows)
    says = f"Run of {results.started}: {taken:,} of {counted(len(results.rows), 'row')} measured."
    return element("header", {}, element("h1", {}, "What nodes cost"), element("p", {}, says))


def _parts(results: Results, compared: Comparison | None) -> list[Content]:
    found = [opening.summary(results), opening.measured(results)]
    if compared:
        found.append(closing.comparison(compared))
    shown = [section(each) for each in sections(results)]
    found.append(element("section", {"id": "rows"}, element("h2", {}, "The report's tables"), *shown))
    found += [orders.relative_costs(results), growing.growing(results), courses.scaling_curves(results)]
    found += [courses.subscribers_curve(results), closing.nodes(results), closing.bounds(results)]
    return list(found)


_FIRST = (("summary", "Summary"), ("measured", "How it was measured"))
_COMPARED = ("comparison", "Compared with an earlier run")
_REST = (
    ("rows", "The report's tables"),
    ("relative", "Relative costs"),
    ("growth", "Growth with size"),
    ("scaling", "Scaling"),
    ("subscribers", "Subscribers"),
    ("nodes", "CPU of each node"),
    ("bounds", "Bounds"),
)


def _contents(results: Results, compared: Comparison | None) -> Element:
    """Links to the parts, and to the sections of the report among the tables."""
    parts = [*_FIRST, *([_COMPARED] if compared else []), *_REST]
    inside = [(anchor(each.number), title(each.number)) for each in sections(results)]
    lists = [element("ul", {"class": "parts"}, *(_link(*part) for part in parts))]
    lists += [element("ul", {"class": "tables"}, *(_link(*part) for part in inside))] if inside else []
    return element("nav", {"aria-label": "Contents"}, *lists)


def _link(target: str, words: str) -> Element:
    return element("li", {}, element("a", {"href": f"#{target}"}, words))
