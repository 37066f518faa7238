"""The files of decode and encode: what they read and write, by names or as the standard streams."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from engine.files.output_files import Place


def input_of(file: str) -> Place:
    """Returns the file that is read, or the descriptor of standard input for -."""
    return 0 if file == "-" else Path(file)


def outputs_of(output: Path | None, quarantine: Path | None) -> list[Place]:
    """Returns the files that are written; without a name, standard output, which may be a file as well."""
    places: list[Place] = [1 if output is None else output]
    return places if quarantine is None else [*places, quarantine]


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """Yields standard output for bytes, which has all of them when the block ends, however it ends."""
    out = sys.stdout.buffer
    try:
        yield out
    finally:
        out.flush()
