"""Flows as data: an expanded flow with all files that it needs, to be built elsewhere, and known by a hash."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from engine.errors import ConfigurationException
from engine.flow.definition import Flow
from engine.flow.user_nodes import load_nodes
from engine.node import node_catalog
from flows.flow_yaml import read_flow, write_flow
from flows.programs import files_of


class OwnNodes(NamedTuple):
    """A file that defines nodes, and their types."""

    name: str
    text: bytes
    types: tuple[str, ...]


def own_nodes(files: Iterable[str]) -> tuple[OwnNodes, ...]:
    """Load files that define nodes, so that flows can use them here, and where they are shipped to."""
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
        """Returns the SHA-256 of all that the flow is made of, which tells it from any other flow."""
        parts = [self.name.encode(), self.text.encode()]
        for name, data in (*self.files, *((own.name, own.text) for own in self.own_nodes)):
            parts += [PurePosixPath(name).name.encode(), data]
        for named, value in self.given:
            parts += [named.encode(), value.encode()]
        return hashlib.sha256(b"".join(b"%d:%s" % (len(part), part) for part in parts)).hexdigest()

    def told(self, given: Mapping[str, str]) -> Shipped:
        """The same flow in a broker that tells its programs these properties."""
        return replace(self, given=tuple(sorted(given.items())))

    def flow(self) -> Flow:
        """The flow itself, once the nodes that its own files define are there."""
        _load(self.own_nodes)
        reading = read_flow(self.text, self.file)
        if reading.flow is None or reading.problems:
            raise ConfigurationException(f"{self.name} cannot be deployed here", reading.problems)
        return reading.flow

    def as_data(self) -> dict[str, Any]:
        """The flow as JSON has it; `of_data` reads it back."""
        return {
            "name": self.name,
            "file": self.file,
            "text": self.text,
            "files": [[name, b64encode(data).decode()] for name, data in self.files],
            "ownNodes": [[own.name, b64encode(own.text).decode(), list(own.types)] for own in self.own_nodes],
        }

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Shipped:
        """The flow that `as_data` has made data of."""
        files = tuple((name, b64decode(text)) for name, text in data["files"])
        own = tuple(OwnNodes(name, b64decode(text), tuple(types)) for name, text, types in data["ownNodes"])
        return cls(data["name"], data["file"], data["text"], files, (), own)


def ship(flow: Flow, given: Mapping[str, str] | None = None, own_nodes: Iterable[OwnNodes] = ()) -> Shipped:
    """A flow that was loaded and expanded, as data."""
    files = tuple((name, bytes(data)) for name, data in files_of(flow))
    told = tuple(sorted((given or {}).items()))
    return Shipped(flow.qualified_name, flow.file, write_flow(flow), files, told, tuple(own_nodes))


def _load(files: Iterable[OwnNodes]) -> None:
    """Have the nodes that files define, where this process does not: the driver has them from the files themselves."""
    with TemporaryDirectory(prefix="penstock-nodes-") as folder:
        for file in files:
            if all(name in node_catalog for name in file.types):
                continue
            place = Path(folder) / Path(file.name).name
            place.write_bytes(file.text)
            load_nodes([str(place)])
