"""Names of items: no two alike in a group, as trees and JSON need them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.importers.copybook.items import Item

FILLER: Final = "FILLER"


def named_children(item: Item, *, without: frozenset[int] = frozenset()) -> Iterator[tuple[Item, str]]:
    """The items of a group with their names, but for those whose ids are in `without`, which have none.

    An item without a name is FILLER; one whose name is taken has a number behind it.
    """
    used: set[str] = set()
    for child in item.children:
        if id(child) in without:
            yield child, ""
            continue
        name = key = child.name or FILLER
        number = 1
        while key in used:
            number += 1
            key = f"{name}_{number}"
        used.add(key)
        yield child, key


def has_names(item: Item) -> bool:
    """Returns True where an item, or one under it, has a name."""
    return any(inner.name for inner in item.walk())
