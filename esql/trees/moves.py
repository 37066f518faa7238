"""Places in a tree: the ways to them by MOVE, FOR and names; DELETE and DETACH take fields out, ATTACH puts them in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from engine.errors import BrokerError
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.source import GENERIC
from engine.tree.step import Step
from esql.trees.domain_copies import translate


def path_of(element: Element) -> str:
    """The names from the top of its tree down to an element, as errors tell where it is.

    >>> top = Element("OutputRoot")
    >>> path_of(top.add("XMLNSC").add("Order"))
    'OutputRoot.XMLNSC.Order'
    """
    names, at = [], element
    while at is not None:
        names.append(at.name or "*")
        at = at.parent  # type: ignore[assignment]  # None ends the loop
    return ".".join(reversed(names))


_ONWARD = {"FIRSTCHILD": "NEXTSIBLING", "LASTCHILD": "PREVIOUSSIBLING"}


def beside(element: Element, direction: str) -> Element | None:
    """The element that lies in a direction: PARENT, FIRSTCHILD, LASTCHILD, PREVIOUSSIBLING or NEXTSIBLING."""
    match direction:
        case "NEXTSIBLING":
            return element.next_sibling
        case "FIRSTCHILD":
            return element.first_child
        case "LASTCHILD":
            return element.last_child
        case "PARENT":
            return element.parent
        case _:
            return element.previous_sibling


def move(element: Element, direction: str, wanted: Step | None = None) -> Element | None:
    """`MOVE reference direction`: where it leads; fields that the step does not match are passed over."""
    if wanted is None:
        return beside(element, direction)
    if direction == "FIRSTCHILD":
        return element.child(wanted)
    if direction == "LASTCHILD":
        return element.nth_last(wanted, 1)
    at = beside(element, direction)
    while at is not None and not wanted.matches(at):
        at = beside(at, direction)
    return at


def move_repeat(element: Element, direction: str, same_type: bool, same_name: bool) -> Element | None:
    """`MOVE reference direction REPEAT [TYPE] [NAME]`: the next that is of the type and name of the element."""
    kind = element.type if same_type else 0
    at = beside(element, direction)
    onward = _ONWARD.get(direction, direction)
    while at is not None:
        named = not same_name or (at.name == element.name and at.namespace == element.namespace)
        if named and (not same_type or at.type == kind):
            return at
        at = beside(at, onward)
    return None


def each(items: Sequence[object]) -> Iterator[object]:
    """The items of a list for FOR: what was deleted or detached since the loop began is passed over."""
    fields = [(item, item.parent if isinstance(item, Element) else None) for item in items]
    for item, parent in fields:
        if parent is None or item.parent is parent:  # type: ignore[attr-defined]  # only an element has one
            yield item


_NO_SUCH_PLACE: Final = 2542


def delete(found: Element | None) -> None:
    """`DELETE FIELD`, and `SET field = NULL`: a tree itself is emptied, as it cannot go."""
    if found is None:
        return
    if found.parent is None:
        found.clear()
    else:
        _take_out(found)


def delete_child(parent: Element, wanted: Step) -> None:
    """`SET parent.child = NULL`."""
    delete(parent.child(wanted))


def _take_out(field: Element) -> None:
    """Take a field out of its tree; what refers to it may still ask its parser about types."""
    owner = field.owner
    field.detach()
    if owner is not GENERIC:
        field.domain = owner


def delete_from(found: Element | None, placement: str) -> None:
    """`DELETE FIRSTCHILD OF field` and its like; where nothing is, nothing is done."""
    delete(None if found is None else beside(found, placement))


def place(made: Element, target: Element, placement: str) -> None:
    """Put an element that stands alone in its place beside or below another."""
    if placement == "LASTCHILD":
        target.append(made)
        return
    if placement == "FIRSTCHILD":
        above, before = target, target.first_child
    else:
        parent = target.parent
        if parent is None:
            text = f"{path_of(target)} is the top of a tree, so nothing can stand beside it"
            raise BrokerError(_NO_SUCH_PLACE, text, target.name)
        above, before = parent, target if placement == "PREVIOUSSIBLING" else target.next_sibling
    if before is None:
        above.append(made)
    else:
        above.insert(made, before=before)


def detach(source: Element) -> None:
    """DETACH: the field leaves its tree, with all below it; until it is attached it belongs to the same parser."""
    if source.parent is None:
        text = f"{path_of(source)} is the top of a tree or detached already, so it cannot be detached"
        raise BrokerError(_NO_SUCH_PLACE, text, source.name)
    _take_out(source)


def attach(source: Element, target: Element, placement: str) -> None:
    """ATTACH: a detached field becomes a child or sibling of the target, and belongs to the parser there.

    The manual keeps what left an output tree out of the Environment; here any tree that can be changed will do.
    """
    owner = source.owner
    place(source, target, placement)
    source.domain = None
    if source.owner is GENERIC and owner is not GENERIC:
        source.domain = owner
    elif source.owner is not owner:
        alone = copy(source)
        alone.domain = owner
        translate(alone, source)
