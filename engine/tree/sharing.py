"""Sharing: copies of elements that cost nothing until they are edited, and what of an element differs from its source.

What is as it was read is shared by its source and handle. An element that was edited and has become part of a
read-only tree is itself the source of its copies: a copy takes over one level of it when it is edited in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from engine.budget import pay
from engine.tree.element import Element
from engine.tree.links import link, made_children, mark_edited, release, replace_content, restructure
from engine.tree.source import EXPAND, GENERIC, KIND, UNREAD, VALUE, Handle, Source, Value
from engine.tree.states import (
    CHANGED,
    EDITED,
    EXPANDED,
    LOOSE,
    READ_ONLY,
    REPLACED,
    RESTRUCTURED,
    RETYPED,
    SHARES,
    VALUED,
)
from engine.tree.step import Step

_BLOCK: Final = 256  # elements that are paid for together
_UNLIKE: Final = EXPANDED | RESTRUCTURED | REPLACED | SHARES  # not simply what its source has in its place
_NOT_AS_READ: Final = EXPANDED | SHARES
_LEVEL: Final = EXPANDED | EDITED | VALUED | RESTRUCTURED | RETYPED | LOOSE
_STANDING: Final = REPLACED | LOOSE
_CLEAN: Final = REPLACED | SHARES | VALUED | LOOSE


def copy(element: Element) -> Element:
    """A detached copy: what is as it was read is shared, what was changed or built is copied.

    >>> order = Element("Order")
    >>> id = order.add("Id", 7)
    >>> twin = copy(order)
    >>> twin.at("Id").value = 8
    >>> order.at("Id").value, twin.at("Id").value
    (7, 8)
    """
    twin = alike(element)
    if not element.state & EDITED:
        return twin
    pending = [(element, twin)]
    left = _BLOCK
    while pending:
        old, new = pending.pop()
        left -= 1
        if not left:
            pay(left := _BLOCK)
        new.state |= old.state & _LEVEL
        new.raw_value = old.raw_value
        if not old.state & EXPANDED:
            departed = _departed(old)
            new.found_by_place = {place: alike(child, new) for place, child in departed}
            pending += [(child, new.found_by_place[place]) for place, child in departed if child.state & EDITED]
        at = old.first_linked
        while at is not None:
            child = alike(at, new)
            link(new, child)
            if at.state & EDITED:
                pending.append((at, child))
            at = at.next_linked
    return twin


def copy_into(target: Element, other: Element) -> None:
    """Give the target the value, type and children of another element; it keeps its name."""
    source, handle, domain, type_, value = other.source, other.handle, other.domain, other.raw_type, other.raw_value
    state = other.state
    twin = copy(other) if state & EDITED else None
    parent = target.parent
    if type_ & KIND == VALUE and parent is not None and not parent.state & EXPANDED:
        restructure(parent)  # while it is still told whose the parent's value is: its own, or that of its first text
    if parent is None or twin is not None or target.raw_type != type_ or (target.state ^ state) & VALUED:
        replace_content(target)
    else:  # it keeps its type, so that what was found by type is still right
        if not parent.state & EDITED:
            mark_edited(parent)
        if parent.state & EXPANDED:
            parent.state |= RESTRUCTURED
    if target.first_linked is not None or target.found_by_place:
        release(target)
    target.domain, target.raw_type = domain or target.domain, type_
    if twin is None:
        target.source, target.handle, target.raw_value = source, handle, UNREAD if value is None else value
        target.first_linked = target.last_linked = None
        target.found_by_step = target.found_by_place = target.indexes = None
        target.state = state & _CLEAN | REPLACED
        return
    target.source, target.handle, target.raw_value = twin.source, twin.handle, twin.raw_value
    _take_children(target, twin)
    target.state = twin.state | REPLACED


def hand_over(element: Element) -> Element:
    """A new element with all that was in this one, which is empty from now on.

    >>> order = Element("Order")
    >>> id = order.add("Id", 7)
    >>> taken = hand_over(order)
    >>> len(list(order)), id.parent is taken
    (0, True)
    """
    taken = Element(element.name, element.namespace, element.raw_type)
    taken.source, taken.handle, taken.domain = element.source, element.handle, element.domain
    taken.state, taken.raw_value = element.state, element.raw_value
    _take_children(taken, element)
    element.source = None  # type: ignore[assignment]  # nothing is left to read
    element.handle, element.state, element.raw_value = None, EXPANDED | EDITED, None
    element.first_linked = element.last_linked = None
    element.found_by_step = element.found_by_place = element.indexes = None
    return taken


def _take_children(target: Element, other: Element) -> None:
    target.first_linked, target.last_linked = other.first_linked, other.last_linked
    target.found_by_step, target.found_by_place, target.indexes = (
        other.found_by_step,
        other.found_by_place,
        other.indexes,
    )
    for child in made_children(target):
        child.parent = target


def alike(element: Element, parent: Element | None = None) -> Element:
    """A copy of what the element is by itself: of a clean one that is all of it."""
    twin = Element(element.name, element.namespace, element.raw_type, element.source, element.handle, parent)
    twin.domain = element.domain
    if element.source is not None:
        twin.state = element.state & _CLEAN
        if element.raw_value is not None:  # an expanded element may have left its value to its first child
            twin.raw_value = element.raw_value
    return twin


def peek(parent: Element, wanted: Step) -> Element | Handle | None:
    """The first child that a step without types matches, or only its place where no one has asked for it yet."""
    if parent.state & _NOT_AS_READ:
        return parent.child(wanted)
    found = parent.found_by_step
    if found is not None and (known := found.get(wanted)) is not None:
        return known
    place, places = parent.source.first(parent.handle, wanted), parent.found_by_place
    if place is None or place is EXPAND or (places is not None and place in places):
        return parent.child(wanted)
    return place


def of_one_owner(
    one: Element, other: Element, first: Element | Step | None = None, second: Element | Step | None = None
) -> bool:
    """Returns whether one domain owns two elements, or the children that steps lead to, all without their own."""
    at = one
    while (domain := at.domain) is None:
        first, at = at, at.parent  # type: ignore[assignment]  # None ends the loop
        if at is None:
            domain = GENERIC
            break
    at = other
    while (rival := at.domain) is None:
        second, at = at, at.parent  # type: ignore[assignment]  # None ends the loop
        if at is None:
            rival = GENERIC
            break
    name, named = first and first.name, second and second.name
    if domain is rival and name == named:
        return True
    return (domain.inner(name or "") or domain) is (rival.inner(named or "") or rival)


def append_as_read(parent: Element, wanted: Step, above: Element, place: Handle, asked: Step) -> bool:
    """Append what a place below `above`, to which `asked` leads, was read as, under the name that is wanted.

    Returns False, and appends nothing, where an element was made for the place, or where another parser owns it.
    """
    if not parent.state & EDITED:
        mark_edited(parent)
    if above.state & _NOT_AS_READ or (above.found_by_place and place in above.found_by_place):
        return False
    if not of_one_owner(above, parent, asked, wanted):
        return False
    made = above.source.element(place, parent)
    if made.domain is not None:
        return False
    made.name, made.namespace = wanted.name or "", wanted.namespace or ""
    made.state |= REPLACED
    link(parent, made)
    return True


def child_in(parent: Element, place: Handle, asked: Step) -> Element | None:
    """The child in a place that `peek` has told, which may have been made or replaced since."""
    return parent.child(asked) if parent.state & _NOT_AS_READ else parent.child_in(place)


def read_only(element: Element) -> Element:
    """A view of a tree that refuses changes; the tree itself must stay as it is from now on."""
    if element.state & EDITED:
        view = Element(element.name, element.namespace, element.raw_type, SHARED, element)
        view.domain = element.domain
        view.state = SHARES | READ_ONLY | element.state & LOOSE
        if element.state & VALUED:
            view.state |= _valued(element)
        return view
    view = alike(element)
    view.state |= READ_ONLY
    return view


def changed_children(element: Element) -> list[tuple[Handle, Element]]:
    """The children that differ from what the source has in their place, each with that place."""
    if not element.state & EXPANDED:
        changed = _departed(element)
        for at, (place, child) in enumerate(changed):
            if child.state & SHARES:
                changed[at] = place, _held(child)
        return changed
    if element.source is None:
        return []
    kept = [_held(at) for at in element if at.state & CHANGED and not at.state & REPLACED]
    return [(at.handle, at) for at in kept if at.source is not None]


def only_change(element: Element) -> tuple[Handle, Element] | None:
    """The place and the element of the one new value below an element, where nothing else there has changed.

    It is asked for first, as most programs that change a message change one field; None says to look closer.
    """
    while not element.state & _UNLIKE and element.first_linked is None:
        only: tuple[Handle, Element] | None = None
        for place, child in (element.found_by_place or {}).items():
            if child.state & CHANGED:
                if only is not None:
                    return None
                only = place, child
        if only is None:
            return None
        element = only[1]
        if element.state & VALUED:
            alone = not element.found_by_place and element.first_linked is None and not element.state & _UNLIKE
            return only if alone and element.source is not None else None
    return None


def appended_children(element: Element) -> list[Element]:
    """The children that came after those of the source, while the element is not RESTRUCTURED."""
    if element.first_linked is None:
        return []
    if element.state & EXPANDED:
        return [at for at in element if at.state & REPLACED or _held(at).source is None]
    appended, at = [], element.first_linked
    while at is not None:
        appended.append(at)
        at = at.next_linked  # type: ignore[assignment]  # None ends the loop
    return appended


def standing_children(element: Element) -> list[tuple[Handle | None, Element]]:
    """The children of an expanded element in order, each with the place of the source that it still stands in."""
    standing: list[tuple[Handle | None, Element]] = []
    for child in element:
        held = _held(child)
        stands = not child.state & REPLACED and held.source is element.source
        standing.append((held.handle, held) if stands else (None, child))
    return standing


def written(element: Element) -> Element:
    """The element that holds what is to be written: the one that this shares unchanged, or this one."""
    while element.state & SHARES and not element.state & EDITED:
        element = element.handle
    return element


def _departed(element: Element) -> list[tuple[Handle, Element]]:
    """The children of an unexpanded element that are no longer what is in their places."""
    found = element.found_by_place
    return [(place, child) for place, child in found.items() if child.state & CHANGED] if found else []


def _held(child: Element) -> Element:
    """The element that holds what has changed in a place: the one that a child there shares unchanged, or the child."""
    held: Element = child.handle if child.state & (SHARES | REPLACED) == SHARES else child
    return held


def _valued(element: Element) -> int:
    """Returns whether a value was given to an element itself, once that is settled: asking for its type does so."""
    return element.state & VALUED if element.type is not None else 0


class _Each(Sequence[Element]):
    """The children of an element that a step matches; each is made when it is asked for."""

    __slots__ = ("_element", "_wanted")

    def __init__(self, element: Element, wanted: Step) -> None:
        self._element = element
        self._wanted = wanted

    def __len__(self) -> int:
        return self._element.count(self._wanted)

    def __getitem__(self, at: Any) -> Any:
        found = self._element.nth(self._wanted, at + 1)
        if found is None:
            raise IndexError(at)
        return found


class _Shared(Source):
    """An edited tree as the source of its copies: a handle is one of its elements."""

    __slots__ = ()

    def value(self, handle: Element) -> Value:
        return handle.value

    def children(self, handle: Element) -> Iterable[Element]:
        return handle

    def element(self, handle: Element, parent: Element) -> Element:
        state = handle.state
        if not state & EDITED:
            return alike(handle, parent)
        twin = Element(handle.name, handle.namespace, handle.raw_type, self, handle, parent)
        twin.domain = handle.domain
        twin.state = state & _STANDING | SHARES | (_valued(handle) if state & VALUED else 0)
        return twin

    def first(self, handle: Element, wanted: Step) -> Element | None:
        return handle.child(wanted)

    def last(self, handle: Element) -> Element | None:
        return handle.last_child

    def every(self, handle: Element, wanted: Step) -> Sequence[Element]:
        return handle.every(wanted) if handle.state & EXPANDED else _Each(handle, wanted)

    def beside(self, handle: Element) -> frozenset[int]:
        source = handle.source
        return handle.owner.beside or (source.beside(handle.handle) if source else frozenset())

    def take_over(self, element: Element) -> None:
        edited: Element = element.handle
        wrapped = element.found_by_place or {}
        element.source, element.handle = edited.source, edited.handle
        element.raw_value = edited.raw_value
        was_expanded = element.state & EXPANDED
        element.state |= edited.state & _LEVEL & ~EDITED
        element.state &= ~SHARES
        if was_expanded:
            return
        element.found_by_step = element.found_by_place = element.indexes = None
        if not edited.state & EXPANDED:
            element.found_by_place = {
                place: wrapped.get(child) or self.element(child, element)
                for place, child in (edited.found_by_place or {}).items()
                if child.state & CHANGED or child in wrapped
            }
        at = edited.first_linked
        while at is not None:
            link(element, wrapped.get(at) or self.element(at, element))
            at = at.next_linked


SHARED: Final = _Shared()
