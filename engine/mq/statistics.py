"""Statistics of queues: records of what was counted in an interval, put on a queue of the system."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.mq import pcf
from engine.mq.intervals import OF_MANAGER, Clock, interval_of, is_on
from engine.mq.queue_counts import Seen, average, since
from engine.mq.unit import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.mq.manager import QueueManager
    from engine.mq.pcf import Parameter
    from engine.mq.queue import Queue

STATISTICS: Final = "SYSTEM.ADMIN.STATISTICS.QUEUE"
ACCOUNTING: Final = "SYSTEM.ADMIN.ACCOUNTING.QUEUE"
_DESTINATIONS: Final = (STATISTICS, ACCOUNTING)
_TOGETHER: Final = 100  # queues in one record
_LOCAL_QUEUE: Final = 1
_PREDEFINED: Final = 1  # MQQDT_PREDEFINED
_CREATED: Final = {"creation_date": "CRDATE", "creation_time": "CRTIME"}  # of queues that were defined
_QUEUE_MANAGER: Final = 7  # MQAT_QMGR
_LOG: Final = logging.getLogger("penstock.statistics")
_UNWRITTEN: Final = ("times", "timed")


class Watched:
    """A queue in an interval: by which clock that runs, its counts as it began, and what is written if they stay so."""

    __slots__ = ("_arrivals", "_depth", "_mark", "_seen", "clock", "idle", "queue", "version")

    def __init__(self, clock: str, queue: Queue, version: int) -> None:
        self.clock = clock
        self.queue = queue
        self.version = version  # of the definitions
        self._arrivals, self._depth = queue.arrivals, queue.depth
        self._seen = queue.counts.begin(queue, watched=True)
        self._mark = queue.counts.mark()
        self.idle = b""  # the group of a record where nothing happens, once it was written

    def is_idle(self) -> bool:
        """Returns True where nothing has happened to the queue, so that the next interval is like this one."""
        queue = self.queue
        return queue.arrivals == self._arrivals and queue.depth == self._depth and queue.counts.is_at(self._mark)

    def written(self, *, idle: bool) -> bytes:
        """Returns the group of a record that says what was counted."""
        found = pcf.group("queues", [pcf.parameters(_group(self.queue, self._seen))])
        if idle:
            self.idle = found
        return found


class Records:
    """The queue that records are put to; those that it does not take are lost, and the log is told so once a reason."""

    __slots__ = ("_queue", "_told", "_work")

    def __init__(self, manager: QueueManager, queue: str) -> None:
        self._work = Work(manager)  # of which there is no account
        self._queue = queue
        self._told = 0  # the reason why records were lost, that the log was told last

    def put(self, record: bytes) -> None:
        """Put a record."""
        try:
            self._work.put(self._queue, _descriptor(self._work.manager.name), record, syncpoint=False)
        except BrokerError as error:
            reason = getattr(error, "reason", -1)
            if reason != self._told:
                _LOG.warning("records for %s are lost: %s", self._queue, error.text)
            self._told = int(reason)
        else:
            self._told = 0


@lru_cache(maxsize=16)
def _descriptor(manager: str) -> Descriptor:
    return Descriptor(format=pcf.FORMAT, priority=0, put_appl_name=manager, put_appl_type=_QUEUE_MANAGER)


class Statistics:
    """The statistics of a queue manager: which queues they are on for, and the intervals that run."""

    __slots__ = ("_began", "_clock", "_clocks", "_manager", "_records")

    def __init__(self, manager: QueueManager, clock: Callable[[], float]) -> None:
        self._manager = manager
        self._clock = clock
        self._clocks: dict[str, Clock] = {}
        self._began: dict[str, Watched] = {}  # by the name of the queue
        self._records = Records(manager, STATISTICS)

    def change(self) -> None:
        """Begin intervals of queues that statistics have come to be on for."""
        now = self._clock()
        if OF_MANAGER in self._clocks:
            self._clocks[OF_MANAGER].begin_with(self._text(OF_MANAGER))
        for queue in self._chosen():
            name = queue.definition.name
            if name not in self._began or self._began[name].queue is not queue:
                self._begin(queue, now)

    def _chosen(self) -> Iterator[Queue]:
        """Yields the queues that statistics are on for and that have no interval, or had one of an earlier queue."""
        directory = self._manager.directory
        names: Iterable[str] = directory.watched
        if directory.settings.get("STATQ") == "ON":
            names = directory.queues.keys() - self._began.keys()
        for name in list(names):
            queue = directory.queues.get(name)
            if queue is not None and self._is_on(queue):
                yield queue

    def _is_on(self, queue: Queue) -> bool:
        values = queue.definition.values
        if queue.definition.name in _DESTINATIONS and values.get("STATQ") != "ON":
            return False  # its own records would be all that happens there
        return is_on("STATQ", self._manager.directory.settings, values)

    def _begin(self, queue: Queue, now: float) -> None:
        own = str(queue.definition.values.get("STATIME", OF_MANAGER))
        if own not in self._clocks:
            self._clocks[own] = Clock(self._text(own), now)
        with self._manager.lock:
            self._began[queue.definition.name] = Watched(own, queue, self._manager.version)

    def _text(self, key: str) -> str:
        return interval_of("STATIME", self._manager.directory.settings) if key == OF_MANAGER else key

    @property
    def running(self) -> str:
        """The interval of the queue manager that runs, or that would."""
        clock = self._clocks.get(OF_MANAGER)
        return self._text(OF_MANAGER) if clock is None else clock.text

    def due(self) -> float | None:
        """Returns when the next interval ends, or None."""
        return min((clock.ends for clock in self._clocks.values()), default=None)

    def run(self) -> None:
        """Write what was counted in the intervals that have ended, and begin the next ones."""
        now = self._clock()
        for key, clock in list(self._clocks.items()):
            if clock.ends <= now:
                self._end(key, clock, now)

    def finish(self) -> None:
        """Write what was counted until now."""
        for key, clock in list(self._clocks.items()):
            self._end(key, clock, self._clock())

    def _end(self, key: str, clock: Clock, now: float) -> None:
        manager, directory = self._manager, self._manager.directory
        members = [(name, one, one.is_idle()) for name, one in self._began.items() if one.clock == key]
        groups = [(idle and one.idle) or one.written(idle=idle) for _, one, idle in members]
        self._write(groups, clock.began, now)
        others = [(name, one.queue) for name, one, idle in members if not idle or one.version != manager.version]
        for name, queue in others:
            del self._began[name]
            if directory.queues.get(name) is queue and self._is_on(queue):
                continue
            queue.counts.begin(queue, watched=False)
        clock.turn(self._text(key), now)
        for name, queue in others:
            if directory.queues.get(name) is queue and self._is_on(queue):
                self._begin(queue, now)
        if not any(one.clock == key for one in self._began.values()):
            del self._clocks[key]

    def _write(self, groups: list[bytes], began: float, ended: float) -> None:
        for at in range(0, len(groups), _TOGETHER):
            some = groups[at : at + _TOGETHER]
            number, last = 1 + at // _TOGETHER, at + _TOGETHER >= len(groups)
            values: dict[str, Parameter] = {**header(self._manager.name, began, ended), "sequence_number": number}
            record = pcf.written("statistics", values | {"object_count": len(some)}, some, number=number, last=last)
            self._records.put(record)

    def snapshot(self) -> list[dict[str, Any]]:
        """Returns what was counted of each queue since it was opened, its depth, and who has it open."""
        manager = self._manager
        shown = {str(one["QUEUE"]): one for one in manager.display("QLOCAL")}
        with manager.lock:
            found = [(queue, queue.counts.seen()) for queue in list(manager.directory.queues.values())]
        return [
            {
                "queue": queue.definition.name,
                "depth": queue.depth,
                "uncommitted": queue.reserved,
                "readers": shown.get(queue.definition.name, {}).get("IPPROCS", 0),
                "writers": shown.get(queue.definition.name, {}).get("OPPROCS", 0),
                "stream": "" if queue.stream is None else queue.stream.name,
                "average_time": average(seen),
            }
            | {name: value for name, value in seen.items() if name not in _UNWRITTEN}
            for queue, seen in sorted(found, key=lambda one: one[0].definition.name)
        ]


def _group(queue: Queue, before: Seen) -> dict[str, Parameter]:
    """Returns what is written of a queue at the end of an interval."""
    counts, values = queue.counts, queue.definition.values
    found = since(before, counts.seen())
    said: dict[str, Parameter] = {
        "queue": queue.definition.name,
        **{name: str(values[word]) for name, word in _CREATED.items() if word in values},
        "queue_type": _LOCAL_QUEUE,
        "definition_type": _PREDEFINED,
        "store": "durable" if queue.backings else "memory",
        "depth": queue.depth,
        "low_depth": counts.low,
        "high_depth": counts.high,
        "average_time": average(found),
        "put1s": [0, 0],
        "put1s_failed": 0,
    }
    return said | {name: value for name, value in found.items() if name not in _UNWRITTEN}


def header(name: str, began: float, ended: float) -> Mapping[str, Parameter]:
    """Returns what records begin with: of which queue manager, and of which interval, in local time as MQ has it."""
    first, last = _told_as(int(began)), _told_as(int(ended))
    return {
        "queue_manager": name,
        "start_date": first[:10],
        "start_time": first[11:],
        "end_date": last[:10],
        "end_time": last[11:],
        "command_level": 930,
    }


@lru_cache(maxsize=16)
def _told_as(second: int) -> str:
    return time.strftime("%Y-%m-%d %H.%M.%S", time.localtime(second))
