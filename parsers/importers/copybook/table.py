"""The layout of a copybook as a table: name, level, type, offset, length and occurrences of each item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from parsers.importers.copybook.items import Copybook, Item, Record

_HEADINGS = ("name", "level", "type", "offset", "length", "occurs")
_NUMBERS = (1, 3, 4)


def layout_data(book: Copybook) -> list[dict[str, Any]]:
    """The records as data: what JSON shows."""
    return [
        {
            "record": record.name,
            "length": record.length,
            "fields": [_data(item) for item in record.top.walk()],
            "renames": [
                {"name": r.name, "first": r.first, "last": r.last, "offset": r.offset, "length": r.length}
                for r in record.renamings
            ],
        }
        for record in book.records
    ]


def _data(item: Item) -> dict[str, Any]:
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
    if item.counter is not None:
        found["dependingOn"] = item.counter.name
    if item.redefines is not None:
        found["redefines"] = item.redefines.name
    if item.entry.values:
        found["values"] = [str(value) for value in item.entry.values]
    if item.conditions:
        found["conditions"] = {c.name: [str(value) for value in c.values] for c in item.conditions}
    return found


def layout_text(book: Copybook) -> str:
    """The records as a table, each field indented under its group."""
    lines = [aligned([row for record in book.records for row in _rows(record)])]
    if any(item.counter is not None for record in book.records for item in record.top.walk()):
        lines.append("Where something depends on a count, offsets and lengths are the largest.")
    return "\n".join(lines)


def aligned(rows: Iterable[tuple[str, ...]]) -> str:
    """Rows under their headings, in columns; numbers stand at the right of theirs."""
    lines = [_HEADINGS, *rows]
    widths = [max(len(row[column]) for row in lines) for column in range(len(_HEADINGS))]
    return "\n".join("  ".join(map(_cell, range(len(widths)), row, widths)).rstrip() for row in lines)


def _cell(column: int, text: str, width: int) -> str:
    return text.rjust(width) if column in _NUMBERS else text.ljust(width)


def _rows(record: Record) -> Iterator[tuple[str, ...]]:
    yield from _item_rows(record.top, 0)
    for renaming in record.renamings:
        through = "" if renaming.first == renaming.last else f" THRU {renaming.last}"
        said = f"RENAMES {renaming.first}{through}"
        yield f"  {renaming.name}", "66", said, str(renaming.offset), str(renaming.length), ""


def _item_rows(item: Item, depth: int) -> Iterator[tuple[str, ...]]:
    name = "  " * depth + (item.name or "FILLER")
    type_ = item.type if item.redefines is None else f"{item.type} REDEFINES {item.redefines.name}"
    yield name, f"{item.level:02}", type_, str(item.offset), str(item.length), _occurs(item)
    for child in item.children:
        yield from _item_rows(child, depth + 1)


def _occurs(item: Item) -> str:
    if item.occurs is None:
        return ""
    if item.counter is None:
        return str(item.most)
    most = "unbounded" if item.occurs.most is None else item.occurs.most
    return f"{item.least}..{most} by {item.counter.name}"
