"""The opening of the page: what was found, in figures and verdicts, and how and where it was measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from statistics import median
from typing import Any

from engine.costs.published import MACHINE, PROCESSORS, published
from engine.costs.report.lines import divided
from engine.costs.report.page.markup import Content, Element, body, element, head_row, row, table
from engine.costs.report.reading import measured as bound_of
from engine.costs.report.relative import correlation
from engine.costs.report.verdicts import LEAST_CORRELATION, compared_rows, slower, verdicts
from engine.costs.report.wording import DASH, counted, figure, times
from engine.costs.results import Results


def summary(results: Results) -> Element:
    """The figures that say most, and every verdict."""
    met = {True: "met", False: "NOT MET"}
    rows = [
        row(each.name, each.says, element("strong", {"class": "good" if each.met else "bad"}, met[each.met]), texts=2)
        for each in verdicts(results)
    ]
    return element(
        "section",
        {"id": "summary"},
        element("h2", {}, "Summary"),
        element("div", {"class": "cards"}, *_cards(results)),
        table("What was to be shown", [head_row("what", "figures", "", texts=3)], [body(rows)], kind="words"),
    )


def measured(results: Results) -> Element:
    """The machine, the options of the run, what the figures mean, and the machine of the report."""
    machine = [row(name, value, texts=1) for name, value in results.machine.items()]
    options = [row(name, _option(value), texts=1) for name, value in results.options.items()]
    parts: list[Content] = [element("h2", {}, "How it was measured"), *_method()]
    tables = []
    if machine:
        tables.append(table("This machine", [head_row("what", "is", texts=2)], [body(machine)], kind="words"))
    if options:
        tables.append(
            table("Options of the run", [head_row("option", "value", texts=2)], [body(options)], kind="words")
        )
    return element("section", {"id": "measured"}, *parts, element("div", {"class": "pair"}, *tables))


def _cards(results: Results) -> Iterator[Element]:
    taken = [each for each in results.rows if each.taken]
    yield _card(f"{len(taken):,}", f"of {counted(len(results.rows), 'row')} measured")
    both = compared_rows(results)
    if both:
        faster = len(both) - len(slower(results))
        yield _card(f"{faster} of {len(both)}", "rows take less processor time than on the report's machine")
        middle = median(line.ratio or 0 for line in both)
        less = f": {figure(divided(1, middle), 2)} times less" if 0 < middle < 1 else ""
        yield _card(times(middle), f"the report's CPU ms in the median row{less}")
    found = correlation(results)
    said = f"rank correlation of relative costs with the report's; {LEAST_CORRELATION} asked for"
    yield _card(DASH if found is None else f"{found:.2f}", said)
    if results.bounds:
        met = sum(bound_of(each).met for each in results.bounds)
        yield _card(f"{met} of {len(results.bounds)}", "bounds met")


def _card(value: str, says: str) -> Element:
    return element("div", {"class": "card"}, element("strong", {}, value), element("span", {}, says))


def _method() -> Iterator[Element]:
    yield element(
        "p",
        {},
        "A round trip is a message put by a driver, processed by the flow and got again by the driver. Each row is run "
        "several times after it has warmed up; figures are medians, with the quartiles beside them. ",
        element("b", {}, "CPU ms"),
        " is processor time for one message by the report's formula: the busy share of all processors, times their "
        "number, over the rate. It holds all that runs for a message: drivers, queues and the flow. docs/costs.md says "
        "in what this differs from the way the report was made.",
    )
    yield element(
        "p",
        {},
        element("b", {}, "The report"),
        f" is the WebSphere MQ Integrator for z/OS V2.1 performance report. Its machine: {MACHINE}; its CPU ms are "
        f"those of one of its {PROCESSORS} processors. ",
        element("b", {}, "By hand"),
        " is a program written by hand for the same work with lxml, struct or SQLAlchemy, without queues and without a "
        "broker, run in turn with the flow in the same process: the least that the work can be expected to cost here. ",
        element("b", {}, "Ratio"),
        " is our CPU ms beside the report's: below 1× is less.",
    )


def _option(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and {key.scenario for key in published()} == {str(each) for each in value}:
        return "all scenarios of the report"
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        return ", ".join(map(str, value)) or "all"
    return json.dumps(value, ensure_ascii=False)
