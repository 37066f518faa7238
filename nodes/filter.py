"""Filter: send a message one of three ways by an ESQL condition."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from engine.message import Message
from engine.node import Esql, Pending, mandatory, node, prop
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

    data_source: Annotated[str, Pending("databases")] = prop("", "The database that the condition asks.")
    transaction: Annotated[Literal["automatic", "commit"], Pending("databases")] = prop(
        "automatic", "Whether its work there ends with the flow's unit of work, or with the node."
    )
    treat_warnings_as_errors: Annotated[bool, Pending("databases")] = prop(
        False, "Whether a warning of the database is a failure."
    )
    throw_exception_on_database_error: Annotated[bool, Pending("databases")] = prop(
        True, "Whether an error of the database is a failure, or for the program to look at."
    )

    def __post_init__(self) -> None:
        bound(self.filter_expression, "filterExpression")

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        return self.filter_expression(message)
