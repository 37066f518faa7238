"""The LMDB environment of a store: its tables, its format, its size, and reading while others write."""

from __future__ import annotations

import errno
import json
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Final
from zlib import crc32

import lmdb

from engine.errors import ConfigurationException
from engine.mq.store.records import damaged

FORMAT: Final = 3
WRITTEN: Final = b"format"  # the key of an environment's own word for its format, in its table meta
_TABLES: Final = ("messages", "chunks", "references", "ids", "expiry", "counts", "objects", "decisions", "meta")
_UNLIMITED: Final = 1 << 36  # bytes of address space, not of disk
_ROOM: Final = 1 << 16  # bytes that a transaction writes beside messages
_READERS: Final = 126
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LOCK_BYTES: Final = 64 * (_READERS + 2)  # of the file in which LMDB notes who reads


class Environment:
    """Tables of an LMDB environment, which a new one is given, and one that is there has; else that is damage.

    `synced` says that a commit returns when it is on the disk, `creates` that an older format has fewer tables.
    """

    __slots__ = ("_page", "_reading", "db", "lmdb", "path", "size")

    def __init__(
        self, path: Path, size: int = 0, *, synced: bool = True, read_only: bool = False, creates: bool = False
    ) -> None:
        self.path = path
        self.size = size or _address_space()
        self._reading = Lock()
        creates = creates or not (path / "data.mdb").exists()
        _allocate_lock(path)
        try:
            self.lmdb = lmdb.open(
                str(path),
                map_size=self.size,
                max_dbs=len(_TABLES),
                sync=synced,
                metasync=synced,
                mode=0o600,
                readonly=read_only,
                max_readers=_READERS,
                readahead=not read_only,
            )
            self._page = int(self.lmdb.stat()["psize"])
            self.db: dict[str, Any] = {name: self.lmdb.open_db(name.encode(), create=creates) for name in _TABLES}
        except (lmdb.MemoryError, OverflowError) as error:
            text = f"{path} cannot be opened: {self.size} bytes of address space are too many here"
            raise ConfigurationException(f"{text}; raise ulimit -v, or create the store with a smaller size") from error
        except lmdb.Error as error:
            raise damaged(f"{path} cannot be opened ({error})") from error

    @contextmanager
    def read(self) -> Iterator[Any]:
        """Give a view of what is committed; none is kept open longer than a look takes."""
        try:
            with self._reading, self.lmdb.begin() as transaction:
                yield transaction
        except lmdb.Error as error:
            raise damaged(f"{self.path} cannot be read ({error})") from error

    def begin(self) -> Any:
        """Returns a transaction that writes."""
        return self.lmdb.begin(write=True)

    def has_written(self, number: int) -> bool:
        """Returns True where a transaction that has this number is committed, being the last that was tried."""
        return int(self.lmdb.info()["last_txnid"]) >= number

    def grow(self, by: int) -> None:
        """Let the file be longer, which a full store needs so that messages can be removed."""
        with self._reading:
            self.lmdb.set_mapsize(self.lmdb.info()["map_size"] + by)

    def used(self) -> int:
        """Returns how many bytes of the file are in use; free pages within it are not."""
        with self.read() as transaction:
            stats = [transaction.stat(table) for table in self.db.values()]
        pages = sum(stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"] for stat in stats)
        return int((pages + 4) * stats[0]["psize"])

    def extent(self) -> int:
        """Returns how many bytes of the file have ever been in use."""
        return int((self.lmdb.info()["last_pgno"] + 1) * self._page)

    def is_out_of_room(self, size: int) -> bool:
        """Returns True where the disk, or what a process may write, has no room for so many bytes more."""
        disk, limit = os.statvfs(self.path), resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        short = disk.f_bavail * disk.f_frsize < size + _ROOM
        return short or (limit != resource.RLIM_INFINITY and self.extent() + size + _ROOM > limit)

    def close(self) -> None:
        """Close it; nothing may be using it."""
        self.lmdb.close()


def _address_space() -> int:
    """Returns what a store without a limit of its own may map: a part of what the process may have."""
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    return _UNLIMITED if most == resource.RLIM_INFINITY else min(_UNLIMITED, most // 4)


def _allocate_lock(path: Path) -> None:
    """Gives LMDB's lock file its blocks: LMDB maps it, and a page that a full disk has no room for ends the process."""
    if sys.platform != "linux":
        return
    file = path / "lock.mdb"
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, _LOCK_BYTES)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno in _FULL:
            error.filename = str(file)
            raise  # of what else may be wrong, LMDB knows where it is


def write_format(folder: Path, name: str, max_size: int, number: int = FORMAT) -> None:
    """Write what has to be known of a folder before its store is opened."""
    said = {"format": number, "name": name, "max_size": max_size}
    path = folder / "queue-manager.json"
    made = path.with_suffix(".new")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps(said | {"checksum": _checksum(said)}, indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    made.replace(path)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _checksum(said: dict[str, object]) -> int:
    return crc32(json.dumps(said).encode())


def read_format(folder: Path) -> tuple[str, int]:
    """Returns the name and the greatest size of the queue manager in a folder; another format is refused."""
    number, name, size = format_of(folder)
    if number != FORMAT:
        does = "is newer than this Penstock: use the one that wrote it" if number > FORMAT else "is older"
        raise ConfigurationException(
            f"the store in {folder} has format {number}, which {does}; this one reads format {FORMAT}:"
            f" `penstock queue-manager upgrade {folder}` brings an older one to it, and backs it up first"
        )
    return name, size


def format_of(folder: Path) -> tuple[int, str, int]:
    """Returns the number of the format that a folder's store has, its name and its greatest size."""
    path = folder / "queue-manager.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        number, name, size = int(found["format"]), str(found["name"]), int(found["max_size"])
        checksum = found.pop("checksum")
    except (FileNotFoundError, NotADirectoryError):
        text = f"there is no queue manager in {folder}: make one with `penstock queue-manager create {folder}`"
        raise ConfigurationException(text) from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise damaged(f"{path} cannot be read ({error})") from error
    if checksum != _checksum(found):
        raise damaged(f"{path} is not what was written")
    return number, name, size
