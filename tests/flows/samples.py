"""Node types that stand for the real ones in tests of flow files, lint and drawings."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from engine.catalog import Catalog
from engine.node import ANY_LABEL, Esql, LabelName, NodeType, mandatory, node, prop

if TYPE_CHECKING:
    from engine.message.assembly import Message
    from engine.work import UnitOfWork

sample_nodes: Catalog[NodeType] = Catalog("node type", package="")


class _Silent:
    """A node that does nothing: these are never run."""

    __slots__ = ()

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        yield "out", message


@node("MQInput", inputs=(), outputs=("failure", "out", "catch"), category="input", catalog=sample_nodes)
@dataclass(frozen=True, slots=True)
class MQInput(_Silent):
    """Take messages from a queue."""

    queue_name: str = mandatory("the queue to read from")
    transaction_mode: Literal["yes", "no", "automatic"] = prop("yes", "")
    message_domain_property: str = prop("", "")
    browse: bool = prop(False, "")
    reset_browse_timeout: int = prop(-1, "")


@node("MQOutput", category="output", catalog=sample_nodes)
@dataclass(frozen=True, slots=True)
class MQOutput(_Silent):
    """Put messages on a queue."""

    queue_name: str = prop("", "the queue to put on")


@dataclass(frozen=True, slots=True)
class FilterRow:
    """A row of Route's table."""

    filter_pattern: Annotated[str, Esql("expression")]
    routing_output_terminal: str = "match"


@node("Route", outputs=("match", "default", "*"), category="routing", catalog=sample_nodes)
@dataclass(frozen=True, slots=True)
class Route(_Silent):
    """Send messages by patterns."""

    filter_table: tuple[FilterRow, ...] = ()


@node("Filter", outputs=("true", "false", "unknown"), category="routing", catalog=sample_nodes)
@dataclass(frozen=True, slots=True)
class Filter(_Silent):
    """Evaluate a condition; NULL goes to `unknown`."""

    filter_expression: Annotated[str, Esql("filter")]
    data_source: str = ""


@node("Compute", outputs=("out", "out1", "out2"), catalog=sample_nodes)
@dataclass(frozen=True, slots=True)
class Compute(_Silent):
    """Make a new message."""

    compute_expression: Annotated[str, Esql("compute")]


@node("Database", category="database", catalog=sample_nodes)
@dataclass(frozen=True, slots=True)
class Database(_Silent):
    """Change a database."""

    statement: Annotated[str, Esql("database")]


@node("TryCatch", outputs=("try", "catch"), failure=False, category="error", catalog=sample_nodes)
@dataclass(frozen=True, slots=True)
class TryCatch(_Silent):
    """Send what fails another way."""


@node("Throw", outputs=(), failure=False, category="error", catalog=sample_nodes)
@dataclass(frozen=True, slots=True)
class Throw(_Silent):
    """Fail."""


@node("Trace", category="diagnosis", catalog=sample_nodes)
@dataclass(frozen=True, slots=True)
class Trace(_Silent):
    """Write a line."""

    pattern: str = ""


@node("RouteToLabel", outputs=(ANY_LABEL,), category="routing", catalog=sample_nodes)
@dataclass(frozen=True, slots=True)
class RouteToLabel(_Silent):
    """Send messages to Labels."""


@node("Label", inputs=(), category="routing", catalog=sample_nodes)
@dataclass(frozen=True, slots=True)
class Label(_Silent):
    """Where a RouteToLabel sends messages."""

    label_name: Annotated[str, LabelName()] = mandatory("the name that messages are sent to")
