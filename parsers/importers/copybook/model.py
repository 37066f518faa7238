"""Copybooks as message sets: each record a message, each item a field of CWF, as IBM's importer has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from engine.errors import ConfigurationException
from parsers.importers.copybook.items import Copybook, Item, Record
from parsers.importers.copybook.names import has_names, named_children
from parsers.importers.copybook.physical import (
    PhysicalOptions,
    has_number,
    physical_of,
    simple_type_of,
    slack_of,
)
from parsers.mrm.cwf.declared import CWF, CwfField, CwfFormat
from parsers.mrm.model import NOTHING, UNBOUNDED, Field, Group, Member, Message, MessageSet, WireFormatUse

FORMAT: Final = "CWF1"
AS_MESSAGE: Final = PhysicalOptions()


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of an import: the coding of fields that is not the message's, and whether VALUE makes defaults.

    Without `fillers`, an item that has no name and none with a name in it is a field without a name.
    """

    physical: PhysicalOptions = AS_MESSAGE
    defaults: bool = False
    fillers: bool = True


def message_set_of(name: str, books: Iterable[Copybook], options: ImportOptions) -> MessageSet:
    """The message set of copybooks; two records of one name are refused."""
    importer = Importer(options)
    messages: dict[str, Message] = {}
    for book in books:
        for record in book.records:
            if record.name in messages:
                raise ConfigurationException(
                    f"{book.file}: there is another record called {record.name}: import it into a set of its own"
                )
            messages[record.name] = importer.message(record)
    return _set_of(name, messages)


def message_set_of_record(record: Record, options: ImportOptions) -> tuple[MessageSet, dict[int, Item]]:
    """Returns the message set of one record, and the item that each field is of, by the field's id."""
    importer = Importer(options)
    made = _set_of(record.name, {record.name: importer.message(record)})
    return made, importer.items


def _set_of(name: str, messages: dict[str, Message]) -> MessageSet:
    formats = {FORMAT: WireFormatUse(FORMAT, CWF, CwfFormat())}
    return MessageSet(name, formats=formats, messages=messages, default_format=FORMAT)


@dataclass(frozen=True, slots=True)
class Around:
    """A group around an item, with the names that its fields have."""

    item: Item
    names: dict[int, str]


class Importer:
    """Makes messages of records; `items` are those that fields were made of, by the ids of the fields."""

    __slots__ = ("_options", "items")

    def __init__(self, options: ImportOptions) -> None:
        self._options = options
        self.items: dict[int, Item] = {}

    def message(self, record: Record) -> Message:
        """The message of a record."""
        top = record.top
        if top.is_group and top.occurs is None:
            content = self._group(top, ())
        else:
            content = Group((self._field(top, record.name, ()),))
        return Message(record.name, content, documentation=_documented(top, record))

    def _group(self, item: Item, above: tuple[Around, ...]) -> Group:
        """The fields of a group; those that share their storage are a choice."""
        names = self._names(item)
        way = (*above, Around(item, names))
        members: list[Member] = []
        for area in _areas(item):
            fields = tuple(self._field(child, names[id(child.entry)], way) for child in area)
            members.append(fields[0] if len(fields) == 1 else Group(fields, "choice"))
        return Group(tuple(members))

    def _names(self, item: Item) -> dict[int, str]:
        hidden = [] if self._options.fillers else [child for child in item.children if not has_names(child)]
        without = frozenset(id(child) for child in hidden)
        return {id(child.entry): name for child, name in named_children(item, without=without)}

    def _field(self, item: Item, name: str, way: tuple[Around, ...]) -> Field:
        options = self._options
        most = UNBOUNDED if item.occurs is not None and item.occurs.most is None else item.most
        least = item.least if item.counter is not None else most
        physical = self._physical(item)
        made = Field(
            name,
            self._group(item, way) if item.is_group else simple_type_of(item),
            min_occurs=least,
            max_occurs=most,
            repeat_reference="" if item.counter is None else self._path(item.counter, way),
            default=_default(item) if options.defaults and not item.is_group else None,
            nullable=item.entry.blank_when_zero and has_number(item),
            documentation=_documented(item, None),
            physical={FORMAT: physical} if physical != CwfField() else NOTHING,
        )
        self.items[id(made)] = item
        return made

    def _path(self, counter: Item, way: tuple[Around, ...]) -> str:
        """The path to a counter: from the innermost group around the table that holds it."""
        for around in reversed(way):
            names = self._names_to(counter, around.item, around.names)
            if names:
                return ".".join(names)
        return counter.name

    def _names_to(self, wanted: Item, group: Item, names: dict[int, str]) -> list[str]:
        for child in group.children:
            name = names[id(child.entry)]
            if child.entry is wanted.entry:
                return [name]
            if child.is_group:
                inner = self._names_to(wanted, child, self._names(child))
                if inner:
                    return [name, *inner]
        return []

    def _physical(self, item: Item) -> CwfField:
        if not item.is_group:
            return physical_of(item, self._options.physical)
        end = max(child.offset + child.total for child in item.children)
        return CwfField(leading_skip_count=slack_of(item), trailing_skip_count=item.offset + item.length - end)


def _areas(item: Item) -> Iterator[list[Item]]:
    area: list[Item] = []
    for child in item.children:
        if child.redefines is None and area:
            yield area
            area = []
        area.append(child)
    if area:
        yield area


def _default(item: Item) -> str | None:
    """The VALUE of an item as XML Schema writes it; None where it is no plain literal."""
    if len(item.entry.values) != 1:
        return None
    literal = item.entry.values[0].first
    upper = literal.upper()
    if has_number(item):
        if upper in {"ZERO", "ZEROS", "ZEROES"}:
            return "0"
        try:
            return str(Decimal(literal))
        except ArithmeticError:
            return None
    if upper in {"SPACE", "SPACES"}:
        return ""
    quote = literal[:1]
    return literal[1:-1].replace(quote * 2, quote) if quote in {"'", '"'} and len(literal) > 1 else None


def _documented(item: Item, record: Record | None) -> str:
    """Returns what a copybook says that a message set has no place for: condition names and renamings."""
    said = [f"88 {c.name} VALUE {', '.join(str(value) for value in c.values)}" for c in item.conditions]
    for renaming in record.renamings if record is not None else ():
        through = "" if renaming.first == renaming.last else f" THRU {renaming.last}"
        said.append(f"66 {renaming.name} RENAMES {renaming.first}{through}")
    return "; ".join(said)
