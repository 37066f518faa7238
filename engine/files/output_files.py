"""Output files and folders: written beside their places, which they take whole and together, or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import signal
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedWriter, FileIO
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias

from engine.errors import ConfigurationException
from engine.files.input_files import Place, identity_of

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

DRAFT: Final = ".part"  # how the names of files end that have not taken their places
FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_STREAM: Final = os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC
_PERMISSIONS: Final = 0o666  # less those of the umask
_NAME_KEPT: Final = 80  # characters of a name that its draft shows
_RANDOM: Final = 6  # bytes of a draft's name that tell it apart
_STREAMS: Final = ("/dev", "/dev/fd")  # folders whose names are of what is open
_BELOW: Final = FOLDER | os.O_NOFOLLOW
_GATHERED: Final = "run"
_MOVING: Final = ".moving"  # ends the name of what is complete, and is on its way to its place
_ENDINGS: Final = (DRAFT, DRAFT + _MOVING)

Way: TypeAlias = tuple[str, ...]  # from the output folder: the names of folders, then that of a file


class NamedOutput(FileIO):
    """An open file whose errors say which it is; those of the system do not, once it is open."""

    def __init__(self, descriptor: int, shown: str, *, closes: bool = True) -> None:
        super().__init__(descriptor, "wb", closefd=closes)
        self._shown = shown

    def write(self, data: ReadableBuffer, /) -> int:
        """Writes bytes; raises an OSError that names the file."""
        try:
            return super().write(data)
        except OSError as error:
            error.filename = self._shown
            raise


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """Yields a file that takes its place, synced, when the block ends; when that fails, all stays as it was.

    A link at the place is replaced and not followed. A device or a pipe is written straight to.
    """
    if _is_stream(path):
        with BufferedWriter(NamedOutput(os.open(path, _STREAM), str(path))) as out:
            yield out
        return
    folder = _opened_folder(path)
    try:
        permissions = _permissions_at(path)
        with _draft(folder, path, permissions) as opened:
            yield opened
        os.fsync(folder)
    finally:
        os.close(folder)


def write_new_file(folder: Path, name: str, suffix: str, data: bytes) -> Path:
    """Writes a whole file under a name, or that with a number where it is taken; returns its place."""
    at, draft = _opened_folder(folder / name), draft_name(name)
    try:
        with BufferedWriter(NamedOutput(os.open(draft, _NEW, _PERMISSIONS, dir_fd=at), str(folder / name))) as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        place = next(place for place in _free_places(folder, name, suffix) if _linked(draft, place.name, at))
        os.fsync(at)
        return place
    finally:
        with suppress(OSError):
            os.unlink(draft, dir_fd=at)
        os.close(at)


def _free_places(folder: Path, name: str, suffix: str) -> Iterator[Path]:
    yield folder / f"{name}{suffix}"
    yield from (folder / f"{name}-{number}{suffix}" for number in count(2))


def _linked(draft: str, name: str, at: int) -> bool:
    """Returns True where a draft could be given a name, False where that is taken."""
    try:
        os.link(draft, name, src_dir_fd=at, dst_dir_fd=at)
    except FileExistsError:
        return False
    return True


def write_file(path: Path, data: bytes | str) -> None:
    """Writes a whole file, text in UTF-8."""
    with written(path) as out:
        out.write(data.encode("utf-8") if isinstance(data, str) else data)


@contextmanager
def _draft(folder: int, path: Path, permissions: int | None) -> Iterator[BinaryIO]:
    """Yields a new file in a folder, which gets the name of `path` there when the block ends."""
    name = draft_name(path.name)
    descriptor = os.open(name, _NEW, _PERMISSIONS, dir_fd=folder)
    try:
        with BufferedWriter(NamedOutput(descriptor, str(path))) as opened:
            yield opened
            opened.flush()
            if permissions is not None:
                os.fchmod(descriptor, permissions)
            os.fsync(descriptor)
        os.rename(name, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise


def draft_name(name: str) -> str:
    """Returns a hidden name that no other file has, and that shows what it is the draft of."""
    return f"{_start_of_draft(name)}{secrets.token_hex(_RANDOM)}{DRAFT}"


def is_draft(found: str, name: str) -> bool:
    """Returns True for the name of a draft of what has that name."""
    start = _start_of_draft(name)
    return found.startswith(start) and found.endswith(DRAFT) and len(found) == len(start) + 2 * _RANDOM + len(DRAFT)


def _start_of_draft(name: str) -> str:
    return f".{os.fsdecode(os.fsencode(name)[:_NAME_KEPT])}."


def _opened_folder(path: Path) -> int:
    try:
        return os.open(path.parent, FOLDER)
    except OSError as error:
        error.filename = str(path)
        raise


def _permissions_at(path: Path) -> int | None:
    """Returns the permissions of the file that is to be replaced; refuses a folder, and a name that cannot be."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) else None


def _is_stream(path: Path) -> bool:
    """Returns True for a pipe or a device, and for all names of what is open, such as /dev/stdout."""
    if str(path.absolute().parent) in _STREAMS or path.absolute().parts[1:2] == ("proc",):
        return True
    with suppress(OSError):
        mode = os.lstat(path).st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
    return False


class OutputFolder:
    """A folder that gets the files of a run when they are published: all of them, or none.

    A run that was killed leaves a hidden folder; the next one removes it, or moves what was being moved.
    """

    def __init__(self, folder: Path, inputs: Iterable[Place] = ()) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._at = os.open(folder, FOLDER)
        except (FileExistsError, NotADirectoryError) as error:
            raise ConfigurationException(f"{folder} cannot hold messages: name a directory, not a file") from error
        self.folder = folder
        self.remains = tuple(self._cleared())
        self._inputs = {identity_of(place): place for place in inputs if identity_of(place)}
        self._gathered: int | None = None
        self._name = draft_name(_GATHERED)

    def add(self, way: Way, data: bytes) -> Path:
        """Gathers a file; the answer is the place that it gets."""
        if self._gathered is None:
            os.mkdir(self._name, dir_fd=self._at)
            self._gathered = os.open(self._name, _BELOW, dir_fd=self._at)
            fcntl.flock(self._gathered, fcntl.LOCK_EX)
        with ExitStack() as stack:
            at = _made(self._gathered, way[:-1], stack)
            place = self.folder.joinpath(*way)
            with BufferedWriter(NamedOutput(os.open(way[-1], _NEW, 0o666, dir_fd=at), str(place))) as out:
                out.write(data)
        return place

    def publish(self) -> None:
        """Moves all files that were gathered to their places; signals wait until it is done."""
        if self._gathered is None:
            return
        self._check()
        with _undisturbed():
            moving = self._name + _MOVING
            os.rename(self._name, moving, src_dir_fd=self._at, dst_dir_fd=self._at)
            os.fsync(self._at)
            _move(self._gathered, self._at)
            os.rmdir(moving, dir_fd=self._at)
            os.fsync(self._at)
            os.close(self._gathered)
            self._gathered = None

    def discard(self) -> None:
        """Removes the files that were gathered; what was there before stays as it was."""
        if self._gathered is not None:
            os.close(self._gathered)
            self._gathered = None
            _remove(self._name, self._at)

    def close(self) -> None:
        """Discards what was not published."""
        self.discard()
        if self._at >= 0:
            os.close(self._at)
            self._at = -1

    def _check(self) -> None:
        """Syncs what was gathered; refuses a place that is a link, or that is an input."""
        assert self._gathered is not None
        for at, names, way in _files_below(self._gathered):
            folder = self.folder.joinpath(*way)
            for part in (self.folder.joinpath(*way[: length + 1]) for length in range(len(way))):
                if part.is_symlink():
                    raise ConfigurationException(f"{part} is a link, which is not followed: remove it")
                if part.exists() and not part.is_dir():
                    raise ConfigurationException(f"{part} is a file where a folder is to be: remove it")
            for name in names:
                descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=at)
                os.fsync(descriptor)
                os.close(descriptor)
                if (folder / name).is_dir() and not (folder / name).is_symlink():
                    raise ConfigurationException(f"{folder / name} is a folder where a file is to be: remove it")
                written_over = self._inputs.get(identity_of(folder / name)) if self._inputs else None
                if written_over is not None:
                    text = f"{folder / name} is the input {written_over}, which would be written over"
                    raise ConfigurationException(f"{text}: name another output")

    def _cleared(self) -> Iterator[str]:
        """Deals with what runs that were killed have left; yields what each was."""
        for name in os.listdir(self._at):
            if not name.startswith(f".{_GATHERED}.") or not name.endswith(_ENDINGS):
                continue
            with suppress(OSError), ExitStack() as stack:
                left = os.open(name, _BELOW, dir_fd=self._at)
                stack.callback(os.close, left)
                fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its run is still there
                if name.endswith(_MOVING):
                    with _undisturbed():
                        _move(left, self._at)
                        os.rmdir(name, dir_fd=self._at)
                    yield "the files of a run that was killed as it moved them are complete now"
                else:
                    _remove(name, self._at)
                    yield "the files of a run that was killed were removed: none of them had been delivered"


@contextmanager
def new_folder(place: Path) -> Iterator[Path]:
    """Yields a folder beside a place, which takes that place when the block ends.

    What makers of the same place that were killed have left beside it is removed. An empty folder that is there
    already may be one that other files cannot be moved to, such as a volume, and is filled where it is.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        around = os.open(place.parent, FOLDER)
        stack.callback(os.close, around)
        for left in os.listdir(around):
            if is_draft(left, place.name):
                _remove_unheld(left, around)
        is_there = place.exists()
        name = place.name if is_there else draft_name(place.name)
        try:
            if not is_there:
                os.mkdir(name, 0o700, dir_fd=around)
            held = os.open(name, FOLDER, dir_fd=around)
            stack.callback(os.close, held)
            os.fchmod(held, 0o700)
            fcntl.flock(held, fcntl.LOCK_EX)
            yield place.parent / name
            if not is_there:
                os.rename(name, place.name, src_dir_fd=around, dst_dir_fd=around)
        except BaseException:
            _remove_all(name, around) if is_there else _remove(name, around)
            raise
        os.fsync(around)


def _remove_all(folder: str, at: int) -> None:
    """Removes what is in a folder, and not the folder."""
    with suppress(OSError), ExitStack() as stack:
        inner = os.open(folder, FOLDER, dir_fd=at)
        stack.callback(os.close, inner)
        for name in os.listdir(inner):
            _remove(name, inner)
            with suppress(OSError):
                os.unlink(name, dir_fd=inner)


def _remove_unheld(name: str, at: int) -> None:
    """Removes a folder that no process holds any more."""
    with suppress(OSError), ExitStack() as stack:
        held = os.open(name, _BELOW, dir_fd=at)
        stack.callback(os.close, held)
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(name, at)


def _made(at: int, names: Iterable[str], stack: ExitStack) -> int:
    """Opens folders one inside the other, made where they are not there; no link is followed."""
    for name in names:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=at)
        at = os.open(name, _BELOW, dir_fd=at)
        stack.callback(os.close, at)
    return at


def _move(source: int, target: int) -> None:
    """Moves all files of a folder, and of those in it, to the same places in another."""
    for name in os.listdir(source):
        if not stat.S_ISDIR(os.stat(name, dir_fd=source, follow_symlinks=False).st_mode):
            os.rename(name, name, src_dir_fd=source, dst_dir_fd=target)
            continue
        with ExitStack() as stack:
            inner = os.open(name, _BELOW, dir_fd=source)
            stack.callback(os.close, inner)
            outer = _made(target, (name,), stack)
            _move(inner, outer)
            os.fsync(outer)
        os.rmdir(name, dir_fd=source)


def _files_below(at: int, way: Way = ()) -> Iterator[tuple[int, list[str], Way]]:
    """Yields each folder from here on with the names of its files, and the way to it."""
    names = os.listdir(at)
    folders = [name for name in names if stat.S_ISDIR(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode)]
    yield at, [name for name in names if name not in folders], way
    for name in folders:
        with ExitStack() as stack:
            inner = os.open(name, _BELOW, dir_fd=at)
            stack.callback(os.close, inner)
            yield from _files_below(inner, (*way, name))


def _remove(name: str, at: int) -> None:
    shutil.rmtree(name, ignore_errors=True, dir_fd=at)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Lets the signals by which people end a command wait."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
