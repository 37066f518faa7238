"""Warehouse: messages, or parts of them, kept in a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from engine.node import Esql, mandatory, node
from esql.runtime.database_programs import StatementNode
from esql.runtime.program import Routine


@node("Warehouse", outputs=("out",), category="database")
@dataclass(frozen=True, slots=True)
class Warehouse(StatementNode):
    """Keep a message or parts of it in a table, and send it on as it came."""

    statement: Annotated[Routine, Esql("database")] = mandatory(
        "The name of a DATABASE module of a .esql file, or the statements themselves,"
        " such as INSERT INTO Database.T VALUES(CURRENT_TIMESTAMP, ASBITSTREAM(Root))."
    )
