"""DatabaseRoute: messages sent by conditions on rows that are looked up."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from engine.databases.queries import NamespaceElement, Query, QueryElement
from engine.errors import ConfigurationException
from engine.message.assembly import Message
from engine.message.xpath import TREES, XPath, plain_name
from engine.node import ANY_TERMINAL, node, prop

if TYPE_CHECKING:
    from engine.work import UnitOfWork


@dataclass(frozen=True, slots=True)
class FilterElement:
    """A condition, and the terminal that messages for which it is true leave by."""

    filter_pattern: str = prop("", "An XPath, in which $Table_Column is a value of the row: $CUSTOMER_STATUS = 'gold'.")
    routing_output_terminal: str = prop("", "The terminal.")


@node("DatabaseRoute", outputs=("match", "default", "keyNotFound", ANY_TERMINAL), category="routing")
@dataclass(frozen=True, slots=True)
class DatabaseRoute:
    """Look a row up by values of the message and send that by conditions on the row; none true: `default`."""

    data_source_name: str = prop("", "The data source; empty: the first that there is.")
    query_elements: tuple[QueryElement, ...] = prop((), "The conditions by which the row is looked up.")
    filter_table: tuple[FilterElement, ...] = prop((), "Conditions and the terminals of those that are true.")
    distribution_mode: Literal["all", "first"] = prop(
        "all", "Whether all conditions that are true count, or the first."
    )
    ns_mapping_table: tuple[NamespaceElement, ...] = prop((), "Prefixes that paths use, and their namespaces.")

    _query: Query = field(init=False, repr=False)
    _filters: tuple[tuple[XPath, str], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.query_elements:
            raise ConfigurationException("DatabaseRoute needs queryElements: tableName and columnName", number=2211)
        spaces = {one.ns_prefix: one.namespace for one in self.ns_mapping_table}
        found = tuple(
            (XPath(one.filter_pattern, spaces), one.routing_output_terminal.removeprefix("OutTerminal.") or "match")
            for one in self.filter_table
        )
        object.__setattr__(self, "_filters", found)
        asked = sorted({name for xpath, _ in found for name in xpath.variables if plain_name(name) not in TREES})
        columns = filter(None, map(self._column, asked))
        object.__setattr__(self, "_query", Query(self.data_source_name, self.query_elements, columns))

    def _column(self, variable: str) -> tuple[str, str] | None:
        """Returns the table and the column that a condition asks for; None for one of queryElements without a table."""
        tables = {one.table_name.rpartition(".")[2]: one.table_name for one in self.query_elements if one.table_name}
        for table in sorted(tables, key=len, reverse=True):
            if variable.startswith(f"{table}_"):
                return tables[table], variable.removeprefix(f"{table}_")
        if variable not in {one.column_name for one in self.query_elements}:
            told = f"${next(iter(tables))}_{variable}" if tables else "$Table_Column"
            raise ConfigurationException(f"filterPattern: ${variable} is no column: write {told}", number=2211)
        return None

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        rows = self._query.rows(message, work).rows
        if not rows:
            yield "keyNotFound", message
            return
        known = self._variables(rows[0])
        matched = False
        for xpath, terminal in self._filters:
            if xpath.truth(message, {name: known[name] for name in xpath.variables if name in known}):
                matched = True
                yield terminal, message
                if self.distribution_mode == "first":
                    return
        if not matched:
            yield "default", message

    def _variables(self, row: Any) -> dict[str, Any]:
        """The values of the row by the names that conditions have for them: Table_Column, and Column alone."""
        found: dict[str, Any] = {}
        for (table, column), value in zip(self._query.names, row, strict=True):
            told = "" if value is None else value if isinstance(value, bool | int | float) else str(value)
            found[f"{table.rpartition('.')[2]}_{column}"] = told
            found.setdefault(column, told)
        return found
