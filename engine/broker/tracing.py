"""The user trace of flows: in which files it is, and what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from engine.broker.folder import Folder


def trace_file(folder: Folder, group: str, flow: str) -> Path:
    """Returns the file of a flow's user trace."""
    return folder.traces / f"{quote(group, safe=' ')}.{quote(flow, safe=' ')}.txt"


def trace_lines(folder: Folder, group: str, flow: str) -> Iterator[str]:
    """Yields the lines of a flow's user trace, oldest first."""
    file = trace_file(folder, group, flow)
    for part in (file.with_suffix(".old"), file):
        if part.is_file():
            with part.open(encoding="utf-8", errors="replace") as lines:
                yield from (line.rstrip("\n") for line in lines)


def forget(folder: Folder, group: str, flow: str) -> None:
    """Take away what was traced of a flow."""
    file = trace_file(folder, group, flow)
    for part in (file.with_suffix(".old"), file):
        part.unlink(missing_ok=True)
