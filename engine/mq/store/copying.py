"""Backups of queue managers, taken while they run; restored, and brought to the format of this Penstock."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

from engine.errors import ConfigurationException
from engine.files.output_files import new_folder
from engine.mq.lock import FolderLock
from engine.mq.store.environment import FORMAT, Environment, format_of, read_format, sync_folder, write_format
from engine.mq.store.store import OVERFLOW, PERSISTENT
from engine.mq.store.upgrading import STEPS

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
    try:
        names = (folder.with_name(f"{folder.name}.{time.strftime('%Y%m%d%H%M%S')}-{more}.backup") for more in count(1))
        backup = next(path for path in names if not path.exists())
        shutil.copytree(folder, backup, ignore=shutil.ignore_patterns("lock", "socket"), copy_function=_copy_synced)
        for made in (*backup.iterdir(), backup, backup.parent):
            if made.is_dir():
                sync_folder(made)
        for step in range(number, FORMAT):
            for place in (PERSISTENT, OVERFLOW):
                if (folder / place / "data.mdb").exists():
                    STEPS[step](folder / place, size)
        write_format(folder, name, size)
    finally:
        lock.release()
    return backup


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


if __name__ == "__main__":
    _main(*sys.argv[1:])
