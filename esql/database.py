"""The seam between ESQL and databases: statements as data, what answers them, and values both ways."""

from __future__ import annotations

from typing import Any, Final, Protocol

from engine.databases.driver import Duration
from engine.databases.statements import Answer, Names, Statement
from engine.tree import Element
from esql.select import new_row
from esql.values import Bit, Interval, qualifier

_ONLY_HERE: Final = frozenset((Interval, Bit))  # types that databases do not know
_MONTHS: Final = qualifier("YEAR", "MONTH")
_SECONDS: Final = qualifier("DAY", "SECOND")


class Connection(Protocol):
    """Databases, as a node has them while it carries a message."""

    throws: bool  # an error of a database is one of the program

    def execute(self, statement: Statement, place: Names, values: tuple[Any, ...]) -> Answer:
        """Execute a statement and give its rows; NULL is None.

        `place` are the names behind Database: table, schema.table or datasource.schema.table, of COMMIT, ROLLBACK and
        PASSTHRU the data source or nothing, of a procedure the data source and the schema, empty where none was named.
        A statement that fails raises a BrokerError with the database's own state in its `sqlstate`.
        """
        ...


def as_database_values(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values of a program as databases take them: an INTERVAL as a duration, a BIT as its digits."""
    if _ONLY_HERE.isdisjoint(map(type, values)):
        return values
    return tuple(_to_database(value) for value in values)


def _to_database(value: Any) -> Any:
    if isinstance(value, Interval):
        months = value.qualifier.has_months
        return Duration(value.amount, 0) if months else Duration(0, value.amount)
    return value.digits if isinstance(value, Bit) else value


def value_from_database(value: Any) -> Any:
    """A value of a database as ESQL has it: an interval of months and of seconds is a CHARACTER, as ESQL has none.

    >>> str(value_from_database(Duration(14)))
    '1-02'
    """
    if type(value) is not Duration:
        return value
    if value.months and value.microseconds:
        return f"{value.months} months {value.microseconds} microseconds"
    return Interval(value.months, _MONTHS) if value.months else Interval(value.microseconds, _SECONDS)


def rows_of(answer: Answer) -> list[Element]:
    """Rows as SELECT and PASSTHRU see them; a column that is NULL is there, without a value.

    >>> [field.value for field in rows_of(Answer(("ID", "NAME"), [(1, None)]))[0]]
    [1, None]
    """
    names, found = answer.names, []
    for values in answer.rows:
        row = new_row()
        add = row.add
        for name, value in zip(names, values, strict=True):
            add(name, value_from_database(value) if type(value) is Duration else value)
        found.append(row)
    return found


def rows_apart(answer: Answer, tables: list[int]) -> list[tuple[Element, ...]]:
    """The rows of joined tables, each cut into a row of every table; the numbers say whose the columns are.

    >>> [len(list(row)) for row in rows_apart(Answer(("A", "B", "C"), [(1, 2, 3)]), [0, 1, 1])[0]]
    [1, 2]
    """
    count = max(tables, default=-1) + 1
    found = []
    for values in answer.rows:
        rows = tuple(new_row() for _ in range(count))
        for number, name, value in zip(tables, answer.names, values, strict=True):
            rows[number].add(name, value_from_database(value))
        found.append(rows)
    return found
