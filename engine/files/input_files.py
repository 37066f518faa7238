"""Input files: read whole up to a limit, whatever kind of file it is and size it gives itself; no output is one."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TypeAlias

from engine.errors import ConfigurationException

Place: TypeAlias = Path | int  # a name, or a descriptor that is open
MOST: Final = 104_857_600  # bytes: the longest message that a queue takes unless its definition says more
NO_MESSAGE: Final = "no queue takes a message of so many"
REMEDY: Final = "raise the limit by --max-input"
LARGEST_LIMIT: Final = 1 << 40
_PIECE: Final = 1 << 20  # bytes read at once, so that signals are heard in between
_SIZE: Final = re.compile(r"([0-9]{1,13})([KMG]?)(?:i?B)?", re.IGNORECASE)
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Stream(Protocol):
    """Something that bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """Returns at most so many bytes, and none at the end."""
        ...


def read_file(path: Path, most: int = MOST, remedy: str = REMEDY) -> bytes:
    """Returns the bytes of a file; refuses one that has more than `most`."""
    with path.open("rb") as opened:
        return read_stream(opened, str(path), most, remedy)


def read_stream(stream: Stream, name: str, most: int = MOST, remedy: str = REMEDY) -> bytes:
    """Returns all bytes of a stream; refuses one that has more than `most`, without reading on.

    >>> from io import BytesIO
    >>> read_stream(BytesIO(b"abc"), "stdin", 3)
    b'abc'
    """
    pieces: list[bytes] = []
    left = most
    while piece := stream.read(min(_PIECE, left + 1)):
        left -= len(piece)
        if left < 0:
            raise ConfigurationException(f"{name} has more than {most:,} bytes: {remedy}")
        pieces.append(piece)
    return b"".join(pieces)


def lines_of(stream: BinaryIO, name: str, most: int) -> Iterator[bytes]:
    r"""Yields the lines of a stream; refuses one that has more than `most` bytes, without reading on.

    >>> from io import BytesIO
    >>> list(lines_of(BytesIO(b"ab" + bytes([10]) + b"c"), "stdin", 3))
    [b'ab\n', b'c']
    """
    while line := stream.readline(most + 1):
        if len(line) > most:
            raise ConfigurationException(f"{name} has a line of more than {most:,} bytes")
        yield line


def size_of(text: str, option: str = "--max-input") -> int:
    """Returns the bytes that a size says.

    >>> size_of("100M"), size_of("4k"), size_of("512")
    (104857600, 4096, 512)
    """
    found = _SIZE.fullmatch(text.strip())
    size = int(found[1]) * _UNITS[found[2].upper()] if found else 0
    if not 0 < size <= LARGEST_LIMIT:
        raise ConfigurationException(f"{option} {text} is no size: write bytes, as 4096, or with K, M or G, as 100M")
    return size


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
