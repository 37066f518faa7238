"""Step: one step of a path through a message tree, made once and compared by identity; and what it has led to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, Protocol, TypeAlias

_SPECIAL: Final = re.compile("[{}*\x00-\x1f\ud800-\udfff]")

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
    Clark's notation, `{namespace}name`, as XML libraries take them; that is `plain` where no character of either has a
    meaning of its own there.
    """

    __slots__ = ("clark", "each", "name", "namespace", "plain", "types")

    def __init__(self, name: str | None, namespace: str | None, types: Types) -> None:
        self.name = name
        self.namespace = namespace
        self.types = types
        self.each = _Each()
        self.plain = bool(name) and not _SPECIAL.search(f"{name}{namespace or ''}")
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

    __slots__ = ("_wanted", "asked", "linked", "placed", "seen")

    def __init__(self, wanted: Step, placed: Sequence[Any]) -> None:
        self._wanted = wanted
        self.placed = placed
        self.linked: list[Any] = []
        self.asked = 0  # the place in `linked` that was looked at last
        self.seen: Any = None

    def __len__(self) -> int:
        return len(self.placed) + len(self.linked)

    def follow(self, first: Any) -> None:
        """Take in the linked children that came since the last time."""
        seen = self.seen
        at = first if seen is None else seen._next
        while at is not None:
            if self._wanted.matches(at):
                self.linked.append(at)
            self.seen = at
            at = at._next

    def leave(self, child: Any) -> None:
        """Leave out a linked child that is about to be unlinked or renamed."""
        if self.seen is child:
            self.seen = child._previous
        if not self._wanted.matches(child):
            return
        linked, asked = self.linked, self.asked
        if linked and linked[-1] is child:
            linked.pop()
        elif asked < len(linked) and linked[asked] is child:
            del linked[asked]
        elif child in linked:
            linked.remove(child)

    def enter(self, child: Any) -> bool:
        """Take in a child that was linked elsewhere than at the end, or renamed; False where its place is not known."""
        seen = self.seen
        if seen is None or seen is child._previous or not self._wanted.matches(child):
            return True
        if child._previous is None:
            self.linked.insert(0, child)
            return True
        return False


# What an element keeps under steps: under a step the first child that it matches, under a step's `each` the Repeats.
Found: TypeAlias = dict[Any, Any]
_MANY: Final = 64


def leave(found: Found | None, child: Any) -> None:
    """Before a child is unlinked or renamed: forget it, wherever it was found."""
    if not found:
        return
    if len(found) > _MANY:
        found.clear()
    for key, known in list(found.items()):
        if known is child:
            del found[key]
        elif key.__class__ is _Each:
            known.leave(child)


def enter(found: Found | None, child: Any) -> None:
    """After a child was linked elsewhere than at the end, or renamed: forget what it may have come in front of."""
    if not found:
        return
    for key, known in list(found.items()):
        if not known.enter(child) if key.__class__ is _Each else key.matches(child):
            del found[key]


def known(element: Any) -> list[Any]:
    """The children that have been made so far, in no particular order, some maybe twice."""
    found = [] if element._found is None else [e for e in element._found.values() if e.__class__ is element.__class__]
    at = element._first
    while at is not None:
        found.append(at)
        at = at._next
    return found


def release(element: Any) -> None:
    """Before the content of an element is replaced: what has been made of it stands alone from now on."""
    for child in known(element):
        child.parent = child._previous = child._next = None


def is_above(element: Any, other: Any) -> bool:
    """Whether an element is the other one or holds it; what nothing was ever looked for in holds nothing."""
    if element._first is None and not element._found:
        return element is other
    while other is not None and other is not element:
        other = other.parent
    return other is element
