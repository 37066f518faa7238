"""Segments: which record, or which of the items that share storage, a record of a file is, by a field's value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from engine.catalog import did_you_mean
from engine.errors import ConfigurationException
from parsers.importers.copybook.entries import Entry
from parsers.importers.copybook.items import Copybook, Item, Record
from parsers.mrm.stored import Stored
from parsers.records.coding import Coding
from parsers.records.fields import field_of_item
from parsers.records.reading import REFUSED

_RULE: Final = re.compile(r"\s*([^=\s]+)\s*=(.*):\s*([\w$#@-]+)\s*")


@dataclass(frozen=True, slots=True)
class Segment:
    """A rule: where `item` has one of the values, the record is of this type.

    `chosen` is what of items that share their storage is there, `rejected` are the others; `ends` says that nothing
    follows them in the record.
    """

    item: Item
    stored: Stored
    values: tuple[str, ...]
    record: Record
    chosen: Entry | None = None
    rejected: frozenset[Entry] = frozenset()
    ends: bool = False

    def fits(self, data: bytes) -> bool:
        """Returns whether a record is such a segment."""
        start, end = self.item.offset, self.item.offset + self.item.length
        if len(data) < end:
            return False
        try:
            return same(self.stored.decode(data, start, end), self.values)
        except REFUSED:
            return False


def same(value: Any, values: tuple[str, ...]) -> bool:
    """Returns whether a value is one of those that a rule names; numbers are compared as such."""
    text = str(value).strip()
    return any(
        text == wanted or (wanted.isdecimal() and text.isdecimal() and int(text) == int(wanted)) for wanted in values
    )


def read_segments(rules: list[str], book: Copybook, coding: Coding) -> tuple[Segment, ...]:
    """The rules of FIELD=VALUE,VALUE:NAME texts; a NAME is a record's or that of an item that shares its storage."""
    return tuple(_segment(rule, book, coding) for rule in rules)


def _segment(rule: str, book: Copybook, coding: Coding) -> Segment:
    found = _RULE.fullmatch(rule)
    if found is None:
        raise ConfigurationException(f"the segment {rule!r} is not of the form FIELD=VALUE:NAME")
    field, values, name = found[1], tuple(value.strip() for value in found[2].split(",")), found[3].upper()
    for record in book.records:
        if record.name.upper() == name:
            item = find_field(record, field)
            return Segment(item, field_of_item(item, coding), values, record)
    for record in book.records:
        for group in record.top.walk():
            chosen = next((child for child in group.children if child.name.upper() == name), None)
            if chosen is not None and (others := _sharing(chosen, group)):
                item = find_field(record, field)
                ends = max(one.offset + one.total for one in (chosen, *others)) == record.length
                rejected = frozenset(other.entry for other in others)
                return Segment(item, field_of_item(item, coding), values, record, chosen.entry, rejected, ends)
    known = [record.name for record in book.records]
    raise ConfigurationException(
        f"the segment {rule!r} names {found[3]}, which is neither a record nor an item that shares its storage"
        f"{did_you_mean(found[3], known)}"
    )


def _sharing(chosen: Item, group: Item) -> list[Item]:
    """The other items that share the storage of one."""
    first = _first(chosen).entry
    return [child for child in group.children if child is not chosen and _first(child).entry is first]


def _first(item: Item) -> Item:
    while item.redefines is not None:
        item = item.redefines
    return item


def find_field(record: Record, name: str) -> Item:
    """The elementary item of a name, or of a path by dots, at a place that depends on no count."""
    wanted = [part.upper() for part in name.split(".")]
    named = [way[-1] for way in _ways(record.top, ()) if _ends_with(way, wanted)]
    fixed = [item for item in named if not _moves(item, record)]
    if len(fixed) == 1 or (fixed and len(wanted) > 1):
        return fixed[0]
    if fixed:
        raise ConfigurationException(
            f"{record.name} has more than one field called {name}: name its group too, by dots"
        )
    if named:
        raise ConfigurationException(
            f"the place of {record.name}.{name} depends on a count: it cannot tell what a record is"
        )
    names = [item.name for item in record.top.walk() if item.name]
    raise ConfigurationException(f"{record.name} has no field called {name}{did_you_mean(name, names)}")


def _ways(item: Item, above: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
    way = (*above, item)
    if not item.children:
        yield way
    for child in item.children:
        yield from _ways(child, way)


def _ends_with(way: tuple[Item, ...], wanted: list[str]) -> bool:
    names = iter(reversed([item.name.upper() for item in way]))
    return way[-1].name.upper() == wanted[-1] and all(part in names for part in reversed(wanted))


def _moves(item: Item, record: Record) -> bool:
    """Returns whether a table of variable length stands before an item, or it is in one."""
    return any(
        (table.counter is not None and (table.offset + table.length <= item.offset or item in table.walk()))
        for table in record.top.walk()
    )
