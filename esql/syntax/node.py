"""The base of each piece of syntax: its position in the text."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from esql import syntax
from esql.text.source import Position

NOWHERE = Position(0, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A piece of syntax; two are equal when they say the same, wherever they stand."""

    position: Position = field(default=NOWHERE, compare=False, repr=False)


# Fields that are written after others which the class names later.
_ORDERS = {
    "Select": ("sources", "columns", "item", "condition"),
    "SetStatement": ("target", "source"),
}
_KINDS = tuple(kind for kind in vars(syntax).values() if isinstance(kind, type) and issubclass(kind, syntax.Node))
_WITHOUT_NODES = (syntax.Comment, syntax.Name, syntax.AnyName, syntax.IndexAll, syntax.DataType, syntax.Qualifier)
_BESIDE = ("position", "comments", "prologue")
_FIELDS = {
    kind: ()
    if kind in _WITHOUT_NODES
    else _ORDERS.get(kind.__name__) or tuple(field.name for field in fields(kind) if field.name not in _BESIDE)
    for kind in _KINDS
}


def children(node: syntax.Node) -> list[syntax.Node]:
    """List the nodes right below a node."""
    found: list[syntax.Node] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name)
        if isinstance(value, syntax.Node):
            found.append(value)
        elif isinstance(value, tuple):
            found.extend(item for item in value if isinstance(item, syntax.Node))
    return found
