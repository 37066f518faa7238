"""Records that fail: the command stops, leaves them out, or puts them aside in a file."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import typer

from engine.cli.record_options import one_of
from engine.errors import BrokerError, ConfigurationException
from engine.files.output_files import written

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
