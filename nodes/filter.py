"""Filter: send a message one of three ways by an ESQL condition."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from engine.databases.session import Access
from engine.message import Message
from engine.node import Esql, mandatory, node, prop
from esql.asking import Asking, asking
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

    data_source: str = prop("", "The database that the condition asks.")
    transaction: Literal["automatic", "commit"] = prop(
        "automatic", "Whether its work there ends with the flow's unit of work, or with the node."
    )
    treat_warnings_as_errors: bool = prop(False, "Whether a warning of the database is a failure.")
    throw_exception_on_database_error: bool = prop(
        True, "Whether an error of the database is a failure, or for the program to look at."
    )

    _program: Asking = field(init=False, repr=False)

    def __post_init__(self) -> None:
        program = bound(self.filter_expression, "filterExpression")
        access = Access(
            self.data_source,
            at_once=self.transaction == "commit",
            warnings_fail=self.treat_warnings_as_errors,
            throws=self.throw_exception_on_database_error,
        )
        object.__setattr__(self, "_program", asking(program, access))

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        return self._program(message, work)
