"""Entities: what a reference stands for, as libxml2 expands it within its limits; nothing external is read."""

from __future__ import annotations

from typing import Final

from lxml import etree

from engine.errors import ParserException
from parsers.markup import element_types
from parsers.markup.item import Item

_EXPLOSIONS: Final = {89, 114}  # libxml2's XML_ERR_ENTITY_LOOP and XML_ERR_RESOURCE_LIMIT


def expand(name: str, document_type: str) -> tuple[Item, ...]:
    """Returns what an entity stands for, as a tree: its text and elements.

    >>> [item.value for item in expand("both", '<!DOCTYPE x [<!ENTITY one "1"><!ENTITY both "&one;&#43;&one;">]>')]
    ['1+1']
    """
    opening = document_type.find("[")
    inside = document_type[opening:] if opening >= 0 else ">"
    try:
        parser = etree.XMLParser(
            resolve_entities="internal",  # type: ignore[arg-type]  # newer than the stubs
            no_network=True,
            load_dtd=False,
        )
        return _items(etree.fromstring(f"<!DOCTYPE x {inside}<x>&{name};</x>".encode(), parser))
    except etree.XMLSyntaxError as error:
        if getattr(error, "code", 0) in _EXPLOSIONS:
            raise ParserException(5009, f"the entity {name} cannot be expanded: {error.msg}") from error
        return ()


def _items(node: etree._Element) -> tuple[Item, ...]:
    """Returns what is in an element, as items: attributes, text and elements."""
    items = []
    for key, text in dict[str, str](node.attrib.items()).items():  # type: ignore[arg-type]  # str for a parsed document
        namespace, _, name = key[1:].rpartition("}") if key[0] == "{" else ("", "", key)
        items.append(Item(element_types.ATTRIBUTE, name, text, namespace=namespace))
    if node.text:
        items.append(Item(element_types.CONTENT, "", node.text))
    for child in node:
        if isinstance(child.tag, str):
            namespace, _, name = child.tag[1:].rpartition("}") if child.tag[0] == "{" else ("", "", child.tag)
            items.append(Item(element_types.ELEMENT, name, child.text, _items(child), namespace))
        if child.tail:
            items.append(Item(element_types.CONTENT, "", child.tail))
    return tuple(items)
