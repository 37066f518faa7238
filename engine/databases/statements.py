"""Statements of databases as data, which can be hashed; values are bound when a statement is executed."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias

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
    """The value of this number, from 0; with `is_list` a choice of IN whose value is a list."""

    number: int
    is_list: bool = False


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


@dataclass(frozen=True, slots=True)
class Query:
    """Rows of further tables, by their numbers: EXISTS of them, the choices of IN, or THE first value."""

    kind: Literal["EXISTS", "IN", "THE"]
    tables: tuple[int, ...]
    wanted: Term | None = None
    condition: Term | None = None


Term: TypeAlias = Column | Parameter | Computed | Converted | Query


@dataclass(frozen=True, slots=True)
class Select:
    """Rows with these columns, or without any named with all; those for which the condition is true.

    `joined` are further tables of the same data source, and `nested` those of queries in the condition, numbered behind
    them. `rest` tells that more is tested when the rows have come.
    """

    columns: tuple[Term, ...] = ()
    condition: Term | None = None
    table: Names = ()
    joined: tuple[Names, ...] = ()
    rest: bool = False
    order: tuple[tuple[Term, bool], ...] = ()  # what rows are ordered by, and whether from the largest down
    nested: tuple[Names, ...] = ()
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
    nested: tuple[Names, ...] = ()
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Delete:
    """The rows for which the condition is true."""

    condition: Term | None = None
    table: Names = ()
    nested: tuple[Names, ...] = ()
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


LONG: Final = 4096  # parameters of a statement; those of longer ones differ from time to time, so they are not kept

OfTable: TypeAlias = Select | Insert | Update | Delete
OfRows: TypeAlias = Select | Update | Delete
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


def expanded(statement: OfRows, counts: tuple[int, ...]) -> OfRows:
    """Returns a statement whose lists are so many parameters each; the count of a value that is no list is 1.

    >>> shown = expanded(Delete(Computed("IN", (Column("A"), Parameter(0, is_list=True)))), (2,)).condition
    >>> shown.operands[1:]
    (Parameter(number=0, is_list=False), Parameter(number=1, is_list=False))
    """
    return (_expanded if sum(counts) <= LONG else _expanded.__wrapped__)(statement, counts)


@lru_cache(maxsize=1024)
def _expanded(statement: OfRows, counts: tuple[int, ...]) -> OfRows:
    places = tuple(sum(counts[:number]) for number in range(len(counts)))

    def each(value: Any) -> tuple[Any, ...]:
        if isinstance(value, Parameter):
            first = places[value.number]
            return tuple(Parameter(number) for number in range(first, first + counts[value.number]))
        if type(value) is tuple:
            return (tuple(part for one in value for part in each(one)),)
        if is_dataclass(value) and not isinstance(value, type | ColumnType):
            return (replace(value, **{one.name: each(getattr(value, one.name))[0] for one in fields(value)}),)
        return (value,)

    made: OfRows = each(statement)[0]
    return made
