"""DataDelete: rows of a table deleted by messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from engine.node import Esql, mandatory, node
from esql.runtime.database_programs import StatementNode
from esql.runtime.program import Routine


@node("DataDelete", outputs=("out",), category="database")
@dataclass(frozen=True, slots=True)
class DataDelete(StatementNode):
    """Delete rows of tables, and send the message on as it came."""

    statement: Annotated[Routine, Esql("database")] = mandatory(
        "The name of a DATABASE module of a .esql file, or the statements themselves,"
        " such as DELETE FROM Database.T WHERE T.A = Body.m.a."
    )
