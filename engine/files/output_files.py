"""Output files: each is written beside its place and takes it whole, or leaves what was there before."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter, FileIO
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias

from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Place: TypeAlias = Path | int  # a name, or a descriptor that is open
DRAFT: Final = ".part"  # how the names of files end that have not taken their places
FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_STREAM: Final = os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC
_PERMISSIONS: Final = 0o666  # less those of the umask
_NAME_KEPT: Final = 80  # characters of a name that its draft shows
_RANDOM: Final = 6  # bytes of a draft's name that tell it apart
_STREAMS: Final = ("/dev", "/dev/fd")  # folders whose names are of what is open


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


def refuse_inputs(outputs: Iterable[Place], inputs: Iterable[Place]) -> None:
    """Refuses an output that is an input, holds one or links to one, and one that is another output."""
    read = [(place, identity) for place in inputs if (identity := identity_of(place))]
    taken: list[tuple[Place, object]] = []
    for output in outputs:
        own = identity_of(output) or (os.path.realpath(output) if isinstance(output, Path) else None)
        for place, identity in read:
            if own is not None and own in {identity, *_folders_around(place)}:
                how = "is" if own == identity else "holds"
                text = f"{_shown(output)} {how} the input {_shown(place)}, which would be written over"
                raise ConfigurationException(f"{text}: name another output")
        if own is not None and own in (identity for _, identity in taken):
            raise ConfigurationException(f"{_shown(output)} is named for two outputs: name another for one of them")
        taken.append((output, own))


def identity_of(place: Place) -> tuple[int, int] | None:
    """Returns the device and inode of a file or a folder; None where there is none, or only a device or a pipe."""
    try:
        found = os.stat(place)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode) else None


def _folders_around(place: Place) -> Iterator[object]:
    """Yields the identities of all folders that an input lies in."""
    if isinstance(place, Path):
        named = place.absolute()
        for folder in {*named.parents, *named.resolve().parents}:
            yield identity_of(folder)


def _shown(place: Place) -> str:
    return str(place) if isinstance(place, Path) else {0: "standard input", 1: "standard output"}.get(place, str(place))
