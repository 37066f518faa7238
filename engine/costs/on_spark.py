"""Node costs on Spark: the report's parallel scenarios as partitions and slots, beside those of a broker."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final, Protocol

from engine.costs.broker_runs import SECTIONS
from engine.costs.measuring import BROKEN
from engine.costs.messages import Sample
from engine.costs.nodes import How, taken
from engine.costs.processes import family_cpu_seconds, family_rss_mib, processors
from engine.costs.results import Key, Row, Run
from engine.costs.scenarios import IN, VERY_COMPLEX, Scenario, flow_file, own_folders, scenarios
from engine.errors import BrokerError

MESSAGES_A_SECOND: Final = 2000  # of a run's seconds: a message set is carried whole, however long that takes
FEWEST: Final = 200  # fewer would cost what a job takes by itself, and nothing else
RUNS: Final = 3  # at most: a run on Spark takes longer than one in this process


class Carried(Protocol):
    """A message set and its flows."""

    def run(self) -> tuple[float, Path]:
        """Carry all of it: the seconds that it took, and the directory with what came out."""
        ...


class Carrier(Protocol):
    """A Spark session."""

    def ready(self, files: Sequence[Path], partitions: int, message: Sample, count: int) -> Carried:
        """A message set of so many messages, dealt out to the queues that the flows read."""
        ...


@dataclass(frozen=True, slots=True)
class Spark:
    """Spark as the command line knows it: how to get a session of so many slots, and how to read what came out."""

    carrier: Callable[[int], AbstractContextManager[Carrier]]
    first_body: Callable[[Path], bytes]


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a scenario on Spark: its flows, the partitions of each, and the slots of the session."""

    flows: int
    partitions: int
    slots: int


def parallel(wanted: Sequence[Key]) -> tuple[Key, ...]:
    """The rows among these that are measured on Spark as well: the parallel ones, without the persistent."""
    return tuple(key for key in wanted if key.section in SECTIONS and not key.persistent)


def layout(scenario: Scenario, instances: int) -> Layout:
    """Instances are partitions of one flow; copies are flows of their own; groups are so, with a slot for each."""
    slots = scenario.groups if scenario.name.startswith("execution_groups") else processors()
    return Layout(scenario.copies * scenario.groups, instances, slots)


def rows(wanted: Sequence[Key], how: How, spark: Spark | None, reason: str = "") -> Iterator[Row]:
    """Measure these rows on Spark; without it, they have the reason why it is not there."""
    if spark is None:
        yield from (Row(key, "spark", None, reason) for key in wanted)
        return
    for slots, keys in groupby(wanted, key=_slots):
        with spark.carrier(slots) as carrier, tempfile.TemporaryDirectory(prefix="penstock-flows-") as folder:
            for number, key in enumerate(keys):
                yield _measured(key, how, spark, carrier, Path(folder), warm=number > 0)


def _instances(key: Key) -> int:
    return int(key.scenario.rpartition("_")[2]) if key.scenario.startswith("additional_instances") else 1


def _slots(key: Key) -> int:
    return layout(scenarios()[key.scenario], _instances(key)).slots


def _measured(key: Key, how: How, spark: Spark, carrier: Carrier, folder: Path, *, warm: bool) -> Row:
    """One row; only the first of a session has to start Java's and Python's workers."""
    scenario = scenarios()[key.scenario]
    lies, sample = layout(scenario, _instances(key)), scenario.message(key.message_bytes)
    count = max(FEWEST, round(how.seconds * MESSAGES_A_SECOND))
    carried = carrier.ready(_flows(lies.flows, folder), lies.partitions, sample, count)
    if not warm:
        carried.run()
    runs: list[Run] = []
    for _ in range(min(how.runs, RUNS)):
        before = family_cpu_seconds()
        seconds, output = carried.run()
        runs.append(Run(seconds, family_cpu_seconds() - before, count))
        if scenario.by_hand is not None and spark.first_body(output) != scenario.by_hand(sample.body):
            raise BrokerError(
                BROKEN, f"{key.scenario}, {key.message_bytes} bytes: on Spark its flow writes another message"
            )
        shutil.rmtree(output)
    return Row(key, "spark", taken(runs, (), drivers=0, nodes=(), rss_mib=family_rss_mib()))


def _flows(count: int, folder: Path) -> list[Path]:
    """The very complex flow so many times over, each reading a queue of its own: Spark deals messages out by queue."""
    source = flow_file(scenarios()[VERY_COMPLEX], own_folders())
    assert source is not None
    files = []
    for number in range(1, count + 1):
        place = folder / f"copy{number}"
        if not place.exists():
            shutil.copytree(source.parent, place)
            text = source.read_text(encoding="utf-8")
            (place / source.name).write_text(text.replace(f"queueName: {IN}", f"queueName: {IN}.{number}"), "utf-8")
        files.append(place / source.name)
    return files
