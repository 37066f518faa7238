"""The worker: batches of messages through deployed flows, on an executor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from engine.errors import BrokerError
from engine.statistics import AROUND, Meter, meter
from engine.work import QueueAttributes
from spark_exec.message_sets import Row, as_received, rows_of
from spark_exec.outputs import FAILURE, FED, PUT, STATISTICS, WAITING, Batches, exceptions_of
from spark_exec.shipped import Shipped, built
from spark_exec.work import PartitionWork

if TYPE_CHECKING:
    import pyarrow as pa

    from engine.runtime import DeployedFlow, Station

_MOST_TRIES = 10_000  # a message that is backed out more often than any threshold allows is stuck


class Counter(Protocol):
    """What tasks add to, for someone who looks on."""

    def add(self, term: int) -> None:
        """Add messages that have been carried."""
        ...


@dataclass(frozen=True, slots=True)
class Assignment:
    """What one task does: a flow of a group, and what it must know of the broker around it."""

    group: str
    shipped: Shipped
    reads: frozenset[str]
    queues: Mapping[str, QueueAttributes]
    queue_manager: str
    dead_letter_queue: str
    moment: tuple[str, str]
    counter: Counter | None = None

    def carry(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches that come of batches of messages."""
        return _Worker(self).run(batches)


class _Worker:
    """One flow at work on one partition."""

    def __init__(self, assignment: Assignment) -> None:
        self._own = assignment
        self._deployed: DeployedFlow = built(assignment.shipped)
        self._entrances: dict[str, Station] = {
            str(getattr(station.node, "queue_name", "")): station for station in self._deployed.entrances
        }
        self._work = PartitionWork(
            assignment.queues, (assignment.queue_manager, assignment.dead_letter_queue), assignment.moment
        )
        self._batches = Batches()

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Carry every message, and tell in the end what the nodes have cost."""
        evaluated = {label: station.evaluate for label, station in self._deployed.stations.items()}
        measured = meter(self._deployed.stations)
        count = 0
        try:
            for batch in batches:
                if self._own.counter is not None:
                    self._own.counter.add(batch.num_rows)
                for row in rows_of(batch):
                    count += 1
                    for result in self._results(row):
                        yield from self._batches.add(result)
        finally:
            for label, station in self._deployed.stations.items():
                station.evaluate = evaluated[label]
        for result in self._costs(measured, count):
            yield from self._batches.add(result)
        yield from self._batches.rest()

    def _results(self, row: Row) -> Iterator[dict[str, Any]]:
        """What comes of one message."""
        entrance, work = self._entrances[row.queue], self._work
        key = f"{self._own.group}/{self._own.shipped.name}/{row.lineage}"
        work.offer(key.encode(), row.queue, *as_received(row))
        error: BrokerError | None = None
        tries = 0
        while work.is_waiting and tries < _MOST_TRIES:
            tries += 1
            outcome = self._deployed.process(entrance, work)
            if outcome is None:
                break
            error = error or outcome.error
        for ordinal, put in enumerate(work.done):
            kind = FED if put.queue in self._own.reads else PUT
            yield self._row(kind, row, ordinal, put.queue) | put.descriptor._asdict() | {"body": put.body}
        if work.is_waiting:
            yield self._row(WAITING, row, len(work.done), row.queue) | row.descriptor._asdict() | {"body": row.body}
        if error is not None:
            failed = self._row(FAILURE, row, len(work.done), row.queue) | row.descriptor._asdict()
            yield failed | {"body": row.body, "error": str(error), "exceptions": exceptions_of(error)}

    def _row(self, kind: str, row: Row, ordinal: int, queue: str) -> dict[str, Any]:
        return {
            "kind": kind,
            "flow": self._own.shipped.name,
            "group": self._own.group,
            "sequence": row.sequence,
            "lineage": f"{row.lineage}.{ordinal}",
            "queue": queue,
        }

    def _costs(self, measured: Meter, count: int) -> Iterator[dict[str, Any]]:
        for label, account in measured.settled().items():
            yield {
                "kind": STATISTICS,
                "flow": self._own.shipped.name,
                "group": self._own.group,
                "queue": "",
                "node": label or None,
                "cpu_ns": account.nanoseconds,
                "messages": count if label == AROUND else account.messages,
            }
