"""Item: a part of a document that lxml does not keep as a node."""

from __future__ import annotations


class Item:
    """A type, a name, a value and children; two items are never equal, so that each can be a place in a tree."""

    __slots__ = ("children", "name", "namespace", "type", "value")

    def __init__(
        self, type_: int, name: str, value: str | None, children: tuple[Item, ...] = (), namespace: str = ""
    ) -> None:
        self.type = type_
        self.name = name
        self.value = value
        self.children = children
        self.namespace = namespace

    def again(self) -> Item:
        """The same in another place."""
        return Item(self.type, self.name, self.value, self.children, self.namespace)
