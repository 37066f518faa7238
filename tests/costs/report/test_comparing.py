"""Comparing runs: what counts as a change, and what makes runs hard to compare."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.costs.measuring import Spread
from engine.costs.report.earlier_results import Change, by_scenario, compare
from engine.costs.results import Key, Results, Row, published
from tests.costs.report.examples import MACHINE, OPTIONS, spread, taken

KEY = Key("7.4", "filter", persistent=False, message_bytes=1024)


ONE, HUNDRED = spread(1.0), spread(100)


def run(cost: Spread = ONE, *, rate: Spread = HUNDRED, limit: float | None = None) -> Results:
    found = replace(taken(KEY, published()[KEY]), cpu_ms=cost, rate=rate, limit_ms=spread(limit) if limit else None)
    return Results(MACHINE, "now", OPTIONS, (Row(KEY, "memory", found),))


CHANGES: tuple[tuple[str, Spread, Spread, bool, bool], ...] = (
    ("the same", Spread(1, 0.9, 1.1), Spread(1, 0.9, 1.1), False, False),
    ("dearer, ranges apart", Spread(1, 0.9, 1.1), Spread(1.4, 1.2, 1.5), True, False),
    ("cheaper, ranges apart", Spread(1, 0.9, 1.1), Spread(0.6, 0.5, 0.8), True, True),
    ("dearer, ranges overlap", Spread(1, 0.5, 1.5), Spread(2, 1.4, 2.5), False, False),
    ("dearer, ranges touch", Spread(1, 0.9, 1.1), Spread(1.4, 1.1, 1.5), False, False),
    ("ranges apart, by 4 %", Spread(1, 0.999, 1.001), Spread(1.04, 1.039, 1.041), False, False),
    ("ranges apart, by 6 %", Spread(1, 0.999, 1.001), Spread(1.06, 1.059, 1.061), True, False),
    ("cheaper by 4 %", Spread(1, 0.999, 1.001), Spread(0.96, 0.959, 0.961), False, True),
    ("from nothing", Spread(0, 0, 0), Spread(1, 0.9, 1.1), True, False),
)


@pytest.mark.parametrize(("old", "new", "flagged", "better"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_beyond_the_spread(old: Spread, new: Spread, *, flagged: bool, better: bool) -> None:
    """A change is beyond the spread when the quartiles lie apart and the medians differ by more than 5 %."""
    found = compare(run(old), run(new))
    (cost, rate) = found.changes
    assert (flagged, better) == (cost.beyond_spread, cost.better)
    assert [cost] * flagged == list(found.flagged)
    assert (rate.figure, rate.beyond_spread, rate.ratio) == ("rate", False, 1.0)


def test_a_higher_rate_is_better() -> None:
    """What is better of processor time is worse of rates."""
    found = compare(run(rate=spread(100)), run(rate=spread(200)))
    assert [(change.figure, change.better, change.ratio) for change in found.flagged] == [("rate", True, 2.0)]
    found = compare(run(rate=spread(200)), run(rate=spread(100)))
    assert [(change.figure, change.better, change.ratio) for change in found.flagged] == [("rate", False, 0.5)]


def test_the_worst_stand_first() -> None:
    """What became worse stands before what became better, the largest change first."""
    figures = [(1.0, 0.5), (1.0, 1.2), (1.0, 3.0), (1.0, 0.25)]
    keys = [replace(KEY, scenario=name) for name in "abcd"]
    sides = (
        Results(
            MACHINE,
            "now",
            OPTIONS,
            tuple(
                Row(key, "memory", replace(taken(key, published()[KEY]), cpu_ms=spread(pair[side]), rate=spread(1)))
                for key, pair in zip(keys, figures, strict=True)
            ),
        )
        for side in (0, 1)
    )
    assert [change.row.key.scenario for change in compare(*sides).flagged] == ["c", "b", "d", "a"]


def test_appeared_and_vanished() -> None:
    """A row that one run alone has measured appeared or vanished; the same row on Spark is another."""
    base = run().rows[0]
    spark, unmeasured = replace(base, place="spark"), replace(base, taken=None, reason="later")
    old, new = replace(run(), rows=(base, spark)), replace(run(), rows=(unmeasured, spark))
    assert (compare(old, new).vanished, compare(old, new).appeared) == ((base,), ())
    assert (compare(new, old).vanished, compare(new, old).appeared) == ((), (base,))
    assert [change.row.place for change in compare(old, new).changes] == ["spark", "spark"]


def test_rows_of_a_scenario_stand_together() -> None:
    """Many rows that came or went are a line a scenario, not a line each."""
    sizes = [replace(KEY, message_bytes=size) for size in (1024, 4096)]
    rows = [Row(key, "memory", None) for key in (*sizes, replace(KEY, persistent=True))]
    rows.append(Row(KEY, "spark", None))
    assert list(by_scenario(rows)) == ["filter, 1 KiB and 4 KiB and 1 KiB persistent", "filter on Spark, 1 KiB"]


def test_warnings() -> None:
    """Other machines, other options, and programs by hand that took longer are warned of."""
    assert compare(run(), run()).warnings == ()
    assert compare(run(limit=1.0), run(limit=1.05)).warnings == ()
    assert compare(run(), replace(run(), machine={**MACHINE, "system": "Linux 7", "disk": "fast"})).warnings == (
        "the machines differ in disk: not said, now fast",
        "the machines differ in system: Linux 6.1, now Linux 7",
    )
    assert compare(run(), replace(run(), options={**OPTIONS, "seconds": 9})).warnings == (
        "the runs were made differently in seconds: 0.5, now 9",
    )
    few, many = ({**OPTIONS, "scenario": [f"s{n}" for n in numbers]} for numbers in ([3, 0], range(9)))
    assert compare(replace(run(), options=few), replace(run(), options=many)).warnings == (
        "the runs were made differently in scenario: now with s1, s2, s4, s5, s6 and 2 more",
    )
    assert compare(
        replace(run(), options=many), replace(run(), options={**OPTIONS, "scenario": ["s8", "x"]})
    ).warnings == (
        "the runs were made differently in scenario: now with x and now without s0, s1, s2, s3, s4 and 3 more",
    )
    assert compare(run(limit=1.0), run(limit=1.3)).warnings == (
        "the programs by hand took 1.3× what they took before: the machine is another, or busier",
    )
    assert compare(run(limit=1.0), run(limit=0.7)).warnings == (
        "the programs by hand took 0.70× what they took before: the machine is another, or busier",
    )


def test_ratio_to_nothing() -> None:
    """What was nothing before has no ratio."""
    assert Change(run().rows[0], "cpu_ms", Spread(0, 0, 0), spread(1)).ratio is None
