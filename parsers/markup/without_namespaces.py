"""Unspaced: documents that are well-formed but for the rules of namespaces, which the XML domain does not know.

libxml2 cannot keep them: it drops `xmlns:p=""`, and one of two attributes whose prefixes stand for one namespace.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final
from xml.parsers import expat

from engine.errors import BrokerError, ParserException
from engine.tree.element import Element
from engine.tree.source import Handle, Source
from parsers.charsets.ccsid import decode
from parsers.markup import element_types
from parsers.markup.lxml_nodes import Item
from parsers.markup.prolog import read_prolog
from parsers.markup.reading import MAX_ATTRIBUTES, MAX_DEPTH

if TYPE_CHECKING:
    from engine.parser import Portion

# What libxml2 numbers its complaints about namespaces: a name that is no URI, and XML_NS_ERR_XML_NAMESPACE to
# XML_NS_ERR_ATTRIBUTE_REDEFINED.
_OF_NAMESPACES: Final = frozenset({"99", "200", "201", "202", "203"})


class Items(Source):
    """A document that was read whole; a handle is an Item."""

    __slots__ = ()

    def value(self, handle: Item) -> str | None:
        return handle.value

    def children(self, handle: Item) -> Iterable[Item]:
        return handle.children

    def element(self, handle: Item, parent: Element) -> Element:
        return Element(handle.name, "", handle.type, self, handle, parent)

    def beside(self, handle: Handle) -> frozenset[int]:
        return element_types.GENERIC_BESIDE


_ITEMS: Final = Items()


class _Limit(Exception):  # no error that anyone sees
    """The document is beyond a limit, or has what is not read here."""


def read_unspaced(portion: Portion, error: ParserException) -> tuple[Source, Handle] | None:
    """A document that was refused for its namespaces alone; None where it is none in any case, or has a DTD.

    Names are those of XML 1.0 before its fifth edition, which is what expat knows.
    """
    cause = error.__cause__
    if not isinstance(cause, BrokerError) or not cause.inserts or cause.inserts[0].text not in _OF_NAMESPACES:
        return None
    try:
        text = decode(portion.bytes, portion.follow.ccsid, portion.follow.encoding).removeprefix("\ufeff")
        building = _Building()
        building.parse(text)
    except (BrokerError, expat.ExpatError, _Limit):
        return None
    top = Item(element_types.ELEMENT, "", None, (*read_prolog(text.encode()).items, *building.top))
    return _ITEMS, top


class _Building:
    """The items of a document, from what expat tells of it in order."""

    def __init__(self) -> None:
        self.top: list[Item] = []
        self._open: list[tuple[str, list[Item]]] = []
        self._text: list[str] = []

    def parse(self, text: str) -> None:
        """Take in a whole document; expat refuses what is not well-formed."""
        parser = expat.ParserCreate()
        parser.ordered_attributes = True
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.StartCdataSectionHandler = self._flush
        parser.EndCdataSectionHandler = self._end_section
        parser.CommentHandler = lambda data: self._add(Item(element_types.COMMENT, "", data))
        parser.ProcessingInstructionHandler = lambda target, data: self._add(
            Item(element_types.INSTRUCTION, target, data or None)
        )
        parser.StartDoctypeDeclHandler = self._refuse
        parser.Parse(text, True)

    def _refuse(self, *_: object) -> None:
        raise _Limit

    def _start(self, name: str, attributes: list[str]) -> None:
        if len(self._open) >= MAX_DEPTH or len(attributes) > 2 * MAX_ATTRIBUTES:
            raise _Limit
        self._flush()
        items = [Item(element_types.ATTRIBUTE, *pair) for pair in zip(attributes[::2], attributes[1::2], strict=True)]
        items.sort(key=lambda item: item.name != "xmlns" and not item.name.startswith("xmlns:"))
        self._open.append((name, list(items)))

    def _end(self, _: str) -> None:
        self._flush()
        name, items = self._open.pop()
        first = next((item for item in items if item.type != element_types.ATTRIBUTE), None)
        leads = (
            first.value
            if first is not None and first.type in {element_types.CONTENT, element_types.CDATA_SECTION}
            else None
        )
        self._put(Item(element_types.ELEMENT, name, "" if first is None else leads, tuple(items)))

    def _end_section(self) -> None:
        self._put(Item(element_types.CDATA_SECTION, "", self._taken()))

    def _add(self, item: Item) -> None:
        self._flush()
        if self._open or self.top:  # what stands in front of the root element is the prolog's
            self._put(item)

    def _put(self, item: Item) -> None:
        (self._open[-1][1] if self._open else self.top).append(item)

    def _flush(self) -> None:
        text = self._taken()
        if text:
            self._put(Item(element_types.CONTENT, "", text))

    def _taken(self) -> str:
        text = "".join(self._text)
        self._text.clear()
        return text
