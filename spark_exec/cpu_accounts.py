"""Accounts: the processor time of a task and of its process, told apart by what it was spent for."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from engine.runtime.accounting import AROUND, Evaluate, Meter

if TYPE_CHECKING:
    from engine.message.assembly import Message
    from engine.runtime.deployment import Station
    from engine.work import UnitOfWork

Part = TypeVar("Part")

NODE: Final = "node"
STARTING: Final = "starting"  # what the process has spent before a task: Python, imports, the flow made ready
READING: Final = "reading"  # messages out of Arrow's batches
WRITING: Final = "writing"  # rows into Arrow's batches
AROUND_NODES: Final = "around"  # getting, committing, the runtime itself

_ALL_UP_TO: Final = 32  # so many messages are all measured, then one in _ONE_IN: asking a clock costs more than a hop
_ONE_IN: Final = 32
_KIBIBYTE: Final = 1 if sys.platform == "darwin" else 1024  # the unit of ru_maxrss


@dataclass(slots=True)
class Ledger:
    """The part of a process's time that is on accounts already."""

    settled: int = 0


@lru_cache(maxsize=1)
def ledger() -> Ledger:
    """The ledger of this process."""
    return Ledger()


class Accounts:
    """The costs of one task: every message counts at every node, the time of some is measured and stands for all."""

    __slots__ = ("_began", "_counted", "_in_hand", "_measured", "_meter", "_own", "_parts", "_stations", "messages")

    def __init__(self, stations: Mapping[str, Station]) -> None:
        self._began = time.process_time_ns(), time.thread_time_ns()
        self._parts = {STARTING: self._began[0] - ledger().settled, READING: 0, WRITING: 0}
        self._stations = tuple(stations.values())
        self._meter = Meter()
        self._own = tuple(station.evaluate for station in self._stations)
        self._measured = tuple(self._meter.metered(station.label, station.evaluate) for station in self._stations)
        self._counted = tuple(self._counting(station.label, station.evaluate) for station in self._stations)
        self._in_hand = False  # a message whose time is measured
        self.messages = 0

    def _counting(self, label: str, evaluate: Evaluate) -> Evaluate:
        account = self._meter.accounts[label]

        def counted(message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
            account.messages += 1
            return evaluate(message, work)

        return counted

    def close(self) -> None:
        """Leave the nodes as they were found."""
        self._wear(self._own)

    def _wear(self, evaluates: tuple[Evaluate, ...]) -> None:
        for station, evaluate in zip(self._stations, evaluates, strict=True):
            station.evaluate = evaluate

    def each(self, rows: Iterator[Part]) -> Iterator[Part]:
        """The messages of a batch one by one, some of them measured while they are in hand."""
        meter, measured = self._meter, False
        for row in rows:
            wanted = self.messages < _ALL_UP_TO or not self.messages % _ONE_IN
            if wanted is not measured or not self.messages:
                self._wear(self._measured if wanted else self._counted)
                measured = wanted
            self.messages += 1
            if not wanted:
                yield row
                continue
            meter.resume()
            self._in_hand = True
            yield row
            self._in_hand = False
            meter.switch(AROUND)
        if measured:  # what is carried between batches is counted as well
            self._wear(self._counted)

    def spent(self, part: str, work: Callable[[], Part]) -> Part:
        """Do something whose time belongs to a part of its own."""
        began = self._interrupted()
        try:
            return work()
        finally:
            self._parts[part] += self._resumed() - began

    def sent(self, batch: Part) -> Iterator[Part]:
        """Hand a batch on; what is done with it before the task goes on is writing."""
        began = self._interrupted()
        yield batch
        self._parts[WRITING] += self._resumed() - began

    def _interrupted(self) -> int:
        """Now, from when on time is not that of the message in hand."""
        if self._in_hand:
            self._meter.switch(AROUND)
        return time.thread_time_ns()

    def _resumed(self) -> int:
        """Now, from when on it is again."""
        if self._in_hand:
            self._meter.resume()
        return time.thread_time_ns()

    def rows(self) -> list[dict[str, Any]]:
        """Returns the time spent by each part and node; in all, what the process has spent since it last told."""
        whole, thread = time.process_time_ns(), time.thread_time_ns()
        ledger().settled = whole
        carried = thread - self._began[1] - self._parts[READING] - self._parts[WRITING]
        accounts = self._meter.accounts
        measured = sum(account.nanoseconds for account in accounts.values()) or 1
        shares = {label: carried * account.nanoseconds // measured for label, account in accounts.items()}
        beside = (whole - self._began[0]) - (thread - self._began[1])  # what other threads have done
        del shares[AROUND]
        around = {
            "part": AROUND_NODES,
            "cpu_ns": carried - sum(shares.values()) + beside,
            "messages": self.messages,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIBIBYTE,
        }
        parts = [{"part": part, "cpu_ns": spent, "messages": self.messages} for part, spent in self._parts.items()]
        nodes = [
            {"part": NODE, "node": label, "cpu_ns": spent, "messages": accounts[label].messages}
            for label, spent in shares.items()
        ]
        return [around, *parts, *nodes]
