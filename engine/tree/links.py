"""Links: what steps have led to from an element, and what a change of one element means for those around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from engine.errors import BrokerError
from engine.tree.source import NAME
from engine.tree.states import EXPANDED, READ_ONLY, RETYPED, TYPED
from engine.tree.step import Each, Step

_NEAR: Final = 8  # siblings that are looked at for one that a step matches


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
            self.asked = linked.index(child)
            del linked[self.asked]

    def enter(self, child: Any) -> bool:
        """Take in a child that was linked elsewhere than at the end, or renamed; False where its place is not known."""
        seen = self.seen
        if seen is None or seen is child._previous or not self._wanted.matches(child):
            return True
        if child._previous is None:
            self.linked.insert(0, child)
            return True
        following, near, met = child._next, _NEAR, False
        while following is not None and near and not self._wanted.matches(following):
            met = met or following is seen
            following, near = following._next, near - 1
        linked, asked = self.linked, self.asked
        if following is None and met:
            linked.append(child)
            return True
        if not (asked < len(linked) and linked[asked] is following):
            if following not in linked:
                return False
            asked = linked.index(following)
        linked.insert(asked, child)
        self.asked = asked + 1  # where what comes next is likely to go: in front of the same one
        return True


class Names:
    """The first linked child of each name, so that one of many names is found at once; None where it is not known."""

    __slots__ = ("_first", "_seen")

    def __init__(self) -> None:
        self._first: dict[str, Any] = {}
        self._seen: Any = None

    def first(self, element: Any, name: str) -> Any:
        """The first child of a name, UNTOLD where that must be looked for, MISSING where there is none."""
        known = self._first
        if self._seen is not element._last:
            at = element._first if self._seen is None else self._seen._next
            while at is not None:
                known.setdefault(at.name, at)
                self._seen = at
                at = at._next
        first = known.get(name, MISSING)
        return UNTOLD if first is None else first

    def leave(self, child: Any) -> None:
        """Forget a child that is about to be unlinked or renamed: who comes first then is not known."""
        if self._seen is child:
            self._seen = child._previous
        name = child.name
        if self._first.get(name) is child:
            self._first[name] = None

    def enter(self, child: Any) -> bool:
        """A child was linked elsewhere than at the end, or renamed: it may have become the first."""
        self._first[child.name] = None
        return True


MISSING, UNTOLD = object(), object()
_NAMES: Final = Each()


def named(element: Any, wanted: Step) -> Any:
    """The first linked child that a step matches, by its name; UNTOLD where that must be looked for."""
    if wanted.name is None:
        return UNTOLD
    found = element._found
    if found is None:
        found = element._found = {}
    names = found.get(_NAMES)
    if names is None:
        names = found[_NAMES] = Names()
    first = names.first(element, wanted.name)
    if first is MISSING:
        return None
    if first is UNTOLD or not wanted.matches(first):
        return UNTOLD
    found[wanted] = first
    return first


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
        elif key.__class__ is Each:
            known.leave(child)


def enter(found: Found | None, child: Any) -> None:
    """After a child was linked elsewhere than at the end, or renamed: forget what it may have come in front of."""
    if not found:
        return
    for key, known in list(found.items()):
        if not known.enter(child) if key.__class__ is Each else key.matches(child):
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
    """Returns whether an element is the other one or holds it; what nothing was ever looked for in holds nothing."""
    if element._first is None and not element._found:
        return element is other
    while other is not None and other is not element:
        other = other.parent
    return other is element


def check_detached(child: Any, parent: Any) -> None:
    """Refuse a child that cannot be put below a parent: a part of another tree, an input tree, or what holds it."""
    if child.parent is not None:
        raise BrokerError(2556, f"{child.name} is still a part of {child.parent.name}: detach or copy it first")
    if child.state & READ_ONLY:
        raise BrokerError(2556, f"{child.name} is an input tree, which cannot move to another: copy it first")
    if is_above(child, parent):
        raise BrokerError(2556, f"{child.name} cannot be put into itself, as {parent.name} is a part of it")


def ask_types(element: Any) -> None:
    """Before children are looked for by type: the source may speak of types that have changed since."""
    if element.state & RETYPED and not element.state & EXPANDED:
        element._expand()
    element.state |= TYPED


def retype(element: Any, child: Any) -> None:
    """A child has, or is about to have, another type: what was found by type no longer counts."""
    if element.state & TYPED:
        if element.state & EXPANDED:
            element._found = None
        else:
            element._expand()
        element.state &= ~TYPED
    if child.source is not None:
        element.state |= RETYPED


def valued(element: Any, child: Any) -> None:
    """A child that is a name is given a value: in most domains it has another type from then on."""
    if not element.state & TYPED:
        element.state |= RETYPED
    elif child.owner.valued_type != NAME:
        retype(element, child)
