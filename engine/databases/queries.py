"""Queries that are tables of properties rather than SQL: columns, operators and values by which rows are looked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from engine.databases.session import Access
from engine.databases.statements import Answer, Column, Computed, Parameter, Passthru, Select, Term
from engine.errors import BrokerError, ConfigurationException
from engine.message.assembly import Message
from engine.message.xpath import XPath
from engine.node import prop
from engine.work import UnitOfWork

_NO_DATABASE: Final = 2393
_UNFIT: Final = 2211
_COMPARISONS: Final = frozenset(("=", "<>", "<", ">", "<=", ">=", "LIKE", "NOT LIKE"))
_NULLS: Final = frozenset(("IS NULL", "IS NOT NULL"))
_ORDERS: Final = frozenset(("ASC", "DESC"))


@dataclass(frozen=True, slots=True)
class QueryElement:
    """A condition on a column, or with ASC and DESC an order; without an operator the column is only read."""

    table_name: str = prop("", "The table, or schema.table.")
    column_name: str = prop("", "The column.")
    operator: str = prop("", "=, <>, <, >, <=, >=, LIKE, NOT LIKE, IS NULL, IS NOT NULL, IN, BETWEEN, ASC or DESC.")
    value_type: Literal["", "None", "Element", "Constant"] = prop("", "What value is: an XPath or a constant.")
    value: str = prop("", "The value that the column is compared with; of IN and BETWEEN several, with commas.")


@dataclass(frozen=True, slots=True)
class NamespaceElement:
    """A prefix of paths, and its namespace."""

    ns_prefix: str = prop("", "The prefix.")
    namespace: str = prop("", "The namespace.")


class Query:
    """Rows of one or several tables of a data source, by conditions whose values come from a message."""

    def __init__(self, source: str, elements: Sequence[QueryElement], columns: Iterable[tuple[str, str]]) -> None:
        self._access = Access(source)
        self.source = source
        tables = list(dict.fromkeys(one.table_name for one in elements if one.table_name))
        if not tables:
            raise ConfigurationException("queryElements name no table: give tableName and columnName", number=_UNFIT)
        self._places = [tuple(table.split(".")) for table in tables]
        self._values: list[XPath | str] = []
        number = {table: place for place, table in enumerate(tables)}
        conditions: list[Term] = []
        order: list[tuple[Term, bool]] = []
        for one in elements:
            column = Column(one.column_name, number.get(one.table_name, 0))
            operator = " ".join(one.operator.upper().split())
            if operator in _ORDERS:
                order.append((column, operator == "DESC"))
            elif operator:
                conditions.append(self._condition(column, operator, one))
        asked = tuple(columns)
        wanted = tuple(Column(name, number.get(table, 0)) for table, name in asked)
        wanted += tuple(Column(e.column_name, number.get(e.table_name, 0)) for e in elements if e.column_name)
        self.names = tuple(dict.fromkeys((tables[one.table], one.name) for one in wanted))
        self._places_in_rows = {
            (table, name): self.names.index((tables[number.get(table, 0)], name)) for table, name in asked
        }
        made = tuple(Column(name, number[table]) for table, name in self.names)
        test = conditions[0] if len(conditions) == 1 else Computed("AND", tuple(conditions)) if conditions else None
        self.statement = Select(made, test, self._places[0], tuple(self._places[1:]), order=tuple(order))

    def _condition(self, column: Column, operator: str, element: QueryElement) -> Term:
        if operator in _NULLS:
            return Computed(operator, (column,))
        if operator in _COMPARISONS:
            return Computed(operator, (column, self._parameter(element, element.value)))
        if operator in {"IN", "NOT IN", "BETWEEN"}:
            parts = [part.strip() for part in element.value.split(",")]
            if operator == "BETWEEN" and len(parts) != 2:
                raise ConfigurationException("BETWEEN has two values with a comma between them", number=_UNFIT)
            return Computed(operator, (column, *(self._parameter(element, part) for part in parts)))
        text = f"operator {element.operator} is none of =, <>, <, >, <=, >=, LIKE, IS NULL, IN, BETWEEN, ASC, DESC"
        raise ConfigurationException(text, number=_UNFIT)

    def _parameter(self, element: QueryElement, value: str) -> Parameter:
        is_path = element.value_type == "Element"
        plain = value[1:-1].replace("''", "'") if value.startswith("'") and value.endswith("'") and value[1:] else value
        self._values.append(XPath(value) if is_path else plain)
        return Parameter(len(self._values) - 1)

    def place(self, table: str, column: str, answer: Answer) -> int:
        """Returns which value of a row is that of a column that was asked for; several tables may have its name."""
        return self._places_in_rows[table, column]

    def rows(self, message: Message, work: UnitOfWork) -> Answer:
        """The rows for a message, with the columns of `names`."""
        connection = self._access.connection(work)
        if connection is None:
            raise BrokerError(_NO_DATABASE, "there is no database for a query: give the command --data-source NAME=URL")
        values: tuple[Any, ...] = tuple(one if isinstance(one, str) else one.string(message) for one in self._values)
        return connection.execute(self.statement, self._places[0], values)


class WrittenQuery:
    """A query that is SQL as a tool has written it, without parameters."""

    def __init__(self, source: str, sql: str) -> None:
        self._access = Access(source)
        self._sql = sql

    @staticmethod
    def place(table: str, column: str, answer: Answer) -> int:
        """Returns which value of a row is that of a column; what the SQL does not give is an error."""
        names = [name.lower() for name in answer.names]
        if column.lower() not in names:
            text = f"sqlQuery gives no column {column}, but {', '.join(answer.names) or 'none'}: correct one of the two"
            raise BrokerError(_UNFIT, text, column)
        return names.index(column.lower())

    def rows(self, message: Message, work: UnitOfWork) -> Answer:
        """The rows."""
        connection = self._access.connection(work)
        if connection is None:
            raise BrokerError(_NO_DATABASE, "there is no database for a query: give the command --data-source NAME=URL")
        return connection.execute(Passthru(), (), (self._sql,))
