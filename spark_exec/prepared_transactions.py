"""Branches: what a task has done to a data source, prepared under a gid of run, round, partition and attempt."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from engine.databases.session import Session
    from engine.databases.sources import Sources

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
