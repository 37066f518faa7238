"""RecordPlan: a copybook's record as a layout with codecs for JSON, and the initial values of items not given."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Final, TypeAlias

from engine.errors import BrokerError
from parsers.importers.copybook.items import DataItem, Entry, Record
from parsers.importers.copybook.message_set import FORMAT, ImportOptions, has_number, message_set_of_record
from parsers.mrm.cwf.layout import Choice, Item, Layout, lay_out
from parsers.mrm.cwf.properties import Kept
from parsers.mrm.model import UNBOUNDED, Definition, Field
from parsers.mrm.simple_values import Stored
from parsers.records.json_fields import Coding, form_of, label, physical_options, stored_for
from parsers.records.reading import Read, Reader

Write: TypeAlias = Callable[[Any], bytes]

_ZEROS = frozenset({"ZERO", "ZEROS", "ZEROES"})
_SPACES = frozenset({"SPACE", "SPACES"})
_BYTES = {
    "LOW-VALUE": 0x00,
    "LOW-VALUES": 0x00,
    "HIGH-VALUE": 0xFF,
    "HIGH-VALUES": 0xFF,
    "NULL": 0x00,
    "NULLS": 0x00,
}
_PREFIXED: Final = re.compile(r"(NX|BX|HX|UX|NC|[XNGBZUH])(?=['\"])", re.IGNORECASE)


def initial(item: DataItem, stored: Stored) -> bytes:
    """The bytes of an item that was given no value; a VALUE that its type cannot hold does not count."""
    write = partial(_write, item, stored)
    empty = write(0 if has_number(item) else None)
    values = item.entry.values
    if not values:
        return empty
    try:
        return _of_literal(values[0].first, item, write, empty)
    except (ValueError, ArithmeticError, BrokerError):
        return empty


def _write(item: DataItem, stored: Stored, value: Any) -> bytes:
    return stored.encode(value, item.length)


def _of_literal(literal: str, item: DataItem, write: Write, empty: bytes) -> bytes:
    upper = literal.upper()
    if upper in _BYTES:
        return bytes([_BYTES[upper]]) * item.length
    if upper in _SPACES or upper in {"ALL SPACE", "ALL SPACES"}:
        return empty if _is_number(item) else write("")
    if upper in _ZEROS:
        return write(0) if _is_number(item) else write("0" * item.length)
    if upper in {"QUOTE", "QUOTES"}:
        return write('"' * item.length)
    if upper.startswith("ALL "):
        text = text_of_literal(literal[4:].strip())
        return write((text * item.length)[: item.length])
    prefix = _PREFIXED.match(literal)
    if prefix:
        return _of_prefixed(prefix[1].upper(), text_of_literal(literal[prefix.end() :]), item, write, empty)
    if literal[:1] in {"'", '"'}:
        return _of_text(text_of_literal(literal), item, write)
    return write(Decimal(literal.replace(",", ".")) if _is_number(item) else literal)


def _of_prefixed(prefix: str, text: str, item: DataItem, write: Write, empty: bytes) -> bytes:
    """The bytes of a literal with letters before its quote: hexadecimal, national, with a zero byte, or a number."""
    if prefix == "X":
        data = bytes.fromhex(text)
        return data + empty[len(data) :] if len(data) <= item.length else empty
    if prefix in {"H", "HX", "B", "BX"}:
        return write(int(text, 2 if prefix == "B" else 16))
    if prefix in {"NX", "UX"}:
        text = bytes.fromhex(text).decode("utf-16-be" if prefix == "NX" else "utf-8")
    return _of_text(text + "\0" * (prefix == "Z"), item, write)


def _of_text(text: str, item: DataItem, write: Write) -> bytes:
    """The bytes of a text: a VALUE begins at the left, whether JUSTIFIED or not."""
    positions = item.picture.positions if item.entry.justified and item.picture else 0
    return write(text.ljust(positions))


def _is_number(item: DataItem) -> bool:
    return item.picture is None or item.picture.category == "numeric"


def text_of_literal(literal: str) -> str:
    """The text that a literal in quotes stands for.

    >>> text_of_literal("'it''s'")
    "it's"
    """
    quote = literal[:1]
    if quote not in {"'", '"'}:
        raise ValueError(f"{literal} is no literal in quotes")
    return literal[1:].removesuffix(quote).replace(quote * 2, quote)


class Sizes:
    """The bytes of items that depend on nothing in a record: of one occurrence (`strides`), and of all (`totals`).

    Where tables of variable length do not `slide` what follows, they keep the room of all their occurrences.
    """

    def __init__(self, *, slide: bool) -> None:
        self._slide = slide
        self.items: list[Item] = []
        self.strides: dict[Item, int] = {}
        self.totals: dict[Item, int] = {}

    def layout(self, layout: Layout) -> int | None:
        """Returns the bytes of a layout, None where a field says them, and notes those of all that is in it."""
        sizes = [self._choice(slot) if isinstance(slot, Choice) else self._item(slot) for slot in layout.slots]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def _choice(self, choice: Choice) -> int | None:
        size = max_or_none([self.layout(option) for option in choice.options])
        return size if choice.identity is None else None  # a message takes its own bytes, and no longer one's

    def _item(self, item: Item) -> int | None:
        self.items.append(item)
        size = (item.size or None) if item.inner is None else self.layout(item.inner)
        if size is None or item.align > 1:
            return None
        self.strides[item] = size + item.trail
        if item.most == UNBOUNDED or (item.count is not None and self._slide):
            return None
        self.totals[item] = self.strides[item] * item.most
        return item.lead + self.totals[item]


def max_or_none(sizes: list[int | None]) -> int | None:
    """Returns the largest of sizes, None where one of them is not known.

    >>> max_or_none([1, 3]), max_or_none([1, None])
    (3, None)
    """
    return None if None in sizes else max(size for size in sizes if size is not None)


@dataclass(frozen=True, slots=True, eq=False)
class RecordPlan:
    """A record: its layout, what reads it, its bytes where they depend on no count, and what JSON has as arrays.

    `initial` is what elementary items hold that are not given, `totals` the bytes of all occurrences of an item where
    they depend on no count, and `of` leads from what a copybook describes to the layout.
    """

    name: str
    layout: Layout
    read: Read
    fixed_size: int | None
    tables: frozenset[Item]
    initial: Mapping[Item, bytes]
    totals: Mapping[Item, int]
    of: Mapping[Entry, Item]


def plan_of(record: Record, coding: Coding, *, fillers: bool = False, slide: bool = True) -> RecordPlan:
    """The plan of a record; `fillers` shows FILLER items, `slide` moves what follows a table of variable length."""
    message_set, items = message_set_of_record(record, ImportOptions(physical_options(coding), fillers=fillers))

    def keep(kept: Kept) -> Stored:
        return stored_for(items[id(kept.field)], kept, coding)

    def name(model: Field, path: str) -> str:
        return label(items[id(model)], ".".join(part or "FILLER" for part in path.split(".")))

    definition = Definition(message_set, message_set.messages[record.name], FORMAT)
    layout = lay_out(definition, form_of(coding), keep, name)[0].inner
    assert layout is not None
    sizes = Sizes(slide=slide)
    fixed_size = sizes.layout(layout)
    described = {item: items[id(item.model)] for item in sizes.items}
    tables = frozenset(item for item, own in described.items() if own.occurs is not None)
    return RecordPlan(
        name=record.name,
        layout=layout,
        read=Reader(tables, sizes.strides, sizes.totals, may_end=True).layout(layout),
        fixed_size=fixed_size,
        tables=tables,
        initial={item: initial(own, item.stored) for item, own in described.items() if item.stored is not None},
        totals=sizes.totals,
        of={own.entry: item for item, own in described.items()},
    )
