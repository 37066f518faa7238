"""Statements of databases as data, which can be hashed; values are bound when a statement is executed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from engine.databases.driver import ColumnType

Names: TypeAlias = tuple[str, ...]  # table, schema.table or datasource.schema.table; a computed name is empty
At: TypeAlias = tuple[str, int, int]  # the file, line and column of a statement

NOWHERE: Final[At] = ("", 0, 0)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table that the statement names: of the first, or of one that it is joined with."""

    name: str
    table: int = 0


@dataclass(frozen=True, slots=True)
class Parameter:
    """The value of this number, from 0."""

    number: int


@dataclass(frozen=True, slots=True)
class Computed:
    """An operator (`=`, `AND`, `NOT LIKE`, `IS NULL`), an aggregate or a function by its name, and its operands.

    BETWEEN has three operands, LIKE two or with its escape three, IN one more than it has choices, COUNT none or one.
    CASE has conditions and results in turn, and behind them the result of ELSE.
    """

    operator: str
    operands: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Converted:
    """A term cast to a type."""

    operand: Term
    type: ColumnType


Term: TypeAlias = Column | Parameter | Computed | Converted


@dataclass(frozen=True, slots=True)
class Select:
    """Rows with these columns, or without any named with all; those for which the condition is true.

    `joined` are further tables of the same data source. `rest` tells that more is tested when the rows have come.
    """

    columns: tuple[Term, ...] = ()
    condition: Term | None = None
    table: Names = ()
    joined: tuple[Names, ...] = ()
    rest: bool = False
    order: tuple[tuple[Term, bool], ...] = ()  # what rows are ordered by, and whether from the largest down
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Insert:
    """A row of the values, in the order of the columns; without any named in the order of the table's."""

    columns: tuple[str, ...] = ()
    table: Names = ()
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Update:
    """Columns and their new values, in the rows for which the condition is true."""

    changes: tuple[tuple[str, Term], ...]
    condition: Term | None = None
    table: Names = ()
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Delete:
    """The rows for which the condition is true."""

    condition: Term | None = None
    table: Names = ()
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Passthru:
    """SQL as the program wrote it, which is the first value; the others are its parameters."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """A stored procedure by its name, with the directions of its parameters and whether it returns a value.

    Each IN and INOUT is a value. The answer is one row: what it returns, if it does, then OUT and INOUT in order, then
    its result sets, each an Answer as the value of a column.
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


OfTable: TypeAlias = Select | Insert | Update | Delete
Statement: TypeAlias = OfTable | Passthru | Procedure | Commit | Rollback


class Warned(NamedTuple):
    """A warning of a database: SQLCODE, SQLSTATE without its origin, the database's own number, and its words."""

    code: int
    state: str
    native: int
    text: str


class Answer(NamedTuple):
    """The rows that a statement gave, under the names of its columns; NULL is None."""

    names: tuple[str, ...] = ()
    rows: Any = ()  # a sequence of sequences of values
    warning: Warned | None = None


NOTHING: Final = Answer()
