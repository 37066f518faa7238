"""What follows from results: relative costs, ranks, growth, curves and verdicts, by known values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.costs.measuring import Measured, Spread
from engine.costs.report.analysis import (
    At,
    Curve,
    Fit,
    Verdict,
    correlation,
    differing,
    fit,
    growth,
    orders,
    ranks,
    relative,
    scaling,
    slower,
    spearman,
    subscribers,
    verdict_lines,
    verdicts,
)
from engine.costs.results import Key, Place, Results, Row, lines, published, sections
from tests.costs.report.examples import MACHINE, OPTIONS, example, only, taken


def results(*rows: Row) -> Results:
    return Results(MACHINE, "2026-11-18T16:00:00+00:00", OPTIONS, rows)


def row(key: Key, cpu_ms: float, place: Place = "memory", rate: float = 100) -> Row:
    found = taken(key, published()[key])
    costs, rates = (Spread(each, each * 0.9, each * 1.1) for each in (cpu_ms, rate))
    return Row(key, place, replace(found, cpu_ms=costs, rate=rates))


def key(scenario: str, kib: int = 1, *, persistent: bool = False) -> Key:
    wanted = (scenario, persistent, kib * 1024)
    return next(each for each in published() if (each.scenario, each.persistent, each.message_bytes) == wanted)


SPEARMAN: tuple[tuple[list[float], list[float], float | None], ...] = (
    ([1, 2, 3, 4], [1, 4, 9, 16], 1.0),
    ([1, 2, 3, 4], [4, 3, 2, 1], -1.0),
    ([106, 100, 86, 101, 99, 103, 97, 113, 112, 110], [7, 27, 2, 50, 28, 29, 20, 12, 6, 17], -29 / 165),
    ([1, 2, 2, 3], [1, 3, 2, 4], 4.5 / 22.5**0.5),
    ([1, 1, 2, 2], [1, 2, 1, 2], 0.0),
    ([5, 5, 5], [1, 2, 3], None),
    ([1, 2], [1, 2], None),
    ([], [], None),
)


@pytest.mark.parametrize(("one", "other", "expected"), SPEARMAN)
def test_spearman(one: list[float], other: list[float], expected: float | None) -> None:
    """The rank correlation is that of textbooks; values that are equal share the middle of their ranks."""
    assert spearman(one, other) == (None if expected is None else pytest.approx(expected))


@given(pairs=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=20))
def test_only_the_order_counts(pairs: list[tuple[int, int]]) -> None:
    """What keeps the order keeps the correlation, sides may be exchanged, and an order turned about turns its sign."""
    one, other = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    found = spearman(one, other)
    assert found == spearman([exp(each) for each in one], other) == spearman(other, one)
    turned = spearman([-each for each in one], other)
    assert turned == (None if found is None else pytest.approx(-found))


@given(values=st.lists(st.floats(-9, 9), max_size=20))
def test_ranks(values: list[float]) -> None:
    """A rank is one more than the number of smaller values, and half the number of other equal ones more."""
    expected = [
        1 + sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]
    assert expected == ranks(values)


def test_relative_costs() -> None:
    """A row's cost is divided by MQInput/MQOutput's of the same size and persistence, on each system by its own."""
    plain, filtering = key("mq_input_output", 4), key("filter", 4)
    found = relative(results(row(plain, 0.5), row(filtering, 1.5), row(key("filter", 16), 7)))
    assert [(each.ours, each.theirs) for each in found] == [
        (1, 1),
        (3, pytest.approx(2.497 / 1.571)),
        (None, pytest.approx(3.638 / 1.843)),
    ]
    assert found[1].apart == pytest.approx(3 / (2.497 / 1.571))


def test_relative_costs_where_there_are_none() -> None:
    """Rows not measured, or without a yardstick of ours or the report's, have no relative cost; nor have Spark's."""
    persistent, spark = key("compute_complex", 4, persistent=True), key("flow_copies_2", 4)
    found = relative(results(Row(key("filter"), "memory", None, "later"), row(persistent, 3), row(spark, 1, "spark")))
    assert [(each.line.key.scenario, each.ours, each.theirs) for each in found] == [
        ("compute_complex", None, None),
        ("filter", None, pytest.approx(2.063 / 1.351)),
    ]
    nothing = relative(results(row(key("mq_input_output"), 0.0), row(key("filter"), 1)))
    assert [(each.ours, each.apart) for each in nothing] == [(None, None), (None, None)]


def test_orders() -> None:
    """Rows of one size are ranked on both systems; the ones that moved are listed with by how many places."""
    costs = {"mq_input_output": 1.0, "compute_simple": 5.0, "filter": 2.0, "route_to_label_1": 3.0}
    (order,) = orders(found := results(*(row(key(name), cost) for name, cost in costs.items())))
    theirs = {"mq_input_output": 1, "filter": 2, "compute_simple": 3, "route_to_label_1": 4}
    ours = {"mq_input_output": 1, "filter": 2, "route_to_label_1": 3, "compute_simple": 4}
    placed = {each.relative.line.key.scenario: each for each in order.placed}
    assert {name: (ours[name], theirs[name]) for name in ours} == {
        name: (each.ours, each.theirs) for name, each in placed.items()
    }
    assert order.correlation == pytest.approx(0.8)
    moved = [(placed.relative.line.key.scenario, placed.moved) for _, placed in differing(found)]
    assert moved == [("compute_simple", 1), ("route_to_label_1", -1)]


def test_orders_with_ties() -> None:
    """The report has the same figures for one instance, copy and execution group: they share a place."""
    names = ("additional_instances_1", "flow_copies_1", "execution_groups_1", "compute_complex")
    (order,) = orders(
        results(*(row(key(name, 4), cost) for name, cost in zip(names, (3.0, 3.1, 3.2, 1.0), strict=True)))
    )
    assert [(each.relative.line.key.scenario, each.ours, each.theirs) for each in order.placed] == [
        ("compute_complex", 1, 1),
        ("additional_instances_1", 2, 3),
        ("flow_copies_1", 3, 3),
        ("execution_groups_1", 4, 3),
    ]
    assert order.correlation == pytest.approx(3 / (5 * 3) ** 0.5)


def test_correlation_over_all() -> None:
    """A run that costs what the report's did, scaled, has its order; one turned about has the opposite."""
    scaled = results(*(row(each, figures.cpu_ms / 40) for each, figures in published().items()))
    assert correlation(scaled) == pytest.approx(1)
    assert all(order.correlation == pytest.approx(1) for order in orders(scaled))
    assert list(differing(scaled)) == []
    assert len(orders(scaled)) == 6
    yardsticks = {each: figures.cpu_ms for each, figures in published().items() if each.section == "7.1"}
    turned = [
        row(each, yardsticks.get(each, 1 / figures.cpu_ms))
        for each, figures in published().items()
        if not each.persistent
    ]
    assert (correlation(results(*turned)) or 0) < -0.7
    assert correlation(results(*turned[:2])) is None
    assert correlation(results()) is None


def test_fit_of_the_published() -> None:
    """The line through the report's MQInput/MQOutput is that of least squares, as another program computes it."""
    points = [(each.message_bytes / 1024, published()[each].cpu_ms) for each in published() if each.section == "7.1"]
    found = fit(points[:4])
    assert found
    assert (found.base, found.per_kib, found.explained) == pytest.approx((1.407199, 0.0254024, 0.9931012), rel=1e-6)


@given(base=st.floats(-5, 5), per_kib=st.floats(0.01, 5), sizes=st.sets(st.integers(1, 1000), min_size=2, max_size=6))
def test_fit_of_a_line(base: float, per_kib: float, sizes: set[int]) -> None:
    """Points on a line give that line."""
    found = fit([(size, base + per_kib * size) for size in sizes])
    assert found
    assert (found.base, found.per_kib, found.explained) == pytest.approx((base, per_kib, 1), abs=1e-6)


@pytest.mark.parametrize("points", [[], [(4.0, 1.0)], [(4.0, 1.0), (4.0, 2.0)]])
def test_no_fit(points: list[tuple[float, float]]) -> None:
    """One size says nothing about growth."""
    assert fit(points) is None


def test_fit_of_what_does_not_grow() -> None:
    """Costs that are all the same are explained by their base."""
    assert fit([(1, 2.0), (4, 2.0)]) == Fit(2.0, 0.0, 1.0)


def test_growth() -> None:
    """A scenario has its points on both systems, without persistent ones; one size of ours has no line."""
    found = growth(
        results(
            row(key("filter", 1), 3),
            row(key("filter", 4), 9),
            row(key("filter", 1, persistent=True), 99),
            row(key("compute_simple", 4), 1),
        )
    )
    simple, filtering = found
    assert [
        (simple.scenario, simple.ours, simple.our_fit),
        (filtering.scenario, filtering.ours, filtering.our_fit),
    ] == [
        ("compute_simple", ((4, 1),), None),
        ("filter", ((1, 3), (4, 9)), Fit(1.0, 2.0, 1.0)),
    ]
    assert filtering.theirs == ((1, 2.063), (4, 2.497), (16, 3.638), (64, 5.207))
    assert simple.their_fit


def test_scaling() -> None:
    """Rates by number for each size, ours and Spark's beside the report's; the gain is to the rate of one."""
    found = scaling(
        results(
            row(key("flow_copies_1", 4), 2, rate=100),
            row(key("flow_copies_2", 4), 3, rate=190),
            row(key("flow_copies_4", 4), 4, "spark", 300),
            row(key("execution_groups_2", 4), 4),
        ),
        "7.8.2",
    )
    report = (At(1, 44.55, 23.959), At(2, 99.91, 20.018), At(4, 97.38, 20.538))
    assert found == (
        Curve("ours", 4096, persistent=False, points=(At(1, 100, 2), At(2, 190, 3))),
        Curve("spark", 4096, persistent=False, points=(At(4, 300, 4),)),
        Curve("report", 4096, persistent=False, points=report),
    )
    assert [found[0].gain(point) for point in found[0].points] == [1, 1.9]
    assert found[1].gain(found[1].points[0]) is None


def test_subscribers() -> None:
    """One subscriber has a section of its own, and is on the curve with more; the report's is there without ours."""
    rows = [Row(each, "memory", None, "later") for each in published() if each.message_bytes == 1024]
    (found, persistent) = subscribers(results(*rows))
    assert [point.number for point in found.points] == [1, 10, 30, 50, 70, 100, 1000]
    assert (found.system, found.points[0].cpu_ms, found.points[-1].cpu_ms) == ("report", 2.534, 656.615)
    assert persistent.persistent
    assert subscribers(results()) == ()


def test_lines_are_in_the_report_order() -> None:
    """Rows stand in the report's order however they were measured; what it does not have comes behind its section."""
    own = Key("7.4", "filter_by_hand", persistent=False, message_bytes=100)
    rows = [*reversed(example().rows), Row(own, "memory", taken(own, published()[key("filter")]))]
    found = [line.key for line in lines(results(*rows)) if line.row.place == "memory"]
    assert sorted(set(found) - {own}, key=list(published()).index) == list(published())
    assert [each for each in found if each.section == "7.4"][-1] == own
    numbers = [section.number for section in sections(results(*rows))]
    assert numbers == list(dict.fromkeys(each.section for each in published()))
    own_line = next(line for line in lines(results(*rows)) if line.key == own)
    assert (own_line.theirs, own_line.ratio, own_line.rate_ratio) == (None, None, None)


def test_slower() -> None:
    """A row that costs as much as on the report's machine or more is slower; what is not measured is not."""
    found = results(
        row(key("filter"), 2.062),
        row(key("filter", 4), 2.497),
        row(key("compute_simple"), 9.0),
        Row(key("route_to_label_1"), "memory", None, "later"),
    )
    assert [(line.key.scenario, line.key.message_bytes) for line in slower(found)] == [
        ("compute_simple", 1024),
        ("filter", 4096),
    ]
    assert verdicts(found) == (
        Verdict(
            "less processor time than the report's machine",
            met=False,
            says="1 of 3 rows; not compute_simple, 1 KiB (3.7×); filter, 4 KiB (1.0×)",
        ),
    )


BOUND = Measured("hops", "each of 20 hops", 30.0, 0.9, 1.0, "µs", 0.8, 1.0)
VERDICTS: tuple[tuple[Callable[[], Results], list[tuple[str, bool]]], ...] = (
    (results, [("something was measured", False)]),
    (lambda: results(Row(key("filter"), "memory", None, "later")), [("something was measured", False)]),
    (lambda: replace(results(), bounds=(BOUND,)), [("hops: each of 20 hops", True)]),
    (lambda: replace(results(), bounds=(replace(BOUND, value=1.1),)), [("hops: each of 20 hops", False)]),
    (
        lambda: only(example(), lambda row: row.key.message_bytes == 1024),
        [("less processor time than the report's machine", True), ("costs in the report's order", True)],
    ),
)


@pytest.mark.parametrize(("made", "expected"), VERDICTS, ids=range(len(VERDICTS)))
def test_verdicts(made: Callable[[], Results], expected: list[tuple[str, bool]]) -> None:
    """What can be judged is judged by the figures themselves; nothing measured is not met."""
    assert expected == [(verdict.name, verdict.met) for verdict in verdicts(made())]


def test_the_opposite_order_is_not_met() -> None:
    """A run whose order of costs is not the report's is told so, with the correlation."""
    costs = {"mq_input_output": 1.0, "route_to_label_1": 0.2, "compute_simple": 0.3, "filter": 0.4}
    found = verdicts(results(*(row(key(name), cost) for name, cost in costs.items())))
    assert verdict_lines(found) == (
        "met      less processor time than the report's machine: 4 of 4 rows\n"
        "NOT MET  costs in the report's order: rank correlation -1.00, 0.7 asked for"
    )
