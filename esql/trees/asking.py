"""What a place in a message tree is; a field that is not there answers NULL."""

from __future__ import annotations

from engine.source import Value
from engine.tree import Element


def field_name(found: Element | None) -> str | None:
    """FIELDNAME."""
    return None if found is None else found.name


def field_namespace(found: Element | None) -> str | None:
    """FIELDNAMESPACE."""
    return None if found is None else found.namespace


def field_type(found: Element | None) -> int | None:
    """FIELDTYPE."""
    return None if found is None else found.type


def field_value(found: Element | None) -> Value:
    """FIELDVALUE: the value alone, without what is below."""
    return None if found is None else found.value


def same_field(first: Element | None, second: Element | None) -> bool:
    """SAMEFIELD: whether both are one field; what is not there is not the same as anything."""
    return first is not None and first is second


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
