"""The user trace of flows: in which files it is, and what they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from engine.broker.folder import Folder

_ENTRY: Final = re.compile(r"(\d{4}-\d\d-\d\d) ([\d:.]+)  (\d+)  UserTrace  (.*)")


def trace_file(folder: Folder, group: str, flow: str) -> Path:
    """Returns the file of a flow's user trace."""
    return folder.traces / f"{quote(group, safe=' ')}.{quote(flow, safe=' ')}.txt"


def trace_parts(folder: Folder, group: str, flow: str) -> tuple[Path, Path]:
    """Returns the two files of a flow's user trace, the older first; either may not be there."""
    file = trace_file(folder, group, flow)
    return file.with_suffix(".old"), file


def trace_lines(folder: Folder, group: str, flow: str) -> Iterator[str]:
    """Yields the lines of a flow's user trace, oldest first."""
    for part in trace_parts(folder, group, flow):
        if part.is_file():
            with part.open(encoding="utf-8", errors="replace") as lines:
                yield from (line.rstrip("\n") for line in lines)


def as_data(lines: Iterable[str]) -> list[dict[str, Any]]:
    r"""Returns the entries of a user trace as data; lines without a time of their own belong to the entry before.

    >>> as_data(["2026-01-02 03:04:05.000006  7  UserTrace  a", "b"])
    [{'at': '2026-01-02T03:04:05.000006', 'process': 7, 'text': 'a\nb'}]
    """
    entries: list[dict[str, Any]] = []
    for line in lines:
        if (found := _ENTRY.fullmatch(line)) is not None:
            day, hour, process, text = found.groups()
            entries.append({"at": f"{day}T{hour}", "process": int(process), "text": text})
        elif entries:
            entries[-1]["text"] += f"\n{line}"
    return entries


def forget(folder: Folder, group: str, flow: str) -> None:
    """Take away what was traced of a flow."""
    for part in trace_parts(folder, group, flow):
        part.unlink(missing_ok=True)
