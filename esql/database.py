"""What ESQL asks of databases: statements as data with bound values, and the one call that a connection answers.

A statement is what the program says, known when it is deployed; it can be hashed, so that a connection may keep what it
makes of it. Where it goes is the names behind `Database`. What speaks of columns of the table is data (`Column`,
`Computed`); everything else has been worked out and is a `Parameter`, so that no text of a message is ever part of SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from engine.tree import Element
from esql.select import new_row


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table that the statement is about."""

    name: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """The value of this number, from 0."""

    number: int


@dataclass(frozen=True, slots=True)
class Computed:
    """What the database works out: an operator of ESQL (`=`, `AND`, `NOT LIKE`, `IS NULL`) or a function by its name.

    BETWEEN has three operands, LIKE two or with its escape three, IN one more than it has choices.
    """

    operator: str
    operands: tuple[Term, ...]


Term: TypeAlias = Column | Parameter | Computed


@dataclass(frozen=True, slots=True)
class Select:
    """Rows with these columns, or without any named with all; those for which the condition is true."""

    columns: tuple[str, ...] = ()
    condition: Term | None = None


@dataclass(frozen=True, slots=True)
class Insert:
    """A row of the values, in the order of the columns; without any named in the order of the table's."""

    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Update:
    """Columns and their new values, in the rows for which the condition is true."""

    changes: tuple[tuple[str, Term], ...]
    condition: Term | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """The rows for which the condition is true."""

    condition: Term | None = None


@dataclass(frozen=True, slots=True)
class Passthru:
    """The first value is SQL as the program wrote it; the others are its parameters."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """A stored procedure by its name, with the directions of its parameters and whether it returns a value.

    Each IN and INOUT is a value. The answer is one row: what it returns, if it does, then OUT and INOUT in order, then
    its result sets, each the rows of it as the value of a column.
    """

    name: str
    directions: tuple[str, ...]
    returns: bool = False
    result_sets: int = 0


@dataclass(frozen=True, slots=True)
class Commit:
    """COMMIT."""


@dataclass(frozen=True, slots=True)
class Rollback:
    """ROLLBACK."""


Statement: TypeAlias = Select | Insert | Update | Delete | Passthru | Procedure | Commit | Rollback
Row: TypeAlias = Sequence[tuple[str, Any]]


class Connection(Protocol):
    """Databases, as a node has them while it carries a message."""

    def execute(self, statement: Statement, place: tuple[str, ...], values: tuple[Any, ...]) -> Iterable[Row]:
        """Do it, and give its rows: names of columns and their values; NULL is None.

        `place` are the names behind Database: table, schema.table or datasource.schema.table, of COMMIT, ROLLBACK and
        PASSTHRU the data source or nothing, of a procedure the data source and the schema, empty where none was named.
        A statement that fails raises a BrokerError with the database's own state in its `sqlstate`.
        """
        ...


def rows_of(rows: Iterable[Row]) -> list[Element]:
    """Rows as SELECT and PASSTHRU see them; a column that is NULL is there, without a value.

    >>> [field.value for field in rows_of([[("ID", 1), ("NAME", None)]])[0]]
    [1, None]
    """
    found = []
    for columns in rows:
        row = new_row()
        for name, value in columns:
            row.add(name, value)
        found.append(row)
    return found
