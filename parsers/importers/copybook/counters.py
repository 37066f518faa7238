"""Counters: the items that OCCURS DEPENDING ON names, found as COBOL qualifies names."""

from __future__ import annotations

from dataclasses import replace

from parsers.importers.copybook.findings import Findings
from parsers.importers.copybook.items import Item


def with_counters(top: Item, findings: Findings) -> Item:
    """The item with the counter of each of its tables beside it."""
    if not any(item.occurs is not None and item.occurs.depending for item in top.walk()):
        return top
    seen: dict[str, list[tuple[Item, ...]]] = {}
    return _with(top, (), seen, findings)


def _with(item: Item, above: tuple[Item, ...], seen: dict[str, list[tuple[Item, ...]]], findings: Findings) -> Item:
    way = (*above, item)
    counter = None
    if item.occurs is not None and item.occurs.depending:
        counter = _counter(item, above, seen, findings)
    if not item.children and item.name:
        seen.setdefault(item.name.upper(), []).append(way)
    children = tuple(_with(child, way, seen, findings) for child in item.children)
    return replace(item, children=children, counter=counter)


def _counter(
    item: Item, above: tuple[Item, ...], seen: dict[str, list[tuple[Item, ...]]], findings: Findings
) -> Item | None:
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


def _is_of(way: tuple[Item, ...], groups: list[str]) -> bool:
    """Returns whether an item stands in the groups that qualify it, from the inside out."""
    names = iter(reversed([item.name.upper() for item in way[:-1]]))
    return all(group in names for group in groups)


def _shared(way: tuple[Item, ...], above: tuple[Item, ...]) -> int:
    """Returns how many groups two items have in common."""
    number = 0
    for one, other in zip(way, above, strict=False):
        if one is not other:
            break
        number += 1
    return number
