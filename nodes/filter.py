"""Filter: send a message one of three ways by an ESQL condition."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from engine.message.assembly import Message
from engine.node import Esql, mandatory, node, prop
from esql.runtime.database_programs import DATA_SOURCE, THROWS, TRANSACTION, WARNINGS, Asking, asking
from esql.runtime.program import Routine, bound

if TYPE_CHECKING:
    from engine.work import UnitOfWork


@node("Filter", outputs=("true", "false", "unknown"), category="routing")
@dataclass(frozen=True, slots=True)
class Filter:
    """Evaluate a condition; NULL goes to `unknown`."""

    filter_expression: Annotated[Routine, Esql("filter")] = mandatory(
        "The condition: the name of a FILTER module of a .esql file, an expression, or statements that RETURN one."
    )

    data_source: str = prop("", DATA_SOURCE)
    transaction: Literal["automatic", "commit"] = prop("automatic", TRANSACTION)
    treat_warnings_as_errors: bool = prop(False, WARNINGS)
    throw_exception_on_database_error: bool = prop(True, THROWS)

    _program: Routine | Asking = field(init=False, repr=False)

    def __post_init__(self) -> None:
        program = bound(self.filter_expression, "filterExpression")
        object.__setattr__(self, "_program", asking(program, self))

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        return self._program(message, work)
