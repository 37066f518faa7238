"""Accounting: what each unit of work has done to each queue, put on a queue of the system at intervals and its end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

from engine.errors import BrokerError
from engine.mq import pcf
from engine.mq.counting import Seen, since
from engine.mq.intervals import OF_MANAGER, Clock, interval_of, is_on
from engine.mq.statistics import ACCOUNTING, STATISTICS, header, put_record

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.mq.manager import QueueManager
    from engine.mq.pcf import Parameter
    from engine.mq.unit import Work
    from engine.work import Arrival, Selection

_PAIRS: Final = ("puts", "put_bytes", "gets", "get_bytes", "browses", "browse_bytes")
_NUMBERS: Final = ("puts_failed", "gets_failed", "browses_failed", "put_elapsed", "get_elapsed", "put_cpu", "get_cpu")
_SAMPLED: Final = 16  # one in so many calls says how long they take
_MICRO: Final = 1_000  # nanoseconds


class Tally:
    """The counts of a unit of work on a queue, by the name that it uses; `key` is the interval of their record."""

    __slots__ = (*_PAIRS, *_NUMBERS, "before", "calls", "key", "name")

    def __init__(self, name: str, key: str) -> None:
        self.name = name
        self.key = key  # nothing where accounting is off for the queue
        self.calls = 0
        self.puts = [0, 0]
        self.put_bytes = [0, 0]
        self.gets = [0, 0]
        self.get_bytes = [0, 0]
        self.browses = [0, 0]
        self.browse_bytes = [0, 0]
        self.puts_failed = self.gets_failed = self.browses_failed = 0
        self.put_elapsed = self.put_cpu = self.get_elapsed = self.get_cpu = 0  # microseconds
        self.before = self.seen()

    def seen(self) -> Seen:
        """Returns all that was counted."""
        pairs: Seen = {name: tuple(getattr(self, name)) for name in _PAIRS}
        return pairs | {name: getattr(self, name) for name in _NUMBERS}

    def taken(self) -> Seen | None:
        """Returns what was counted since this was asked before; None where that is nothing."""
        now = self.seen()
        found, self.before = since(self.before, now), now
        return found if any(found[name] not in {0, (0, 0)} for name in found) else None


def begin() -> tuple[int, int]:
    """Returns when a call begins, by the clock and by the processor's."""
    return time.perf_counter_ns(), time.thread_time_ns()


def measured(began: tuple[int, int], calls: int) -> tuple[int, int]:
    """Returns the microseconds of a call, elapsed and of the processor, and of those before it that were not measured.

    The first of its `calls` stands for itself.
    """
    elapsed, cpu = time.perf_counter_ns() - began[0], time.thread_time_ns() - began[1]
    stands_for = 1 if calls == 1 else _SAMPLED
    return elapsed * stands_for // _MICRO, cpu * stands_for // _MICRO


class Account:
    """The tallies of one unit of work, through which its calls go while accounting is on."""

    __slots__ = ("_key_of", "application", "began", "tallies", "user", "work")

    def __init__(
        self, work: Work, key_of: Callable[[str], str], began: float, ended: Callable[[Account], None]
    ) -> None:
        self._key_of = key_of
        self.user, self.application = work.context
        self.began = began
        self.tallies: dict[str, Tally] = {}
        self.work = ref(work, lambda _: ended(self))

    def tally(self, queue: str) -> Tally:
        """Returns the tally of a queue by its name or an alias."""
        found = self.tallies.get(queue)
        if found is None:
            found = self.tallies[queue] = Tally(queue, self._key_of(queue))
        return found

    def put(self, work: Work, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool) -> Descriptor:
        """Put a message, and count that."""
        tally = self.tallies.get(queue) or self.tally(queue)
        tally.calls += 1
        work.account, began = None, begin() if tally.calls % _SAMPLED == 1 else ()
        try:
            own = work.put(queue, descriptor, body, syncpoint=syncpoint)
        except BrokerError:
            tally.puts_failed += 1
            raise
        finally:
            work.account = self
            if began:
                elapsed, cpu = measured(began, tally.calls)
                tally.put_elapsed, tally.put_cpu = tally.put_elapsed + elapsed, tally.put_cpu + cpu
        tally.puts[own.persistence == 1] += 1
        tally.put_bytes[own.persistence == 1] += len(body)
        return own

    def get(
        self, work: Work, queue: str, selection: Selection | None, *, syncpoint: bool | None, wait: float
    ) -> Arrival | None:
        """Get or browse a message, and count that."""
        tally, arrival = self.tallies.get(queue) or self.tally(queue), None
        tally.calls += 1
        work.account, began = None, begin() if tally.calls % _SAMPLED == 1 else ()
        browses = selection is not None and selection.browse
        try:
            arrival = work.get(queue, selection, syncpoint=syncpoint, wait=wait)
        finally:
            work.account = self
            if began:
                elapsed, cpu = measured(began, tally.calls)
                tally.get_elapsed, tally.get_cpu = tally.get_elapsed + elapsed, tally.get_cpu + cpu
            if arrival is None and browses:
                tally.browses_failed += 1
            elif arrival is None:
                tally.gets_failed += 1
        if arrival is not None:
            counts, lengths = (tally.browses, tally.browse_bytes) if browses else (tally.gets, tally.get_bytes)
            counts[arrival.descriptor.persistence] += 1
            lengths[arrival.descriptor.persistence] += len(arrival.body)
        return arrival


class Accounting:
    """The accounts of a queue manager's units of work, and the intervals at which they are written."""

    __slots__ = ("_accounts", "_clock", "_clocks", "_ended", "_manager", "_told", "_wake")

    def __init__(self, manager: QueueManager, clock: Callable[[], float], wake: Callable[[], None]) -> None:
        self._manager = manager
        self._clock = clock
        self._wake = wake
        self._clocks: dict[str, Clock] = {}
        self._accounts: dict[Account, None] = {}
        self._ended: list[Account] = []  # of units that are gone, not written yet
        self._told = 0

    @property
    def is_on(self) -> bool:
        """True while an interval runs."""
        return bool(self._clocks)

    def change(self, works: Iterable[Work]) -> None:
        """Begin intervals where accounting has come to be on for queues."""
        if OF_MANAGER in self._clocks:
            self._clocks[OF_MANAGER].begin_with(self._text(OF_MANAGER))
        new = [key for key in self._keys() if key not in self._clocks]
        for key in new:
            self._clocks[key] = Clock(self._text(key), self._clock())
        if new:
            for account in self._accounts:
                self._look_again(account, set(new))
            for work in works:
                self.open(work)

    def _keys(self) -> Iterator[str]:
        """Yields the intervals of queues that accounting is on for, by ACCTIME of the queue."""
        directory = self._manager.directory
        if directory.settings.get("ACCTQ") == "ON":
            yield OF_MANAGER
        for name in list(directory.watched):
            if name in directory.queues and (key := self._key_of(name)):
                yield key

    def _key_of(self, queue: str) -> str:
        """Returns the interval of a queue by its name or an alias; nothing where accounting is off for it."""
        directory = self._manager.directory
        found = directory.behind(queue)
        if found is None or not is_on("ACCTQ", directory.settings, found.definition.values):
            return ""
        values = found.definition.values
        if found.definition.name in {STATISTICS, ACCOUNTING} and values.get("ACCTQ") != "ON":
            return ""
        return str(values.get("ACCTIME", OF_MANAGER))

    def _text(self, key: str) -> str:
        return interval_of("ACCTIME", self._manager.directory.settings) if key == OF_MANAGER else key

    @property
    def running(self) -> str:
        """The interval of the queue manager that runs, or that would."""
        clock = self._clocks.get(OF_MANAGER)
        return self._text(OF_MANAGER) if clock is None else clock.text

    def due(self) -> float | None:
        """Returns when the next interval ends, or None; at once where a unit of work has ended."""
        if self._ended:
            return 0.0
        return min((clock.ends for clock in self._clocks.values()), default=None)

    def open(self, work: Work) -> None:
        """Begin to account for a unit of work."""
        if work.account is None:
            work.account = Account(work, self._key_of, self._clock(), self._note_end)
            self._accounts[work.account] = None

    def _note_end(self, account: Account) -> None:
        self._ended.append(account)
        self._wake()

    def run(self) -> None:
        """Write the accounts of units of work that have ended, and of intervals that have."""
        now = self._clock()
        while self._ended:
            account = self._ended.pop()
            self._write(account, {tally.key for tally in account.tallies.values()}, now)
            self._accounts.pop(account, None)
        for key, clock in list(self._clocks.items()):
            if clock.ends <= now:
                for account in list(self._accounts):
                    self._write(account, {key}, now)
                    self._look_again(account, {key})
                clock.turn(self._text(key), now)
        wanted = set(self._keys())
        for key in [key for key, clock in self._clocks.items() if key not in wanted and clock.began == now]:
            del self._clocks[key]
        if not self._clocks:
            self._close()

    def finish(self) -> None:
        """Write all accounts: nothing more will be counted."""
        for account in [*self._ended, *self._accounts]:
            self._write(account, {tally.key for tally in account.tallies.values()}, self._clock())
        self._clocks.clear()
        self._ended.clear()
        self._close()

    def _close(self) -> None:
        for account in self._accounts:
            work = account.work()
            if work is not None:
                work.account = None
        self._accounts.clear()

    def _look_again(self, account: Account, keys: set[str]) -> None:
        """Let definitions that have changed count for queues of an interval that has ended, or begins."""
        for tally in list(account.tallies.values()):
            if tally.key in keys or not tally.key:
                tally.key = self._key_of(tally.name)

    def _write(self, account: Account, keys: set[str], now: float) -> None:
        groups: list[dict[str, Parameter]] = []
        for tally in list(account.tallies.values()):
            found = tally.taken() if tally.key and tally.key in keys else None
            if found is not None:
                queue = self._manager.directory.behind(tally.name)
                own: Any = tally.name if queue is None else queue.definition.name
                groups.append({"queue": own, **found})
        if not groups:
            return
        values: dict[str, Parameter] = {
            **header(self._manager.name, account.began, now),
            "application": account.application,
            "user": account.user,
            "process": os.getpid(),
            "object_count": len(groups),
            "queues_of_task": groups,
        }
        account.began = now
        self._told = put_record(self._manager, ACCOUNTING, pcf.written("accounting", values), self._told)
