"""Prepared transactions: the branches of tasks in databases, which the driver commits or rolls back.

A branch is prepared under a gid of run, round, partition and attempt. A round is decided by a file in the output's
folder that lists the gids which count. Only then are they committed, so that `resolve` can end what a driver that died
has left: what is listed commits, all else is rolled back.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import uuid4

from engine.databases.coordination import is_alive, process_name
from engine.databases.errors import DatabaseException
from engine.databases.sources import Sources, place_of
from engine.errors import BrokerError, ConfigurationException
from engine.files.output_files import write_file
from spark_exec.session import JOB_FAILED

if TYPE_CHECKING:
    from engine.databases.session import Session
    from spark_exec.plan import Plan


_PREFIX: Final = "penstock-spark"


class Branch(NamedTuple):
    """The parts of a gid; a partition is one of a flow's, and attempts are numbered in the order of their start."""

    run: str
    round: int
    flow: int
    partition: int
    attempt: int
    source: int

    @property
    def gid(self) -> str:
        """The name under which a database keeps the branch.

        >>> Branch("1f", 0, 1, 7, 12, 0).gid
        'penstock-spark:1f:0:1:7:12:0'
        """
        return ":".join(map(str, (_PREFIX, *self)))

    @classmethod
    def of(cls, gid: str) -> Branch | None:
        """The branch of a gid; None where it is none of a run on Spark."""
        prefix, *rest = gid.split(":")
        if prefix != _PREFIX or len(rest) != len(cls._fields) or not all(map(str.isdecimal, rest[1:])):
            return None
        return cls(rest[0], *map(int, rest[1:]))


def prefix_of(*parts: object) -> str:
    """Returns the text with which the gids of a run begin, or those of one of its rounds, and so on."""
    return ":".join(map(str, (_PREFIX, *parts, "")))


@dataclass(frozen=True, slots=True)
class Round:
    """A round of a run, as the tasks of one of its flows know it.

    `patience` is how many seconds an attempt leaves to an earlier one that has prepared and may yet count, as attempts
    of one task run side by side where Spark speculates.
    """

    run: str
    number: int
    flow: int = 0
    patience: float = 0.0


class Attempt:
    """One attempt of a task at its partition, in the process that makes it."""

    def __init__(self, own: Round, sources: Sources) -> None:
        from pyspark import TaskContext

        task = TaskContext.get()
        self._round = own
        self._partition = 0 if task is None else int(task.partitionId())
        self._number = 0 if task is None else int(task.taskAttemptId())
        self._sources = sources
        self._names = [definition.name for definition in sources.definitions]

    def end_earlier(self) -> None:
        """Roll back what earlier attempts at this partition have prepared, but not while the driver decides."""
        waited = not self._round.patience
        for name in self._names:
            source = self._sources.find(name)
            if not self._earlier(name):
                continue
            if not waited:
                time.sleep(self._round.patience)
                waited = True
            with source.locked(prefix_of(self._round.run), is_shared=True):
                for gid in self._earlier(name):
                    source.end_prepared(gid, commits=False)

    def _earlier(self, name: str) -> list[str]:
        own = self._round
        prefix = prefix_of(own.run, own.number, own.flow, self._partition)
        found = ((gid, Branch.of(gid)) for gid in self._sources.find(name).prepared(prefix))
        return [gid for gid, branch in found if branch is not None and branch.attempt < self._number]

    def prepare(self, session: Session) -> dict[str, str]:
        """Prepare all that the attempt has written; returns the gids by the names of the data sources."""
        return session.prepare(self._gid)

    def _gid(self, name: str) -> str:
        own = self._round
        number = self._names.index(name)
        return Branch(own.run, own.number, own.flow, self._partition, self._number, number).gid


_RUN: Final = "_databases.json"
_DECISION: Final = "_decision.round={}.json"
_SPECULATING: Final = 10.0  # seconds: Spark ends a copy of a task that is not needed any more in two

Counted = Mapping[str, Iterable[str]]


class Ended(NamedTuple):
    """A branch that was in doubt, the data source that has it, and what became of it."""

    source: str
    gid: str
    state: str


class Decisions:
    """The decisions of one run, in the process that drives it."""

    def __init__(self, planned: Plan, output: str, *, speculates: bool = False) -> None:
        """`speculates` says that Spark may run several attempts of a task side by side."""
        self._planned = planned
        self._output = Path(output)
        self._patience = _SPECULATING if speculates else 0.0
        self._sources = Sources(planned.deployment.databases.definitions)
        self.run = uuid4().hex[:16]
        self.decided = -1  # the last round that is

    def begin(self) -> None:
        """Note down which run this is, before it writes anything; refuses more tasks than can be prepared."""
        if "://" in str(self._output) or ":/" in str(self._output):
            text = f"{self._output} is a URI, and decisions on databases are kept in a folder of this machine: name one"
            raise ConfigurationException(text)
        self._check_room()
        names = [definition.name for definition in self._sources.definitions]
        self._output.mkdir(parents=True, exist_ok=True)
        said = {"run": self.run, "dataSources": names, "host": os.uname().nodename, "process": process_name()}
        write_file(self._output / _RUN, json.dumps(said, indent=2) + "\n")

    def _check_room(self) -> None:
        """Refuse a plan whose tasks a database could not keep prepared, all at once, until the round is decided."""
        wanted: Counter[str] = Counter()
        room: dict[str, int] = {}
        for flow in self._planned.flows:
            for name in flow.changes:
                server = place_of(self._sources.definition(name)).rpartition("/")[0]
                wanted[server] += flow.partitions
                if server not in room:
                    room[server] = self._sources.find(name).room()
                if wanted[server] > room[server]:
                    text = (
                        f"data source {name} can prepare {room[server]} more units of work, and there are"
                        f" {wanted[server]} tasks or more: raise max_prepared_transactions, or give fewer --instances"
                    )
                    raise ConfigurationException(text)

    def round(self, number: int, flow: int) -> Round:
        """Returns the facts of a round that tasks of a flow need."""
        return Round(self.run, number, flow, self._patience)

    def end(self, number: int, counted: Counted) -> None:
        """Commit what counts of a round, and roll back all else; raises where something that counts is missing.

        An attempt that starts meanwhile waits with rolling back what earlier ones have prepared.
        """
        with ExitStack() as locks:
            for name in sorted(counted):
                locks.enter_context(self._sources.find(name).locked(prefix_of(self.run)))
            self._decide(number, {name: sorted(gids) for name, gids in counted.items()})
        self.roll_back()

    def _decide(self, number: int, counted: Mapping[str, list[str]]) -> None:
        missing = [gid for name, gids in counted.items() for gid in set(gids) - set(self._prepared(name, number))]
        if missing:
            text = (
                f"{missing[0]} is not prepared any more, nor are {len(missing) - 1} others: round {number} has failed"
            )
            raise BrokerError(JOB_FAILED, f"{text}, and nothing of it is committed")
        if any(counted.values()):
            decision = {"round": number, "gids": counted}
            write_file(self._output / _DECISION.format(number), json.dumps(decision, indent=2) + "\n")
            self.decided = number
            self._commit(number, counted)

    def _prepared(self, name: str, *parts: int) -> list[str]:
        return self._sources.find(name).prepared(prefix_of(self.run, *parts))

    def _commit(self, number: int, counted: Counted) -> None:
        try:
            for name, gids in counted.items():
                for gid in gids:
                    if not self._sources.find(name).end_prepared(gid, commits=True):
                        raise BrokerError(
                            JOB_FAILED, f"{gid} was rolled back by others after round {number} was decided"
                        )
        except DatabaseException as error:
            advice = f"penstock spark resolve {self._output} commits the rest"
            error.text += f"; round {number} is decided, and not all of it is committed: {advice}"
            raise

    def roll_back(self) -> None:
        """Roll back all that is prepared for this run and in no decision."""
        kept = _decided_in(self._output)
        for definition in self._sources.definitions:
            for gid in self._prepared(definition.name):
                if gid not in kept:
                    self._sources.find(definition.name).end_prepared(gid, commits=False)

    def give_up(self) -> None:
        """Roll back what is not decided, as far as databases can be reached: `resolve` does the rest."""
        with suppress(DatabaseException):
            self.roll_back()

    def close(self) -> None:
        """Close all connections."""
        self._sources.close()


def _decided_in(output: Path) -> set[str]:
    """The gids that the decisions of a run list."""
    files = output.glob(_DECISION.format("*"))
    decisions = [json.loads(file.read_text("utf-8")) for file in files]
    return {gid for decision in decisions for gids in decision["gids"].values() for gid in gids}


def resolve(output: Path, sources: Sources) -> Iterator[Ended]:
    """End what a run whose driver has died has left in databases: what is decided commits, all else is rolled back."""
    try:
        said = json.loads((output / _RUN).read_text("utf-8"))
        run, named, driver = str(said["run"]), list(said["dataSources"]), str(said["process"])
        is_here = said["host"] == os.uname().nodename
    except (OSError, ValueError, KeyError, TypeError) as error:
        text = f"{output} has no {_RUN} that tells of a run: name the output folder of one that wrote to databases"
        raise ConfigurationException(text) from error
    if is_here and is_alive(driver):
        text = f"the run of {output} is not over: process {driver.partition('.')[0]} drives it: end that first"
        raise ConfigurationException(text)
    given = {definition.name for definition in sources.definitions}
    if lacking := [name for name in named if name not in given]:
        raise ConfigurationException(f"the run wrote to {', '.join(lacking)}: give --data-source {lacking[0]}=URL too")
    decided = _decided_in(output)
    for definition in sources.definitions:
        source = sources.find(definition.name)
        with source.locked(prefix_of(run)):
            ended = [(gid, source.end_prepared(gid, commits=gid in decided)) for gid in source.prepared(prefix_of(run))]
        for gid, was_there in ended:
            if was_there:
                yield Ended(source.name, gid, "committed" if gid in decided else "rolled back")
