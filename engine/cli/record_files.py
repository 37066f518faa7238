"""The files of decode and encode: what they read and write, by names or as standard streams, and records that fail."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedReader, FileIO, RawIOBase
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self

import typer

from engine.cli.command_failures import existing
from engine.cli.record_options import one_of
from engine.errors import BrokerError, ConfigurationException
from engine.files.input_files import Place
from engine.files.output_files import written

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


MOST_SHOWN = 20


class Failures:
    """The records that have failed so far; those that are put aside take their file when all records are done."""

    def __init__(self, on_error: str, quarantine: Path | None) -> None:
        self._on_error = one_of("--on-error", on_error, ("stop", "skip", "quarantine"))
        if quarantine is not None and self._on_error == "stop":
            self._on_error = "quarantine"
        if (self._on_error == "quarantine") != (quarantine is not None):
            raise ConfigurationException("--on-error quarantine and --quarantine FILE go together")
        self._path = quarantine
        self._stack = ExitStack()
        self._file: BinaryIO | None = None
        self.count = 0
        self.done = 0

    def __enter__(self) -> Self:
        """Begins a file that replaces what another run has put aside; without one it begins with the first failure."""
        if self._path is not None and self._path.exists():
            self._open(self._path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Puts the file in its place if all went well, and says how many records were left out."""
        self._stack.__exit__(kind, error, trace)
        if self.count:
            went = f"put into {self._path}" if self._path is not None and error is None else "left out"
            typer.echo(f"penstock: {self.done:,} records done, {self.count:,} {went}", err=True)

    def add(self, error: BrokerError, raw: bytes) -> None:
        """Deal with a record that failed; raises the error where it is to stop."""
        if self._on_error == "stop":
            raise error
        self.count += 1
        if self.count <= MOST_SHOWN:
            typer.echo(f"penstock: {error}", err=True)
        if self._path is not None:
            (self._file or self._open(self._path)).write(raw)

    def _open(self, path: Path) -> BinaryIO:
        self._file = self._stack.enter_context(written(path))
        return self._file
