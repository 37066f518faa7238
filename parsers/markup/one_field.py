"""One field: the quick way to write a document in which one value has changed, as most programs leave it."""

from __future__ import annotations

from lxml import etree

from engine.sharing import only_change
from engine.source import Value
from engine.tree import Element
from parsers.markup.document import Document
from parsers.markup.flavour import Flavour
from parsers.markup.rendering import unwritable
from parsers.markup.splicing import respelled
from parsers.markup.text import Unwritable, check, text_of


def with_one_field(document: Document, held: Element) -> bytes | None:
    """The root element with one field changed, in the document's own encoding; None where more has to be done."""
    change = only_change(held)
    if change is None:
        return None
    node, element = change
    if node.__class__ is not etree._Element or element.source is not document or len(node):
        return None  # a node that holds others has no value of its own in all domains
    value = own_value(element, element._value, document.flavour)
    data = document.own_data()
    return None if data is None else respelled(data, document.root, node, value, document.encoding)


def own_value(element: Element, value: Value, flavour: Flavour) -> str:
    """The text of a value that an element is to have, if XML can hold it."""
    if value.__class__ is str and value.isprintable():  # type: ignore[attr-defined, unused-ignore]  # a str
        return value  # type: ignore[return-value, unused-ignore]
    text = text_of(value, compact=flavour.compact)
    try:
        check(text)
    except Unwritable as error:
        raise unwritable(element, str(error)) from error
    return text
