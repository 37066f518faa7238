"""Links between an element and its children: how they are made, and what the change of one means for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.budget import pay_for_many
from engine.errors import BrokerError
from engine.tree.source import NAME, UNREAD, leading
from engine.tree.states import EDITED, EXPANDED, READ_ONLY, REPLACED, RESTRUCTURED, RETYPED, SHARES, TYPED, VALUED

if TYPE_CHECKING:
    from engine.tree.element import Element


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
    source, found = element.source, element.found_by_place or {}
    made = [found.get(handle) or source.element(handle, element) for handle in source.children(element.handle)]
    pay_for_many(len(made))
    shares = element.state & SHARES
    appended, last = element.first_linked, element.last_linked
    element.first_linked = previous = None
    element.found_by_step = element.found_by_place = element.indexes = None
    element.state |= EXPANDED
    for child in made:
        if not shares:
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
