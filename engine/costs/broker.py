"""Real brokers: the report's parallel scenarios on them, and the benchmarks of the broker itself."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

from engine.broker import queues
from engine.broker.administration import Broker, broker_of, create
from engine.broker.changes import switched
from engine.broker.definition import Definition, FlowUse
from engine.broker.file_writer import broker_text
from engine.broker.initial_file import definition_for
from engine.broker.overview import looked
from engine.broker.repository.repository import Change
from engine.broker.start import start_apart
from engine.costs.measuring import (
    BROKEN,
    Measured,
    Row,
    cpu,
    cpu_seconds_of,
    figure,
    keep_on_one_processor,
    made_ready,
    penstock,
)
from engine.costs.results import Key, Run
from engine.costs.sample_messages import Sample
from engine.costs.scenarios import OUT, Scenario, flow_file, scenarios
from engine.descriptor import NON_PERSISTENT, PERSISTENT, Descriptor
from engine.errors import BrokerError
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from engine.work import Selection
from flows.files import load_flow
from flows.programs import binder

SECTIONS: Final = ("7.8.1", "7.8.2", "7.8.3")  # the report's parallel scenarios
_A_SECOND: Final = 1000  # messages of a run for each of its seconds, whatever time they take
_FEWEST: Final = 100
_BATCH: Final = 50
_PATIENCE: Final = 120.0
_MOST_RUNS: Final = 3


def runs_of(scenario: Scenario, key: Key, seconds: float, runs: int) -> tuple[list[Run], float]:
    """Run a scenario on a broker of its own; returns the runs, and the MiB that its processes hold."""
    sample, count = scenario.message(key.message_bytes), max(_FEWEST, round(seconds * _A_SECOND))

    def uses(given: FlowUse) -> list[FlowUse]:
        return [
            replace(given, group=f"Group{number}", copies=scenario.copies) for number in range(1, scenario.groups + 1)
        ]

    with broker_with(str(flow_file(scenario)), uses) as (broker, reached, queue):

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
        found = [carried(count) for _ in range(min(runs, _MOST_RUNS))]
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
            _started(folder, replace(definition, flows=made, groups=groups, queues=named)) as broker,
            queues.reached(broker.folder) as reached,
        ):
            yield broker, reached, candidate.use.reads[0]


@contextmanager
def _started(folder: Path, definition: Definition) -> Iterator[Broker]:
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


def wait_until(is_done: Callable[[], bool], count: int) -> None:
    """Wait until messages have come out."""
    until = time.monotonic() + _PATIENCE
    while not is_done():
        if time.monotonic() > until:
            raise BrokerError(BROKEN, f"{count} messages did not come out in {_PATIENCE:.0f} s")
        time.sleep(0.005)


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


MOST_AROUND: Final = 120.0
MOST_WITH_STATISTICS: Final = {"basic": 1.03, "nodes": 1.10}
LEAST_OF_TWO: Final = 1.7
MOST_SECONDS: Final = 1.0
COUNT: Final = 100  # messages of a slice: short ones, as machines do not stay the same for long
ROUNDS: Final = 15  # of each turn of the levels
_WARM: Final = 3  # rounds before those that count
_SETTLES: Final = 0.005  # seconds after the last message, in which processes end what they do for it
_FLOW: Final = "compute_simple"
_SIZE: Final = 1024
_TURNS: Final = {"before": "none", "basic": "basic", "between": "none", "nodes": "nodes"}  # slices and their levels
_GROUPS: Final = tuple(f"Group{number}" for number in range(1, len(_TURNS) + 1))
_IDLE: Final = "COSTS.IDLE"  # a queue that nobody reads
FLOWS: Final = 100
_MARKED: Final = """\
flow: F{number}
nodes:
  In: {{type: MQInput, queueName: IN{number}, messageDomainProperty: XMLNSC}}
  Work: {{type: Compute, computeExpression: "SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.a.by = '{by}';"}}
  Out: {{type: MQOutput, queueName: OUT}}
wires: [In.out -> Work, Work.out -> Out]
"""


def benchmarks() -> Iterator[Measured]:
    """All of them."""
    yield from around_a_flow()
    for name, what in (("execution_groups", "execution groups"), ("additional_instances", "instances")):
        yield of_two(name, what)
    yield from starting()


def around_a_flow(count: int = COUNT, rounds: int = ROUNDS) -> Iterator[Measured]:
    """The processor time of a broker for a message beside a desk's, and beside a message that is not counted.

    Slices of a few messages take turns on processes that run beside each other: none, basic, none, nodes, and so on.
    Thus each level stands between two slices of none, and a desk beside that of basic. There are two processes of none,
    as one that had every other turn would find more of itself in the processor's caches. The figures are medians of
    differences and ratios of neighbours. The puts of the messages are no part of it: what they take is subtracted.
    All processes are kept on one processor, as a message takes half as much again where each of its turns has to wake
    another one: the system decides where they are for seconds, so that one level would be better off than another.
    Each group has each slice for a quarter of the time, as processes that do the same differ by up to a fiftieth.
    """
    file = str(flow_file(scenarios()[_FLOW]))
    sample = scenarios()[_FLOW].message(_SIZE)

    def uses(given: FlowUse) -> list[FlowUse]:
        return [
            replace(given, group=group, properties={"In.queueName": f"IN.{group}", "Out.queueName": f"OUT.{group}"})
            for group in _GROUPS
        ]

    names = [f"{way}.{group}" for way in ("IN", "OUT") for group in _GROUPS]
    with broker_with(file, uses, *names, _IDLE) as (broker, reached, _), _desk(file, sample, count) as desk:
        turns = []
        for turn in range(len(_GROUPS)):
            groups: dict[str, str] = dict(zip(_TURNS, _GROUPS[turn:] + _GROUPS[:turn], strict=True))
            for name, group in groups.items():
                _switch(broker, group, _TURNS[name])
            slices = _Slices(reached, groups, sample, count, processes_of(broker))
            for number in slices.processes.values():
                keep_on_one_processor(number)
            turns.append([_round(slices, desk) for _ in range(rounds + _WARM + 1)][_WARM:])
    seen = [one for turn in turns for one in turn]
    puts = median(one["puts"] for one in seen)
    basic = [(one["basic"], (one["before"] + one["between"]) / 2) for one in seen]
    nodes = [(one["nodes"], (one["between"] + after["before"]) / 2) for turn in turns for one, after in pairwise(turn)]
    added = [one["basic"] - puts - one["desk"] for one in seen]
    desks = median(one["desk"] for one in seen)
    yield figure(Row("added to a message by the broker", MOST_AROUND, "µs"), added, desks)
    for level, pairs in (("basic", basic), ("nodes", nodes)):
        row = Row(f"a message with statistics {level}, beside none", MOST_WITH_STATISTICS[level])
        ratios = [(own - puts) / (none - puts) for own, none in pairs]
        yield figure(row, ratios, median(none - puts for _, none in pairs))


def _switch(broker: Broker, group: str, level: Any) -> None:
    broker.change(
        lambda state: switched(state, [], group, statistics=level),
        lambda _: Change("statistics", level),
        right="operate",
        deploys=False,
    )


@dataclass(frozen=True, slots=True)
class _Slices:
    """Slices of messages through the groups of a broker, each with the processor time of what has a part in it."""

    reached: Any
    groups: Mapping[str, str]
    sample: Sample
    count: int
    processes: Mapping[str, int]

    def through(self, name: str) -> float:
        """Returns the microseconds of a message, put included, until the last of them has come out."""
        group = self.groups[name]
        return self._spent(f"IN.{group}", f"OUT.{group}", group)

    def put(self) -> float:
        """Returns the microseconds of a put alone, to a queue that nobody reads."""
        return self._spent(_IDLE, _IDLE, "")

    def _spent(self, queue: str, out: str, group: str) -> float:
        self.reached.purge(out)
        others = [each for each in _GROUPS if each != group]
        numbers = [pid for name, pid in self.processes.items() if name.partition("/")[0] not in others]
        last = Selection(correl_id=time.monotonic_ns().to_bytes(24))
        before = sum(map(cpu_seconds_of, numbers))
        put(self.reached, queue, *self.sample, self.count - 1, persistent=False)
        marked = self.sample.descriptor._replace(correl_id=last.correl_id)
        put(self.reached, queue, marked, self.sample.body, 1, persistent=False)
        work = self.reached.work()
        if work.get(out, last, syncpoint=False, wait=60.0) is None:
            raise BrokerError(BROKEN, f"{self.count} messages did not come out on {out} in 60 s")
        work.close()
        time.sleep(_SETTLES)
        return (sum(map(cpu_seconds_of, numbers)) - before) * 1e6 / self.count


def _round(slices: _Slices, desk: Callable[[], float]) -> dict[str, float]:
    """Returns the microseconds that a message takes in neighbouring slices, at a desk, and where it is only put."""
    before, own = slices.through("before"), desk()
    levels = {name: slices.through(name) for name in ("basic", "between", "nodes")}
    return {"before": before, "desk": own, **levels, "puts": slices.put()}


@contextmanager
def _desk(file: str, sample: Sample, count: int) -> Iterator[Callable[[], float]]:
    """Gives what carries so many messages through a flow in this process, and returns the microseconds of each."""
    flow = load_flow(file)
    deployed = deploy(flow, bind=binder(flow))
    queues = MemoryQueues("COSTS.IN", "COSTS.OUT")
    work = queues.work()

    def carry() -> None:
        while deployed.process(deployed.entrances[0], work) is not None:
            continue

    def carried() -> float:
        queues.purge("COSTS.OUT")
        for _ in range(count):
            work.put("COSTS.IN", *sample)
        work.commit()
        return cpu(carry) * 1e6 / count

    with made_ready():
        yield carried


def of_two(name: str, what: str) -> Measured:
    """The rate of the very complex flow in two processes, beside one."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(2):
        for number, seen in rates.items():
            scenario = scenarios()[f"{name}_{number}"]
            runs, _ = runs_of(scenario, Key("7.8", scenario.name, False, 4096), 1.0, 3)
            seen += [run.messages / run.seconds for run in runs]
    beside = median(rates[1])
    row = Row(f"rate of two {what}, beside one", LEAST_OF_TWO, at_least=True)
    return figure(row, [rate / beside for rate in rates[2]], 1e6 / beside)


def starting() -> Iterator[Measured]:
    """The seconds until a broker has processed its first message, and until one of its 100 flows is deployed."""
    with TemporaryDirectory(prefix="penstock-costs-") as place, _running(Path(place), FLOWS) as (broker, files):
        row = Row("deploying one of 100 flows", MOST_SECONDS, "s")
        yield figure(row, [_deployed(broker, files) for _ in range(5)])
    with TemporaryDirectory(prefix="penstock-costs-") as place, _running(Path(place), 1) as (broker, _):
        yield figure(Row("start to the first message", MOST_SECONDS, "s"), [_first(broker) for _ in range(5)])


def _deployed(broker: Broker, files: list[Path]) -> float:
    """Deploy a file that has changed, and return the seconds that it took."""
    files[-1].write_text(_MARKED.format(number=len(files) - 1, by=time.monotonic_ns()), encoding="utf-8")
    began = time.monotonic()
    _run("deploy", str(broker.folder.path), str(files[-1]))
    return time.monotonic() - began


def _first(broker: Broker) -> float:
    """Start a broker, on one of whose queues a message waits."""
    broker.stop()
    with queues.reached(broker.folder) as reached:
        put(reached, "IN0", Descriptor(), b"<a/>", 1, persistent=True)
    began = time.monotonic()
    _run("broker", "start", str(broker.folder.path), "--detach")
    with queues.reached(broker.folder) as reached:
        wait_until(lambda: reached.depth("OUT") > 0, 1)
        seconds = time.monotonic() - began
        reached.purge("OUT")
    return seconds


@contextmanager
def _running(place: Path, count: int) -> Iterator[tuple[Broker, list[Path]]]:
    """Run a broker of so many flows; gives it, and the files of its flows."""
    files = [place / f"F{number}.yaml" for number in range(count)]
    for number, file in enumerate(files):
        file.write_text(_MARKED.format(number=number, by=number), encoding="utf-8")
    folder = str(place / "costs")
    _run("broker", "init", folder, *map(str, files))
    _run("broker", "create", folder)
    _run("broker", "start", folder, "--detach")
    broker = broker_of(folder)
    try:
        yield broker, files
    finally:
        broker.stop()


def _run(*words: str) -> None:
    """Run a command in a process of its own."""
    subprocess.run(penstock(*words), check=True, capture_output=True)  # noqa: S603
