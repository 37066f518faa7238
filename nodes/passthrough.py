"""Passthrough: a place in a flow that has a name and does nothing."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.message.assembly import Message
from engine.node import node

if TYPE_CHECKING:
    from engine.work import UnitOfWork


@node("Passthrough", outputs=("out",), failure=False, category="subflow")
@dataclass(frozen=True, slots=True)
class Passthrough:
    """Send the message on as it came; the node's own label can say, for one, which version a subflow is of."""

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        yield "out", message
