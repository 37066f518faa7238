"""Backups of queue managers, taken while they run; restored, and brought to the format of this Penstock."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final

import lmdb

from engine.errors import ConfigurationException
from engine.files.output_files import new_folder
from engine.mq.lock import FolderLock
from engine.mq.store.environment import FORMAT, WRITTEN, Environment, format_of, read_format, sync_folder, write_format
from engine.mq.store.keys import NUMBER
from engine.mq.store.records import checked, number_record
from engine.mq.store.store import OVERFLOW, PERSISTENT
from engine.mq.store.writing import CEILING, objects

_FORMAT_FILE = "queue-manager.json"


def back_up(folder: Path, out: Path) -> None:
    """Copy what a queue manager keeps, as it is at one moment, into a new folder; it may be running."""
    name, size = read_format(folder)
    _copy(folder, out, name, size)


def restore(backup: Path, folder: Path) -> None:
    """Make a queue manager of a backup, in a folder that is not there yet; the two may be given in either order."""
    if not (backup / _FORMAT_FILE).exists() and (folder / _FORMAT_FILE).exists():
        backup, folder = folder, backup
    if not (backup / _FORMAT_FILE).exists():
        text = f"neither {backup} nor {folder} is a backup: name one that `penstock queue-manager backup` made"
        raise ConfigurationException(text)
    name, size = read_format(backup)
    _copy(backup, folder, name, size)


def upgrade(folder: Path) -> Path | None:
    """Bring a queue manager's store to the format of this Penstock, and return the backup that was made before.

    Returns None where the store has that format already.
    """
    number, name, size = format_of(folder)
    if number == FORMAT:
        return None
    if number not in STEPS:
        read_format(folder)  # which says why it cannot be used
    lock = FolderLock(folder)
    done = 0
    try:
        backup = _saved(folder)
        try:
            for step in range(number, FORMAT):
                for place in (PERSISTENT, OVERFLOW):
                    if (folder / place / "data.mdb").exists():
                        STEPS[step](folder / place, size)
                        done += 1
            write_format(folder, name, size)
        except (lmdb.Error, OSError) as error:
            if done:
                raise _refused(folder, error, f"a part is done, and the store as it was is in {backup}") from error
            shutil.rmtree(backup, ignore_errors=True)
            raise _refused(folder, error, "the store is as it was") from error
    finally:
        lock.release()
    return backup


def _saved(folder: Path) -> Path:
    """Returns the backup of a queue manager that has ended, which is made beside its folder, file by file."""
    names = (folder.with_name(f"{folder.name}.{time.strftime('%Y%m%d%H%M%S')}-{more}.backup") for more in count(1))
    backup = next(path for path in names if not path.exists())
    try:
        shutil.copytree(folder, backup, ignore=shutil.ignore_patterns("lock", "socket"), copy_function=_copy_synced)
        for made in (*backup.iterdir(), backup, backup.parent):
            if made.is_dir():
                sync_folder(made)
    except OSError as error:
        shutil.rmtree(backup, ignore_errors=True)
        raise _refused(folder, error, "the store is as it was, and there is no backup") from error
    return backup


def _refused(folder: Path, error: Exception, state: str) -> ConfigurationException:
    """Returns the error for an upgrade that a disk or a limit keeps from its end; `state` says what there is now."""
    why = error.args[0][0][-1] if isinstance(error, shutil.Error) else error  # the first of a list
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    text = f"{folder} cannot be upgraded ({why}): {state}; make room for {2 * size:,} bytes on its disk, and"
    return ConfigurationException(f"{text} run `penstock queue-manager upgrade {folder}` again")


def _copy_synced(source: str, target: str) -> None:
    shutil.copy2(source, target)
    with open(target, "rb+") as file:
        os.fsync(file.fileno())


def _copy(source: Path, target: Path, name: str, size: int) -> None:
    if target.exists() and any(target.iterdir()):
        raise ConfigurationException(f"{target} is not empty: name a folder that is not there yet")
    with new_folder(target) as draft:
        (draft / PERSISTENT).mkdir(mode=0o700)
        command = [sys.executable, "-m", __name__, str(source / PERSISTENT), str(draft / PERSISTENT), str(size)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode != 0:  # a process of its own: this one may have the store open, and damage may end it
            why = " ".join(done.stderr.strip().splitlines()[-1:]) or f"it ended with {done.returncode}"
            raise ConfigurationException(f"{source} cannot be copied to {target} ({why}): check it, and the disk")
        descriptor = os.open(draft / PERSISTENT / "data.mdb", os.O_RDWR)
        try:
            os.fchmod(descriptor, 0o600)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        write_format(draft, name, size)
        for path in (draft / PERSISTENT, draft):
            sync_folder(path)


def _main(source: str, target: str, size: str) -> None:
    environment = Environment(Path(source), int(size), read_only=True)
    environment.lmdb.copy(target, compact=True)
    environment.close()


_CHECKED_SINCE_2: Final = ("counts", "references", "objects", "decisions")
_QUEUE: Final = 4  # bytes of the number of a queue, by which entries of the index of ids began in format 2
_ID_AND_QUEUE: Final = 13  # bytes of it, of the kind of the id and of the folded id


def _check_counters(path: Path, size: int) -> None:
    """Give counters, definitions and decisions, which had none in format 1, checksums; and each queue a counter."""
    environment = Environment(path, 2 * size, creates=True)  # as a full store has no room for what is written anew
    try:
        with environment.begin() as transaction:
            meta = environment.db["meta"]
            if _has_format(2, transaction, environment):
                return
            for name in _CHECKED_SINCE_2:
                with transaction.cursor(db=environment.db[name]) as cursor:
                    known = [(bytes(key), bytes(value)) for key, value in cursor]
                for key, value in known:
                    transaction.put(key, checked(key, value), db=environment.db[name])
            for kept in objects(transaction, environment):
                key = NUMBER.pack(kept["number"])
                if kept["kind"] == "QLOCAL" and transaction.get(key, db=environment.db["counts"]) is None:
                    transaction.put(key, number_record(key, 0), db=environment.db["counts"])
            ceiling = transaction.get(CEILING, db=meta)
            if ceiling is not None:
                transaction.put(CEILING, checked(CEILING, ceiling), db=meta)
            transaction.put(WRITTEN, b"2", db=meta)
    finally:
        environment.close()


def _order_by_ids(path: Path, size: int) -> None:
    """Let the entries of the index of ids begin with the ids: in format 2 they began with the queue."""
    environment = Environment(path, 2 * size)  # the index is there twice until the transaction ends
    try:
        with environment.begin() as transaction:
            if _has_format(3, transaction, environment):
                return
            table = environment.db["ids"]
            with transaction.cursor(db=table) as cursor:
                known = [bytes(key) for key in cursor.iternext(keys=True, values=False)]
            transaction.drop(table, delete=False)
            for key in sorted(key[_QUEUE:_ID_AND_QUEUE] + key[:_QUEUE] + key[_ID_AND_QUEUE:] for key in known):
                transaction.put(key, b"", append=True, db=table)
            transaction.put(WRITTEN, b"3", db=environment.db["meta"])
    finally:
        environment.close()


def _has_format(number: int, transaction: Any, environment: Environment) -> bool:
    """Returns True where a run before this one came so far, and not to the end."""
    return int(transaction.get(WRITTEN, b"0", db=environment.db["meta"])) >= number


# By the format that each begins with.
STEPS: Final[Mapping[int, Callable[[Path, int], None]]] = {1: _check_counters, 2: _order_by_ids}


if __name__ == "__main__":
    _main(*sys.argv[1:])
