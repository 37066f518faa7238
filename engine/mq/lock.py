"""The kernel's lock on a queue manager's folder: one process has it at a time, and its number stands in the file."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Final

from engine.mq.refusals import OBJECT_IN_USE, refusal

_NAP: Final = 0.05  # seconds between two looks at a lock that another has


class FolderLock:
    """The lock on a folder, held until it is released or the process ends."""

    __slots__ = ("_descriptor",)

    def __init__(self, folder: Path, wait: float = 0.0) -> None:
        """Take the lock, or wait so many seconds for it; then it is refused with the process that has it."""
        path, end = folder / "lock", time.monotonic() + wait
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if time.monotonic() < end:
                    time.sleep(_NAP)
                    continue
                holder = os.pread(self._descriptor, 32, 0).decode("ascii", "replace").strip()
                os.close(self._descriptor)
                text = (
                    f"queue manager {folder} is in use by process {holder or 'unknown'}: stop it, or reach it by socket"
                )
                raise refusal(OBJECT_IN_USE, text) from None
            break
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let others have the folder."""
        os.close(self._descriptor)


def holder(folder: Path) -> int:
    """Returns the number of the process that has a folder, or 0."""
    try:
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return int(os.pread(descriptor, 32, 0) or b"0")
    finally:
        os.close(descriptor)
    return 0
