"""DatabaseRetrieve: fields of a message given the values of a row that is looked up."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from engine.databases.queries import NamespaceElement, Query, QueryElement, WrittenQuery
from engine.errors import ConfigurationException
from engine.message.assembly import Message
from engine.message.xpath import Copies, Target
from engine.node import node, prop

if TYPE_CHECKING:
    from engine.work import UnitOfWork

_OTHER_TREES: Final = ("Environment", "LocalEnvironment", "DestinationList")


@dataclass(frozen=True, slots=True)
class DataElement:
    """A column, and the field that is given its value."""

    table_name: str = prop("", "The table, where several have a column of this name.")
    column_name: str = prop("", "The column.")
    message_element: str = prop("", "The field, such as $OutputRoot/XMLNSC/order/name.")


@node("DatabaseRetrieve", outputs=("out", "keyNotFound"), category="database")
@dataclass(frozen=True, slots=True)
class DatabaseRetrieve:
    """Look rows up by values of the message and give fields the values of columns; no row: `keyNotFound`."""

    data_source_name: str = prop("", "The data source; empty: the first that there is.")
    query_elements: tuple[QueryElement, ...] = prop((), "The conditions by which rows are looked up.")
    data_elements: tuple[DataElement, ...] = prop((), "Columns, and the fields that are given their values.")
    all_rows: bool = prop(False, "Whether all rows are used, each for one more field of the name; else the first.")
    copy_message: bool = prop(
        True,
        "Whether fields of the message may be given values, in a copy that costs nothing; false: of other trees only.",
    )
    sql_query: str = prop("", "The query as SQL, where there are no queryElements.")
    ns_mapping_table: tuple[NamespaceElement, ...] = prop((), "Prefixes that paths use, and their namespaces.")

    _query: Query | WrittenQuery = field(init=False, repr=False)
    _targets: tuple[tuple[str, str, Target], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.query_elements and not self.sql_query:
            raise ConfigurationException("DatabaseRetrieve needs queryElements: tableName and columnName", number=2211)
        spaces = {one.ns_prefix: one.namespace for one in self.ns_mapping_table}
        found = tuple((d.table_name, d.column_name, Target.of(d.message_element, spaces)) for d in self.data_elements)
        if not self.copy_message:
            self._refuse_message_fields(found)
        object.__setattr__(self, "_targets", found)
        wanted = [(table, column) for table, column, _ in found]
        query: Query | WrittenQuery = WrittenQuery(self.data_source_name, self.sql_query)
        if self.query_elements:
            query = Query(self.data_source_name, self.query_elements, wanted)
        object.__setattr__(self, "_query", query)

    @staticmethod
    def _refuse_message_fields(targets: Iterable[tuple[str, str, Target]]) -> None:
        for _, column, target in targets:
            if target.tree not in _OTHER_TREES:
                text = f"copyMessage false leaves the message as it is, and {column} goes to a field of it"
                raise ConfigurationException(f"{text}: write copyMessage: true", number=2211)

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        answer = self._query.rows(message, work)
        if not answer.rows:
            yield "keyNotFound", message
            return
        copies = Copies(message)
        values = [(target, self._query.place(table, column, answer)) for table, column, target in self._targets]
        for number, row in enumerate(answer.rows if self.all_rows else answer.rows[:1], 1):
            for target, place in values:
                copies.set(target, row[place], number)
        yield "out", copies.message()
