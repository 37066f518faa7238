"""The journal of a store: units of work that commit together share one transaction and one sync."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

import lmdb

from engine.errors import BrokerError
from engine.mq.packed import MD_ERROR
from engine.mq.record import Record
from engine.mq.refusals import STORAGE_MEDIUM_FULL, UNEXPECTED_ERROR, refusal
from engine.mq.store.environment import Environment
from engine.mq.store.writing import write

Then = Callable[[BrokerError | None], None]
_TOGETHER: Final = 1_000  # units in one transaction
_GROWTH: Final = 1 << 20
_RESERVE: Final = 8  # the part of a full store that only removals may use
_LEAST_RESERVE: Final = 1 << 18
_NAPS: Final = 20  # that the writer takes at most for the others who committed with it the last time
_FULL: Final = tuple(os.strerror(number) for number in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT))


class Job:
    """A unit of work on its way into the store."""

    __slots__ = ("done", "error", "record", "then")

    def __init__(self, record: Record, then: Then | None = None) -> None:
        self.record = record
        self.then = then
        self.done = False
        self.error: BrokerError | None = None


class Journal:
    """Units of work that wait for the store, and the one who writes for all.

    Who commits queues its unit and waits for its turn to write; whoever has it writes all that wait. One that fails
    alone fails alone. `failure` says why nothing can be written any more: a sync that failed may have lost what was
    written before it, so nothing is tried after it.
    """

    __slots__ = (
        *("_environment", "_last", "_pending", "_reserve", "_thread", "_wake", "_writing", "failure", "syncs"),
        *("watch",),
    )

    def __init__(self, environment: Environment) -> None:
        self.failure: BrokerError | None = None
        self.syncs = 0
        self.watch: Callable[[str], None] | None = None  # is told of each step, for tests that end there
        self._environment = environment
        self._reserve = max(environment.size // _RESERVE, min(_LEAST_RESERVE, environment.size // 2))
        self._pending: deque[Job] = deque()
        self._writing = threading.Lock()
        self._wake = threading.Semaphore(0)
        self._thread: threading.Thread | None = None
        self._last = 1  # units in the last transaction

    def commit(self, record: Record) -> None:
        """Returns when a unit of work is on the disk; one that cannot be kept is refused."""
        job = Job(record)
        self._pending.append(job)
        with self._writing:
            if not job.done:
                self._gather()
                self._write_all()
        if job.error is not None:
            raise job.error

    def submit(self, record: Record, then: Then) -> None:
        """Have a unit of work written by another thread, which calls `then` once it is on the disk or refused."""
        self._pending.append(Job(record, then))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="penstock-journal", daemon=True)
            self._thread.start()
        self._wake.release()

    def close(self) -> None:
        """Write what waits, and end the thread that writes."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._wake.release()
            thread.join()
        with self._writing:
            self._write_all()

    def _run(self) -> None:
        while self._thread is not None:
            self._wake.acquire()
            with self._writing:
                self._write_all()

    def _gather(self) -> None:
        """Give those a moment who committed together the last time: they are about to commit again."""
        expected = min(self._last, _TOGETHER)
        for _ in range(_NAPS):
            if len(self._pending) >= expected:
                return
            time.sleep(0)

    def _write_all(self) -> None:
        pending = self._pending
        while pending:
            jobs = [pending.popleft() for _ in range(min(len(pending), _TOGETHER))]
            self._last = len(jobs)
            self._write(jobs)
            for job in jobs:
                job.done = True
                if job.then is not None:
                    job.then(job.error)

    def _write(self, jobs: list[Job]) -> None:
        if self.failure is None and self._tried(jobs) is None:
            return
        for job in jobs:  # one of them cannot be kept: each alone, so that only that one is refused
            job.error = self.failure or self._tried([job])

    def _tried(self, jobs: list[Job]) -> BrokerError | None:
        """Write units in one transaction; returns the reason why they are not kept."""
        grows = any(job.record.grows for job in jobs)
        if grows and self._is_full(sum(job.record.size for job in jobs)):
            return _full()
        for _ in range(64):
            try:
                self._written(jobs)
            except lmdb.MapFullError:
                if grows:
                    return _full()
                self._environment.grow(_GROWTH)
            except BrokerError as error:
                return error
            except (ValueError, TypeError, AttributeError) as error:
                return refusal(MD_ERROR, f"a message cannot be kept as its descriptor is ({error})")
            except (lmdb.Error, OSError) as error:
                return self._failed(error)
            else:
                return None
        return _full()

    def _written(self, jobs: list[Job]) -> None:
        transaction = self._environment.begin()
        try:
            for job in jobs:
                write(job.record, transaction, self._environment)
        except BaseException:
            transaction.abort()
            raise
        if self.watch is not None:
            self.watch("written")
        transaction.commit()
        self.syncs += 1
        if self.watch is not None:
            self.watch("synced")

    def _is_full(self, more: int) -> bool:
        """Returns True where only the reserve is left."""
        most = self._environment.size - self._reserve
        return self._environment.extent() + more > most and self._environment.used() + more > most

    def _failed(self, error: Exception) -> BrokerError:
        """Returns the error for a disk that is full, or for one that failed, which ends the queue manager."""
        text = str(error)
        if any(reason in text for reason in _FULL):
            return _full(text)
        self.failure = refusal(
            UNEXPECTED_ERROR,
            f"the disk failed while the store in {self._environment.path} was written ({text}): the queue manager has"
            " ended, and what was not committed is lost; check the disk, and start it again",
        )
        return self.failure


def _full(why: str = "") -> BrokerError:
    reason = f" ({why})" if why else ""
    text = f"the store is full{reason}: get or purge messages, or give it a larger --max-size or more disk"
    return refusal(STORAGE_MEDIUM_FULL, text)
