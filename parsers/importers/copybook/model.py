"""Copybooks as message sets: each record a message, each item a field of CWF, as IBM's importer has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from engine.errors import ConfigurationException
from parsers.importers.copybook.items import Copybook, Item, Record
from parsers.importers.copybook.names import named_children
from parsers.importers.copybook.physical import PhysicalOptions, has_number, physical_of, simple_type_of
from parsers.mrm.cwf.declared import CWF, CwfField, CwfFormat
from parsers.mrm.model import NOTHING, UNBOUNDED, Field, Group, Member, Message, MessageSet, WireFormatUse

FORMAT: Final = "CWF1"
AS_MESSAGE: Final = PhysicalOptions()


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What an import is told: the coding of fields where it is not the message's, and whether VALUE makes defaults."""

    physical: PhysicalOptions = AS_MESSAGE
    defaults: bool = False


def message_set_of(name: str, books: Iterable[Copybook], options: ImportOptions) -> MessageSet:
    """The message set of copybooks; two records of one name are refused."""
    messages: dict[str, Message] = {}
    for book in books:
        for record in book.records:
            if record.name in messages:
                raise ConfigurationException(
                    f"{book.file}: there is another record called {record.name}: import it into a set of its own"
                )
            messages[record.name] = _message(record, options)
    formats = {FORMAT: WireFormatUse(FORMAT, CWF, CwfFormat())}
    return MessageSet(name, formats=formats, messages=messages, default_format=FORMAT)


def _message(record: Record, options: ImportOptions) -> Message:
    top = record.top
    if top.is_group and not top.most > 1:
        content = _group(top, (), options)
    else:
        content = Group((_field(top, record.name, (), options),))
    return Message(record.name, content, documentation=_documented(top, record))


@dataclass(frozen=True, slots=True)
class Around:
    """A group around an item, with the names that its fields have."""

    item: Item
    names: dict[int, str]


def _group(item: Item, above: tuple[Around, ...], options: ImportOptions) -> Group:
    """The fields of a group; those that share their storage are a choice."""
    names = {id(child.entry): name for child, name in named_children(item)}
    way = (*above, Around(item, names))
    members: list[Member] = []
    for area in _areas(item):
        fields = tuple(_field(child, names[id(child.entry)], way, options) for child in area)
        members.append(fields[0] if len(fields) == 1 else Group(fields, "choice"))
    return Group(tuple(members))


def _areas(item: Item) -> Iterator[list[Item]]:
    area: list[Item] = []
    for child in item.children:
        if child.redefines is None and area:
            yield area
            area = []
        area.append(child)
    if area:
        yield area


def _field(item: Item, name: str, way: tuple[Around, ...], options: ImportOptions) -> Field:
    most = UNBOUNDED if item.occurs is not None and item.occurs.most is None else item.most
    least = item.least if item.counter is not None else most
    type_ = _group(item, way, options) if item.is_group else simple_type_of(item)
    physical = _physical(item, options)
    return Field(
        name,
        type_,
        min_occurs=least,
        max_occurs=most,
        repeat_reference="" if item.counter is None else _path(item.counter, way),
        default=_default(item) if options.defaults and not item.is_group else None,
        nullable=item.entry.blank_when_zero and has_number(item),
        documentation=_documented(item, None),
        physical={FORMAT: physical} if physical != CwfField() else NOTHING,
    )


def _physical(item: Item, options: ImportOptions) -> CwfField:
    if not item.is_group:
        return physical_of(item, options.physical)
    end = max(child.offset + child.total for child in item.children)
    return CwfField(leading_skip_count=item.slack, trailing_skip_count=item.offset + item.length - end)


def _path(counter: Item, way: tuple[Around, ...]) -> str:
    """The path to a counter: from the innermost group around the table that holds it."""
    for around in reversed(way):
        names = _names_to(counter, around.item, around.names)
        if names:
            return ".".join(names)
    return counter.name


def _names_to(wanted: Item, group: Item, names: dict[int, str]) -> list[str]:
    for child in group.children:
        name = names[id(child.entry)]
        if child.entry is wanted.entry:
            return [name]
        if child.is_group:
            inner = _names_to(wanted, child, {id(each.entry): text for each, text in named_children(child)})
            if inner:
                return [name, *inner]
    return []


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
    """What a copybook says that a message set has no place for: condition names and renamings."""
    said = [f"88 {c.name} VALUE {', '.join(str(value) for value in c.values)}" for c in item.conditions]
    for renaming in record.renamings if record is not None else ():
        through = "" if renaming.first == renaming.last else f" THRU {renaming.last}"
        said.append(f"66 {renaming.name} RENAMES {renaming.first}{through}")
    return "; ".join(said)
