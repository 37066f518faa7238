"""The bounds of the broker: each figure is taken of processes that run."""

from __future__ import annotations

import pytest

from engine.costs import broker


@pytest.mark.slow
def test_around_a_flow() -> None:
    """What a broker adds to a message is more than nothing, and so is a message at each level of statistics."""
    added, basic, nodes = broker.around_a_flow(count=200, rounds=2)
    assert ("added to a message by the broker", "µs", 120.0) == (added.name, added.unit, added.bound)
    assert 0 < added.value < 1000
    assert (1.03, 1.10) == (basic.bound, nodes.bound)
    assert all(0.3 < figure.value < 3 for figure in (basic, nodes))


@pytest.mark.slow
def test_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment among many flows and a start are timed in seconds, beside one each."""
    monkeypatch.setattr(broker, "FLOWS", 3)
    figures = list(broker.starting())
    assert ["deploying one of 100 flows", "start to the first message"] == [figure.name for figure in figures]
    assert all((1.0, "s") == (figure.bound, figure.unit) and figure.value > 0.1 for figure in figures)
