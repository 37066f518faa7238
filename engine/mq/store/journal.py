"""The journal of a store: units of work that commit together share one transaction and one sync."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import suppress
from typing import Final

from engine.mq.refusals import Q_MGR_STOPPING, refusal
from engine.mq.store.body_compression import NONE
from engine.mq.store.committers import Absence, Committers
from engine.mq.store.environment import Environment
from engine.mq.store.job import Job, Then, nothing_follows
from engine.mq.store.transactions import NOTHING_TRIED, Transactions
from engine.mq.store_changes import Record

_TOGETHER: Final = 1_000  # units in one transaction
_MOST_SKIPPED: Final = 63  # moments that are not given to others behind one that was given in vain
_PATIENCE: Final = 0.002  # seconds that the writer waits for others at most


class Journal:
    """Units of work that wait for the store, and the one who writes for all.

    Who commits queues its unit; who finds nobody writing writes all that wait, and then lets the first of those write
    who have come since. A unit that fails alone fails alone. `failure` says why nothing can be written any more: a sync
    that failed may have lost what was written before it, so nothing is tried after it.

    Ctrl-C may come behind any call. The unit whose owner has the right to write is therefore noted with the right
    itself, under a lock, so that who is interrupted knows whether there is a right to pass on.
    """

    __slots__ = (
        *("_committers", "_done", "_ended", "_gathers", "_jobs", "_mutex", "_pending", "_skips", "_teller", "_thread"),
        *("_took", "_vain", "_wake", "_writer", "transactions"),
    )

    def __init__(self, environment: Environment) -> None:
        self.transactions = Transactions(environment)
        self._pending: deque[Job] = deque()
        self._done: deque[Job | Absence] = deque()  # whose threads are to be woken
        self._jobs: list[Job] = []  # that are being written
        self._mutex = threading.Lock()  # of the next two, and of whom a release of a turn is for
        self._writer: Job | None = None  # whose owner has the right to write
        self._gathers = False  # the writer waits for others: the last of them writes instead
        self._ended = False
        self._wake = threading.Semaphore(0)
        self._thread: threading.Thread | None = None
        self._committers = Committers()
        self._vain = 0  # how many moments are skipped since others were last waited for in vain
        self._skips = 0  # how many of them are left
        self._took = 0.0  # seconds of the last transaction
        self._teller = 0  # the thread that makes messages available which it has written

    def commit(self, record: Record, then: Then = nothing_follows) -> None:
        """Returns when a unit of work is on the disk, and `then` has been told; one that cannot be kept is refused."""
        transactions = self.transactions
        if transactions.is_syncing or transactions.codec != NONE:  # else who writes makes all, which takes less time
            with suppress(Exception):  # who writes meets it again, and refuses the unit
                record.made(transactions.codec)
        job = Job(record, then, awaited=True)
        try:
            self._pending.append(job)
            if not self._is_to_write(job):
                job.turn.acquire()
            if self._writer is job and not job.done:  # else who wrote before has written it, between two lines above
                self._gather(job)
            if self._done:
                self._wake_next()
            if self._writer is job:
                self._write_some()
                while not job.done:  # more units came before it than one transaction takes
                    self._write_some()
                self._pass_on(job)
        except BaseException:  # Ctrl-C
            self._leave(job)
            raise
        if (error := job.error or job.raised) is not None:
            raise error

    def submit(self, record: Record, then: Then) -> None:
        """Have a unit of work written by another thread, which calls `then` once it is on the disk or refused."""
        self._pending.append(Job(record, then, awaited=False))
        self._wake_thread()

    def _leave(self, job: Job) -> None:
        """Have another thread write a unit whose owner waits for it no more, and let others write."""
        try:
            self._teller = 0
            with self._mutex:
                job.awaited = False
                if self._writer is job:
                    self._gathers = False
            self._wake_next()
            self._pass_on(job)
            self._wake_thread()  # which goes on with what was being written
        except KeyboardInterrupt:  # once more
            self._leave(job)

    def _wake_thread(self) -> None:
        if self._thread is None and not self._ended:
            thread = threading.Thread(target=self._run, name="penstock-journal", daemon=True)
            thread.start()
            self._thread = thread
        self._wake.release()

    def close(self) -> bool:
        """Write what waits, end the thread that writes, and refuse what comes later; False: the disk has failed."""
        self._ended = True
        if self._thread is not None:
            self._wake.release()
            self._thread.join()
        last = Job(Record(), nothing_follows, awaited=False)
        while not self._is_to_write(last):
            time.sleep(_PATIENCE)
        while self._pending or self._jobs:
            self._write_some()
        transactions = self.transactions
        has_failed = transactions.failure is not None
        if not has_failed:
            transactions.failure = refusal(Q_MGR_STOPPING, "the queue manager has ended: open it again")
        self._pass_on(last)
        return not has_failed

    def _run(self) -> None:
        own = Job(Record(), nothing_follows, awaited=False)
        while not self._ended:
            self._wake.acquire()
            if self._is_to_write(own):  # else who writes wakes this thread again, if anything is left
                try:
                    self._write_some()
                    while self._done:
                        self._wake_next()
                finally:
                    self._pass_on(own)
        self._wake.release()  # another is there where Ctrl-C came as this one was started

    def _is_to_write(self, job: Job) -> bool:
        """Returns True where nobody writes, or for who comes last of those that are waited for: it has the right to.

        So has one that was given the right before it asked. It was told by its turn, which it would take, as it waits
        for others, for the word of one that writes in its place.
        """
        with self._mutex:
            if self._writer is None or (self._gathers and self._have_come()):
                self._writer, self._gathers = job, False
            elif self._writer is job:
                job.turn.acquire(False)
            return self._writer is job

    def _pass_on(self, job: Job) -> None:
        """Let the owner of the first unit that waits write, without letting go of the right to; or let go of it."""
        while True:
            first = self._first()
            if self._writer is job:
                with self._mutex:
                    self._writer = first if first is not None and first.awaited else None
                    if self._writer is not None:
                        self._writer.turn.release()
                        return
            first = self._first()
            if first is None or self._writer is not None:
                return
            if not first.awaited:  # a unit that nobody stands by is for the thread
                self._wake.release()
                return
            if not self._is_to_write(job):
                return

    def _first(self) -> Job | None:
        try:
            return self._pending[0]
        except IndexError:
            return None

    def _gather(self, job: Job) -> None:
        """Give those a moment, less than a sync takes, who committed just before: they are about to commit again.

        Those who wait for a message are not among them. The last of them writes, `job` as well. Where nobody came, as
        where committers take turns, the next few moments are not given, twice as many each time.
        """
        waiting = len(self._pending)
        if self._have_come():
            return
        if self._skips and waiting == 1:
            self._skips -= 1
            return
        self._gathers = True
        if not (self._have_come() and self._ends_gathering(job)) and not self._waits_in_vain(job):
            self._vain = self._skips = 0
            return
        if len(self._pending) > waiting:
            self._vain = 0
        elif waiting == 1:
            self._vain = min(2 * self._vain + 1, _MOST_SKIPPED)
        self._skips = self._vain

    def absence(self) -> Absence:
        """Returns the sleep of this thread, which commits nothing meanwhile: nobody waits for its units."""
        return Absence(self, self._committers)

    def defers(self, absence: Absence) -> bool:
        """Queue an absence that this thread ends as it makes available what it has written, to be woken in turn."""
        if self._teller != threading.get_ident():
            return False
        self._done.append(absence)
        return True

    def note_end(self, absence: Absence) -> None:
        """Wake the next of those that are to be woken: this thread is, or waits no longer."""
        with self._mutex:
            absence.is_asleep = False
        self._wake_next()

    def _have_come(self) -> bool:
        """Returns True where as many units wait as are expected."""
        return len(self._pending) >= self._committers.expected()

    def let_write(self) -> None:
        """Let who waits for others write, if it waited for none but a thread that is away now."""
        if not (self._gathers and self._have_come()):
            return
        with self._mutex:
            if self._gathers and self._writer is not None:
                self._gathers = False
                self._writer.turn.release()

    def _ends_gathering(self, job: Job) -> bool:
        """Returns True for who waits for others no longer, and has the right to write still."""
        with self._mutex:
            if self._writer is job:
                self._gathers = False
            return self._writer is job

    def _waits_in_vain(self, job: Job) -> bool:
        """Wait until the last of those that are expected writes; returns True where it does not come in time."""
        if job.turn.acquire(timeout=min(self._took, _PATIENCE)):
            return False
        if self._ends_gathering(job):
            return True
        job.turn.acquire()  # it has just come
        return False

    def _write_some(self) -> None:
        """Write the units that wait, and tell their owners; first those of a writer that was interrupted."""
        jobs, pending = self._jobs, self._pending
        if jobs:
            self.transactions.write(self._unsettled())
        else:
            while pending and len(jobs) < _TOGETHER:
                jobs.append(pending[0])
                pending.popleft()
            if not jobs:
                return
            self._committers.note({job.owner for job in jobs})
            begun = time.monotonic()
            self.transactions.write(jobs)
            self._took = time.monotonic() - begun
        self._teller = own = threading.get_ident()
        for job in jobs:
            job.finish()
        self._teller = 0
        self._done.extend([job for job in jobs if job.owner != own])  # else who wakes this one would wake no other
        self._jobs = []
        self.transactions.tried = NOTHING_TRIED  # behind the jobs, as it is asked for where they are there
        self._wake_next()

    def _wake_next(self) -> None:
        """Wake the first of those whose units are done, or who waited for messages of these, who wakes the next.

        All at once would wait for the interpreter.
        """
        done = self._done
        while done:
            with self._mutex:
                if not done:  # another has woken the last of them
                    return
                wakes = done[0].wake()
                del done[0]
            if wakes:
                return

    def _unsettled(self) -> list[Job]:
        """Returns the units, of those of a writer that was interrupted, that are neither written nor refused."""
        if self._first() is self._jobs[-1]:
            self._pending.popleft()
        self.transactions.settle()
        return [job for job in self._jobs if not job.is_settled]
