"""Label: where messages go on that a node has routed here by name."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from engine.message.assembly import Message
from engine.node import LabelName, mandatory, node

if TYPE_CHECKING:
    from engine.work import UnitOfWork


@node("Label", inputs=(), failure=False, category="routing")
@dataclass(frozen=True, slots=True)
class Label:
    """Send on, as it came, what RouteToLabel nodes and PROPAGATE TO LABEL send to this name; no wire leads here."""

    label_name: Annotated[str, LabelName()] = mandatory("The name that messages are routed to; unique in a flow.")

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        yield "out", message
