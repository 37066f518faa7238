"""One field: the quick way to write a document in which one value has changed, as most programs leave it."""

from __future__ import annotations

from lxml import etree

from engine.tree.element import Element
from engine.tree.sharing import only_change
from engine.tree.source import Value
from parsers.markup.document import Document
from parsers.markup.document_frame import before, behind, framed
from parsers.markup.flavour import Flavour
from parsers.markup.lxml_nodes import has_sections
from parsers.markup.rendering import unwritable
from parsers.markup.splicing import respelled
from parsers.markup.text import Unwritable, check, text_of
from parsers.markup.tree_patch import written


def with_one_field(document: Document, held: Element) -> bytes | None:
    """A document with one field changed, in its own encoding; None where more has to be done."""
    change = only_change(held)
    if change is None:
        return None
    node, element = change
    if node.__class__ is not etree._Element or element.source is not document or len(node):
        return None  # a node that holds others has no value of its own in all domains
    value = own_value(element, element._value, document.flavour)
    data = document.own_data()
    if data is not None and (data := respelled(data, document.root, node, value, document.encoding)) is not None:
        return data if document.bounded or not document.flavour.compact else _framed(document, document.own_root(data))
    if document.cdata and has_sections(node):
        return None
    text = written(document, document.root, [("text", node, "", value or None)])
    return framed(document, text).encode(document.encoding, "xmlcharrefreplace")


def _framed(document: Document, root: bytes) -> bytes:
    encoding = document.encoding
    return before(document).encode(encoding) + root + behind(document).encode(encoding)


def own_value(element: Element, value: Value, flavour: Flavour) -> str:
    """The text of a value that an element is to have, if XML can hold it."""
    if isinstance(value, str) and value.isprintable():
        return value
    text = text_of(value, compact=flavour.compact)
    try:
        check(text)
    except Unwritable as error:
        raise unwritable(element, str(error)) from error
    return text
