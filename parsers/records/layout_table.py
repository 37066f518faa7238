"""Layouts of copybooks and message sets as tables: name, level, type, offset, length and occurrences of each field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, Final

from engine.errors import ConfigurationException
from parsers.importers.copybook.items import Copybook, DataItem, Record
from parsers.mrm.cwf.layout import Choice, Item, Layout, lay_out
from parsers.mrm.cwf.properties import CWF, CwfField, Form
from parsers.mrm.model import UNBOUNDED, Definition, Field, Group, Message, MessageSet, SimpleType
from parsers.records.record_plan import max_or_none

_HEADINGS = ("name", "level", "type", "offset", "length", "occurs")
_NUMBERS = (1, 3, 4)


def layout_data(book: Copybook) -> list[dict[str, Any]]:
    """The records as data: what JSON shows."""
    return [
        {
            "record": record.name,
            "length": record.length,
            "fields": [_item_data(item) for item in record.top.walk()],
            "renames": [asdict(renaming) for renaming in record.renamings],
        }
        for record in book.records
    ]


def _item_data(item: DataItem) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": item.name or "FILLER",
        "level": item.level,
        "type": item.type,
        "offset": item.offset,
        "length": item.length,
        "occurs": item.most,
    }
    if item.occurs is not None:
        found |= {"minOccurs": item.least, "maxOccurs": item.occurs.most}
    if item.counter is not None or item.open:
        found["dependingOn"] = _counter(item)
    if item.redefines is not None:
        found["redefines"] = item.redefines.name
    if item.entry.values:
        found["values"] = [str(value) for value in item.entry.values]
    if item.conditions:
        found["conditions"] = {c.name: [str(value) for value in c.values] for c in item.conditions}
    return found


def layout_text(book: Copybook) -> str:
    """The records as a table, each field indented under its group."""
    lines = [aligned([row for record in book.records for row in _record_rows(record)])]
    if any(item.counter is not None or item.open for record in book.records for item in record.top.walk()):
        lines.append("Where something depends on a count, offsets and lengths are the largest.")
    return "\n".join(lines)


def aligned(rows: Iterable[tuple[str, ...]]) -> str:
    """Rows under their headings, in columns; numbers stand at the right of theirs."""
    lines = [_HEADINGS, *rows]
    widths = [max(len(row[column]) for row in lines) for column in range(len(_HEADINGS))]
    return "\n".join("  ".join(map(_cell, range(len(widths)), row, widths)).rstrip() for row in lines)


def _cell(column: int, text: str, width: int) -> str:
    return text.rjust(width) if column in _NUMBERS else text.ljust(width)


def _record_rows(record: Record) -> Iterator[tuple[str, ...]]:
    yield from _item_rows(record.top, 0)
    for renaming in record.renamings:
        through = "" if renaming.first == renaming.last else f" THRU {renaming.last}"
        said = f"RENAMES {renaming.first}{through}"
        yield f"  {renaming.name}", "66", said, str(renaming.offset), str(renaming.length), ""


def _item_rows(item: DataItem, depth: int) -> Iterator[tuple[str, ...]]:
    name = "  " * depth + (item.name or "FILLER")
    type_ = item.type if item.redefines is None else f"{item.type} REDEFINES {item.redefines.name}"
    yield name, f"{item.level:02}", type_, str(item.offset), str(item.length), _occurrences(item)
    for child in item.children:
        yield from _item_rows(child, depth + 1)


def _occurrences(item: DataItem) -> str:
    if item.occurs is None:
        return ""
    if item.counter is None and not item.open:
        return str(item.most)
    most = "unbounded" if item.occurs.most is None else item.occurs.most
    return f"{item.least}..{most} by {_counter(item)}"


def _counter(item: DataItem) -> str:
    """Returns what a table depends on: an item of its record, or where it goes to the record's end one elsewhere."""
    depending = () if item.occurs is None else item.occurs.depending
    return " OF ".join(depending) if item.counter is None else item.counter.name


_DEEPEST: Final = 50
_MOST: Final = 50_000
_FORM: Final = Form(0x111, 819)  # where nothing says how wide a character is, it has one byte


class _Rows:
    """The rows of one message while they are made; an offset is None behind what has no fixed length."""

    def __init__(self, message_set: MessageSet, format_: str) -> None:
        self._set = message_set
        self._format = format_
        self.rows: list[dict[str, Any]] = []

    def layout(self, layout: Layout, at: int | None, level: int) -> int | None:
        """Add the fields of a layout; answers with where it ends."""
        for slot in layout.slots:
            if isinstance(slot, Choice):
                at = max_or_none([self.layout(option, at, level) for option in slot.options])
            else:
                at = self._item(slot, at, level)
        return at

    def _item(self, item: Item, at: int | None, level: int) -> int | None:
        at = None if at is None else at + item.lead
        at = None if at is None else at + -at % item.align
        said = item.model.physical.get(self._format)
        row = self._row(item.model, level, at, said.physical_type if isinstance(said, CwfField) else "")
        size = item.size or None
        if item.inner is not None:
            end = self.layout(item.inner, at, level + 1)
            size = None if end is None or at is None else end - at
        row["length"] = size
        if at is None or size is None or item.most == UNBOUNDED:
            return None
        return at + (size + item.trail) * item.most

    def group(self, group: Group, level: int) -> None:
        """Add the fields of a group that has no layout."""
        for member in group.members:
            if isinstance(member, Group):
                self.group(member, level)
                continue
            self._row(member, level)
            inner = self._set.content(member.type)
            if inner is not None and level < _DEEPEST:
                self.group(inner, level + 1)

    def _row(self, field: Field, level: int, at: int | None = None, physical_type: str = "") -> dict[str, Any]:
        if len(self.rows) >= _MOST:
            raise ConfigurationException(f"{field.name}: with all that is in it, the message has over {_MOST:,} fields")
        words = (field.type.kind, physical_type) if isinstance(field.type, SimpleType) else ()
        type_ = " ".join(word for word in words if word) or (field.type if isinstance(field.type, str) else "group")
        row = {
            "name": field.name,
            "level": level,
            "type": type_,
            "offset": at,
            "length": None,
            "occurs": _occurs(field),
        }
        self.rows.append(row)
        return row


def model_data(message_set: MessageSet) -> list[dict[str, Any]]:
    """The messages as data; offsets and lengths are those of the set's first CWF format, where it has one."""
    format_ = next((name for name, use in message_set.formats.items() if use.kind == CWF), "")
    return [_message(message_set, message, format_) for message in message_set.messages.values()]


def _message(message_set: MessageSet, message: Message, format_: str) -> dict[str, Any]:
    rows, end = _Rows(message_set, format_), None
    layout = lay_out(Definition(message_set, message, format_), _FORM)[0].inner if format_ else None
    if layout is not None:
        end = rows.layout(layout, 0, 2)
    else:
        rows.group(message_set.content(message.type), 2)
    return {"record": message.name, "length": end, "fields": rows.rows}


def model_text(message_set: MessageSet) -> str:
    """The messages as a table, each field indented under its group; what has no fixed place has no offset."""
    return aligned([row for found in model_data(message_set) for row in _cells(found)])


def _cells(found: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    yield found["record"], "01", "message", _said(0), _said(found["length"]), ""
    for row in found["fields"]:
        name = "  " * (row["level"] - 1) + row["name"]
        yield name, f"{row['level']:02}", row["type"], _said(row["offset"]), _said(row["length"]), row["occurs"]


def _said(number: int | None) -> str:
    return "" if number is None else str(number)


def _occurs(field: Field) -> str:
    if field.min_occurs == field.max_occurs == 1:
        return ""
    most = "unbounded" if field.max_occurs == UNBOUNDED else str(field.max_occurs)
    times = most if str(field.min_occurs) == most else f"{field.min_occurs}..{most}"
    return f"{times} by {field.repeat_reference}" if field.repeat_reference else times
