"""Accounting: what each unit of work has done to each queue, put on a queue of the system at intervals and its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from operator import attrgetter, sub
from typing import TYPE_CHECKING, Final
from weakref import ref

from engine.errors import BrokerError
from engine.mq import pcf
from engine.mq.intervals import OF_MANAGER, Clock, interval_of, is_on
from engine.mq.statistics import ACCOUNTING, STATISTICS, Records, header
from engine.mq.status import connection_id
from engine.mq.unit import Work

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.mq.manager import QueueManager
    from engine.mq.pcf import Parameter, Written
    from engine.work import Arrival, Selection

_PAIRS: Final = ("puts", "put_bytes", "gets", "get_bytes", "browses", "browse_bytes")
_LASTING: Final = "lasting_"  # begins the counts of persistent messages
_FAILED: Final = ("puts_failed", "gets_failed", "browses_failed")
_TIMES: Final = ("put_elapsed", "put_cpu", "put_timed", "get_elapsed", "get_cpu", "get_timed")
_COUNTED: Final = (*_PAIRS, *(_LASTING + name for name in _PAIRS), *_FAILED, *_TIMES)
_NOTHING: Final = (0,) * len(_COUNTED)
_WRITTEN: Final = pcf.Numbers(_PAIRS, 2, [*_FAILED, "put_elapsed", "put_cpu", "get_elapsed", "get_cpu"])
_counted: Final = attrgetter(*_COUNTED)
_FIRST: Final = 4  # calls of a tally say how long they take,
_EACH: Final = 255  # and so does one in so many behind them: to ask for the processor's time may take longer than a put
_PERSISTENCE: Final = 8  # a field of descriptors
_MICRO: Final = 1_000  # nanoseconds
_put: Final = Work.put
_get: Final = Work.get


class Tally:
    """The counts of a unit of work on a queue, by the name that it uses; `key` is the interval of their record."""

    __slots__ = (
        *_COUNTED,
        "before",
        "calls",
        "key",
        "name",
        "timed_at",
    )

    def __init__(self, name: str, key: str) -> None:
        self.name = name
        self.key = key  # nothing where accounting is off for the queue
        self.calls = 0
        self.timed_at = 0  # the call whose time is taken next, at which policies of protection are looked for as well
        self.puts = self.put_bytes = self.lasting_puts = self.lasting_put_bytes = 0
        self.gets = self.get_bytes = self.lasting_gets = self.lasting_get_bytes = 0
        self.browses = self.browse_bytes = self.lasting_browses = self.lasting_browse_bytes = 0
        self.puts_failed = self.gets_failed = self.browses_failed = 0
        self.put_elapsed = self.put_cpu = self.get_elapsed = self.get_cpu = 0  # nanoseconds of those that are timed
        self.put_timed = self.get_timed = 0
        self.before: tuple[int, ...] = _NOTHING

    def taken(self) -> Written | None:
        """Returns what was counted since this was asked before, as parameters; None where that is nothing."""
        now: tuple[int, ...] = _counted(self)
        before, self.before = self.before, now
        counts = now if before is _NOTHING else tuple(map(sub, now, before))
        if counts == _NOTHING:
            return None
        # fmt: off
        (puts, _, gets, _, browses, _, lasting_puts, _, lasting_gets, _, lasting_browses, _, puts_failed, gets_failed,
         browses_failed, *times) = counts
        # fmt: on
        whole = now[-len(_TIMES) :]
        put_elapsed, put_cpu, put_timed = times[:3] if times[2] else whole[:3]
        get_elapsed, get_cpu, get_timed = times[3:] if times[5] else whole[3:]
        all_puts = puts + lasting_puts + puts_failed
        all_gets = gets + lasting_gets + gets_failed + browses + lasting_browses + browses_failed
        taken = (
            *(estimated(all_puts, put_elapsed, put_timed), estimated(all_puts, put_cpu, put_timed)),
            *(estimated(all_gets, get_elapsed, get_timed), estimated(all_gets, get_cpu, get_timed)),
        )
        others, lasting = counts[: len(_PAIRS)], counts[len(_PAIRS) : 2 * len(_PAIRS)]
        return _WRITTEN.written(others, lasting, (puts_failed, gets_failed, browses_failed, *taken))


def estimated(calls: int, taken: int, timed: int) -> int:
    """Returns the microseconds that calls took, by the nanoseconds of those that were timed.

    >>> estimated(10, 8_000, 2)
    40
    """
    return calls * taken // (max(1, timed) * _MICRO)


class Account:
    """The tallies of one unit of work, kept while accounting is on."""

    __slots__ = ("_accounting", "application", "began", "connection", "process", "records", "tallies", "user", "work")

    def __init__(self, accounting: Accounting, work: Work, began: float) -> None:
        self._accounting = accounting
        self.user, self.application = work.context
        self.connection = pcf.identifier("connection", bytes.fromhex(connection_id(work.manager.name, id(work))))
        self.process = 0  # known once it works
        self.records = 0
        self.began = began
        self.tallies: dict[str, Tally] = {}
        self.work = ref(work, lambda _: accounting.note_end(self))

    def tally(self, queue: str) -> Tally:
        """Returns the new tally of a queue by its name or an alias."""
        work = self.work()
        if work is not None:
            self.process = work.process
        found = self.tallies[queue] = Tally(queue, self._accounting.key_of(queue))
        return found

    def timed_behind(self, calls: int) -> int:
        """Returns the call whose time is taken next; while there are policies each, which they make several."""
        return calls + (1 if calls < _FIRST or self._accounting.protects else _EACH)


class AccountedWork(Work):
    """A unit of work whose puts and gets are counted, which units of work become while accounting is on.

    It is a class of its own so that a unit has nothing to ask while accounting is off. Of some calls the time is taken.
    What is put or got on the way of a call, as message protection does it, is no call of its own.
    """

    __slots__ = ()

    def put(self, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True) -> Descriptor:
        """Put a message, and count that."""
        account = self.account
        if account is None:  # accounting has just ended
            return Work.put(self, queue, descriptor, body, syncpoint=syncpoint)
        tallies = account.tallies
        tally = tallies[queue] if queue in tallies else account.tally(queue)
        tally.calls = calls = tally.calls + 1
        try:
            if calls >= tally.timed_at:
                own = _put_apart(self, tally, queue, (descriptor, body), syncpoint=syncpoint)
            else:
                own = _put(self, queue, descriptor, body, syncpoint=syncpoint)
        except BrokerError:
            tally.puts_failed += 1
            raise
        if own[_PERSISTENCE] == 1:
            tally.lasting_puts += 1
            tally.lasting_put_bytes += len(body)
        else:
            tally.puts += 1
            tally.put_bytes += len(body)
        return own

    def get(
        self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True, wait: float = 0.0
    ) -> Arrival | None:
        """Get or browse a message, and count that."""
        account = self.account
        if account is None:
            return Work.get(self, queue, selection, syncpoint=syncpoint, wait=wait)
        tallies, arrival = account.tallies, None
        tally = tallies[queue] if queue in tallies else account.tally(queue)
        tally.calls = calls = tally.calls + 1
        try:
            if calls >= tally.timed_at:
                arrival = _got_apart(self, tally, queue, selection, syncpoint=syncpoint, wait=wait)
            else:
                arrival = _get(self, queue, selection, syncpoint=syncpoint, wait=wait)
        finally:
            if selection is not None and selection.browse:
                _note_browse(tally, arrival)
            elif arrival is None:
                tally.gets_failed += 1
            elif arrival[0][_PERSISTENCE] == 1:
                tally.lasting_gets += 1
                tally.lasting_get_bytes += len(arrival[1])
            else:
                tally.gets += 1
                tally.get_bytes += len(arrival[1])
        return arrival


def _put_apart(
    work: Work, tally: Tally, queue: str, message: tuple[Descriptor, bytes], *, syncpoint: bool
) -> Descriptor:
    """Put a message by a unit that is not accounted for now, and note how long that takes."""
    work.__class__, began = Work, (time.perf_counter_ns(), time.thread_time_ns())
    try:
        return work.put(queue, *message, syncpoint=syncpoint)
    finally:
        _account_again(work, tally)
        tally.put_elapsed += time.perf_counter_ns() - began[0]
        tally.put_cpu += time.thread_time_ns() - began[1]
        tally.put_timed += 1


def _got_apart(
    work: Work, tally: Tally, queue: str, selection: Selection | None, *, syncpoint: bool | None, wait: float
) -> Arrival | None:
    """Get a message by a unit that is not accounted for now, and note how long that takes."""
    work.__class__, began = Work, (time.perf_counter_ns(), time.thread_time_ns())
    try:
        return work.get(queue, selection, syncpoint=syncpoint, wait=wait)
    finally:
        _account_again(work, tally)
        tally.get_elapsed += time.perf_counter_ns() - began[0]
        tally.get_cpu += time.thread_time_ns() - began[1]
        tally.get_timed += 1


def _account_again(work: Work, tally: Tally) -> None:
    account = work.account
    if account is not None:
        work.__class__ = AccountedWork
        tally.timed_at = account.timed_behind(tally.calls)


def _note_browse(tally: Tally, arrival: Arrival | None) -> None:
    if arrival is None:
        tally.browses_failed += 1
    elif arrival.descriptor.persistence == 1:
        tally.lasting_browses += 1
        tally.lasting_browse_bytes += len(arrival.body)
    else:
        tally.browses += 1
        tally.browse_bytes += len(arrival.body)


class Accounting:
    """The accounts of a queue manager's units of work, and the intervals at which they are written."""

    __slots__ = ("_accounts", "_clock", "_clocks", "_ended", "_manager", "_records", "_wake")

    def __init__(self, manager: QueueManager, clock: Callable[[], float], wake: Callable[[], None]) -> None:
        self._manager = manager
        self._clock = clock
        self._wake = wake
        self._clocks: dict[str, Clock] = {}
        self._accounts: dict[Account, None] = {}
        self._ended: list[Account] = []  # of units that are gone, not written yet
        self._records = Records(manager, ACCOUNTING)

    @property
    def is_on(self) -> bool:
        """True while an interval runs."""
        return bool(self._clocks)

    @property
    def protects(self) -> bool:
        """True while messages are protected by policies."""
        return any(self._manager.policies.values())

    def change(self, works: Iterable[Work]) -> None:
        """Begin intervals where accounting has come to be on for queues, and let tallies look for policies."""
        for account in list(self._accounts):
            for tally in list(account.tallies.values()):
                tally.timed_at = 0
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
            if name in directory.queues and (key := self.key_of(name)):
                yield key

    def key_of(self, queue: str) -> str:
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
            work.account = Account(self, work, self._clock())
            work.__class__ = AccountedWork
            self._accounts[work.account] = None

    def note_end(self, account: Account) -> None:
        """Write what a unit of work has done that is gone."""
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
                work.__class__, work.account = Work, None
        self._accounts.clear()

    def _look_again(self, account: Account, keys: set[str]) -> None:
        """Let definitions that have changed count for queues of an interval that has ended, or begins."""
        for tally in list(account.tallies.values()):
            if tally.key in keys or not tally.key:
                tally.key = self.key_of(tally.name)

    def _write(self, account: Account, keys: set[str], now: float) -> None:
        groups: list[bytes] = []
        for tally in list(account.tallies.values()):
            found = tally.taken() if tally.key and tally.key in keys else None
            if found is not None:
                queue = self._manager.directory.behind(tally.name)
                name = tally.name if queue is None else queue.definition.name
                groups.append(pcf.group("queues_of_task", (_queue(name), found)))
        if not groups:
            return
        account.records += 1
        parts = [
            _header(self._manager.name, int(account.began), int(now)),
            account.connection,
            _task(account.application, account.user, account.process, account.records, len(groups)),
            pcf.Written(b"".join(groups), len(groups)),
        ]
        account.began = now
        self._records.put(pcf.record("accounting", parts))


@lru_cache(maxsize=64)
def _header(name: str, began: int, ended: int) -> Written:
    return pcf.parameters(header(name, began, ended))


@lru_cache(maxsize=256)
def _task(application: str, user: str, process: int, number: int, count: int) -> Written:
    said: dict[str, Parameter] = {"application": application, "user": user, "sequence_number": number}
    return pcf.parameters(said | {"process": process, "object_count": count})


@lru_cache(maxsize=256)
def _queue(name: str) -> Written:
    return pcf.parameters({"queue": name})
