"""The seam between ESQL and databases: what answers statements, what SQLCODE and its kin say, and values both ways."""

from __future__ import annotations

from typing import Any, Final, Protocol

from engine.databases.driver import Duration
from engine.databases.errors import DatabaseException
from engine.databases.statements import (
    LONG,
    NOTHING,
    Answer,
    Delete,
    Names,
    Procedure,
    Select,
    Statement,
    Update,
    expanded,
)
from engine.errors import BrokerError
from engine.tree.element import Element
from engine.tree.fresh_rows import fresh_rows
from engine.tree.states import LOOSE
from esql.runtime.program_library import new_row
from esql.values.errors import sqlstate_of
from esql.values.types import Bit, Interval, qualifier

NO_DATABASE: Final = 2393
_ONLY_HERE: Final = frozenset((Interval, Bit))  # types that databases do not know
_MONTHS: Final = qualifier("YEAR", "MONTH")
_SECONDS: Final = qualifier("DAY", "SECOND")


class SqlStatus:
    """The values of SQLCODE, SQLSTATE, SQLERRORTEXT and SQLNATIVEERROR."""

    __slots__ = ("sqlcode", "sqlerrortext", "sqlnativeerror", "sqlstate")

    def __init__(self, sqlcode: int = 0, sqlstate: str = "00000", text: str = "", native: int = 0) -> None:
        self.sqlcode = sqlcode
        self.sqlstate = sqlstate
        self.sqlerrortext = text
        self.sqlnativeerror = native


NO_ERROR: Final = SqlStatus()


def sql_status_of(error: BrokerError) -> SqlStatus:
    """Returns what a handler is told of an error."""
    native, text = getattr(error, "sqlnativeerror", error.number), getattr(error, "sqlerrortext", error.text)
    return SqlStatus(getattr(error, "sqlcode", -1), sqlstate_of(error), text, native)


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


class Asks(Protocol):
    """An invocation of a node: the databases of its unit of work, and what SQLCODE and its kin say."""

    database: Connection | None
    sql: SqlStatus


def with_lists(
    statement: Select | Update | Delete, place: Names, values: tuple[Any, ...]
) -> tuple[Select | Update | Delete, Names, tuple[Any, ...]]:
    """Returns a statement with a parameter for each item of the lists among its values, and all values as one tuple.

    The last item of a list is repeated until their number is a power of two, so that there are few statements; a long
    list is bound as it is, by a statement that nobody keeps.
    """
    filled = [_filled(value) if type(value) is list else (value,) for value in values]
    return expanded(statement, tuple(map(len, filled))), place, tuple(one for many in filled for one in many)


def _filled(items: list[Any]) -> list[Any]:
    more = (1 << (len(items) - 1).bit_length()) - len(items)
    return items + items[-1:] * more if len(items) < LONG else items


def executed(here: Asks, statement: Statement, place: Names, values: tuple[Any, ...]) -> Answer:
    """Do a statement, and keep what SQLCODE, SQLSTATE, SQLNATIVEERROR and SQLERRORTEXT say of it."""
    database = here.database
    if database is None:
        said = type(statement).__name__.upper()
        text = f"there is no database for {said}: give the node a dataSource, and the command --data-source NAME=URL"
        raise BrokerError(NO_DATABASE, text, said.lower())
    try:
        answer = database.execute(statement, place, as_database_values(values))
    except DatabaseException as error:
        if database.throws:
            raise
        here.sql = sql_status_of(error)
        return NOTHING
    if answer.warning is not None:
        code, state, native, text = answer.warning
        here.sql = SqlStatus(code, f"D{state}", text, native)
    elif here.sql is not NO_ERROR:
        here.sql = NO_ERROR
    return answer


def results_of(statement: Procedure, answer: Answer) -> Any:
    """Returns a stored procedure's return value, followed by its OUT and INOUT parameters and its result sets."""
    outputs = sum(direction != "IN" for direction in statement.directions) + statement.result_sets
    count = outputs + statement.returns
    row: tuple[Any, ...] = tuple(next(iter(answer.rows), ()))
    if answer is NOTHING:  # it failed, and the program looks at SQLCODE itself
        row = (None,) * (count - statement.result_sets) + (NOTHING,) * statement.result_sets
    if len(row) != count:
        text = f"{statement.name} answered {len(row)} values and should answer {count}"
        raise BrokerError(NO_DATABASE, text, statement.name)
    answers = list(map(value_from_database, row))
    result = answers.pop(0) if statement.returns else None
    sets = len(answers) - statement.result_sets
    answers[sets:] = [rows_of(rows) for rows in answers[sets:]]
    return (result, *answers) if outputs else result


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


def rows_of(answer: Answer, *, is_loose: bool = True) -> list[Element]:
    """Rows as SELECT and PASSTHRU see them; a column that is NULL is there, without a value.

    >>> [field.value for field in rows_of(Answer(("ID", "NAME"), [(1, None)]))[0]]
    [1, None]
    """
    rows: Any = answer.rows
    if any(value is None or type(value) is Duration for value in next(iter(rows), ())):  # others may be intervals
        rows = [tuple(map(value_from_database, values)) for values in rows]
    return fresh_rows(answer.names, rows, is_loose=is_loose)


def rows_apart(answer: Answer, tables: list[int]) -> list[tuple[Element, ...]]:
    """The rows of joined tables, each cut into a row of every table; the numbers say whose the columns are.

    >>> [len(list(row)) for row in rows_apart(Answer(("A", "B", "C"), [(1, 2, 3)]), [0, 1, 1])[0]]
    [1, 2]
    """
    count = max(tables, default=-1) + 1
    found = []
    for values in answer.rows:
        rows = tuple(new_row() for _ in range(count))
        for row in rows:
            row.state |= LOOSE
        for number, name, value in zip(tables, answer.names, values, strict=True):
            rows[number].add(name, value_from_database(value))
        found.append(rows)
    return found
