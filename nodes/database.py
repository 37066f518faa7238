"""Database, and its forms for one kind of statement each: DataInsert, DataUpdate, DataDelete and Warehouse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from engine.node import Esql, mandatory, node
from esql.runtime.database_programs import StatementNode
from esql.runtime.program import Routine

_PROGRAM: Final = "The name of a DATABASE module of a .esql file, or the statements themselves, such as {}."


@node("Database", outputs=("out", "out1", "out2", "out3", "out4"), category="database")
@dataclass(frozen=True, slots=True)
class Database(StatementNode):
    """Run an ESQL program over databases and send the message on as it came; it may change the Environment."""

    statement: Annotated[Routine, Esql("database")] = mandatory(_PROGRAM.format("INSERT, UPDATE, DELETE and PASSTHRU"))


@node("DataInsert", outputs=("out",), category="database")
@dataclass(frozen=True, slots=True)
class DataInsert(StatementNode):
    """Insert rows into tables, and send the message on as it came."""

    statement: Annotated[Routine, Esql("database")] = mandatory(
        _PROGRAM.format("INSERT INTO Database.T(A) VALUES(Body.m.a)")
    )


@node("DataUpdate", outputs=("out",), category="database")
@dataclass(frozen=True, slots=True)
class DataUpdate(StatementNode):
    """Change rows of tables, and send the message on as it came."""

    statement: Annotated[Routine, Esql("database")] = mandatory(_PROGRAM.format("UPDATE Database.T SET A = Body.m.a"))


@node("DataDelete", outputs=("out",), category="database")
@dataclass(frozen=True, slots=True)
class DataDelete(StatementNode):
    """Delete rows of tables, and send the message on as it came."""

    statement: Annotated[Routine, Esql("database")] = mandatory(
        _PROGRAM.format("DELETE FROM Database.T WHERE T.A = Body.m.a")
    )


@node("Warehouse", outputs=("out",), category="database")
@dataclass(frozen=True, slots=True)
class Warehouse(StatementNode):
    """Keep a message or parts of it in a table, and send it on as it came."""

    statement: Annotated[Routine, Esql("database")] = mandatory(
        _PROGRAM.format("INSERT INTO Database.T VALUES(CURRENT_TIMESTAMP, ASBITSTREAM(Root))")
    )
