"""DataUpdate: rows of a table changed by messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from engine.node import Esql, mandatory, node
from esql.runtime.database_programs import StatementNode
from esql.runtime.program import Routine


@node("DataUpdate", outputs=("out",), category="database")
@dataclass(frozen=True, slots=True)
class DataUpdate(StatementNode):
    """Change rows of tables, and send the message on as it came."""

    statement: Annotated[Routine, Esql("database")] = mandatory(
        "The name of a DATABASE module of a .esql file, or the statements themselves,"
        " such as UPDATE Database.T SET A = Body.m.a."
    )
