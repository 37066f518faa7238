"""Links between an element and its children: how they are made, and what the change of one means for the others.

Indexes over the children of one element find the n-th of a name, and one of many names, at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from engine.budget import pay_for_many
from engine.errors import BrokerError
from engine.tree.source import NAME, UNREAD, Handle, Mark, leading
from engine.tree.states import (
    EDITED,
    EXPANDED,
    READ_ONLY,
    REPLACED,
    RESTRUCTURED,
    RETYPED,
    SHARES,
    TYPED,
    VALUED,
)

if TYPE_CHECKING:
    from engine.tree.element import Element
    from engine.tree.step import Step


def link(parent: Element, child: Element) -> None:
    """Make an element the last of the linked children."""
    child.previous_linked = last = parent.last_linked
    if last is None:
        parent.first_linked = child
    else:
        last.next_linked = child
    parent.last_linked = child


def expand(element: Element) -> None:
    """Make all children; those found before keep their identity, those appended stay last."""
    source, found, places = element.source, element.found_by_place, element.source.children(element.handle)
    if found:
        made = [found.get(place) or source.element(place, element) for place in places]
    else:
        made = [source.element(place, element) for place in places]
    pay_for_many(len(made))
    shares = element.state & SHARES
    appended, last = element.first_linked, element.last_linked
    element.first_linked = previous = None
    element.found_by_step = element.found_by_place = element.indexes = None
    element.state |= EXPANDED
    for child in made:
        if not shares and (child.state or child.source is None):
            origin = child.handle if child.state & SHARES else child
            if child.state & REPLACED or origin.source is None:
                element.state |= RESTRUCTURED
        child.previous_linked = previous
        if previous is None:
            element.first_linked = child
        else:
            previous.next_linked = child
        previous = child
    element.last_linked = previous
    if shares:
        element.raw_value = UNREAD
    elif (leads := leading(element)) is not None:
        if element.state & VALUED:
            leads.raw_value = element.raw_value
            leads.state |= EDITED | VALUED
            element.state &= ~VALUED
        element.raw_value = None
    if appended is not None:
        link(element, appended)
        element.last_linked = last


def made_children(element: Element) -> list[Element]:
    """The children that have been made so far, in no particular order."""
    made = list((element.found_by_place or {}).values())
    at = element.first_linked
    while at is not None:
        made.append(at)
        at = at.next_linked
    return made


def release(element: Element) -> None:
    """Before the content of an element is replaced: what has been made of it stands alone from now on."""
    for child in made_children(element):
        child.parent = child.previous_linked = child.next_linked = None


def check_detached(child: Element, parent: Element) -> None:
    """Refuse a child that cannot be put below a parent: a part of another tree, an input tree, or what holds it."""
    if child.parent is not None:
        raise BrokerError(2556, f"{child.name} is still a part of {child.parent.name}: detach or copy it first")
    if child.state & READ_ONLY:
        raise BrokerError(2556, f"{child.name} is an input tree, which cannot move to another: copy it first")
    if _is_above(child, parent):
        raise BrokerError(2556, f"{child.name} cannot be put into itself, as {parent.name} is a part of it")


def _is_above(element: Element, other: Element) -> bool:
    """Returns whether an element is the other one or holds it; one of which no child was made holds nothing."""
    if element.first_linked is None and not element.found_by_place:
        return element is other
    at: Element | None = other
    while at is not None and at is not element:
        at = at.parent
    return at is element


def mark_edited(element: Element) -> None:
    """Mark the way to the root as edited; a read-only tree refuses."""
    at: Element | None = element
    while at is not None and not at.state & EDITED:
        if at.state & READ_ONLY:
            raise BrokerError(2556, f"{element.name} is part of an input tree, which cannot be changed: copy it first")
        at = at.parent
    at = element
    while at is not None and not at.state & EDITED:
        if at.state & SHARES:
            at.source.take_over(at)
        at.state |= EDITED
        at = at.parent


def restructure(element: Element) -> None:
    """Before children are inserted, renamed or taken away: all are made, and no place of the source speaks for one."""
    mark_edited(element)
    if not element.state & EXPANDED:
        expand(element)
    element.state |= RESTRUCTURED


def replace_content(element: Element) -> None:
    """Before the content is replaced: the parent is edited, and cannot be patched where it lost the place."""
    parent = element.parent
    mark_edited(element if parent is None else parent)
    if parent is not None:
        retype(parent, element)
        parent.state |= RESTRUCTURED if parent.state & EXPANDED else 0


def ask_types(element: Element) -> None:
    """Before children are looked for by type: the source may speak of types that have changed since."""
    if element.state & RETYPED and not element.state & EXPANDED:
        expand(element)
    element.state |= TYPED


def retype(element: Element, child: Element) -> None:
    """A child has, or is about to have, another type: what was found by type no longer counts."""
    if element.state & TYPED:
        if element.state & EXPANDED:
            element.found_by_step = element.indexes = None
        else:
            expand(element)
        element.state &= ~TYPED
    if child.source is not None:
        element.state |= RETYPED


def give_value(element: Element, child: Element) -> None:
    """A child that is a name is given a value: in most domains it has another type from then on."""
    if not element.state & TYPED:
        element.state |= RETYPED
    elif child.owner.valued_type != NAME:
        retype(element, child)


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
