"""Statements as SQL: names as the database has them, quoted; every value is a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from engine.databases.driver import ColumnType, Driver, Reader
from engine.databases.statements import (
    Column,
    Computed,
    Delete,
    Insert,
    OfTable,
    Parameter,
    Select,
    Statement,
    Term,
    Update,
)
from engine.databases.tables import Table

_BINARY: Final = frozenset(("=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "||", "AND", "OR"))
_UNKNOWN: Final = ColumnType()


@dataclass(frozen=True, slots=True)
class Plan:
    """A statement as one database executes it: its SQL, the numbers of the values in it, and what is read of rows."""

    statement: object
    sql: str
    order: tuple[int, ...] = ()
    types: tuple[ColumnType, ...] = ()
    names: tuple[str, ...] = ()
    readers: tuple[tuple[int, Reader], ...] = ()
    writes: bool = True
    prepared: bool = True
    in_order: bool = False


class Spelling(Protocol):
    """The parts of SQL that each driver spells in its own way."""

    def quoted(self, name: str) -> str:
        """A name as it stands in SQL."""
        ...

    def marker(self, number: int) -> str:
        """The parameter of this number, from 1."""
        ...

    def function(self, name: str, operands: list[str]) -> str:
        """The call of a function."""
        ...


@dataclass(slots=True)
class _Writer:
    """The SQL of one statement while it is written."""

    spelling: Spelling
    tables: Sequence[Table]
    alias: bool
    order: list[int] = field(default_factory=list)
    types: list[ColumnType] = field(default_factory=list)

    def term(self, term: Term, like: ColumnType = _UNKNOWN) -> str:
        """A term; a parameter that stands beside a column is a value of its type."""
        match term:
            case Column(name, number):
                quoted = self.spelling.quoted(self.tables[number].column(name).name)
                return f"T{number + 1}.{quoted}" if self.alias else quoted
            case Parameter(number):
                self.order.append(number)
                self.types.append(like)
                return self.spelling.marker(len(self.order))
            case Computed(operator, operands):
                return self._computed(operator, operands)

    def type_of(self, term: Term) -> ColumnType:
        """The type of a column; of anything else nothing is known."""
        if isinstance(term, Column):
            return self.tables[term.table].column(term.name).type
        return _UNKNOWN

    def _computed(self, operator: str, operands: tuple[Term, ...]) -> str:
        like = next((known for one in operands if (known := self.type_of(one)).kind), _UNKNOWN)
        if operator in {"AND", "OR"} or operator not in _COMPARING:
            like = _UNKNOWN
        if operator == "COUNT" and not operands:
            return "COUNT(*)"
        if operator.endswith("BETWEEN SYMMETRIC"):
            return self._symmetric(operator, operands, like)
        parts = [self.term(one, like) for one in operands]
        if operator in _BINARY and len(parts) > 1:
            return "(" + f" {operator} ".join(parts) + ")"
        if operator in {"NOT", "-", "+"}:
            return f"({operator} {parts[0]})"
        if operator.startswith("IS "):
            return f"({parts[0]} {operator.replace('UNKNOWN', 'NULL')})"
        if operator.endswith("BETWEEN"):
            return f"({parts[0]} {operator} {parts[1]} AND {parts[2]})"
        if operator in {"IN", "NOT IN"}:
            return f"({parts[0]} {operator} ({', '.join(parts[1:])}))"
        made = self.spelling.function(operator, parts)
        return f"({made})" if operator.endswith("LIKE") else made

    def _symmetric(self, operator: str, operands: tuple[Term, ...], like: ColumnType) -> str:
        value, low, high = operands
        ways = [
            f"{self.term(value, like)} BETWEEN {self.term(first, like)} AND {self.term(last, like)}"
            for first, last in ((low, high), (high, low))
        ]
        return f"({'NOT ' if operator.startswith('NOT') else ''}({ways[0]} OR {ways[1]}))"

    def table(self, number: int) -> str:
        """A table as it is named behind FROM."""
        found = self.tables[number]
        parts = [self.spelling.quoted(part) for part in (found.schema, found.name) if part]
        return ".".join(parts) + (f" T{number + 1}" if self.alias else "")

    def where(self, condition: Term | None) -> str:
        """The condition of a statement."""
        if condition is None:
            return ""
        made = self.term(condition)
        is_wrapped = isinstance(condition, Computed) and condition.operator in _BINARY
        return f" WHERE {made[1:-1] if is_wrapped else made}"


_COMPARING: Final = frozenset(
    (
        *("=", "<>", "<", ">", "<=", ">=", "IN", "NOT IN", "BETWEEN", "NOT BETWEEN", "LIKE", "NOT LIKE"),
        *("BETWEEN SYMMETRIC", "NOT BETWEEN SYMMETRIC", "COALESCE", "NULLIF"),
    )
)


def plan_of(statement: OfTable, tables: Sequence[Table], driver: Driver) -> Plan:
    """Returns the plan of a statement for the tables that it names."""
    writer = _Writer(driver, tables, alias=isinstance(statement, Select) and len(tables) > 1)
    sql = _sql(writer, statement)
    found = tuple(writer.order)
    names, types = _answer(writer, statement) if isinstance(statement, Select) else ((), ())
    readers = tuple((i, read) for i, one in enumerate(types) if (read := driver.reader(one)) is not None)
    readers += tuple((i, _whole) for i, term in enumerate(getattr(statement, "columns", ())) if _is_whole(writer, term))
    in_order = found == tuple(range(len(found)))
    is_read = isinstance(statement, Select)
    return Plan(statement, sql, found, tuple(writer.types), names, readers, writes=not is_read, in_order=in_order)


def _is_whole(writer: _Writer, term: Any) -> bool:
    """Returns True for the sum of a column of integers, which some databases give as a decimal."""
    return (
        isinstance(term, Computed)
        and term.operator == "SUM"
        and len(term.operands) == 1
        and writer.type_of(term.operands[0]).kind == "integer"
    )


def _whole(value: Any) -> Any:
    return int(value) if value is not None and value == int(value) and abs(value) < 2**63 else value


def _sql(writer: _Writer, statement: OfTable) -> str:
    match statement:
        case Select(columns=columns, condition=condition):
            wanted = ", ".join(writer.term(one) for one in columns) or _all(writer)
            tables = ", ".join(writer.table(number) for number in range(len(writer.tables)))
            ordered = ", ".join(f"{writer.term(one)}{' DESC' if down else ''}" for one, down in statement.order)
            by = f" ORDER BY {ordered}" if ordered else ""
            return f"SELECT {wanted} FROM {tables}{writer.where(condition)}{by}"
        case Insert(columns=columns):
            table = writer.tables[0]
            named = [table.column(name) for name in columns] or list(table.columns)
            titles = ", ".join(writer.spelling.quoted(one.name) for one in named)
            markers = ", ".join(writer.term(Parameter(number), one.type) for number, one in enumerate(named))
            return f"INSERT INTO {writer.table(0)} ({titles}) VALUES ({markers})"
        case Update(changes=changes, condition=condition):
            table = writer.tables[0]
            named_changes = [(table.column(name), term) for name, term in changes]
            made = [
                f"{writer.spelling.quoted(one.name)} = {writer.term(term, one.type)}" for one, term in named_changes
            ]
            return f"UPDATE {writer.table(0)} SET {', '.join(made)}{writer.where(condition)}"
        case Delete(condition=condition):
            return f"DELETE FROM {writer.table(0)}{writer.where(condition)}"


def _all(writer: _Writer) -> str:
    return ", ".join(
        writer.term(Column(one.name, number)) for number, table in enumerate(writer.tables) for one in table.columns
    )


def _answer(writer: _Writer, statement: Select) -> tuple[tuple[str, ...], tuple[ColumnType, ...]]:
    """The names under which columns are given, which are those that the program wrote, and their types."""
    if not statement.columns:
        found = [one for table in writer.tables for one in table.columns]
        return tuple(one.name for one in found), tuple(one.type for one in found)
    names = tuple(one.name if isinstance(one, Column) else "" for one in statement.columns)
    return names, tuple(writer.type_of(_inside(one)) for one in statement.columns)


def _inside(term: Term) -> Term:
    """The column that an aggregate is over, for it gives a value of the same type."""
    if isinstance(term, Computed) and term.operator in {"SUM", "MAX", "MIN"} and len(term.operands) == 1:
        return term.operands[0]
    return term


class _AsWritten:
    """SQL without a database: names as programs write them."""

    def quoted(self, name: str) -> str:
        return name if name.replace("_", "a").isalnum() else '"' + name.replace('"', '""') + '"'

    def marker(self, number: int) -> str:
        return "?"

    def function(self, name: str, operands: list[str]) -> str:
        if name in {"LIKE", "NOT LIKE"}:
            return f"{operands[0]} {name} {operands[1]}" + (f" ESCAPE {operands[2]}" if operands[2:] else "")
        return f"{name}({', '.join(operands)})"


@dataclass(frozen=True, slots=True)
class _AnyTable(Table):
    """A table of which nothing is known but its names."""

    def column(self, name: str) -> Any:
        from engine.databases.tables import Column as Known  # noqa: PLC0415

        return Known(name, _UNKNOWN)


def shown(statement: Statement) -> str:
    """The SQL of a statement for people to read, with names as the program has them.

    >>> shown(Select((Column("A"),), Computed("=", (Column("B"), Parameter(0))), ("S", "T")))
    'SELECT A FROM S.T WHERE B = ?'
    """
    if not isinstance(statement, Select | Insert | Update | Delete):
        return type(statement).__name__.upper()
    places = [statement.table, *(statement.joined if isinstance(statement, Select) else ())]
    tables = [_AnyTable(".".join(place[-2:-1]), place[-1] if place else "?", ()) for place in places]
    writer = _Writer(_AsWritten(), tables, alias=len(tables) > 1)
    if isinstance(statement, Select) and not statement.columns:
        names = ", ".join(writer.table(number) for number in range(len(tables)))
        return f"SELECT * FROM {names}{writer.where(statement.condition)}"
    if isinstance(statement, Insert):
        titles = f" ({', '.join(map(writer.spelling.quoted, statement.columns))})" if statement.columns else ""
        values = ", ".join("?" for _ in statement.columns) or "…"
        return f"INSERT INTO {writer.table(0)}{titles} VALUES ({values})"
    return _sql(writer, statement)
