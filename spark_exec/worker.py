"""The worker: batches of messages through deployed flows, on an executor."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from engine.databases.session import Session
from engine.databases.work import with_databases
from engine.descriptor import NO_ID
from engine.errors import BrokerError, Place
from engine.flow.dead_letters import BLOCKED, PUT_AWAY
from engine.message.topics import ADDRESS
from engine.runtime.batches import Batch
from engine.runtime.incidents import heard_by
from engine.work import QueueAttributes
from flows.files import Shipped
from spark_exec.cpu_accounts import READING, WRITING, Accounts
from spark_exec.deployment import NONE, Databases, built, opened
from spark_exec.partition_work import PartitionWork
from spark_exec.prepared_transactions import Attempt, Round
from spark_exec.rows import (
    CAUGHT,
    FAILURE,
    FED,
    PUBLICATION,
    PUT,
    WAITING,
    Failed,
    Row,
    Rows,
    as_received,
    failed_of,
    rows_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from engine.runtime.deployment import DeployedFlow, Station

_SPARE_TRIES = 10  # a message that is backed out more often than its threshold allows is stuck


@dataclass(frozen=True, slots=True)
class Assignment:
    """The work of one task: a flow of a group, and what it must know of the broker around it."""

    group: str
    shipped: Shipped
    reads: frozenset[str]
    queues: Mapping[str, QueueAttributes]
    queue_manager: str
    dead_letter_queue: str
    moment: tuple[str, str]
    aliases: Mapping[str, str] = field(default_factory=dict)
    databases: Databases = NONE
    round: Round | None = None  # where what the flow does to databases is prepared

    def task(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Returns what a task of Spark does, in a process that will do nothing else."""
        built(self.shipped, self.databases)
        gc.freeze()  # what has been made ready stays; looking for garbage in it takes a tenth of the time
        return self.carry(batches)

    def carry(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches that come of batches of messages."""
        return _Worker(self).run(batches)


class _Told(logging.Handler):
    """Listens to the local error log, which alone says why a message was put away that could not be read at all."""

    put_away: BrokerError | None = None

    def emit(self, record: logging.LogRecord) -> None:
        match record.args:
            case (BrokerError() as error, str(), int(number)) if number in PUT_AWAY:
                self.put_away = error


class _Worker:
    """One flow at work on one partition."""

    def __init__(self, assignment: Assignment) -> None:
        self._own = assignment
        self._deployed: DeployedFlow = built(assignment.shipped, assignment.databases).flow
        self._entrances: dict[str, Station] = {
            str(getattr(station.node, "queue_name", "")): station for station in self._deployed.entrances
        }
        self._by_group = self._where("commit_by_message_group")
        self._gathered = self._by_group | self._where("all_msgs_available")
        self._work = PartitionWork(
            assignment.queues, (assignment.queue_manager, assignment.dead_letter_queue), assignment.moment
        )
        sources = opened(assignment.databases)
        self._attempt = Attempt(assignment.round, sources) if assignment.round and sources else None
        self._session = Session(sources, held=True) if self._attempt and sources else None
        self._whole = with_databases(self._work, sources, self._deployed.properties, held=self._session)
        self._key = f"{assignment.group}/{assignment.shipped.name}/"
        self._rows = Rows(assignment.shipped.name, assignment.group)
        self._told = _Told(logging.INFO)
        self._caught: list[tuple[int, BrokerError]] = []  # each with the place of its message in the unit
        self._deployed.tell_caught(self._catch)

    def _where(self, asked: str) -> set[str]:
        """The queues whose nodes ask for something by a property."""
        return {queue for queue, station in self._entrances.items() if getattr(station.node, asked, False)}

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Carry every message, and tell in the end what the nodes have cost."""
        accounts, rows = Accounts(self._deployed.stations), self._rows
        held: list[Row] = []
        with ExitStack() as around:
            around.enter_context(heard_by(self._told))
            around.callback(accounts.close)
            if self._session is not None:
                around.callback(self._session.close)
            if self._attempt is not None:
                self._attempt.end_earlier()
            while (batch := accounts.spent(READING, lambda: next(batches, None))) is not None:
                for row in accounts.each(accounts.spent(READING, partial(rows_of, batch))):
                    held = self._take(row, held)
                    if rows.is_full:
                        yield from accounts.sent(accounts.spent(WRITING, rows.batch))
            if held:
                self._carry(held)
            if self._attempt is not None and self._session is not None:
                rows.add_prepared(self._attempt.prepare(self._session))
        for written in accounts.spent(WRITING, lambda: list(rows.rest())):
            yield from accounts.sent(written)
        yield rows.statistics(accounts.rows())

    def _take(self, row: Row, held: list[Row]) -> list[Row]:
        """Carry a message, or hold it while more of its group may come; what is held then."""
        if row.queue not in self._gathered or row.descriptor.group_id == NO_ID or row.problem:
            if held:
                self._carry(held)
            self._carry([row])
            return []
        if held and (held[0].queue, held[0].descriptor.group_id) != (row.queue, row.descriptor.group_id):
            self._carry(held)
            return [row]
        held.append(row)
        return held

    def _carry(self, unit: list[Row]) -> None:
        """Let the flow work on a message, or on those of a group, until it is done with them."""
        first = unit[0]
        entrance, work = self._entrances.get(first.queue), self._work
        if first.problem:
            self._fail(first, f"{first.lineage}.0", Failed(first.problem))
            return
        if entrance is None:
            self._leave(unit, range(len(unit)))
            return
        try:
            offered = [as_received(row) for row in unit]
        except BrokerError as refused:  # properties that no header can say
            for row in unit:
                self._fail(row, f"{row.lineage}.0", failed_of(refused))
            return
        self._caught = []
        work.offer((self._key + first.lineage).encode(), first.queue, offered)
        failures = self._worked(entrance, first.queue, len(unit))
        if self._session is not None:
            self._session.check_kept()  # what is lost was done for other messages too: the task has failed
        counts = [0] * len(unit)
        for put in work.done:
            queue = put.queue if put.queue in self._own.reads else self._own.aliases.get(put.queue, put.queue)
            kind = FED if queue in self._own.reads else PUBLICATION if queue.startswith(ADDRESS) else PUT
            row = unit[put.of]
            lineage = f"{row.lineage}.{counts[put.of]}"
            counts[put.of] += 1
            self._rows.add(kind, queue, (row.sequence, lineage), (put.descriptor, put.body))
        if work.is_waiting:
            self._leave(unit, work.left, counts)
        for place, error in failures.items():
            counts[place] += 1
            self._fail(unit[place], f"{unit[place].lineage}.{counts[place] - 1}", failed_of(error))
        for place, error in self._caught:
            self._fail(unit[place], f"{unit[place].lineage}.{counts[place]}", failed_of(error), CAUGHT)
            counts[place] += 1

    def _catch(self, _: Place, error: BrokerError) -> None:
        """Take in an error that a node has caught."""
        self._caught.append((self._work.in_hand, error))

    def _fail(self, row: Row, lineage: str, failed: Failed, kind: str = FAILURE) -> None:
        """A row for a message that failed, or that is none, or for an error that was caught."""
        self._rows.add(kind, row.queue, (row.sequence, lineage), (row.descriptor, row.body), failed)

    def _worked(self, entrance: Station, queue: str, count: int) -> dict[int, BrokerError]:
        """Have the flow process what was offered, again where it fails; the first failure of each message."""
        batch = Batch(1, by_group=True) if queue in self._by_group else None
        failures: dict[int, BrokerError] = {}
        work, tries = self._work, 0
        attributes = self._own.queues.get(queue)
        most = count * (2 * (attributes.backout_threshold if attributes else 0) + _SPARE_TRIES)
        while work.is_waiting and tries < most:
            tries += 1
            outcome = self._deployed.process(entrance, self._whole, batch, patient=False)
            if outcome is None:
                break
            failed = outcome.error or self._told.put_away
            self._told.put_away = None
            if failed is not None:
                failures.setdefault(work.in_hand, failed)
                if failed.number == BLOCKED:  # it would stay so however often it was tried
                    break
        if batch is not None:
            self._whole.back_out()  # a group that lacks its last message
        return failures

    def _leave(self, unit: list[Row], places: Iterable[int], counts: Sequence[int] = ()) -> None:
        """Messages that stay where they were."""
        for place in places:
            row = unit[place]
            lineage = f"{row.lineage}.{counts[place] if counts else 0}"
            self._rows.add(WAITING, row.queue, (row.sequence, lineage), (row.descriptor, row.body))
