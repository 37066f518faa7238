"""Database: ESQL that works with databases while the message goes on unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from engine.node import Esql, mandatory, node
from esql.runtime.database_programs import StatementNode
from esql.runtime.program import Routine


@node("Database", outputs=("out", "out1", "out2", "out3", "out4"), category="database")
@dataclass(frozen=True, slots=True)
class Database(StatementNode):
    """Run an ESQL program over databases and send the message on as it came; it may change the Environment."""

    statement: Annotated[Routine, Esql("database")] = mandatory(
        "The name of a DATABASE module of a .esql file, or the statements themselves,"
        " such as INSERT, UPDATE, DELETE and PASSTHRU."
    )
