"""Step: one step of a path through a message tree, made once and compared by identity."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

Types: TypeAlias = tuple[tuple[int, int], ...]


class _Named(Protocol):
    name: str
    namespace: str

    @property
    def type(self) -> int: ...


class _Each:
    """The key under which an element keeps all children that a step matches."""

    __slots__ = ()


class Step:
    """One step of a path: a name (None: any), a namespace (None: any), and the types it accepts (empty: all).

    A type is a mask and the value that is left of an element's type under it. `clark` is name and namespace in
    Clark's notation, `{namespace}name`, as XML libraries take them.
    """

    __slots__ = ("clark", "each", "name", "namespace", "types")

    def __init__(self, name: str | None, namespace: str | None, types: Types) -> None:
        self.name = name
        self.namespace = namespace
        self.types = types
        self.each = _Each()
        self.clark: str = (name or "*") if namespace == "" else f"{{{'*' if namespace is None else namespace}}}{name}"

    def __repr__(self) -> str:
        return f"step({self.name!r}, {self.namespace!r}, {self.types!r})"

    def matches(self, element: _Named) -> bool:
        """Whether the step leads to this element."""
        return (
            (self.name is None or self.name == element.name)
            and (self.namespace is None or self.namespace == element.namespace)
            and (not self.types or any(element.type & mask == value for mask, value in self.types))
        )


@lru_cache(maxsize=65536)
def step(name: str | None, namespace: str | None = "", types: Types = ()) -> Step:
    """The one step of this name, namespace and types.

    >>> step("Order") is step("Order")
    True
    """
    return Step(name, namespace, types)


class Repeats:
    """The children of one element that one step matches, so that the n-th costs the same for every n."""

    __slots__ = ("_seen", "_wanted", "linked", "placed")

    def __init__(self, wanted: Step, placed: Sequence[Any]) -> None:
        self._wanted = wanted
        self.placed = placed
        self.linked: list[Any] = []
        self._seen: Any = None

    def __len__(self) -> int:
        return len(self.placed) + len(self.linked)

    def follow(self, first: Any) -> None:
        """Take in the linked children that came since the last time."""
        seen = self._seen
        at = first if seen is None else seen._next
        while at is not None:
            if self._wanted.matches(at):
                self.linked.append(at)
            self._seen = at
            at = at._next
