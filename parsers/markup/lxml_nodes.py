"""Nodes: what is asked of an lxml node, in the ways that cost least."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lxml import etree

from parsers.markup.element_types import Kind

if TYPE_CHECKING:
    from engine.tree.step import Step

_FEW: Final = 4


def written_as(node: etree._Element, name: str) -> Iterator[etree._Element]:
    """The child elements that the document calls by a name, prefix and all.

    >>> root = etree.fromstring('<a xmlns="u" xmlns:p="u"><p:b/><b/></a>')
    >>> [child is root[1] for child in written_as(root, "b")]
    [True]
    """
    prefix, _, local = name.rpartition(":")
    for child in node.iterchildren(f"{{*}}{local}"):
        if (child.prefix or "") == prefix:
            yield child


def first_element(node: etree._Element, wanted: Step) -> etree._Element | None:
    """The first child element of a Clark name; a short walk is cheaper than to have lxml match names."""
    name = wanted.clark
    if wanted.namespace is None:
        return next(node.iterchildren(name), None)
    child = node[0] if len(node) else None
    left = _FEW
    while child is not None and child.tag != name:
        left -= 1
        if not left:
            return next(child.itersiblings(name), None)
        child = child.getnext()
    return child


def field_value(node: etree._Element, kind: Kind, key: str) -> str | None:
    """Returns what lxml keeps in a field of a node."""
    match kind:
        case Kind.ATTRIBUTE:
            return attribute_of(node, key)
        case Kind.NAMESPACE:
            return node.nsmap[key or None] or ""
        case Kind.TEXT:
            return node.text
        case Kind.TAIL:
            return node.tail
        case _:
            return None


def attribute_of(node: etree._Element, key: str) -> str | None:
    """The value of an attribute; lxml finds none by the name that it has in a namespace with a brace in it.

    >>> node = etree.fromstring('<a xmlns:p="u}v" p:b="1"/>', etree.XMLParser(recover=True))
    >>> attribute_of(node, "{u}v}b")
    '1'
    """
    found = node.get(key)
    return found if found is not None or is_settable(key) else dict[str, str](node.attrib.items()).get(key)  # type: ignore[arg-type]


def is_settable(key: str) -> bool:
    """Returns True where lxml can set an attribute: its name has no undeclared prefix, and no brace in its namespace.

    >>> is_settable("{u}b"), is_settable("{u}v}b"), is_settable("p:b")
    (True, False, False)
    """
    if key[0] == "{":
        return "}" not in key[: key.rindex("}")]
    return ":" not in key


def has_elements(node: etree._Element) -> bool:
    """Returns whether a node has child elements."""
    return next(node.iterchildren(etree.Element), None) is not None


def has_sections(node: etree._Element) -> bool:
    """Returns whether there is a CDATA section in a node, which lxml could not put back once it is replaced."""
    return b"<![CDATA[" in etree.tostring(node, with_tail=False)


def whole_text(node: etree._Element) -> str:
    """The text in a node, without that of elements in it."""
    return (node.text or "") + "".join(child.tail or "" for child in node)
