"""Indexes over the children of one element, so that the n-th of a name and one of many names are found at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from engine.tree.source import Handle, Mark

if TYPE_CHECKING:
    from engine.tree.element import Element
    from engine.tree.step import Step

UNKNOWN: Final = Mark()  # that a child must be looked for
_NEAR: Final = 8  # siblings that are looked at for one that a step matches
_MANY: Final = 64  # entries that are dropped together rather than looked through


class Repeats:
    """The children of one element that one step matches, so that the n-th costs the same for every n."""

    __slots__ = ("asked", "linked", "placed", "seen", "wanted")

    def __init__(self, wanted: Step, placed: Sequence[Handle]) -> None:
        self.wanted = wanted
        self.placed = placed  # those that the source has, by their places; none where the element is expanded
        self.linked: list[Element] = []
        self.asked = 0  # the place in `linked` that was looked at last
        self.seen: Element | None = None  # the linked child up to which `linked` is complete

    def __len__(self) -> int:
        return len(self.placed) + len(self.linked)

    def follow(self, first: Element | None) -> None:
        """Take in the linked children that came since the last time."""
        seen = self.seen
        at = first if seen is None else seen.next_linked
        while at is not None:
            if self.wanted.matches(at):
                self.linked.append(at)
            self.seen = at
            at = at.next_linked

    def leave(self, child: Element) -> None:
        """Leave out a linked child that is about to be unlinked or renamed."""
        if self.seen is child:
            self.seen = child.previous_linked
        if not self.wanted.matches(child):
            return
        linked, asked = self.linked, self.asked
        if linked and linked[-1] is child:
            linked.pop()
        elif asked < len(linked) and linked[asked] is child:
            del linked[asked]
        elif child in linked:
            self.asked = linked.index(child)
            del linked[self.asked]

    def enter(self, child: Element) -> bool:
        """Take in a child that was linked elsewhere than at the end, or renamed; False where its place is not known."""
        seen = self.seen
        if seen is None or seen is child.previous_linked or not self.wanted.matches(child):
            return True
        if child.previous_linked is None:
            self.linked.insert(0, child)
            return True
        following, near, met = child.next_linked, _NEAR, False
        while following is not None and near and not self.wanted.matches(following):
            met = met or following is seen
            following, near = following.next_linked, near - 1
        linked, asked = self.linked, self.asked
        if following is None:
            if met:
                linked.append(child)
            return met
        if not (asked < len(linked) and linked[asked] is following):
            if following not in linked:
                return False
            asked = linked.index(following)
        linked.insert(asked, child)
        self.asked = asked + 1  # where what comes next is likely to go: in front of the same one
        return True


class Indexes:
    """The children that each step matches, and the first linked child of each name."""

    __slots__ = ("_first", "_seen", "repeats")

    def __init__(self) -> None:
        self.repeats: dict[Step, Repeats] = {}
        self._first: dict[str, Element | None] = {}  # None: there may be one, and it must be looked for
        self._seen: Element | None = None  # the linked child up to which names are known

    def first(self, element: Element, wanted: Step, name: str) -> Element | Mark | None:
        """The first linked child that a step of a name matches; UNKNOWN where it must be looked for."""
        known = self._first
        if self._seen is not element.last_linked:
            at = element.first_linked if self._seen is None else self._seen.next_linked
            while at is not None:
                known.setdefault(at.name, at)
                self._seen = at
                at = at.next_linked
        if name not in known:
            return None
        first = known[name]
        return first if first is not None and wanted.matches(first) else UNKNOWN

    def leave(self, child: Element) -> None:
        """Forget a child that is about to be unlinked or renamed; the first of its name is not known then."""
        if self._seen is child:
            self._seen = child.previous_linked
        if self._first.get(child.name) is child:
            self._first[child.name] = None
        if len(self.repeats) > _MANY:
            self.repeats.clear()
        for repeats in self.repeats.values():
            repeats.leave(child)

    def enter(self, child: Element) -> None:
        """Take in a child that was linked elsewhere than at the end, or renamed: it may be the first of its name."""
        self._first[child.name] = None
        for wanted, repeats in list(self.repeats.items()):
            if not repeats.enter(child):
                del self.repeats[wanted]


def leave(parent: Element, child: Element) -> None:
    """Before a child is unlinked or renamed: forget it, wherever it was found."""
    if found := parent.found_by_step:
        if len(found) > _MANY:
            found.clear()
        for wanted in [wanted for wanted, known in found.items() if known is child]:
            del found[wanted]
    if parent.indexes is not None:
        parent.indexes.leave(child)


def enter(parent: Element, child: Element) -> None:
    """After a child was linked elsewhere than at the end, or renamed: forget what it may have come in front of."""
    if found := parent.found_by_step:
        for wanted in [wanted for wanted in found if wanted.matches(child)]:
            del found[wanted]
    if parent.indexes is not None:
        parent.indexes.enter(child)
