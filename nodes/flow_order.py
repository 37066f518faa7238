"""FlowOrder: send a message to two terminals in a fixed order."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.message.assembly import Message
from engine.node import node

if TYPE_CHECKING:
    from engine.work import UnitOfWork


@node("FlowOrder", outputs=("failure", "first", "second"), category="routing")
@dataclass(frozen=True, slots=True)
class FlowOrder:
    """Send the message to `first` and, when all behind it is done without a failure, the same message to `second`."""

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        yield "first", message
        yield "second", message
