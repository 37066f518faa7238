"""The names of places in trees, as errors tell them."""

from __future__ import annotations

from engine.tree.element import Element


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
