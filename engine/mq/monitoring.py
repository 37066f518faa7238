"""Monitoring of a queue manager: statistics of queues, accounting of units of work, and the thread that writes both."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from engine.mq.accounting import Accounting
from engine.mq.statistics import ACCOUNTING, STATISTICS, Statistics

if TYPE_CHECKING:
    from engine.mq.attribute_values import Value
    from engine.mq.manager import QueueManager
    from engine.mq.unit import Work

_MOST_RECORDS: Final = 3_000  # on a queue that nobody reads


class Monitoring:
    """The statistics and accounting of a queue manager and their thread; `works` are all units of work."""

    __slots__ = ("_lock", "_manager", "_said", "_stopped", "_thread", "_works", "accounting", "statistics")

    def __init__(self, manager: QueueManager, works: Iterable[Work], clock: Callable[[], float]) -> None:
        self._manager = manager
        self._works = works
        self._lock = threading.RLock()
        self._said: SimpleQueue[None] = SimpleQueue()  # which, unlike an Event, may be told by a finalizer anywhere
        self._stopped = False
        self._thread: threading.Thread | None = None
        manager.directory.running = self.running
        self.statistics = Statistics(manager, clock)
        self.accounting = Accounting(manager, clock, self._tell)

    def change(self) -> None:
        """Act by what definitions say now: intervals begin at once where none runs, and else when it has ended."""
        directory = self._manager.directory
        settings = directory.settings
        if not (directory.watched or "ON" in {settings.get("STATQ"), settings.get("ACCTQ")} or self._thread):
            return
        for name in (STATISTICS, ACCOUNTING):
            if name not in directory.queues:
                directory.define("QLOCAL", name, {"MAXDEPTH": _MOST_RECORDS}, replace=False)
        with self._lock:
            self.statistics.change()
            self.accounting.change(list(self._works))
        self._tell()
        if self._thread is None and not self._stopped:
            self._thread = threading.Thread(target=self._run, name="penstock-monitoring", daemon=True)
            self._thread.start()

    def open(self, work: Work) -> None:
        """Account for a new unit of work, where accounting is on."""
        if self.accounting.is_on:
            with self._lock:
                self.accounting.open(work)

    def run(self) -> None:
        """Write what is due."""
        with self._lock:
            self.statistics.run()
            self.accounting.run()
            self.statistics.change()

    def close(self) -> None:
        """End the thread, and write what was counted until now, once."""
        if self._stopped:
            return
        self._stopped = True
        self._tell()
        if self._thread is not None:
            self._thread.join()
            with self._lock:
                self.statistics.finish()
                self.accounting.finish()

    def snapshot(self) -> list[dict[str, Any]]:
        """Returns what was counted of each queue since it was opened."""
        return self.statistics.snapshot()

    def running(self) -> dict[str, Value]:
        """Returns the intervals of the queue manager that run now, as attributes that are shown."""
        return {"CURSTATIME": self.statistics.running, "CURACCTIME": self.accounting.running}

    def _tell(self) -> None:
        """Have the thread look what is due."""
        self._said.put(None)

    def _run(self) -> None:
        while not self._stopped:
            with self._lock:
                due = [moment for moment in (self.statistics.due(), self.accounting.due()) if moment is not None]
            with suppress(Empty):
                self._said.get(timeout=max(0.0, min(due) - time.time()) if due else None)
                while True:
                    self._said.get_nowait()
            if not self._stopped:
                self.run()
