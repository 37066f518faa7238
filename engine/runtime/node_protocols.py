"""Protocols of nodes that do more than carry messages: they take them in, write files, or know their wires."""

from __future__ import annotations

from collections.abc import Container
from typing import Protocol, runtime_checkable

from engine.files.allowed_folders import AllowedFiles
from engine.message.assembly import Message
from engine.work import UnitOfWork


class Entrance(Protocol):
    """A node at which messages enter a flow: it gets them itself."""

    def receive(self, work: UnitOfWork) -> Message | None:
        """Returns the next message of its queue, or None where there is none."""
        ...


@runtime_checkable
class WritesFiles(Protocol):
    """A node that writes files."""

    def allow(self, files: AllowedFiles) -> None:
        """Takes the files that it may write; refuses where its own is none of them."""
        ...


@runtime_checkable
class KnowsWires(Protocol):
    """A node that does less where messages go no further."""

    def wire(self, terminals: Container[str]) -> None:
        """Takes the terminals that are wired, or listened to."""
        ...
