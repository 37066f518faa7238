"""The store of a queue manager in its folder: opened, written by units of work, closed."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from typing import Final

import lmdb

from engine.errors import ConfigurationException, MessageException
from engine.files.output_files import new_folder
from engine.mq.attribute_values import Value
from engine.mq.lock import FolderLock
from engine.mq.queued_message import Stored
from engine.mq.store.body_compression import NONE
from engine.mq.store.environment import FORMAT, WRITTEN, Environment, read_format, sync_folder, write_format
from engine.mq.store.journal import Journal
from engine.mq.store.keys import NUMBER, ORDER
from engine.mq.store.records import damaged, read_number
from engine.mq.store.stored_queue import Overflow, Shelf
from engine.mq.store.writing import CEILING, COMMITTED, Counters, decision, objects, write
from engine.mq.store_changes import Record
from engine.mq.supported_systems import check_place

PERSISTENT: Final = "store"
OVERFLOW: Final = "overflow"
_CLOSED: Final = b"closed in order"
_LOG: Final = logging.getLogger("penstock.store")
_UNKEPT: Final = (TypeError, ValueError, AttributeError)  # of what is no descriptor, or no body
_LEAST: Final = 1 << 20  # bytes; below that the reserve leaves nothing to put to


@dataclass(frozen=True, slots=True)
class Kept:
    """A definition as the store keeps it, and the number of the queue."""

    kind: str
    name: str
    number: int
    values: Mapping[str, Value]


class Store:
    """The store in a queue manager's folder, held by this process alone."""

    __slots__ = ("_environment", "_lock", "_numbers", "_overflow", "folder", "journal", "name")

    def __init__(self, folder: Path, wait: float = 0.0) -> None:
        """Open a folder's store; `wait` is how many seconds another process is given to let it go."""
        check_place(folder)
        self.folder = folder
        self.name, size = read_format(folder)
        self._lock = FolderLock(folder, wait)
        try:
            self._environment = Environment(folder / PERSISTENT, size)
            self._overflow = _overflow(folder)
            self.journal = Journal(self._environment)
            kept = max([kept.number for kept in self.objects()], default=0)
            self._numbers = max(kept, *map(_last_queue, (self._environment, self._overflow)))
        except BaseException:
            self._lock.release()
            raise

    def objects(self) -> list[Kept]:
        """Returns what has been defined."""
        with self._environment.read() as transaction:
            return [Kept(**kept) for kept in objects(transaction, self._environment)]

    def next_queue(self) -> int:
        """Returns a number for a queue that no other has had since the store was opened."""
        self._numbers += 1
        return self._numbers

    def last_number(self) -> int:
        """Returns a number that is higher than those of all messages."""
        return max(_number(environment, CEILING) for environment in (self._environment, self._overflow))

    def shelves(self, queue: int, *, is_kept: bool = True) -> tuple[Overflow, Shelf]:
        """Returns the messages of a queue that memory had no room for, and those that are in the store.

        One that is not kept, and so has no counter, has none.
        """
        key = NUMBER.pack(queue)
        with self._environment.read() as transaction:
            if is_kept and transaction.get(key, db=self._environment.db["counts"]) is None:
                raise damaged(f"the counter of queue {queue} is not there")
        counts = [_number(each, key, "counts") for each in (self._environment, self._overflow)]
        return Overflow(queue, self._overflow, counts[1]), Shelf(queue, self._environment, counts[0])

    def due(self, moment: int, most: int) -> Iterator[list[tuple[int, int]]]:
        """Yields the queue and the order of messages whose time has passed, so many at once at most.

        Those in memory, and those that units of work have, are among them.
        """
        for environment in (self._environment, self._overflow):
            after = b""
            while len(keys := _due(environment, after, moment, most)) == most:
                yield [(int.from_bytes(key[8:12]), int.from_bytes(key[12:])) for key in keys]
                after = keys[-1]
            yield [(int.from_bytes(key[8:12]), int.from_bytes(key[12:])) for key in keys]

    def entries(self) -> dict[str, int]:
        """Returns how many entries the tables of messages have, of both environments together."""
        found: dict[str, int] = {}
        for environment in (self._environment, self._overflow):
            with environment.read() as transaction:
                for name in ("messages", "chunks", "ids", "expiry"):
                    found[name] = found.get(name, 0) + transaction.stat(environment.db[name])["entries"]
        return found

    def used(self) -> int:
        """Returns how many bytes of the store's file are in use."""
        return self._environment.used()

    def index_size(self) -> int:
        """Returns how many bytes the indexes have, keys of the order of messages among them."""
        tables = [self._environment.db[name] for name in ("ids", "expiry")]
        with self._environment.read() as transaction:
            stats = [transaction.stat(table) for table in tables]
            orders = transaction.stat(self._environment.db["messages"])
        pages = sum(stat["branch_pages"] + stat["leaf_pages"] for stat in stats) + orders["branch_pages"]
        return int(pages * orders["psize"] + orders["entries"] * (ORDER.size + 10))

    def decisions(self) -> dict[bytes, bool]:
        """Returns the branches that have been decided: True for those that commit, False for those refused."""
        table = self._environment.db["decisions"]
        with self._environment.read() as transaction, transaction.cursor(db=table) as cursor:
            return {branch: decision(branch, record) == COMMITTED for branch, record in cursor}

    def close(self, overflowing: Callable[[], list[Record]] | None) -> None:
        """Close it; in order with the messages that are only in memory, which the next start finds again.

        They are asked for once what waits is written: units of work that end put messages back until then.
        """
        is_whole = self.journal.close()
        try:
            left = overflowing() if is_whole and overflowing is not None else None
            if left is not None and self._overflows(left):
                try:
                    self._keep(left)
                except (MessageException, *_UNKEPT):  # one of them cannot be kept: all others are
                    kept = [put for one in left for put in one.puts if _is_kept(*put)]
                    self._keep([Record(puts=kept, shares=False)])
        except lmdb.Error as error:
            text = f"non-persistent messages of {self.folder} cannot be kept ({error}): they are lost"
            raise ConfigurationException(text) from error
        finally:
            self._overflow.close()
            self._environment.close()
            self._lock.release()

    def _keep(self, overflowing: list[Record]) -> None:
        """Write messages that are only in memory, and that the store was closed in order."""
        with self._overflow.begin() as transaction:
            write(overflowing, transaction, self._overflow, Counters())
            transaction.put(_CLOSED, b"1", db=self._overflow.db["meta"])
        self._overflow.lmdb.sync(True)

    def _overflows(self, left: list[Record]) -> bool:
        """Returns True where there are messages that are kept here alone."""
        with self._overflow.read() as transaction:
            entries = transaction.stat(self._overflow.db["messages"])["entries"]
        return bool(entries) or any(record.puts for record in left)


def create(folder: Path, name: str, max_size: int) -> None:
    """Make the folder of a queue manager, which must not be there or be empty."""
    check_place(folder.parent if not folder.exists() else folder)
    if max_size and max_size < _LEAST:
        raise ConfigurationException(f"a store of {max_size} bytes is too small: give it {_LEAST} at least")
    if folder.exists() and any(folder.iterdir()):
        raise ConfigurationException(f"{folder} is not empty: name a folder that is not there yet")
    with new_folder(folder) as draft:
        (draft / PERSISTENT).mkdir(mode=0o700)
        environment = Environment(draft / PERSISTENT, max_size)
        with environment.begin() as transaction:
            transaction.put(WRITTEN, str(FORMAT).encode(), db=environment.db["meta"])
        environment.close()
        write_format(draft, name, max_size)
        for path in (draft / PERSISTENT, draft):
            sync_folder(path)


def _is_kept(queue: int, stored: Stored) -> bool:
    """Returns False for a message that cannot be kept as its descriptor or body is, and says so in the log."""
    try:
        Record(puts=[(queue, stored)]).made(NONE)
    except (MessageException, *_UNKEPT) as error:
        _LOG.error("a non-persistent message of queue number %s cannot be kept (%s): it is lost", queue, error)
        return False
    return True


def _overflow(folder: Path) -> Environment:
    """Returns the environment for what memory has no room for: as it was left in order, else empty."""
    path = folder / OVERFLOW
    if path.exists():
        try:
            environment = Environment(path, synced=False)
            try:
                with environment.begin() as transaction:
                    kept = transaction.delete(_CLOSED, db=environment.db["meta"])
                environment.lmdb.sync(True)
            except BaseException:
                environment.close()
                raise
        except (lmdb.Error, MessageException):
            kept = False
        else:
            if kept:
                return environment
            environment.close()  # else a full disk has no room for the next one: a file that is open keeps its own
        shutil.rmtree(path)
    path.mkdir(mode=0o700)
    return Environment(path, synced=False)


def _due(environment: Environment, after: bytes, moment: int, most: int) -> list[bytes]:
    """Returns the entries of messages whose time has passed, from behind one of them on."""
    with environment.read() as transaction, transaction.cursor(db=environment.db["expiry"]) as cursor:
        if not (cursor.set_range(after + b"\0") if after else cursor.first()):
            return []
        entries = takewhile(lambda key: int.from_bytes(key[:8]) <= moment, cursor.iternext(keys=True, values=False))
        return list(islice(entries, most))


def _last_queue(environment: Environment) -> int:
    """Returns the highest number of a queue that something is kept of, though it may be no queue's any more."""
    found = [0]
    with environment.read() as transaction:
        for table in ("counts", "messages"):
            with transaction.cursor(db=environment.db[table]) as cursor:
                found += [int.from_bytes(cursor.key()[: NUMBER.size])] if cursor.last() else []
    return max(found)


def _number(environment: Environment, key: bytes, table: str = "meta") -> int:
    with environment.read() as transaction:
        return read_number(key, transaction.get(key, b"", db=environment.db[table]))
