"""Patterns of topics by their levels, so that a topic finds those that fit it without looking at the others."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Final, Generic, TypeVar

from engine.message.topics import MANY, SINGLE

Held = TypeVar("Held", bound=Hashable)

RESERVED: Final = "$"  # begins the topics of the system itself, which a wildcard at the first level does not fit


class _Node(Generic[Held]):
    """The patterns that begin with the same levels."""

    __slots__ = ("below", "held", "many")

    def __init__(self, *, many: bool = False) -> None:
        self.many = many  # its last level is #
        self.below: dict[str, _Node[Held]] = {}
        self.held: dict[Held, None] = {}  # in the order in which they were added


class Trie(Generic[Held]):
    """A map from topic patterns to values; `+` fits one level, `#` any number of them, or none, wherever it stands.

    >>> trie = Trie[str]()
    >>> trie.add(("a", "#", "c"), "one"), trie.add(("+", "b"), "two")
    (None, None)
    >>> list(trie.fitting(("a", "c"))), list(trie.fitting(("x", "b"))), list(trie.fitting(("a", "b", "b", "c")))
    (['one'], ['two'], ['one'])
    """

    __slots__ = ("_root",)

    def __init__(self) -> None:
        self._root = _Node[Held]()

    def add(self, levels: tuple[str, ...], held: Held) -> None:
        """Hold something under a pattern."""
        node = self._root
        for level in levels:
            found = node.below.get(level)
            if found is None:
                found = node.below[level] = _Node(many=level == MANY)
            node = found
        node.held[held] = None

    def remove(self, levels: tuple[str, ...], held: Held) -> None:
        """Hold something under a pattern no more."""
        way = [self._root]
        for level in levels:
            way.append(way[-1].below[level])
        del way[-1].held[held]
        for level, above, node in zip(levels[::-1], way[-2::-1], way[:0:-1], strict=True):
            if node.held or node.below:
                break
            del above.below[level]

    def fitting(self, levels: tuple[str, ...]) -> Iterator[Held]:
        """Yields what is held under all patterns that fit a topic, each pattern once."""
        root = self._root
        reserved = levels[0].startswith(RESERVED)
        active = [root] if reserved else _with_many([root])
        for at, level in enumerate(levels):
            active = _with_many(_after(active, level, wild=at > 0 or not reserved))
        for node in active:
            yield from node.held


def _after(active: list[_Node[Held]], level: str, *, wild: bool) -> list[_Node[Held]]:
    """Returns the nodes that a level leads to; a node behind # stays where it is."""
    found: list[_Node[Held]] = []
    for node in active:
        if node.many:
            found.append(node)
        below = node.below
        following = below.get(level)
        if following is not None:
            found.append(following)
        following = below.get(SINGLE) if wild else None
        if following is not None:
            found.append(following)
    return found


def _with_many(active: list[_Node[Held]]) -> list[_Node[Held]]:
    """Returns nodes and those that a # behind them leads to, which may stand for no level at all."""
    found = dict.fromkeys(active)
    for node in active:
        following = node.below.get(MANY)
        while following is not None:
            found[following] = None
            following = following.below.get(MANY)
    return list(found)
