"""The standard streams: none of their descriptors is left for another file, and errors of standard output name it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import Final, TextIO

from engine.files.output_files import NamedOutput

STANDARD_OUTPUT: Final = "standard output"
_WAYS: Final = (os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)  # such that what was closed still cannot be used


def prepare_streams() -> None:
    """Holds the descriptors that are closed, and lets writing to a closed or a full standard output fail by its name.

    Were descriptor 1 left free, the next file to be opened would get it, and Java would print into that.
    """
    for descriptor, way in enumerate(_WAYS):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, way)  # gets the lowest number that is free
    shown: TextIO | None = sys.stdout
    if shown is None or _is_plain(shown):
        raw = NamedOutput(1, STANDARD_OUTPUT, closes=False)
        by_lines = isinstance(shown, TextIOWrapper) and (shown.line_buffering or shown.write_through)
        encoding = "utf-8" if shown is None else shown.encoding
        sys.stdout = TextIOWrapper(BufferedWriter(raw), encoding=encoding, line_buffering=by_lines)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what a terminal cannot show is shown by its number
            stream.reconfigure(errors="backslashreplace")


def _is_plain(shown: object) -> bool:
    """Returns True for Python's own standard output, not for one that a test has put in its place."""
    if type(shown) is not TextIOWrapper:
        return False
    raw = getattr(shown.buffer, "raw", shown.buffer)  # Python was told to buffer nothing, or it does
    return type(raw) is FileIO and raw.fileno() == 1


def give_up_output() -> None:
    """Drops what standard output did not take, so that Python does not try it again as it ends."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
