"""Copies between domains: folders, fields, and what both have a type for; the manual's unlike-parser-copy."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import Final

from engine.source import KIND, NAME, VALUE, Domain
from engine.tree import Element

# What domains call the same thing by different titles.
_TITLES: Final = MappingProxyType(
    {
        "SingleAttribute": "Attribute",
        "SingleNamespaceDecl": "NamespaceDecl",
        "PCDataValue": "Content",
        "HybridValue": "Content",
        "CDataValue": "CDataSection",
    }
)
_PLAIN: Final = frozenset(
    ("Name", "Value", "NameValue", "Element", "Folder", "PCDataField", "CDataField", "HybridField")
)
_BESIDE: Final = frozenset(("Attribute", "NamespaceDecl"))


def translate(source: Element, target: Element) -> None:
    """Give the target the value and children of a field of another domain; it keeps its name and its domain."""
    owner, above = target.owner, source.owner
    kind, value = _translated(source.type, above, owner), source.value
    children = _children(source, above, owner)
    target.clear()
    if kind not in {None, NAME} and target.type == NAME:
        target.change(type_=kind)
    if value is not None:
        target.value = value
    for child in children:
        target.append(child)


def _children(source: Element, above: Domain, owner: Domain) -> list[Element]:
    """Detached copies of the children, in another domain."""
    made, leads = [], _leading(source, above)
    pending: list[tuple[Element, Domain, Domain, Element | None]] = []
    pending.extend((child, above, owner, None) for child in source if child is not leads)
    at = 0
    while at < len(pending):
        child, outer, inner, parent = pending[at]
        at += 1
        from_domain = child.domain or outer.inner(child.name) or outer
        to_domain = inner.inner(child.name) or inner
        kind = _translated(child.type, from_domain, to_domain)
        if kind is None:
            continue
        twin = Element(child.name, child.namespace, kind)
        value = child.value
        if value is not None:
            twin.value = value
        if parent is None:
            made.append(twin)
        else:
            parent.append(twin)
        leads = _leading(child, from_domain)
        pending.extend((below, from_domain, to_domain, twin) for below in child if below is not leads)
    return made


def _leading(element: Element, owner: Domain) -> Element | None:
    """The child whose text counts as the element's value already."""
    for child in element:
        kind = child.type
        if kind & KIND == VALUE:
            return child
        if not stands_beside(owner, kind):
            return None
    return None


@lru_cache(maxsize=4096)
def stands_beside(owner: Domain, number: int) -> bool:
    """Whether fields of this type are attributes, which stand beside the content of an element."""
    title = owner.type_names.get(number, "")
    return _TITLES.get(title, title) in _BESIDE


@lru_cache(maxsize=4096)
def _translated(number: int, source: Domain, target: Domain) -> int | None:
    """What an element type of one domain is in another; None where the other has nothing like it."""
    title = source.type_names.get(number, "")
    if title not in _PLAIN:
        wanted = _TITLES.get(title, title)
        for known, name in target.type_names.items():
            if _TITLES.get(name, name) == wanted:
                return known
    kind = number & KIND
    return None if kind == VALUE or kind > NAME | VALUE else NAME
