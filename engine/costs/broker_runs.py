"""Runs of flows on a real broker: what each message takes of its processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from engine.broker import queues
from engine.broker.administration import Broker, create
from engine.broker.definition import Definition
from engine.broker.looking import looked
from engine.broker.starting import start_apart
from engine.broker.starting_points import definition_for
from engine.broker.statistics.records import ROOT
from engine.broker.statistics.snapshots import archive_of
from engine.broker.written import broker_text
from engine.descriptor import NON_PERSISTENT, PERSISTENT, Descriptor
from engine.errors import ConfigurationException

_WARM: Final = 300  # messages before those that are measured
_BATCH: Final = 50
_PATIENCE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Observed:
    """The processor time and elapsed time of one message on a broker, and the memory that its processes hold."""

    flow_cpu: float  # seconds of the flow's workers
    queue_cpu: float  # seconds of the queue manager, its share of the put that brings the message among them
    elapsed: float  # seconds from one message to the next, with one instance
    worker_memory: float  # MiB of each worker that it shares with no other
    base_memory: float  # MiB of supervisor, queue manager and groups
    puts: float  # messages that are put for each that is taken

    @property
    def cpu(self) -> float:
        """Seconds of processor time for each message."""
        return self.flow_cpu + self.queue_cpu


def observed(flow: str, body: bytes, *, persistent: bool, count: int, instances: int = 1) -> Observed:
    """Carry messages through a flow on a broker of its own, and say what each has taken."""
    with _broker(flow, instances) as (broker, queue):
        _carry(broker, queue, body, _WARM, persistent=persistent)
        before, began = cpu_of(broker), time.monotonic()
        _carry(broker, queue, body, count, persistent=persistent)
        seconds, after = time.monotonic() - began, cpu_of(broker)
        now = looked(broker)
        with queues.reached(broker.folder) as reached:
            out = sum(reached.depth(name) for name in reached.names())
    memory = {one["name"]: one["memoryMiB"] for one in now["processes"]}
    workers = [one["memoryMiB"] for one in now["processes"] if "/" in one["name"]]
    taken = sum(after.values()) - sum(before.values())
    queue_cpu = after["queue manager"] - before["queue manager"]
    return Observed(
        (taken - queue_cpu) / count,
        queue_cpu / count,
        seconds / count,
        sum(workers) / max(1, len(workers)),
        sum(size for name, size in memory.items() if "/" not in name),
        out / (count + _WARM),
    )


@contextmanager
def _broker(flow: str, instances: int) -> Iterator[tuple[Broker, str]]:
    with TemporaryDirectory(prefix="penstock-costs-") as place:
        folder = Path(place) / "costs"
        folder.mkdir()
        definition, (candidate, *_) = definition_for(folder, [flow], {})
        uses = tuple(replace(use, additional_instances=instances - 1) for use in definition.flows)
        with running(folder, replace(definition, flows=uses)) as broker:
            yield broker, candidate.use.reads[0]


@contextmanager
def running(folder: Path, definition: Definition) -> Iterator[Broker]:
    """Run a broker in a folder."""
    (folder / "broker.yaml").write_text(broker_text(definition), encoding="utf-8")
    broker = create(folder)
    start_apart(broker.folder)
    try:
        yield broker
    finally:
        broker.stop()


def _carry(broker: Broker, queue: str, body: bytes, count: int, *, persistent: bool) -> None:
    goal = _taken(broker) + count
    with queues.reached(broker.folder) as reached:
        work = reached.work()
        descriptor = Descriptor(format="MQSTR", persistence=PERSISTENT if persistent else NON_PERSISTENT)
        for number in range(1, count + 1):
            work.put(queue, descriptor, body)
            if not number % _BATCH or number == count:
                work.commit()
        until = time.monotonic() + _PATIENCE
        while _taken(broker) < goal:
            if time.monotonic() > until:
                raise ConfigurationException(f"the flow did not take {count} messages in {_PATIENCE:.0f} s")
            time.sleep(0.01)


def _taken(broker: Broker) -> int:
    state = broker.repository.load()
    return sum(
        int(archive_of(broker.folder, state, group.name, use)[ROOT]["MessageFlow"]["TotalInputMessages"])
        for group in state.groups
        for use in group.flows
    )


def cpu_of(broker: Broker) -> dict[str, float]:
    """Returns the processor time that each process of a broker has taken, in seconds."""
    status: dict[str, Any] = broker.status() or {"processes": []}
    found: dict[str, float] = {}
    for one in status["processes"]:
        found[one["name"]] = _seconds(one["process"])
        for worker in one["workers"]:
            found[f"{one['name']}/{worker['process']}"] = _seconds(worker["process"])
    return found


def _seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
