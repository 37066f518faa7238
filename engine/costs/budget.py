"""The budget's benchmark: scenarios whose messages pay into a budget, beside the same where nothing looks at one.

The ten dearest rows are taken; on and off alternate in one process, forty pairs of runs for each row.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Final

from engine.budget import Unpaid
from engine.costs.measuring import BROKEN, Measured, Program, cpu, made_ready
from engine.costs.results import Key, published
from engine.costs.scenario_setup import IN, OUT, hindrance, own_folders, queues, subscriptions
from engine.costs.scenario_setup import deployed as deployed_of
from engine.costs.scenarios import Scenario, scenarios
from engine.errors import BrokerError

GROUP: Final = "budget"
ROWS: Final = 10
PAIRS: Final = 40
MOST_FOR_PAYING: Final = 1.02
# Of so many ordered values those with 95 % confidence about the median: the binomial's 2.5 % from either end.
_LOWER: Final = 13
_UPPER: Final = 26
_SECONDS: Final = 0.02  # that one run lasts


def benchmarks() -> Iterator[Measured]:
    """The ten dearest rows, the dearest first."""
    folders = own_folders()
    known = {(key.scenario, key.message_bytes): key for key in published() if not key.persistent}
    can_run = [key for key in known.values() if not hindrance(scenarios()[key.scenario], folders)]
    alone = [key for key in can_run if _is_alone(scenarios()[key.scenario])]
    with made_ready():
        costs = {key: cpu(partial(_program(key), True)) for key in alone}
        for key in sorted(alone, key=lambda key: -costs[key])[:ROWS]:
            yield _row(key)


def _is_alone(scenario: Scenario) -> bool:
    """Returns True for what runs without further copies and without a database, whose time is not that of a flow."""
    return scenario.copies == 1 and scenario.on_database is None


def _row(key: Key) -> Measured:
    program = _program(key)
    paying, free = partial(program, True), partial(program, False)
    count = max(1, round(_SECONDS / max(cpu(paying, 3), 1e-6)))
    pairs = [_pair(paying, free, count, is_first=bool(number % 2)) for number in range(PAIRS)]
    ratios = sorted(on / off for on, off in pairs)
    low, high = ratios[_LOWER], ratios[_UPPER]
    own, beside = (statistics.median_high(each) * 1e6 for each in zip(*pairs, strict=True))
    name = f"{key.scenario}, {key.message_bytes} bytes, 95 % {low:.3f} to {high:.3f}"
    return Measured(GROUP, name, own, statistics.median(ratios), MOST_FOR_PAYING, "x", low, high, beside)


def _pair(paying: Program, free: Program, count: int, *, is_first: bool) -> tuple[float, float]:
    """Returns the processor seconds of a run with the budget and of one without, taken in either order."""
    if is_first:
        return cpu(paying, count), cpu(free, count)
    off = cpu(free, count)
    return cpu(paying, count), off


def _program(key: Key) -> Callable[[bool], None]:
    """One message put, carried through the scenario's flow, and taken."""
    scenario = scenarios()[key.scenario]
    flow = deployed_of(scenario, own_folders())[0]
    work = queues(scenario).work()
    allowance, unpaid = flow.allowance, Unpaid()
    descriptor, body = scenario.message(key.message_bytes)
    outputs = (OUT, *subscriptions(scenario))

    def run(pays: bool) -> None:
        flow.allowance = allowance if pays else unpaid
        work.put(IN, descriptor, body, syncpoint=False)
        outcome = flow.process(flow.entrances[0], work, patient=False)
        if outcome is None or outcome.error is not None:
            raise outcome.error if outcome and outcome.error else BrokerError(BROKEN, f"{key.scenario} has no message")
        for queue in outputs:
            with suppress(BrokerError):
                work.get(queue, syncpoint=False)

    return run
