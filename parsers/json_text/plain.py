"""Plain: a document as Python's own dicts, lists and scalars, which the standard library reads and writes in C."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from engine.tree.source import NAME, NAME_VALUE

OBJECT: Final = NAME
ARRAY: Final = 0x01001000
ITEM: Final = "Item"


class Pairs(dict[str, Any]):
    """An object whose members stand in a list of pairs, for names may repeat; it is true when it has any.

    >>> Pairs([("a", 1), ("a", 2)]).items()
    [('a', 1), ('a', 2)]
    """

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[str, Any]] = ()) -> None:
        self.pairs = list(pairs)
        super().__init__(self.pairs)

    def append(self, name: str, value: Any) -> None:
        """Put one more member last."""
        self.pairs.append((name, value))
        self[name] = None  # encoders take an empty dict for an empty object

    def items(self) -> list[tuple[str, Any]]:  # type: ignore[override]  # more than a view: names repeat
        """The members, in order."""
        return self.pairs


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these members.

    >>> type(members([("a", 1)])).__name__, type(members([("a", 1), ("a", 1)])).__name__
    ('dict', 'Pairs')
    """
    made = dict(pairs)
    return made if len(made) == len(pairs) else Pairs(pairs)


def type_of(content: object) -> int:
    """The element type of a value: an object, an array, or a name with a scalar.

    >>> hex(type_of([])), hex(type_of("text"))
    ('0x1001000', '0x3000000')
    """
    if isinstance(content, dict):
        return OBJECT
    return ARRAY if content.__class__ is list else NAME_VALUE
