"""The files of decode and encode: what they read and write, by names or as the standard streams."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from engine.cli.command_failures import existing
from engine.errors import ConfigurationException
from engine.files.output_files import Place

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


def input_of(file: str) -> Place:
    """Returns the file that is read, or the descriptor of standard input for -."""
    return 0 if file == "-" else Path(file)


def outputs_of(output: Path | None, quarantine: Path | None) -> list[Place]:
    """Returns the files that are written; without a name, standard output, which may be a file as well."""
    places: list[Place] = [1 if output is None else output]
    return places if quarantine is None else [*places, quarantine]


class _BoundedInput(RawIOBase):
    """A stream of which so many bytes are read and no more: one that has more is refused when they have been read."""

    def __init__(self, raw: FileIO, name: str, most: int) -> None:
        self._raw, self._name, self._most = raw, name, most
        self._left = most

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._raw.fileno()

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        count = self._raw.readinto(buffer)
        self._left -= count or 0
        if self._left < 0:
            text = f"{self._name} has more than {self._most:,} bytes: raise the limit by --max-input"
            raise ConfigurationException(text)
        return count


@contextmanager
def opened(file: str, max_input: str) -> Iterator[BinaryIO]:
    """Yields a file, or standard input, with a limit: the one that is said, or 100M for a device, which may not end."""
    from engine.files.input_files import MOST, size_of

    if file == "-" and sys.stdin is None:
        raise ConfigurationException("standard input is closed: pipe something into it, or name a file")
    name = "standard input" if file == "-" else file
    with open(0 if file == "-" else existing(file), "rb", buffering=0, closefd=file != "-") as raw:
        is_device = stat.S_ISCHR(os.fstat(raw.fileno()).st_mode) and not raw.isatty()
        most = size_of(max_input) if max_input else MOST if is_device else None
        yield BufferedReader(raw if most is None else _BoundedInput(raw, name, most))


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """Yields standard output for bytes, which has all of them when the block ends, however it ends."""
    out = sys.stdout.buffer
    try:
        yield out
    finally:
        out.flush()
