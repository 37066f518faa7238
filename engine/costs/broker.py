"""The broker's benchmarks: what it adds to a message, its statistics, a second processor, deployments, its start."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

from engine.broker import queues
from engine.broker.administration import Broker, broker_of
from engine.broker.changes import switched
from engine.broker.definition import FlowUse
from engine.broker.repository.repository import Change
from engine.broker.state import STATISTICS_LEVELS
from engine.costs.broker_runs import broker_with, cpu_of, put, runs_of, wait_until
from engine.costs.deploying import flow_file, own_folders
from engine.costs.measuring import Measured
from engine.costs.results import Key
from engine.costs.scenarios import scenarios
from engine.descriptor import Descriptor
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from flows.files import load_flow
from flows.programs import binder

GROUP: Final = "broker"
MOST_AROUND: Final = 120.0
MOST_WITH_STATISTICS: Final = {"basic": 1.03, "nodes": 1.10}
LEAST_OF_TWO: Final = 1.7
MOST_SECONDS: Final = 1.0
COUNT: Final = 500  # messages of a turn: short ones, as machines do not stay the same for long
ROUNDS: Final = 21
_LOOKS: Final = 0.02  # seconds between two looks at whether all have come, which take processor time as well
_FLOW: Final = "compute_simple"
_SIZE: Final = 1024
_IDLE: Final = "COSTS.IDLE"  # a queue that nobody reads
FLOWS: Final = 100
_PROGRAM: Final = "import sys; sys.path.insert(0, sys.argv.pop(1)); from engine.cli import main; main()"
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
    """The processor time of worker and queue manager for a message beside a desk's, and beside none with statistics."""
    file = flow_file(scenarios()[_FLOW], own_folders())
    sample = scenarios()[_FLOW].message(_SIZE)

    def uses(given: FlowUse) -> list[FlowUse]:
        return [
            replace(given, group=level, properties={"In.queueName": f"IN.{level}", "Out.queueName": f"OUT.{level}"})
            for level in STATISTICS_LEVELS
        ]

    names = [f"{way}.{level}" for way in ("IN", "OUT") for level in STATISTICS_LEVELS]
    with broker_with(str(file), uses, *names, _IDLE) as (broker, reached, _):
        for level in STATISTICS_LEVELS:
            _switch(broker, level)
        seen = [_round(broker, reached, (sample.descriptor, sample.body), count) for _ in range(rounds + 1)][1:]
    desk = [_desk(str(file), sample.descriptor, sample.body, count) for _ in range(rounds + 1)][1:]
    added = [one["basic"] - own for one, own in zip(seen, desk, strict=True)]
    yield _measured("added to a message by the broker", added, MOST_AROUND, "µs", beside=median(desk))
    for counted, bound in MOST_WITH_STATISTICS.items():
        ratios = [one[counted] / one["none"] for one in seen]
        beside = median(one["none"] for one in seen)
        yield _measured(f"a message with statistics {counted}, beside none", ratios, bound, "x", beside=beside)


def _switch(broker: Broker, level: Any) -> None:
    broker.change(
        lambda state: switched(state, [], level, statistics=level),
        lambda _: Change("statistics", level),
        right="operate",
        deploys=False,
    )


def _has_come(reached: Any, queue: str, count: int) -> bool:
    return bool(reached.depth(queue) >= count)


def _round(broker: Broker, reached: Any, message: tuple[Descriptor, bytes], count: int) -> dict[str, float]:
    """Returns the microseconds of a message by the level of its statistics, without those of the put that brings it."""
    found: dict[str, float] = {}
    for level in STATISTICS_LEVELS:
        reached.purge(f"OUT.{level}")
        before = cpu_of(broker)
        put(reached, f"IN.{level}", *message, count, persistent=False)
        wait_until(partial(_has_come, reached, f"OUT.{level}", count), count, _LOOKS)
        spent = {name: seconds - before.get(name, 0.0) for name, seconds in cpu_of(broker).items()}
        found[level] = sum(spent.values()) * 1e6 / count
    before = cpu_of(broker)
    put(reached, _IDLE, *message, count, persistent=False)
    puts = sum(cpu_of(broker).values()) - sum(before.values())
    reached.purge(_IDLE)
    return {level: each - puts * 1e6 / count for level, each in found.items()}


def _desk(file: str, descriptor: Descriptor, body: bytes, count: int) -> float:
    flow = load_flow(file)
    deployed = deploy(flow, bind=binder(flow))
    work = MemoryQueues("COSTS.IN", "COSTS.OUT").work()
    for _ in range(count):
        work.put("COSTS.IN", descriptor, body)
    work.commit()
    began = time.process_time()
    while deployed.process(deployed.entrances[0], work) is not None:
        continue
    return (time.process_time() - began) * 1e6 / count


def of_two(name: str, what: str) -> Measured:
    """The rate of the very complex flow in two processes, beside one."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(2):
        for number, seen in rates.items():
            scenario = scenarios()[f"{name}_{number}"]
            runs, _ = runs_of(scenario, Key("7.8", scenario.name, False, 4096), 1.0, 3, own_folders())
            seen += [run.messages / run.seconds for run in runs]
    beside = median(rates[1])
    ratios = [rate / beside for rate in rates[2]]
    return _measured(f"rate of two {what}, beside one", ratios, LEAST_OF_TWO, "x", beside=1e6 / beside, at_least=True)


def starting() -> Iterator[Measured]:
    """The seconds until a broker has processed its first message, and until one of its 100 flows is deployed."""
    with TemporaryDirectory(prefix="penstock-costs-") as place, _running(Path(place), FLOWS) as (broker, files):
        yield _measured("deploying one of 100 flows", [_deployed(broker, files) for _ in range(5)], MOST_SECONDS, "s")
    with TemporaryDirectory(prefix="penstock-costs-") as place, _running(Path(place), 1) as (broker, _):
        yield _measured("start to the first message", [_first(broker) for _ in range(5)], MOST_SECONDS, "s")


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
    root = str(Path(__file__).resolve().parents[2])
    subprocess.run([sys.executable, "-c", _PROGRAM, root, *words], check=True, capture_output=True)  # noqa: S603


def _measured(
    name: str,
    values: list[float],
    bound: float,
    unit: Literal["x", "µs", "s"],
    *,
    beside: float | None = None,
    at_least: bool = False,
) -> Measured:
    low, high = min(values), max(values)
    return Measured(GROUP, name, None, median(values), bound, unit, low, high, beside=beside, at_least=at_least)
