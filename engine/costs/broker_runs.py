"""Runs of flows on a real broker: what each message takes of its processes, also in groups, copies and instances."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from engine.broker import queues
from engine.broker.administration import Broker, create
from engine.broker.definition import Definition, FlowUse
from engine.broker.file_writer import broker_text
from engine.broker.initial_file import definition_for
from engine.broker.overview import looked
from engine.broker.start import start_apart
from engine.broker.statistics import slots
from engine.broker.statistics.snapshots import done_by
from engine.costs.measuring import BROKEN
from engine.costs.processes import cpu_seconds_of
from engine.costs.results import Run
from engine.costs.scenarios import OUT, Folders, flow_file
from engine.descriptor import NON_PERSISTENT, PERSISTENT, Descriptor
from engine.errors import BrokerError

if TYPE_CHECKING:
    from engine.costs.results import Key
    from engine.costs.scenarios import Scenario

SECTIONS: Final = ("7.8.1", "7.8.2", "7.8.3")  # the report's parallel scenarios
_WARM: Final = 300  # messages before those that are measured
_A_SECOND: Final = 1000  # messages of a run for each of its seconds, whatever time they take
_FEWEST: Final = 100
_BATCH: Final = 50
_PATIENCE: Final = 120.0
_RUNS: Final = 3
QUEUE_MANAGER: Final = "queue manager"


@contextmanager
def observing(flow: str, body: bytes, *, persistent: bool) -> Iterator[Callable[[int], float]]:
    """Run a flow on a broker; gives what carries a number of messages, and returns the microseconds each took of it."""
    with broker_with(flow, lambda given: [given]) as (broker, reached, queue):

        def carried(number: int) -> float:
            goal = _taken(broker) + number
            before = cpu_of(broker)
            put(reached, queue, Descriptor(format="MQSTR"), body, number, persistent=persistent)
            wait_until(lambda: _taken(broker) >= goal, number)
            spent = (seconds - before.get(name, 0.0) for name, seconds in cpu_of(broker).items())
            return sum(spent) * 1e6 / number

        carried(_WARM)
        yield carried


def memory_of(broker: Broker) -> tuple[float, float]:
    """Returns the MiB that supervisor, queue manager and groups hold, and that each worker shares with no other."""
    found = looked(broker)["processes"]
    memory = {one["name"]: one["memoryMiB"] for one in found}
    workers = [one["memoryMiB"] for one in found if "/" in one["name"]]
    return sum(size for name, size in memory.items() if "/" not in name), sum(workers) / max(1, len(workers))


def runs_of(scenario: Scenario, key: Key, seconds: float, runs: int, folders: Folders) -> tuple[list[Run], float]:
    """Run a scenario on a broker of its own; returns the runs, and the MiB that its processes hold."""
    file = flow_file(scenario, folders)
    assert file is not None
    sample, count = scenario.message(key.message_bytes), max(_FEWEST, round(seconds * _A_SECOND))

    def uses(given: FlowUse) -> list[FlowUse]:
        return [
            replace(given, group=f"Group{number}", copies=scenario.copies) for number in range(1, scenario.groups + 1)
        ]

    with broker_with(str(file), uses) as (broker, reached, queue):

        def carried(number: int) -> Run:
            reached.purge(OUT)
            before, began = sum(cpu_of(broker).values()), time.monotonic()
            put(reached, queue, sample.descriptor, sample.body, number, persistent=key.persistent)
            wait_until(lambda: reached.depth(OUT) >= number, number)
            return Run(time.monotonic() - began, sum(cpu_of(broker).values()) - before, number)

        carried(_FEWEST)
        first = next(iter(reached.cursor(OUT)))
        if scenario.by_hand is not None and first.body != scenario.by_hand(sample.body):
            raise BrokerError(BROKEN, f"{scenario.name}: on a broker its flow writes another message")
        found = [carried(count) for _ in range(min(runs, _RUNS))]
        return found, sum(one["memoryMiB"] for one in looked(broker)["processes"])


@contextmanager
def broker_with(flow: str, uses: Callable[[FlowUse], list[FlowUse]], *more: str) -> Iterator[tuple[Broker, Any, str]]:
    """Run a broker with uses of a flow and `more` queues; gives it, its queues, and the one that the flow reads."""
    with TemporaryDirectory(prefix="penstock-costs-") as place:
        folder = Path(place) / "costs"
        folder.mkdir()
        definition, (candidate, *_) = definition_for(folder, [flow], {})
        made = tuple(use for given in definition.flows for use in uses(given))
        groups = tuple(dict.fromkeys(use.group for use in made))
        named = {**definition.queues, **{name: {} for name in more}}
        with (
            _running(folder, replace(definition, flows=made, groups=groups, queues=named)) as broker,
            queues.reached(broker.folder) as reached,
        ):
            yield broker, reached, candidate.use.reads[0]


@contextmanager
def _running(folder: Path, definition: Definition) -> Iterator[Broker]:
    (folder / "broker.yaml").write_text(broker_text(definition), encoding="utf-8")
    broker = create(folder)
    start_apart(broker.folder)
    try:
        yield broker
    finally:
        broker.stop()


def put(reached: Any, queue: str, descriptor: Descriptor, body: bytes, count: int, *, persistent: bool) -> None:
    """Put messages, some in each unit of work."""
    work = reached.work()
    descriptor = descriptor._replace(persistence=PERSISTENT if persistent else NON_PERSISTENT)
    for number in range(1, count + 1):
        work.put(queue, descriptor, body)
        if not number % _BATCH or number == count:
            work.commit()
    work.close()


def wait_until(is_done: Callable[[], bool], count: int, every: float = 0.005) -> None:
    """Wait until messages have come out, and look every so many seconds."""
    until = time.monotonic() + _PATIENCE
    while not is_done():
        if time.monotonic() > until:
            raise BrokerError(BROKEN, f"{count} messages did not come out in {_PATIENCE:.0f} s")
        time.sleep(every)


def _taken(broker: Broker) -> int:
    state = broker.repository.load()
    return sum(
        done_by(broker.folder, group.name, use).counts[slots.MESSAGES] for group in state.groups for use in group.flows
    )


def processes_of(broker: Broker) -> dict[str, int]:
    """Returns the number of each process of a broker, those of workers by their group and themselves."""
    status: dict[str, Any] = broker.status() or {"processes": []}
    found: dict[str, int] = {}
    for one in status["processes"]:
        found[one["name"]] = one["process"]
        found |= {f"{one['name']}/{worker['process']}": worker["process"] for worker in one["workers"]}
    return found


def cpu_of(broker: Broker) -> dict[str, float]:
    """Returns the processor time that each process of a broker has taken, in seconds."""
    return {name: cpu_seconds_of(process) for name, process in processes_of(broker).items()}
