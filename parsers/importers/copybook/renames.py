"""RENAMES: the bytes that a level 66 gives another name."""

from __future__ import annotations

from parsers.importers.copybook.entries import Entry
from parsers.importers.copybook.findings import Findings
from parsers.importers.copybook.items import Item, Renaming


def renamings(top: Item, entries: list[Entry], findings: Findings) -> tuple[Renaming, ...]:
    """The renamings of a record, each with the bytes that it stands for."""
    if not entries:
        return ()
    items: dict[str, Item] = {}
    for item in top.walk():
        items.setdefault(item.name.upper(), item)
    made = []
    for entry in entries:
        if not entry.renames:
            continue
        ends = [items.get(name.upper()) for name in entry.renames]
        first, last = ends[0], ends[-1]
        if first is None or last is None:
            missing = next(name for name, item in zip(entry.renames, ends, strict=True) if item is None)
            text = f"{entry.name} renames {missing}, which is not in the record {top.name}"
            findings.add(entry.word.spot, text, missing)
        elif last.offset + last.total <= first.offset:
            findings.add(entry.word.spot, f"{entry.name} renames up to {last.name}, which stands before {first.name}")
        else:
            length = last.offset + last.total - first.offset
            made.append(Renaming(entry.name, first.name, last.name, first.offset, length))
    return tuple(made)
