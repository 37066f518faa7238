"""Entries to items: levels make a tree, sizes and slack bytes make offsets; RENAMES, and the counters of tables."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from parsers.importers.copybook.items import Condition, DataItem, Entry, Picture, PictureError, Renaming, Sign, picture
from parsers.importers.copybook.source import Dialect, Findings

BINARY: Final = frozenset({"BINARY", "COMP-5", "COMP-X", "COMP-N"})
WITHOUT_PICTURE: Final = {
    "COMP-1": 4,
    "COMP-2": 8,
    "BINARY-CHAR": 1,
    "BINARY-SHORT": 2,
    "BINARY-LONG": 4,
    "BINARY-DOUBLE": 8,
    "POINTER-32": 4,
}
ADDRESSES: Final = {
    "INDEX": (4, 8),
    "POINTER": (4, 8),
    "FUNCTION-POINTER": (4, 8),
    "PROCEDURE-POINTER": (8, 8),
    "OBJECT": (4, 8),
}
_NUMBERS: Final = frozenset({*BINARY, "PACKED-DECIMAL", "COMP-6"})
_BINARY_DIGITS: Final = 38
_LONG_DIGITS: Final = 18
MOST_BYTES: Final = 8
# The bytes that hold so many digits, without a sign and with one: as the smallest that can.
_SMALLEST: Final = {False: (2, 4, 7, 9, 12, 14, 16, 19), True: (2, 4, 6, 9, 11, 14, 16, 18)}


def needs_picture(usage: str) -> bool:
    """Returns whether an elementary item of that usage is nothing without a picture."""
    return usage not in WITHOUT_PICTURE and usage not in ADDRESSES


def storage_problem(entry: Entry, usage: str, picture: Picture | None) -> str:
    """Returns what is wrong with the clauses of an elementary item taken together, empty where nothing is."""
    if picture is None:
        return f"has neither a picture nor items under it, and its usage {usage} needs one" * needs_picture(usage)
    if not needs_picture(usage):
        return f"has a picture, and its usage {usage} takes none"
    return _usage_problem(usage, picture) or _clause_problem(entry, picture)


def _usage_problem(usage: str, picture: Picture) -> str:
    if usage in {"COMP-X", "COMP-N"} and picture.category == "alphanumeric":
        return f"has {picture.positions} bytes: {usage} has at most 8" if picture.positions > MOST_BYTES else ""
    if usage in _NUMBERS and picture.category != "numeric":
        return f"has the usage {usage}, and its picture {picture.text} is not that of a number"
    if usage in BINARY and picture.digits > _BINARY_DIGITS:
        return f"has {picture.digits} digits: a binary number has at most {_BINARY_DIGITS}"
    return "has S in its picture, and its usage COMP-6 has no sign" if usage == "COMP-6" and picture.signed else ""


def _clause_problem(entry: Entry, picture: Picture) -> str:
    is_number = picture.category in {"numeric", "numeric-edited"}
    if entry.blank_when_zero and not is_number:
        return f"has BLANK WHEN ZERO, and its picture {picture.text} is not that of a number"
    if entry.justified and is_number:
        return f"has JUSTIFIED, and its picture {picture.text} is that of a number"
    return ""


def size_of(entry: Entry, usage: str, picture: Picture | None, sign: Sign | None, dialect: Dialect) -> int:
    """The bytes of one occurrence of an elementary item."""
    if usage in ADDRESSES:
        return ADDRESSES[usage][dialect.lp == 64]
    if usage in WITHOUT_PICTURE or picture is None:
        return WITHOUT_PICTURE.get(usage, 0)
    if usage in BINARY:
        return _binary(usage, picture, dialect)
    if usage in {"PACKED-DECIMAL", "COMP-6"}:
        return picture.digits // 2 + 1 if usage == "PACKED-DECIMAL" else (picture.digits + 1) // 2
    separate = sign is not None and sign.separate and picture.signed and picture.category == "numeric"
    width = 2 if usage in {"NATIONAL", "DISPLAY-1"} else 4 if picture.category == "utf-8" else 1
    return (picture.positions + separate) * width


def _binary(usage: str, picture: Picture, dialect: Dialect) -> int:
    if usage in {"COMP-X", "COMP-N"}:
        is_text = picture.category == "alphanumeric"
        return picture.positions if is_text else _smallest(picture.digits, signed=picture.signed)
    return binary_size(picture.digits, dialect, signed=picture.signed)


def binary_size(digits: int, dialect: Dialect, *, signed: bool) -> int:
    """The bytes of a binary number of so many digits; more than 18 take 16, which IBM's compilers do not have.

    >>> from parsers.importers.copybook.source import IBM
    >>> [binary_size(digits, IBM, signed=True) for digits in (1, 4, 5, 9, 10, 18)]
    [2, 2, 4, 4, 8, 8]
    """
    if digits > _LONG_DIGITS:
        return 16
    if dialect.binary_size == "1--8":
        return _smallest(digits, signed=signed)
    if digits <= 2 and dialect.binary_size == "1-2-4-8":
        return 1
    return 2 if digits <= 4 else 4 if digits <= 9 else 8


def _smallest(digits: int, *, signed: bool) -> int:
    return next((size for size, most in enumerate(_SMALLEST[signed], 1) if digits <= most), 16)


def boundary_of(usage: str, length: int, dialect: Dialect) -> int:
    """The boundary that a synchronized item is put on: 2 for halfwords, 4 for fullwords, 8 for doublewords."""
    if usage in BINARY or usage.startswith("BINARY-"):
        return 1 if length < 2 else 2 if length == 2 else 4
    if usage == "COMP-1":
        return 4
    if usage == "COMP-2":
        return 8
    return ADDRESSES["POINTER"][dialect.lp == 64] if usage in {*ADDRESSES, "POINTER-32"} else 1


def renamings(top: DataItem, entries: list[Entry], findings: Findings) -> tuple[Renaming, ...]:
    """The renamings of a record, each with the bytes that it stands for."""
    if not entries:
        return ()
    items: dict[str, DataItem] = {}
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


_CICS: Final = "EIBCALEN"  # the length of a communication area, which CICS itself describes


def with_counters(top: DataItem, findings: Findings, known: Container[str]) -> DataItem:
    """The item with the counter of each of its tables beside it; `known` are the names in all records."""
    if not any(item.occurs is not None and item.occurs.depending for item in top.walk()):
        return top
    seen: dict[str, list[tuple[DataItem, ...]]] = {}
    return _with(top, (), seen, findings, known)


def _with(
    item: DataItem,
    above: tuple[DataItem, ...],
    seen: dict[str, list[tuple[DataItem, ...]]],
    findings: Findings,
    known: Container[str],
) -> DataItem:
    way = (*above, item)
    counter, is_open = None, False
    if item.occurs is not None and item.occurs.depending:
        is_open = _is_open(way, item.occurs.depending[0].upper(), known)
        counter = None if is_open else _counter(item, above, seen, findings)
    if not item.children and item.name:
        seen.setdefault(item.name.upper(), []).append(way)
    children = tuple(_with(child, way, seen, findings, known) for child in item.children)
    return replace(item, children=children, counter=counter, open=is_open)


def _is_open(way: tuple[DataItem, ...], counter: str, known: Container[str]) -> bool:
    """Returns whether a table is the last of its record, and what it depends on is described elsewhere."""
    if not (counter == _CICS or counter in known) or any(item.name.upper() == counter for item in way[0].walk()):
        return False
    return all(
        group.occurs is None and group.children[-1] is item and item.redefines is None for group, item in pairwise(way)
    )


def _counter(
    item: DataItem, above: tuple[DataItem, ...], seen: dict[str, list[tuple[DataItem, ...]]], findings: Findings
) -> DataItem | None:
    """The counter of a table: of those of that name, the nearest before it."""
    assert item.occurs is not None
    names = [name.upper() for name in item.occurs.depending]
    said = " OF ".join(item.occurs.depending)
    fitting = [way for way in seen.get(names[0], ()) if _is_of(way, names[1:])]
    if not fitting:
        text = f"{item.name or 'FILLER'} occurs DEPENDING ON {said}, which does not stand before it in the record"
        findings.add(item.spot, text, item.entry.word.text)
        return None
    nearest = max(reversed(fitting), key=lambda way: _shared(way, above))
    found = nearest[-1]
    if any(other.occurs is not None for other in nearest[_shared(nearest, above) :]):
        text = f"{item.name or 'FILLER'} occurs DEPENDING ON {said}, which itself occurs more than once"
    elif found.picture is None and not found.usage.startswith("BINARY-"):
        text = f"{item.name or 'FILLER'} occurs DEPENDING ON {said}, which is no number"
    elif found.picture is not None and (found.picture.category != "numeric" or found.picture.scale != 0):
        text = f"{item.name or 'FILLER'} occurs DEPENDING ON {said}, which is no whole number"
    else:
        return found
    findings.add(item.spot, text, item.entry.word.text)
    return None


def _is_of(way: tuple[DataItem, ...], groups: list[str]) -> bool:
    """Returns whether an item stands in the groups that qualify it, from the inside out."""
    names = iter(reversed([item.name.upper() for item in way[:-1]]))
    return all(group in names for group in groups)


def _shared(way: tuple[DataItem, ...], above: tuple[DataItem, ...]) -> int:
    """Returns how many groups two items have in common."""
    number = 0
    for one, other in zip(way, above, strict=False):
        if one is not other:
            break
        number += 1
    return number


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


def arrange(node: Node, dialect: Dialect, findings: Findings) -> DataItem:
    """The item of a node at offset 0, with all under it."""
    top = _place(_unplaced(node, NOTHING, dialect, findings), 0, findings)
    if top.total > LARGEST_RECORD:
        text = f"{top.name or 'FILLER'} has {top.total:,} bytes: a record has at most {LARGEST_RECORD:,}"
        findings.add(top.spot, text, top.name)
    return top


def _unplaced(node: Node, above: Inherited, dialect: Dialect, findings: Findings) -> DataItem:
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
        return DataItem(entry, usage or "DISPLAY", children=children, conditions=conditions)
    read = _picture_of(entry, dialect, findings)
    usage = _usage_of(usage, read)
    if read is not None and read.category == "numeric" and entry.sign is not None and entry.sign.separate:
        read = replace(read, signed=True)  # some compilers take a sign of its own for an S
    problem = storage_problem(entry, usage, read) if read is not None or entry.picture is None else ""
    if entry.faulty:
        return DataItem(entry, usage, conditions=conditions)
    if problem:
        findings.add(entry.word.spot, f"{entry.name or 'FILLER'} {problem}", entry.word.text)
        return DataItem(entry, usage, read, conditions=conditions)
    length = size_of(entry, usage, read, own.sign, dialect)
    aligned = boundary_of(usage, length, dialect) if own.synchronized else 1
    return DataItem(entry, usage, read, own.sign, length=length, conditions=conditions, slack=aligned)


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
    if read is not None and read.category in {"national", "national-edited"}:
        return "NATIONAL"
    return "DISPLAY-1" if read is not None and read.category == "dbcs" else usage or "DISPLAY"


def _boundary(item: DataItem) -> int:
    return max((_boundary(child) for child in item.children), default=max(1, item.slack))


def _first_boundary(item: DataItem) -> int:
    while item.children:
        item = item.children[0]
    return max(1, item.slack)


def _place(item: DataItem, offset: int, findings: Findings) -> DataItem:
    """The item at an offset, and all under it behind one another."""
    if not item.children:
        return replace(item, offset=offset, slack=0)
    at = offset
    placed: list[DataItem] = []
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


def _redefined(child: DataItem, placed: Sequence[DataItem], findings: Findings) -> DataItem | None:
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


def origin(item: DataItem) -> DataItem:
    """The item that was described first of those that share their storage."""
    while item.redefines is not None:
        item = item.redefines
    return item
