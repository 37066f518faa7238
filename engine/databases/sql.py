"""Statements as SQL: names as the database has them, quoted; every value is a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from engine.databases.driver import BINARY, Binder, ColumnType, Driver, Reader, operation
from engine.databases.statements import (
    LONG,
    Column,
    Computed,
    Converted,
    Delete,
    Insert,
    Names,
    OfTable,
    Parameter,
    Query,
    Select,
    Statement,
    Term,
    Update,
)
from engine.databases.tables import Table

_UNKNOWN: Final = ColumnType()
_NUMBER: Final = ColumnType("number")
_TEXT: Final = ColumnType("text")
_ARITHMETIC: Final = frozenset(("+", "-", "*", "/", "MOD"))
_TEXTS: Final = frozenset(
    (
        *("||", "UPPER", "UCASE", "LOWER", "LCASE", "SUBSTRING", "LEFT", "RIGHT", "REPLACE", "REPLICATE", "TRANSLATE"),
        *("TRIM", "LTRIM", "RTRIM", "OVERLAY", "LIKE", "NOT LIKE"),
    )
)
_MOMENTS: Final = frozenset(("date", "time", "timestamp", "interval"))
_LENGTHS: Final = frozenset(("LENGTH", "POSITION", "COUNT"))
_OF_OPERANDS: Final = frozenset(
    (
        "COALESCE",
        "NULLIF",
        "SUM",
        "MAX",
        "MIN",
        "ABS",
        "ABSVAL",
        "ROUND",
        "TRUNCATE",
        "CASE",
        "FLOOR",
        "CEIL",
        "CEILING",
    )
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A statement as one database executes it: its SQL, the numbers of the values in it, and what is read of rows."""

    statement: object
    sql: str
    order: tuple[int, ...] = ()
    types: tuple[ColumnType, ...] = ()
    binders: tuple[Binder | None, ...] = ()
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

    @property
    def converts(self) -> bool:
        """Returns True if what is assigned to a column needs no cast."""
        ...

    def operation(self, operator: str, operands: Sequence[str], types: Sequence[ColumnType]) -> str:
        """An operator or a function."""
        ...

    def converted(self, sql: str, to: ColumnType) -> str:
        """A value cast to a type."""
        ...


@dataclass(slots=True)
class _Writer:
    """The SQL of one statement while it is written."""

    spelling: Spelling
    tables: Sequence[Table]
    own: int  # so many tables are the statement's; those behind are of queries in it
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
            case Converted(operand, type_):
                return self.spelling.converted(self.term(operand, like), type_)
            case Computed(operator, operands):
                return self._computed(operator, operands, like)
            case Query():
                return self._query(term)

    def _query(self, query: Query) -> str:
        wanted = "1" if query.wanted is None else self.term(query.wanted)
        sql = f"SELECT {wanted} FROM {', '.join(map(self.table, query.tables))}{self.where(query.condition)}"
        if query.kind == "THE" and not _is_aggregate(query.wanted):
            sql += " LIMIT 1"
        return sql if query.kind == "IN" else f"EXISTS ({sql})" if query.kind == "EXISTS" else f"({sql})"

    def type_of(self, term: Term) -> ColumnType:
        """The type of a term as far as it is known before values are."""
        match term:
            case Column(name, number):
                return self.tables[number].column(name).type
            case Converted(type=type_):
                return replace(type_, computed=True)
            case Computed(operator, operands):
                return self._type_of(operator, operands)
            case Query(wanted=wanted) if wanted is not None:
                return self.type_of(wanted)
        return _UNKNOWN

    def _type_of(self, operator: str, operands: tuple[Term, ...]) -> ColumnType:
        if operator in _TEXTS:
            return _TEXT
        if operator in _LENGTHS:
            return ColumnType("integer")
        if operator in _ARITHMETIC:
            kinds = {self.type_of(one).kind for one in operands}
            if moments := kinds & _MOMENTS:
                return ColumnType(
                    "interval" if len(operands) == 2 and kinds <= _MOMENTS else moments.pop(), computed=True
                )
            kind = "float" if "float" in kinds else "integer" if kinds == {"integer"} else "decimal"
            return ColumnType(kind, computed=True)
        if operator in _OF_OPERANDS:
            results = (*operands[1::2], *operands[len(operands) // 2 * 2 :]) if operator == "CASE" else operands
            found = self._known(results)
            return replace(found, precision=None, computed=True)
        return _UNKNOWN

    def _known(self, operands: Sequence[Term]) -> ColumnType:
        return next((known for one in operands if (known := self.type_of(one)).kind), _UNKNOWN)

    def _computed(self, operator: str, operands: tuple[Term, ...], like: ColumnType) -> str:
        beside = self._beside(operator, operands, like)
        if operator in {"IN", "NOT IN"} and len(operands) == 1:  # no choices
            return "(1 = 1)" if operator.startswith("NOT") else "(1 = 0)"
        if operator.endswith("BETWEEN SYMMETRIC"):
            return self._symmetric(operator, operands, beside)
        likes = [_UNKNOWN if _is_test(operator, place, operands) else beside for place in range(len(operands))]
        parts = [self.term(one, own) for one, own in zip(operands, likes, strict=True)]
        types = [self.type_of(one) if not isinstance(one, Parameter) else beside for one in operands]
        return self.spelling.operation(operator, parts, types)

    def _beside(self, operator: str, operands: tuple[Term, ...], like: ColumnType) -> ColumnType:
        """The type of which values are that stand beside the other operands."""
        if operator in _ARITHMETIC:
            return _NUMBER
        if operator in {"||", "LIKE", "NOT LIKE"}:
            return _TEXT
        if operator == "CASE":
            return like if like.kind else self._type_of(operator, operands)
        return self._known(operands) if operator in _COMPARING else _UNKNOWN

    def _symmetric(self, operator: str, operands: tuple[Term, ...], like: ColumnType) -> str:
        value, low, high = operands
        ways = [Computed("BETWEEN", (value, *bounds)) for bounds in ((low, high), (high, low))]
        made = self.term(Computed("OR", tuple(ways)), like)
        return f"(NOT {made})" if operator.startswith("NOT") else made

    def assigned(self, term: Term, column: ColumnType) -> str:
        """A term as the new value of a column."""
        stored = replace(column, stored=True)
        made = self.term(term, stored)
        is_plain = isinstance(term, Parameter) or self.spelling.converts or self.type_of(term) == column
        is_number = "decimal" in {self.type_of(term).kind, column.kind}
        return made if is_plain or not is_number or not column.kind else self.spelling.converted(made, column)

    def table(self, number: int, before_alias: str = " ") -> str:
        """A table as it is named behind FROM."""
        found = self.tables[number]
        parts = [self.spelling.quoted(part) for part in (found.schema, found.name) if part]
        return ".".join(parts) + (f"{before_alias}T{number + 1}" if self.alias else "")

    def where(self, condition: Term | None) -> str:
        """The condition of a statement."""
        if condition is None:
            return ""
        made = self.term(condition)
        is_wrapped = isinstance(condition, Computed) and condition.operator in BINARY
        return f" WHERE {made[1:-1] if is_wrapped else made}"


def _is_aggregate(term: Term | None) -> bool:
    return isinstance(term, Computed) and term.operator in {"COUNT", "MAX", "MIN", "SUM"}


def _is_test(operator: str, place: int, operands: Sequence[Term]) -> bool:
    """Returns True for a condition of CASE."""
    return operator == "CASE" and place % 2 == 0 and place + 1 < len(operands)


_COMPARING: Final = frozenset(
    (
        *("=", "<>", "<", ">", "<=", ">=", "IN", "NOT IN", "BETWEEN", "NOT BETWEEN", "LIKE", "NOT LIKE"),
        *("BETWEEN SYMMETRIC", "NOT BETWEEN SYMMETRIC", "COALESCE", "NULLIF"),
    )
)


def further_tables(statement: OfTable) -> tuple[Names, ...]:
    """The tables of a statement behind its own: those that it joins, and those of queries in its conditions."""
    return (*getattr(statement, "joined", ()), *getattr(statement, "nested", ()))


def plan_of(statement: OfTable, tables: Sequence[Table], driver: Driver) -> Plan:
    """Returns the plan of a statement for the tables that it names."""
    writer = _Writer(driver, tables, len(tables) - len(getattr(statement, "nested", ())), alias=len(tables) > 1)
    sql = _sql(writer, statement)
    found = tuple(writer.order)
    names, types = _answer(writer, statement) if isinstance(statement, Select) else ((), ())
    readers = tuple((i, read) for i, one in enumerate(types) if (read := driver.reader(one)) is not None)
    readers += tuple((i, _whole) for i, term in enumerate(getattr(statement, "columns", ())) if _is_whole(writer, term))
    return Plan(
        statement,
        sql,
        found,
        tuple(writer.types),
        binders_of(writer.types, driver),
        names,
        readers,
        writes=not isinstance(statement, Select),
        prepared=len(found) <= LONG,
        in_order=found == tuple(range(len(found))),
    )


def binders_of(types: Sequence[ColumnType], driver: Driver) -> tuple[Binder | None, ...]:
    """Functions for the values of parameters of these types; empty where all are bound as they are."""
    found = tuple(map(driver.binder, types))
    return found if any(found) else ()


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
            tables = ", ".join(writer.table(number) for number in range(writer.own))
            ordered = ", ".join(f"{writer.term(one)}{' DESC' if down else ''}" for one, down in statement.order)
            by = f" ORDER BY {ordered}" if ordered else ""
            return f"SELECT {wanted} FROM {tables}{writer.where(condition)}{by}"
        case Insert(columns=columns):
            table = writer.tables[0]
            named = [table.column(name) for name in columns] or list(table.columns)
            titles = ", ".join(writer.spelling.quoted(one.name) for one in named)
            markers = ", ".join(writer.assigned(Parameter(number), one.type) for number, one in enumerate(named))
            return f"INSERT INTO {writer.table(0)} ({titles}) VALUES ({markers})"
        case Update(changes=changes, condition=condition):
            table = writer.tables[0]
            named_changes = [(table.column(name), term) for name, term in changes]
            made = [
                f"{writer.spelling.quoted(one.name)} = {writer.assigned(term, one.type)}" for one, term in named_changes
            ]
            return f"UPDATE {writer.table(0, ' AS ')} SET {', '.join(made)}{writer.where(condition)}"
        case Delete(condition=condition):
            return f"DELETE FROM {writer.table(0, ' AS ')}{writer.where(condition)}"


def _all(writer: _Writer) -> str:
    return ", ".join(
        writer.term(Column(one.name, number))
        for number, table in enumerate(writer.tables[: writer.own])
        for one in table.columns
    )


def _answer(writer: _Writer, statement: Select) -> tuple[tuple[str, ...], tuple[ColumnType, ...]]:
    """The names under which columns are given, which are those that the program wrote, and their types."""
    if not statement.columns:
        found = [one for table in writer.tables[: writer.own] for one in table.columns]
        return tuple(one.name for one in found), tuple(one.type for one in found)
    names = tuple(one.name if isinstance(one, Column) else "" for one in statement.columns)
    return names, tuple(writer.type_of(one) for one in statement.columns)


class _AsWritten:
    """SQL without a database: names as programs write them."""

    converts = True

    def quoted(self, name: str) -> str:
        return name if name.replace("_", "a").isalnum() else '"' + name.replace('"', '""') + '"'

    def marker(self, number: int) -> str:
        return "?"

    def operation(self, operator: str, operands: Sequence[str], types: Sequence[ColumnType]) -> str:
        return operation(operator, operands, {})

    def converted(self, sql: str, to: ColumnType) -> str:
        size = f"({to.precision}, {to.scale or 0})" if to.precision else ""
        return f"CAST({sql} AS {to.kind.upper()}{size})"


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
    places = [statement.table, *further_tables(statement)]
    tables = [_AnyTable(".".join(place[-2:-1]), place[-1] if place else "?", ()) for place in places]
    writer = _Writer(_AsWritten(), tables, len(tables) - len(getattr(statement, "nested", ())), alias=len(tables) > 1)
    if isinstance(statement, Select) and not statement.columns:
        names = ", ".join(writer.table(number) for number in range(writer.own))
        return f"SELECT * FROM {names}{writer.where(statement.condition)}"
    if isinstance(statement, Insert):
        titles = f" ({', '.join(map(writer.spelling.quoted, statement.columns))})" if statement.columns else ""
        values = ", ".join("?" for _ in statement.columns) or "…"
        return f"INSERT INTO {writer.table(0)}{titles} VALUES ({values})"
    return _sql(writer, statement)
