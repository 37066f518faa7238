"""The base of each piece of syntax: its position in the text, and the pieces that it is made of."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from esql.text import Position

NOWHERE = Position(0, 0, 0, 0)
# Fields that are written after others which the class names later, and classes below which nothing is looked at.
_FIELDS = {
    "Select": ("sources", "columns", "item", "condition"),
    "SetStatement": ("target", "source"),
    **dict.fromkeys(("Comment", "Name", "AnyName", "IndexAll", "DataType", "Qualifier"), ()),
}
_BESIDE = ("position", "comments", "prologue")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A piece of syntax; two are equal when they say the same, wherever they stand."""

    position: Position = field(default=NOWHERE, compare=False, repr=False)


def children(node: Node) -> list[Node]:
    """Returns the nodes right below a node, in the order of the text."""
    found: list[Node] = []
    kind: Any = type(node)
    for name in _fields(kind):
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, tuple):
            found.extend(item for item in value if isinstance(item, Node))
    return found


@cache
def _fields(kind: type[Any]) -> tuple[str, ...]:
    known = _FIELDS.get(kind.__name__)
    return tuple(one.name for one in fields(kind) if one.name not in _BESIDE) if known is None else known
