"""Transactions of a store: units of work that are written together, or the reasons why they are not kept."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable
from typing import Final

import lmdb

from engine.errors import BrokerError
from engine.mq.packed_descriptor import MD_ERROR
from engine.mq.refusals import STORAGE_MEDIUM_FULL, UNEXPECTED_ERROR, refusal
from engine.mq.store.body_compression import NONE
from engine.mq.store.environment import Environment
from engine.mq.store.job import Job
from engine.mq.store.records import damaged
from engine.mq.store.room import Room
from engine.mq.store.writing import Counters, write

_GROWTH: Final = 1 << 20
_LOG: Final = logging.getLogger("penstock.store")
_DAMAGED: Final = (
    lmdb.CorruptedError,
    lmdb.PageNotFoundError,
    lmdb.CursorFullError,
    lmdb.PageFullError,
    lmdb.BadTxnError,
)
_FULL: Final = tuple(os.strerror(number) for number in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT))
NOTHING_TRIED: Final[tuple[int, list[Job]]] = (0, [])


class Transactions:
    """The transactions of a store, one at a time.

    A unit that fails alone fails alone. `failure` says why nothing can be written any more: a sync that failed may have
    lost what was written before it, so nothing is tried after it.
    """

    __slots__ = (
        *("_counters", "_environment", "_room", "codec", "failed", "failure", "is_syncing", "syncs", "tried", "watch"),
    )

    def __init__(self, environment: Environment) -> None:
        self.failure: BrokerError | None = None
        self.codec = NONE  # that bodies are compressed by
        self.syncs = 0
        self.failed: Callable[[str], None] | None = None  # is told when nothing can be written any more
        self.watch: Callable[[str], None] | None = None  # is told of each step, for tests that end there
        self.is_syncing = False  # a transaction is on its way to the disk, while others may work
        self.tried = NOTHING_TRIED  # the last transaction, and whose units it has
        self._environment = environment
        self._room = Room(environment)
        self._counters = Counters()

    def write(self, jobs: list[Job]) -> None:
        """Write units together; where they cannot be kept, each alone, and those that fail have the error."""
        if not jobs or (self.failure is None and self._tried(jobs) is None):
            return
        for job in jobs:  # one of them cannot be kept: each alone, so that only that one is refused
            job.error = self.failure or self._tried([job])
            job.is_settled = True

    def settle(self) -> None:
        """Mark the units of the last transaction as settled, if it is on the disk: its writer was interrupted."""
        number, jobs = self.tried
        if self._environment.has_written(number):
            for job in jobs:
                job.is_settled = True

    def _tried(self, jobs: list[Job]) -> BrokerError | None:
        """Write units in one transaction; returns the reason why they are not kept, whatever it is."""
        try:
            for job in jobs:
                job.record.made(self.codec)
            return self._refused(jobs)
        except BrokerError as error:
            return error
        except (ValueError, TypeError, AttributeError) as error:
            return refusal(MD_ERROR, f"a message cannot be kept as its descriptor is ({error})")
        except Exception as error:  # as where a process may have no more memory: nobody would tell those who wait
            _LOG.exception("units of work cannot be kept")
            return refusal(UNEXPECTED_ERROR, f"a unit of work cannot be kept ({type(error).__name__}: {error})")

    def _refused(self, jobs: list[Job]) -> BrokerError | None:
        """Write units in one transaction; returns the reason why they are not kept where that is one of the known."""
        grows = any(job.record.grows for job in jobs)
        if grows and self._room.is_full(_size(jobs)):
            return _full()
        for _ in range(64):
            try:
                self._written(jobs)
            except lmdb.BadValsizeError as error:
                return refusal(MD_ERROR, f"the id of a branch cannot be kept ({error}): give it 1 to 511 bytes")
            except (lmdb.MapFullError, lmdb.TxnFullError):
                if grows:
                    return _full()
                self._environment.grow(_GROWTH)
            except (lmdb.Error, OSError) as error:
                return self._failed(error, _size(jobs))
            else:
                return None
        return _full()

    def _written(self, jobs: list[Job]) -> None:
        transaction = self._environment.begin()
        try:
            write([job.record for job in jobs], transaction, self._environment, self._counters)
            if self.watch is not None:
                self.watch("written")
            self.tried = transaction.id(), jobs
            self.is_syncing = True
            try:
                transaction.commit()
            finally:
                self.is_syncing = False
        except BaseException:
            self._counters.forget()
            transaction.abort()  # which does nothing once it is committed
            raise
        self.syncs += 1
        if self.watch is not None:
            self.watch("synced")

    def _failed(self, error: Exception, size: int) -> BrokerError:
        """Returns the error for a disk that is full, for a file that is damaged, or for a disk that failed, which ends
        the queue manager.
        """
        text = str(error)
        if isinstance(error, _DAMAGED):
            return damaged(f"{self._environment.path} cannot be written ({text})")
        if any(reason in text for reason in _FULL) or self._environment.is_out_of_room(size):
            return _full(text)  # LMDB calls a write that was cut short an error of the disk
        self.failure = refusal(
            UNEXPECTED_ERROR,
            f"the disk failed while the store in {self._environment.path} was written ({text}): the queue manager has"
            " ended, and what was not committed is lost; check the disk, and start it again",
        )
        if self.failed is not None:
            self.failed(self.failure.text)
        return self.failure


def _size(jobs: list[Job]) -> int:
    """Returns about how many bytes units add, whose entries are made."""
    return sum([job.record.made(NONE).size for job in jobs])


def _full(why: str = "") -> BrokerError:
    reason = f" ({why})" if why else ""
    text = f"the store is full{reason}: get or purge messages, or give it a larger --max-size or more disk"
    return refusal(STORAGE_MEDIUM_FULL, text)
