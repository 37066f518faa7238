"""Input files: read whole up to a limit, whatever kind of file it is and whatever size it gives itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from engine.errors import ConfigurationException

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
