"""The page: well-formed, complete, self-contained, and inert whatever names and reasons say."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from lxml import etree

from engine.costs.report.earlier_results import compare
from engine.costs.report.page import html
from engine.costs.results import Key, Node, Results, Row, Taken, published
from tests.costs.report.examples import LATER, example, later, only, taken
from tests.costs.report.test_reading import RESULTS
from tests.costs.report.test_texts import earlier, hostile

Element = etree._Element

ELEMENTS_THAT_LOAD = (
    "script",
    "link",
    "img",
    "iframe",
    "object",
    "embed",
    "use",
    "image",
    "base",
    "form",
    "audio",
    "video",
)


def parsed(text: str) -> Element:
    """The page as XML: an element that is not closed, or an ampersand that is not written as one, is an error."""
    return etree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))


@cache
def page() -> Element:
    return parsed(html(example(), compare(earlier(), example())))


def texts(found: list[Element]) -> list[str]:
    return ["".join(each.itertext()) for each in found]


def cells(row: Element) -> list[str]:
    return texts(row.xpath("./th | ./td"))


def rows_of(caption: str, root: Element | None = None) -> list[list[str]]:
    """The cells of the rows of the table with this caption."""
    root = page() if root is None else root
    (found,) = [each for each in root.iter("table") if texts(each.xpath("./caption")) == [caption]]
    return [cells(row) for row in found.xpath("./tbody/tr")]


PAGES: dict[str, Callable[[], Results]] = {
    "everything": example,
    "hostile": hostile,
    "nothing": lambda: only(example(), lambda _: False),
    "nothing measured": lambda: example(lambda _: False),
    "everything measured": lambda: example(lambda _: True),
    "one row": lambda: only(example(), lambda row: row.key.scenario == "filter" and row.key.message_bytes == 4096),
    "one size": lambda: only(example(), lambda row: row.key.message_bytes == 65536),
    "Spark alone": lambda: only(example(), lambda row: row.place == "spark"),
    "subscribers": lambda: only(example(lambda _: True), lambda row: "subscriber" in row.key.scenario),
}


@pytest.mark.parametrize("name", PAGES)
def test_self_contained(name: str) -> None:
    """The page is well-formed and needs nothing else: no script, no style, font or picture from anywhere."""
    results = PAGES[name]()
    text = html(results, compare(results, results))
    root = parsed(text)
    assert [each.tag for each in root.iter(*ELEMENTS_THAT_LOAD)] == []
    assert {each.get("href")[0] for each in root.iter("a")} == {"#"}
    attributes = [(name, value) for each in root.iter(etree.Element) for name, value in each.attrib.items()]
    assert [name for name, _ in attributes if name.startswith("on") or name in {"src", "srcset", "xlink:href"}] == []
    assert [value for _, value in attributes if "://" in value or "javascript:" in value] == []
    (style,) = root.iter("style")
    assert not re.search(r"url\(|@import|[<>&]", style.text or "")
    assert "://" not in text


@pytest.mark.parametrize("name", PAGES)
def test_navigable(name: str) -> None:
    """Links lead to what is there, names are given once, pictures are described, what scrolls can be reached by key."""
    root = parsed(html(PAGES[name]()))
    names = [each.get("id") for each in root.iter(etree.Element) if each.get("id")]
    assert len(names) == len(set(names))
    assert {each.get("href")[1:] for each in root.iter("a")} <= set(names)
    for drawn in root.xpath("//svg[not(@aria-hidden)]"):
        assert (drawn.get("role"), [child.tag for child in drawn[:2]]) == ("img", ["title", "desc"])
        assert all(texts(drawn[:2]))
        assert drawn.get("aria-label")
    for region in root.xpath("//*[contains(@class, 'scroll')]"):
        assert (region.get("tabindex"), region.get("role"), bool(region.get("aria-label"))) == ("0", "region", True)
    assert root.get("lang") == "en"
    assert len(root.findall(".//h1")) == len(root.findall(".//main")) == 1
    for table in root.iter("table"):
        assert texts(table.findall("caption")) != [""]
        assert all(head.get("scope") for head in table.iter("th"))


@given(results=RESULTS)
@settings(max_examples=40)
def test_any_results(results: Results) -> None:
    """Whatever results say, the page is well-formed."""
    root = parsed(html(results, compare(results, results)))
    assert [each.tag for each in root.iter(*ELEMENTS_THAT_LOAD)] == []


def test_every_row_is_there() -> None:
    """Each row stands in the table of its section, with the figures measured or the reason why there are none."""
    found = [cells(row) for row in page().xpath("//table[contains(@class, 'section')]/tbody/tr")]
    names = [(row[0].removesuffix(" on Spark"), row[2] == "yes", int(row[1]) * 1024) for row in found]
    expected = [(row.key.scenario, row.key.persistent, row.key.message_bytes) for row in example().rows]
    assert sorted(names) == sorted(expected)
    assert sum("not yet measurable [1]" in row for row in found) == sum(map(later, published()))
    reasons = page().xpath("//section[@id='section-7-3']/ol/li")
    assert texts(reasons) == [f"not yet measurable: {LATER}"]
    assert rows_of("7.4 Filter node")[0] == [
        *("filter", "1", "no", "15,359", "66.5", "0.0832", "0.0807–0.0857"),
        *("644", "2.06", "0.040×", "0.0406", "2.1×", "153"),
    ]


def test_names_are_inert() -> None:
    """A name that is markup is shown as it is written, and what a terminal or an eye would be misled by is replaced."""
    root = parsed(html(hostile()))
    name = "=cmd|' /C calc'!A0\N{REPLACEMENT CHARACTER}[31m</table><script>"
    assert name in {row[0] for row in rows_of("7.99", root)}
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", html(hostile()))


def points(root: Element, section: str, of: str) -> int:
    return len(root.xpath(f"//section[@id='{section}']//*[contains(@class, 'point {of} ')]"))


def test_charts_have_a_point_for_each_figure() -> None:
    """Costs and rates have a mark for each row, ours where it is measured; the program by hand has one at costs."""
    rows = example().rows
    for section in ("7.1", "7.7", "7.8.2", "7.11"):
        inside = [row for row in rows if row.key.section == section]
        measured = [row for row in inside if row.taken]
        found = [
            points(page(), f"section-{section.replace('.', '-')}", of) for of in ("ours", "spark", "report", "hand")
        ]
        on_spark = sum(row.place == "spark" for row in measured)
        assert found == [2 * (len(measured) - on_spark), 2 * on_spark, 2 * len(inside), len(measured)]


def test_growth_has_a_point_for_each_size() -> None:
    """Each scenario's chart has our sizes, Spark's and the report's, and a fitted line for each."""
    measured = [row for row in example().rows if row.taken and not row.key.persistent]
    theirs = [key for key in published() if not key.persistent]
    expected = [sum(row.place == place for row in measured) for place in ("memory", "spark")]
    assert [points(page(), "growth", of) for of in ("ours", "spark", "report")] == [*expected, len(theirs)]
    charts = page().xpath("//section[@id='growth']//div[@class='small']/figure")
    assert len(charts) == len({key.scenario for key in theirs})
    (simple,) = [chart for chart in charts if texts(chart.findall("figcaption")) == ["compute simple"]]
    lines = simple.xpath(".//polyline")
    assert [line.get("class") for line in lines] == ["course report", "course ours"]
    assert all(len(line.get("points").split()) == 25 for line in lines)


def test_curves_have_a_point_for_each_number() -> None:
    """Scaling has one, two and four for each system and size that was measured; the report's subscribers are seven."""
    ours = sum(
        row.taken is not None for row in example().rows if row.key.section[:3] == "7.8" and row.place == "memory"
    )
    theirs = sum(key.section[:3] == "7.8" for key in published())
    assert [points(page(), "scaling", of) for of in ("ours", "spark", "report")] == [ours, ours, theirs]
    assert [points(page(), "subscribers", of) for of in ("ours", "report")] == [0, 7 * 5]
    assert "Nothing of ours is measured" in "".join(page().xpath("//section[@id='subscribers']")[0].itertext())
    everything = parsed(html(example(lambda _: True)))
    assert [points(everything, "subscribers", of) for of in ("ours", "report")] == [7 * 5, 7 * 5]


def test_the_chart_of_relative_costs() -> None:
    """Rows of one size stand in the report's order, with both systems' marks where there are both."""
    chart = page().xpath("//section[@id='relative']//svg")[0]
    labels = texts(chart.xpath("./text[@class='label']"))
    costs = {
        key.scenario: figures.cpu_ms
        for key, figures in published().items()
        if key.message_bytes == 4096 and not key.persistent
    }
    assert len(labels) == len(costs)
    assert labels[:2] == ["MQ input output", "MQ input output transactional"]
    assert labels[-1] == "publication 1000 subscribers"
    measured = [key for key in published() if key.message_bytes == 4096 and not later(key)]
    marks = [len(chart.xpath(f"./*[contains(@class, 'point {of} ')]")) for of in ("ours", "report")]
    assert marks == [len(measured), len(costs)]


def test_a_place_on_a_chart_is_the_value() -> None:
    """On a logarithmic scale equal ratios are equal ways: 1 to 10 is as far as 10 to 100."""
    chart = page().xpath("//section[@id='relative']//svg")[0]
    ticks = {
        each.text: float(each.get("x")) for each in chart.xpath("./text[@class='tick']") if each.text != "ours/report"
    }
    assert ticks["10"] - ticks["1"] == pytest.approx(ticks["100"] - ticks["10"], abs=0.05)
    (mark,) = [each for each in chart.iter("circle") if "MQ input output, ours" in "".join(each.itertext())]
    assert float(mark.get("cx")) == pytest.approx(ticks["1"], abs=0.05)


def test_bars_are_as_long_as_their_shares() -> None:
    """Each bar is whole: its parts, which are as wide as their shares, fill it."""
    chart = page().xpath("//section[@id='nodes']//svg")[0]
    parts = [each for each in chart.iter("rect") if len(each)]
    bars: dict[str, list[float]] = {}
    for part in parts:
        bars.setdefault(part.get("y"), []).append(float(part.get("width")))
    measured = [row for row in example().rows if row.taken and row.key.message_bytes == 4096]
    assert len(bars) == len(measured)
    assert len({round(sum(widths)) for widths in bars.values()}) == 1
    for widths in bars.values():
        shares = [width / sum(widths) for width in widths]
        assert shares == pytest.approx([0.2 / 0.95, 0.5 / 0.95, 0.15 / 0.95, 0.1 / 0.95], abs=0.01)


def test_nodes_beyond_the_colours() -> None:
    """A flow of very many nodes has a colour for the first, one for all others, and one for what is around."""
    key = Key("7.5.2", "route_to_label_100", persistent=False, message_bytes=1024)
    nodes = (*(Node(f"Label {n}", 1 + n / 100) for n in range(30)), Node("", 5), Node("Idle", 0), Node("Idle too", 0))
    row = Row(key, "memory", replace(taken(key, published()[key]), nodes=nodes))
    root = parsed(html(replace(example(), rows=(row,))))
    chart = root.xpath("//section[@id='nodes']//svg")[0]
    assert texts(chart.xpath("./text[@class='key']")) == [
        *(f"Label {n}" for n in range(29, 23, -1)),
        "24 other nodes",
        "around the nodes",
    ]
    (row_of_all,) = rows_of("CPU of each node, all rows", root)
    assert row_of_all[2].startswith("Label 0 1.00 · Label 1 1.01 · ")
    assert row_of_all[2].endswith(" · around the nodes 5.00 · 2 nodes with nothing")
    assert row_of_all[3] == "39.3"


def test_bounds_and_verdicts() -> None:
    """Figures stand beside their bounds, met or not; so do the other things that were to be shown."""
    assert rows_of("Figures beside their bounds") == [
        ["kernel", "one field changed, 64 KiB", "310", "437", "0.710×", "0.690–0.740", "1×", "met"],
        [
            "esql",
            "compiling 1,000 lines",
            "3,200,000",
            "–",
            "3,200,000 µs",
            "3,100,000–3,300,000",
            "3,000,000 µs",
            "NOT MET",
        ],
        ["queues", "put", "–", "–", "0.800×", "0.750–0.810", "at least 0.7×", "met"],
    ]
    shown = rows_of("What was to be shown")
    assert [(row[0], row[2]) for row in shown] == [
        ("less processor time than the report's machine", "met"),
        ("costs in the report's order", "met"),
        ("kernel: one field changed, 64 KiB", "met"),
        ("esql: compiling 1,000 lines", "NOT MET"),
        ("queues: put", "met"),
    ]
    cards = texts(page().xpath("//div[@class='card']/strong"))
    assert (cards[0], cards[1], cards[4]) == ("135", "135 of 135", "2 of 3")


def test_options() -> None:
    """Options of the run are shown as they are read; all scenarios are not listed one by one."""
    scenarios = list(dict.fromkeys(key.scenario for key in published()))
    options = {"seconds": 0.5, "sizes": [1024, 4096], "scenarios": scenarios, "none": [], "deep": {"a": [1.5]}}
    assert rows_of("Options of the run", parsed(html(replace(example(), options=options)))) == [
        ["seconds", "0.5"],
        ["sizes", "1024, 4096"],
        ["scenarios", "all scenarios of the report"],
        ["none", "all"],
        ["deep", '{"a": [1.5]}'],
    ]


def test_comparison() -> None:
    """A comparison says what changed beyond the spread, which rows came and went, and what to be careful of."""
    section = page().xpath("//section[@id='comparison']")[0]
    changed = [(row[0], row[-1]) for row in rows_of("Changed beyond the spread")]
    assert changed == [("compute_simple, 4 KiB", "WORSE"), ("filter, 1 KiB", "better")]
    assert texts(section.xpath("./ul/li")) == [
        "the machines differ in python: 3.11.2, now 3.11.9",
        "the runs were made differently in seconds: 5, now 0.5",
        "mq_input_output, 4 KiB",
        "database_insert_delete_coordinated, 1 KiB",
    ]
    assert parsed(html(example())).xpath("//section[@id='comparison']") == []


def test_differences_of_order() -> None:
    """Rows in another place than the report's are listed with both places and both relative costs."""
    moved = rows_of("Rows in another place, those that moved furthest first")
    ways = [float(row[4].split()[0]) for row in moved]
    assert ways == sorted(ways, reverse=True)
    assert all(re.fullmatch(r"[\d.]+ (dearer|cheaper)", row[4]) for row in moved)
    scaled = replace(
        example(),
        rows=tuple(Row(key, "memory", taken_alike(key)) for key in published() if not later(key)),
    )
    said = "".join(parsed(html(scaled)).xpath("//section[@id='relative']")[0].itertext())
    assert "No row has another place in our order than in the report's." in said


def taken_alike(key: Key) -> Taken:
    found = taken(key, published()[key])
    cost = published()[key].cpu_ms / 40
    return replace(found, cpu_ms=replace(found.cpu_ms, median=cost, low=cost, high=cost))
