"""Copies between domains: folders, fields, and what both have a type for; the manual's unlike-parser-copy."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from engine.budget import pay
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.source import GENERIC, KIND, NAME, NAME_VALUE, VALUE, Domain, Value
from engine.tree.states import LOOSE

# What domains call the same thing by different titles.
_TITLES: Final = {
    "SingleAttribute": "Attribute",
    "SingleNamespaceDecl": "NamespaceDecl",
    "PCDataValue": "Content",
    "HybridValue": "Content",
    "CDataValue": "CDataSection",
}
_BESIDE: Final = frozenset(("Attribute", "NamespaceDecl"))
_COPIED: Final = _BESIDE | {"Content", "CDataSection", "AsisElementContent", "BitStream"}
# What is special to one parser stays behind, as do all kinds beyond name and value.
_DROPPED: Final = frozenset(
    ("Comment", "ProcessingInstruction", "XmlDeclaration", "DocumentType", "EntityDefinition", "SingleEntityDefinition")
)


def translate(source: Element, target: Element) -> int:
    """Give the target the value and children of a field of another domain; it keeps its name and its domain.

    The answer is how many elements were made.
    """
    above, owner = source.owner, target.owner
    kind, value = translated(own_type(source, above), above, owner), _value(source, above)
    children, made = _children(source, above, owner)
    target.clear()
    if kind is not None and kind != target.type and (kind != NAME or (is_special(target) and source.name)):
        target.change(type_=kind)  # a row, which has no name, has no type to give either
    if value is not None:
        target.value = value
    for child in children:
        target.append(child)
    target.state |= source.state & LOOSE
    return made


def _children(source: Element, above: Domain, owner: Domain) -> tuple[list[Element], int]:
    """Copies of the children in another domain, each without a parent, and how many there are with all below them."""
    made: list[Element] = []
    number = 0
    pending: list[tuple[Element, Domain, Domain, Element | None]] = [(source, above, owner, None)]
    for parent, outer, inner, twin in pending:
        pay(1)
        leads = _leading(parent, outer)
        for child in parent:
            if child is leads:
                continue
            below, within = _domain(child, outer), inner.inner(child.name) or inner
            copied = _copied(child, below, within)
            if copied is None:
                continue
            number += 1
            if below is not within:
                pending.append((child, below, within, copied))
            if twin is None:
                made.append(copied)
            else:
                twin.append(copied)
    return made, number


def _copied(child: Element, below: Domain, within: Domain) -> Element | None:
    """A copy of a child by itself, or of all of it where both domains are one."""
    if below is within:
        twin = copy(child)
        twin.domain = None
        return twin
    kind, value = translated(own_type(child, below), below, within), _value(child, below)
    if kind is None or (kind & KIND == VALUE and _is_blank(value)):
        return None
    twin = Element(child.name, child.namespace, kind)
    if value is not None:
        twin.value = value
    return twin


def _value(element: Element, owner: Domain) -> Value:
    """The value of an element, but for the line ends that XML keeps in front of its first child."""
    value = element.value
    if _is_blank(value):
        leads = _leading(element, owner)
        if leads is not None and leads.next_sibling is not None:
            return None
    return value


def _is_blank(value: Value) -> bool:
    return type(value) is str and (not value or value.isspace())


def _domain(child: Element, outer: Domain) -> Domain:
    return child.domain or outer.inner(child.name) or outer


def _leading(element: Element, owner: Domain) -> Element | None:
    """The child whose text counts as the element's value already."""
    for child in element:
        kind = child.type
        if kind & KIND == VALUE:
            return child
        if not _stands_beside(owner, kind):
            return None
    return None


def own_type(element: Element, owner: Domain) -> int:
    """The type that an element was given; where no parser owns it a value alone makes no NameValue of it.

    A path or CREATE may give such an element XML.Attribute, which has the number of NameValue.
    """
    return element.raw_type if owner is GENERIC else element.type


def is_special(element: Element) -> bool:
    """Returns whether a field is an attribute, or was given another type that says more than name and value."""
    kind = element.raw_type
    return bool(kind & ~KIND or (kind == NAME_VALUE and _stands_beside(element.owner, kind)))


def is_leaf(element: Element) -> bool:
    """Returns whether a field has nothing below it, or only the text that is its value."""
    first = element.first_child
    return first is None or (first.type & KIND == VALUE and first.next_sibling is None)


@lru_cache(maxsize=4096)
def _stands_beside(owner: Domain, number: int) -> bool:
    """Returns whether fields of this type are attributes, which stand beside the content of an element."""
    title = owner.type_names.get(number, "")
    return number == NAME_VALUE if owner is GENERIC else _TITLES.get(title, title) in _BESIDE


@lru_cache(maxsize=4096)
def translated(number: int, source: Domain, target: Domain) -> int | None:
    """Returns what an element type of one domain is in another; None where the other has nothing like it.

    >>> translated(NAME_VALUE, GENERIC, GENERIC) == NAME_VALUE
    True
    """
    if source is GENERIC and number in target.type_names:
        return number
    title = source.type_names.get(number, "")
    wanted = _TITLES.get(title, title)
    if wanted in _COPIED:
        for known, name in target.type_names.items():
            if _TITLES.get(name, name) == wanted:
                return known
    kind = number & KIND
    return None if kind == VALUE or kind > NAME_VALUE or title in _DROPPED else NAME
