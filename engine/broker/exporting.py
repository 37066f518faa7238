"""Exports: what a broker runs as files that another broker, or Spark, takes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from engine.broker.deployment import shipped_of
from engine.broker.state import BrokerState, DeployedUse
from engine.broker.written import broker_text, definition_of_state
from engine.files.output_files import write_file
from flows.shipped import Shipped


def export(state: BrokerState, contents: Mapping[str, bytes], folder: Path, written: Path | None = None) -> str:
    """Write the flows of a broker below a folder; returns the broker file that names them.

    They are named from where the broker file is to be `written`, or by their whole paths where that is not known.
    """
    files: dict[tuple[str, str], str] = {}
    for group in state.groups:
        for use in group.flows:
            place = folder / quote(group.name, safe=" ") / quote(use.name, safe=" ")
            file = write_flow(shipped_of(contents[use.content]), use, place).resolve()
            files[group.name, use.name] = os.path.relpath(file, written.parent.resolve()) if written else str(file)
    return broker_text(definition_of_state(state, files))


def write_flow(shipped: Shipped, use: DeployedUse, place: Path) -> Path:
    """Write a flow with the files that it needs, as they lay to each other; returns the flow's file."""
    names = [name for name, _ in shipped.files]
    own = os.path.abspath(shipped.file or "flow.yaml")
    base = os.path.commonpath([os.path.dirname(path) for path in (own, *map(os.path.abspath, names))])
    flow = place / os.path.relpath(own, base)
    _write(flow, shipped.text.encode())
    for name, data in shipped.files:
        _write(place / os.path.relpath(os.path.abspath(name), base), data)
    for nodes in shipped.own_nodes:
        _write(place / PurePosixPath(nodes.name).name, nodes.text)
    return flow


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_file(file, data)
