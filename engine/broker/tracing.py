"""The user trace of flows: in which files it is."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from engine.broker.folder import Folder


def trace_file(folder: Folder, group: str, flow: str) -> Path:
    """Returns the file of a flow's user trace."""
    return folder.traces / f"{quote(group, safe=' ')}.{quote(flow, safe=' ')}.txt"
