"""Flows as data: what is sent to executors, and built there once for each process."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from engine.errors import ConfigurationException
from engine.flow import Flow
from engine.runtime import DeployedFlow, deploy
from flows.programs import binder, files_of
from flows.reader import read_flow
from flows.writer import write_flow


@dataclass(frozen=True, slots=True)
class Shipped:
    """An expanded flow as its YAML, with the ESQL and the message sets that it needs."""

    name: str
    file: str
    text: str
    files: tuple[tuple[str, bytes], ...]

    @property
    def content_hash(self) -> str:
        """What tells it from any other flow: the SHA-256 of all that it is made of."""
        parts = [self.name.encode(), self.text.encode()]
        for name, data in self.files:
            parts += [PurePosixPath(name).name.encode(), data]
        return hashlib.sha256(b"".join(b"%d:%s" % (len(part), part) for part in parts)).hexdigest()


def ship(flow: Flow) -> Shipped:
    """A flow that was loaded and expanded, as data."""
    files = tuple((name, bytes(data)) for name, data in files_of(flow))
    return Shipped(flow.qualified_name, flow.file, write_flow(flow), files)


@lru_cache(maxsize=64)
def built(shipped: Shipped) -> DeployedFlow:
    """The flow, deployed in this process."""
    reading = read_flow(shipped.text, shipped.file)
    if reading.flow is None or reading.problems:
        raise ConfigurationException(f"{shipped.name} cannot be deployed on an executor", reading.problems)
    return deploy(reading.flow, bind=binder(reading.flow, files=shipped.files))
