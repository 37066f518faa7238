"""Node costs on a broker: the report's parallel scenarios as instances, copies and groups that are processes."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from engine.broker import queues
from engine.broker.administration import Broker
from engine.broker.looking import looked
from engine.broker.starting_points import definition_for
from engine.costs.broker_runs import cpu_of, running
from engine.costs.deploying import IN, OUT, Folders, flow_file
from engine.costs.drivers import BROKEN, Run
from engine.descriptor import NON_PERSISTENT, PERSISTENT
from engine.errors import BrokerError

if TYPE_CHECKING:
    from engine.costs.messages import Sample
    from engine.costs.results import Key
    from engine.costs.scenarios import Scenario

SECTIONS: Final = ("7.8.1", "7.8.2", "7.8.3")
_A_SECOND: Final = 1000  # messages of a run for each of its seconds, whatever time they take
_FEWEST: Final = 100
_BATCH: Final = 50
_PATIENCE: Final = 120.0
_RUNS: Final = 3


def runs_of(scenario: Scenario, key: Key, seconds: float, runs: int, folders: Folders) -> tuple[list[Run], float]:
    """Run a scenario on a broker of its own; returns the runs, and the MiB that its processes hold."""
    file = flow_file(scenario, folders)
    assert file is not None
    sample, count = scenario.message(key.message_bytes), max(_FEWEST, round(seconds * _A_SECOND))
    with TemporaryDirectory(prefix="penstock-costs-") as place:
        folder = Path(place) / "costs"
        folder.mkdir()
        definition, _ = definition_for(folder, [str(file)], {})
        groups = tuple(f"Group{number}" for number in range(1, scenario.groups + 1))
        uses = tuple(replace(use, group=g, copies=scenario.copies) for g in groups for use in definition.flows)
        with running(folder, replace(definition, flows=uses, groups=groups)) as broker:
            with queues.reached(broker.folder) as reached:
                _carried(broker, reached, sample, _FEWEST, persistent=key.persistent)
                _prove(reached, scenario, sample)
                found = [
                    _carried(broker, reached, sample, count, persistent=key.persistent) for _ in range(min(runs, _RUNS))
                ]
            memory = sum(one["memoryMiB"] for one in looked(broker)["processes"])
    return found, memory


def _prove(reached: Any, scenario: Scenario, sample: Sample) -> None:
    """Compare what came out with what the program by hand makes."""
    first = next(iter(reached.cursor(OUT)))
    if scenario.by_hand is not None and first.body != scenario.by_hand(sample.body):
        raise BrokerError(BROKEN, f"{scenario.name}: on a broker its flow writes another message")


def _carried(broker: Broker, reached: Any, sample: Sample, count: int, *, persistent: bool) -> Run:
    """Put messages, and wait until all have come out."""
    reached.purge(OUT)
    descriptor = sample.descriptor._replace(persistence=PERSISTENT if persistent else NON_PERSISTENT)
    before, began = sum(cpu_of(broker).values()), time.monotonic()
    work = reached.work()
    for number in range(1, count + 1):
        work.put(IN, descriptor, sample.body)
        if not number % _BATCH or number == count:
            work.commit()
    while reached.depth(OUT) < count:
        if time.monotonic() - began > _PATIENCE:
            raise BrokerError(BROKEN, f"{count} messages did not come out in {_PATIENCE:.0f} s")
        time.sleep(0.005)
    seconds = time.monotonic() - began
    work.close()
    return Run(seconds, sum(cpu_of(broker).values()) - before, count)
