"""Exports: what a broker runs as files that another broker, or Spark, takes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import quote

from engine.broker.deployment import shipped_of
from engine.broker.file_writer import broker_text, definition_of_state
from engine.broker.state import BrokerState
from engine.files.output_folders import OutputFolder, Way
from flows.shipped import Shipped

FLOWS: Final = "flows"  # the folder of flows beside an exported broker file


def export(state: BrokerState, contents: Mapping[str, bytes], folder: OutputFolder, written: str = "") -> str:
    """Writes the flows of a broker into a folder with the broker file that names them; returns the text of that.

    The file is named `written` and names them from where it is; without it they are named by their whole paths.
    """
    files: dict[tuple[str, str], str] = {}
    flows = (FLOWS,) if written else ()
    gathered: dict[Way, bytes] = {}
    for group in state.groups:
        for use in group.flows:
            way = (*flows, quote(group.name, safe=" "), quote(use.name, safe=" "))
            own = add_flow(shipped_of(contents[use.content]), way, gathered)
            files[group.name, use.name] = "/".join(own) if written else str(folder.folder.joinpath(*own).resolve())
    text = broker_text(definition_of_state(state, files))
    if written:
        gathered[written,] = text.encode()
    for way, data in gathered.items():
        folder.add(way, data)
    folder.publish()
    return text


def add_flow(shipped: Shipped, place: Way, gathered: dict[Way, bytes]) -> Way:
    """Adds a flow and the files that it needs, as they lay to each other; returns the way to the flow's file."""
    names = [name for name, _ in shipped.files]
    own = os.path.abspath(shipped.file or "flow.yaml")
    base = os.path.commonpath([os.path.dirname(path) for path in (own, *map(os.path.abspath, names))])

    def way(name: str) -> Way:
        return (*place, *Path(os.path.relpath(os.path.abspath(name), base)).parts)

    gathered[way(own)] = shipped.text.encode()
    gathered.update((way(name), data) for name, data in shipped.files)
    gathered.update(((*place, PurePosixPath(nodes.name).name), nodes.text) for nodes in shipped.own_nodes)
    return way(own)
