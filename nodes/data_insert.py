"""DataInsert: rows of a table made of messages."""

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


@node("DataInsert", outputs=("out",), category="database")
@dataclass(frozen=True, slots=True)
class DataInsert:
    """Insert rows into tables, and send the message on as it came."""

    statement: Annotated[Routine, Esql("database")] = mandatory(
        "The name of a DATABASE module of a .esql file, or the statements themselves,"
        " such as INSERT INTO Database.T(A) VALUES(Body.m.a)."
    )

    data_source: str = prop("", DATA_SOURCE)
    transaction: Literal["automatic", "commit"] = prop("automatic", TRANSACTION)
    treat_warnings_as_errors: bool = prop(False, WARNINGS)
    throw_exception_on_database_error: bool = prop(True, THROWS)

    _program: Asking = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_program", asking(bound(self.statement, "statement"), self))

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        return self._program(message, work)
