"""The directory of a cache: files that its user alone can write, each whole or not there, and never too many."""

from __future__ import annotations

import logging
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

SUFFIX: Final = ".compiled"
LARGEST: Final = 32 * 1024 * 1024  # bytes of one entry
MOST: Final = 256 * 1024 * 1024  # bytes of all entries
_DAY: Final = 86_400
_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_OLD: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


class RefusedError(OSError):
    """A directory or a file that someone else could have written."""


def read(folder: Path, name: str) -> bytes | None:
    """The bytes of an entry; None where there is none that can be trusted."""
    with _quietly(folder), _opened(folder) as at:
        file = os.open(name + SUFFIX, _OLD, dir_fd=at)
        with os.fdopen(file, "rb") as opened:
            known = _own(file, f"{folder}/{name}{SUFFIX}")
            if not stat.S_ISREG(known.st_mode) or known.st_size > LARGEST:
                return None
            if time.time() - known.st_mtime > _DAY:
                os.utime(file)  # what is used is not what goes when there is too much
            return opened.read(LARGEST)
    return None


def write(folder: Path, name: str, data: bytes, most: int = MOST) -> None:
    """Write an entry, and remove the oldest ones where there are too many; what cannot be written is left."""
    if len(data) > min(LARGEST, most):
        return
    with _quietly(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _opened(folder) as at:
            _put(at, name + SUFFIX, data)
            _remove_oldest(at, most)


def _put(at: int, name: str, data: bytes) -> None:
    """Another process sees the whole file or none."""
    draft = f"{secrets.token_hex(16)}{SUFFIX}"
    try:
        with os.fdopen(os.open(draft, _NEW, 0o600, dir_fd=at), "wb") as opened:
            opened.write(data)
        os.replace(draft, name, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=at)
        raise


def _remove_oldest(at: int, most: int) -> None:
    """Make room for more, so that not every new entry has to."""
    found = []
    with os.scandir(at) as entries:
        for entry in entries:
            if entry.name.endswith(SUFFIX):
                with suppress(OSError):  # another process has removed it
                    known = entry.stat(follow_symlinks=False)
                    found.append((known.st_mtime, known.st_size, entry.name))
    total = sum(size for _, size, _ in found)
    if total <= most:
        return
    for _, size, name in sorted(found)[:-1]:
        with suppress(OSError):
            os.unlink(name, dir_fd=at)
        total -= size
        if total <= most * 3 // 4:
            return


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    at = os.open(folder, _FOLDER)
    try:
        _own(at, str(folder))
        yield at
    finally:
        os.close(at)


def _own(file: int, name: str) -> os.stat_result:
    """Refuse what is another user's, or what others can write."""
    known = os.fstat(file)
    if known.st_uid != os.geteuid():
        raise RefusedError(0, f"{name} belongs to another user")
    if known.st_mode & _WRITABLE_BY_OTHERS:
        raise RefusedError(0, f"{name} can be written by others: chmod go-w {name}")
    return known


@contextmanager
def _quietly(folder: Path) -> Iterator[None]:
    """A cache that does not work costs time and nothing else; one that is not safe is worth a word."""
    log = logging.getLogger("penstock.cache")
    try:
        yield
    except FileNotFoundError:
        return
    except RefusedError as error:
        log.warning("the cache is not used: %s", error.strerror)
    except OSError as error:
        log.info("the cache in %s is not used: %s", folder, error.strerror)
