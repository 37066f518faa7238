"""Filter: send a message one of three ways by an ESQL condition."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from engine.message import Message
from engine.node import Esql, mandatory, node
from esql.program import Routine, bound

if TYPE_CHECKING:
    from engine.work import UnitOfWork


@node("Filter", outputs=("true", "false", "unknown"), category="routing")
@dataclass(frozen=True, slots=True)
class Filter:
    """Evaluate a condition; NULL goes to `unknown`."""

    filter_expression: Annotated[Routine, Esql("filter")] = mandatory(
        "The condition: the name of a FILTER module of a .esql file, an expression, or statements that RETURN one."
    )

    def __post_init__(self) -> None:
        bound(self.filter_expression, "filterExpression")

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        return self.filter_expression(message)
