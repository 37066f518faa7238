"""Entries to items: levels make a tree, groups pass their usage down, sizes and slack bytes make offsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from parsers.importers.copybook.dialect import Dialect
from parsers.importers.copybook.entries import Entry, Sign
from parsers.importers.copybook.findings import Findings
from parsers.importers.copybook.items import Condition, Item
from parsers.importers.copybook.pictures import Picture, PictureError, picture
from parsers.importers.copybook.storage import boundary_of, size_of, storage_problem

LARGEST_RECORD: Final = 2**31 - 1


@dataclass(slots=True)
class Node:
    """An entry with the entries under it, while its tree is made."""

    entry: Entry
    children: list[Node] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Inherited:
    """The clauses of a group that count for all items under it."""

    usage: str = ""
    sign: Sign | None = None
    synchronized: bool = False


NOTHING: Final = Inherited()


def arrange(node: Node, dialect: Dialect, findings: Findings) -> Item:
    """The item of a node at offset 0, with all under it."""
    top = _place(_unplaced(node, NOTHING, dialect, findings), 0, findings)
    if top.total > LARGEST_RECORD:
        text = f"{top.name or 'FILLER'} has {top.total:,} bytes: a record has at most {LARGEST_RECORD:,}"
        findings.add(top.spot, text, top.name)
    return top


def _unplaced(node: Node, above: Inherited, dialect: Dialect, findings: Findings) -> Item:
    """The item with its usage, picture and length if it is elementary, without an offset."""
    entry = node.entry
    usage = entry.usage or ("NATIONAL" if entry.national_group else above.usage)
    own = Inherited(usage, entry.sign or above.sign, entry.synchronized or above.synchronized)
    conditions = tuple(node.conditions)
    if node.children:
        if entry.picture is not None:
            text = f"{entry.name or 'FILLER'} has a picture and items under it: an item has one or the other"
            findings.add(entry.word.spot, text, entry.word.text)
        children = tuple(_unplaced(child, own, dialect, findings) for child in node.children)
        return Item(entry, usage or "DISPLAY", children=children, conditions=conditions)
    read = _picture_of(entry, dialect, findings)
    usage = _usage_of(usage, read)
    if read is not None and read.category == "numeric" and entry.sign is not None and entry.sign.separate:
        read = replace(read, signed=True)  # some compilers take a sign of its own for an S
    problem = storage_problem(entry, usage, read) if read is not None or entry.picture is None else ""
    if entry.faulty:
        return Item(entry, usage, conditions=conditions)
    if problem:
        findings.add(entry.word.spot, f"{entry.name or 'FILLER'} {problem}", entry.word.text)
        return Item(entry, usage, read, conditions=conditions)
    length = size_of(entry, usage, read, own.sign, dialect)
    aligned = boundary_of(usage, length, dialect) if own.synchronized else 1
    return Item(entry, usage, read, own.sign, own.synchronized, length=length, conditions=conditions, slack=aligned)


def _picture_of(entry: Entry, dialect: Dialect, findings: Findings) -> Picture | None:
    if entry.picture is None:
        return None
    try:
        return picture(entry.picture.text, dialect.currency, comma=dialect.decimal_point_is_comma)
    except PictureError as error:
        text = f"{entry.name or 'FILLER'}: the picture {entry.picture.text} {error}"
        findings.add(entry.picture.spot, text, entry.picture.text)
        return None


def _usage_of(usage: str, read: Picture | None) -> str:
    """The usage that counts: a picture of national or double-byte characters says its own."""
    if read is None:
        return usage or "DISPLAY"
    if read.category in {"national", "national-edited"}:
        return "NATIONAL"
    if read.category == "dbcs":
        return "DISPLAY-1"
    if usage in {"", "NATIONAL", "DISPLAY"} or read.category == "numeric":
        return usage or "DISPLAY"
    return usage


def _boundary(item: Item) -> int:
    """The largest boundary that an item or one under it is to stand on."""
    return max((_boundary(child) for child in item.children), default=max(1, item.slack))


def _first_boundary(item: Item) -> int:
    """The boundary of the first elementary item."""
    while item.children:
        item = item.children[0]
    return max(1, item.slack)


def _place(item: Item, offset: int, findings: Findings) -> Item:
    """The item at an offset, and all under it behind one another."""
    if not item.children:
        return replace(item, offset=offset, slack=0)
    at = offset
    placed: list[Item] = []
    for child in item.children:
        target = None if child.entry.redefines is None else _redefined(child, placed, findings)
        if target is not None:
            made = replace(_place(child, target.offset, findings), redefines=target)
        else:
            boundary = _first_boundary(child)
            slack = -at % boundary
            made = replace(_place(child, at + slack, findings), slack=slack)
        at = max(at, made.offset + made.total)
        placed.append(made)
    length = at - offset
    boundary = _boundary(item)
    if item.occurs is not None and boundary > 1:
        length += -length % boundary
    return replace(item, offset=offset, length=length, children=tuple(placed), slack=0)


def _redefined(child: Item, placed: Sequence[Item], findings: Findings) -> Item | None:
    """The item whose storage is shared: the nearest of that name, with only items that share it too between."""
    word = child.entry.redefines
    assert word is not None
    name = child.name or "FILLER"
    target = next((item for item in reversed(placed) if item.name and item.name.upper() == word.upper), None)
    if target is None:
        findings.add(word.spot, f"{name} redefines {word.text}, which does not stand before it in its group", word.text)
        return None
    first = origin(target)
    if origin(placed[-1]) is not first:
        text = f"{name} redefines {word.text}, and {placed[-1].name or 'FILLER'} stands between them"
        findings.add(word.spot, text, word.text)
    return target


def origin(item: Item) -> Item:
    """The item that was described first of those that share their storage."""
    while item.redefines is not None:
        item = item.redefines
    return item
