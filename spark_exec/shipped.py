"""Flows as data: what is sent to executors, and built there once for each process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from engine.errors import ConfigurationException
from engine.flow import Flow
from engine.node import node_catalog
from engine.own_nodes import load_nodes
from engine.runtime import DeployedFlow, deploy
from flows.programs import binder, files_of
from flows.reader import read_flow
from flows.writer import write_flow


class OwnNodes(NamedTuple):
    """A file that defines nodes, and their types."""

    name: str
    text: bytes
    types: tuple[str, ...]


def own_nodes(files: Iterable[str]) -> tuple[OwnNodes, ...]:
    """Load files that define nodes, so that flows can use them here, and on executors."""
    found = []
    for file in files:
        types = load_nodes([file])
        if types:  # and has not been loaded before
            found.append(OwnNodes(file, Path(file).read_bytes(), types))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Shipped:
    """An expanded flow as its YAML, with the ESQL and the message sets that it needs."""

    name: str
    file: str
    text: str
    files: tuple[tuple[str, bytes], ...]
    given: tuple[tuple[str, str], ...] = ()  # what programs may ask of the broker around them
    own_nodes: tuple[OwnNodes, ...] = ()

    @property
    def content_hash(self) -> str:
        """What tells it from any other flow: the SHA-256 of all that it is made of."""
        parts = [self.name.encode(), self.text.encode()]
        for name, data in (*self.files, *((own.name, own.text) for own in self.own_nodes)):
            parts += [PurePosixPath(name).name.encode(), data]
        for named, value in self.given:
            parts += [named.encode(), value.encode()]
        return hashlib.sha256(b"".join(b"%d:%s" % (len(part), part) for part in parts)).hexdigest()


def ship(flow: Flow, given: Mapping[str, str] | None = None, own_nodes: Iterable[OwnNodes] = ()) -> Shipped:
    """A flow that was loaded and expanded, as data."""
    files = tuple((name, bytes(data)) for name, data in files_of(flow))
    told = tuple(sorted((given or {}).items()))
    return Shipped(flow.qualified_name, flow.file, write_flow(flow), files, told, tuple(own_nodes))


@lru_cache(maxsize=64)
def built(shipped: Shipped) -> DeployedFlow:
    """The flow, deployed in this process."""
    _load(shipped.own_nodes)
    reading = read_flow(shipped.text, shipped.file)
    if reading.flow is None or reading.problems:
        raise ConfigurationException(f"{shipped.name} cannot be deployed on an executor", reading.problems)
    bound = binder(reading.flow, files=shipped.files, given=dict(shipped.given))
    for label in bound.asking_databases:
        text = f"the program of {label} asks a database, which does not run on Spark: executors are connected to none"
        raise ConfigurationException(text).at(next(use.place for use in reading.flow.nodes if use.label == label))
    return deploy(reading.flow, bind=bound)


def _load(files: Iterable[OwnNodes]) -> None:
    """Have the nodes that files define, where this process does not: the driver has them from the files themselves."""
    with TemporaryDirectory(prefix="penstock-nodes-") as folder:
        for file in files:
            if all(name in node_catalog for name in file.types):
                continue
            place = Path(folder) / Path(file.name).name
            place.write_bytes(file.text)
            load_nodes([str(place)])
