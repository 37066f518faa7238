"""What happens to records that fail: the command stops, leaves them out, or puts them aside in a file."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import typer

from engine.cli.record_options import one_of
from engine.errors import BrokerError, ConfigurationException

MOST_SHOWN = 20


class Failures:
    """The records that have failed so far."""

    def __init__(self, on_error: str, quarantine: Path | None) -> None:
        self._on_error = one_of("--on-error", on_error, ("stop", "skip", "quarantine"))
        if quarantine is not None and self._on_error == "stop":
            self._on_error = "quarantine"
        if (self._on_error == "quarantine") != (quarantine is not None):
            raise ConfigurationException("--on-error quarantine and --quarantine FILE go together")
        self._path = quarantine
        self._file: BinaryIO | None = None
        self.count = 0

    def add(self, error: BrokerError, raw: bytes) -> None:
        """Deal with a record that failed; raises the error where it is to stop."""
        if self._on_error == "stop":
            raise error
        self.count += 1
        if self.count <= MOST_SHOWN:
            typer.echo(f"penstock: {error}", err=True)
        if self._path is not None:
            self._file = self._file or self._path.open("wb")
            self._file.write(raw)

    def close(self, done: int) -> None:
        """Say what was left out."""
        if self._file is not None:
            self._file.close()
        if self.count:
            went = f"put into {self._path}" if self._path is not None else "left out"
            typer.echo(f"penstock: {done:,} records done, {self.count:,} {went}", err=True)
