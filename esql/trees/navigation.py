"""Ways through a tree: MOVE, FOR, and the path of names that leads to a field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.tree.element import Element
from engine.tree.step import Step


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
