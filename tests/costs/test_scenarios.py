"""Scenarios: all that the report has are declared, their messages are what they are called, and each does its work."""

from __future__ import annotations

from contextlib import closing

import pytest

from engine.costs.nodes import Stand
from engine.costs.results import Key, published
from engine.costs.scenarios import hindrance, scenarios

NOT_PERSISTENT = [key for key in published() if not key.persistent]
RUNNABLE = [key for key in NOT_PERSISTENT if not hindrance(scenarios()[key.scenario])]


def test_every_scenario_of_the_report_is_declared() -> None:
    """Names are those of the published rows, in their order."""
    assert list(dict.fromkeys(key.scenario for key in published())) == list(scenarios())


@pytest.mark.parametrize("key", NOT_PERSISTENT, ids=lambda key: f"{key.scenario}-{key.message_bytes}")
def test_messages(key: Key) -> None:
    """A message has the bytes that its row says, and is the same every time."""
    scenario = scenarios()[key.scenario]
    sample = scenario.message(key.message_bytes)
    assert sample == scenario.message(key.message_bytes)
    assert key.message_bytes == len(sample.body)


@pytest.mark.parametrize("key", RUNNABLE, ids=lambda key: f"{key.scenario}-{key.message_bytes}")
def test_every_scenario_that_can_run_is_right(key: Key) -> None:
    """A stand is only there where each deployed flow writes what the program by hand does."""
    scenario = scenarios()[key.scenario]
    with closing(Stand(scenario, scenario.message(key.message_bytes), drivers=2)) as stand:
        assert stand.by_hand is not None
        assert stand.run(0.0).messages >= 1


def test_what_runs_now() -> None:
    """Every scenario."""
    assert not {key.scenario for key in NOT_PERSISTENT if key not in RUNNABLE}
    assert 148 == len(RUNNABLE)
