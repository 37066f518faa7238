"""XML, XMLNS and XMLNSC: the domains of XML documents, from a portion to a lazy document and from a body to bytes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from xml.parsers import expat

from engine.errors import BrokerError, ParserException
from engine.message.received import Part
from engine.parser import Form, Options, Parser, Portion, parser
from engine.tree.element import Element
from engine.tree.sharing import written
from engine.tree.source import Handle, Source
from engine.tree.states import SHARES
from parsers.charsets.ccsid import codec, decode, with_ccsid
from parsers.markup import element_types
from parsers.markup.document import TOP, Document
from parsers.markup.element_types import Flavour
from parsers.markup.lxml_nodes import Item
from parsers.markup.prolog import read_prolog
from parsers.markup.reading import MAX_ATTRIBUTES, MAX_DEPTH, read_document
from parsers.markup.text import encode, name_of_codec
from parsers.markup.writing import Writer, with_one_value

_MARKING: Final = frozenset({"utf-16", "utf-32"})  # codecs that write a byte order mark themselves


def read_markup(portion: Portion, flavour: Flavour) -> tuple[Source, Handle]:
    """Read a document lazily; a body of nothing but blanks has no document."""
    try:
        read = read_document(portion, flavour.keep, spaces=flavour.spaces)
    except ParserException as error:
        found = None if flavour.spaces else read_without_namespaces(portion, error)
        if found is not None:
            return found
        told = with_ccsid(error, portion, "<")
        raise told from told.__cause__
    if read is None:
        return _ITEMS, Item(element_types.PARSER_ROOT, "", None)
    return Document(read, flavour, read_prolog(read[1], read[2])), TOP


class Markup(Parser):
    """A parser of one flavour; its types are those of the generic domains, where it has none of its own."""

    __slots__ = ()
    may_be_empty = False
    type_names = element_types.GENERIC_NAMES
    constants = element_types.GENERIC_CONSTANTS
    valued_type = element_types.ELEMENT
    beside = element_types.GENERIC_BESIDE
    flavour: Flavour

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return read_markup(portion, self.flavour)

    def write(self, element: Element, form: Form) -> bytes:
        """The bytes of a document; characters that the CCSID lacks are written as references.

        A declaration that was read names the new encoding where the document is written in another CCSID; it is left
        alone otherwise, whatever it says, and so is one that the flow has written.
        """
        info = codec(form.ccsid, form.encoding)
        held = written(element) if element.state & SHARES else element
        part, document, encoding = held.source, None, ""
        if part.__class__ is Part:
            content = part.source or part.content
            if content.__class__ is Document and content.flavour.compact == self.flavour.compact:
                document = content
            if part.portion.follow.ccsid != form.ccsid:
                encoding = name_of_codec(info.name)
        data = None if document is None or encoding else with_one_value(document, held)
        if document is None or data is None:
            text = Writer(self.flavour, form.ccsid, encoding).body(held, document)
        elif document.encoding == info.name:
            return data
        else:
            text = data.decode(document.encoding)
        if encoding or info.name in _MARKING:
            text = text.removeprefix("\ufeff")
        return encode(text, info, form.ccsid)


@parser
class Xml(Markup):
    """The generic XML domain: a prefix is part of a name, and everything in a document shows."""

    __slots__ = ()
    name = "XML"
    flavour = element_types.XML


@parser
class Xmlns(Markup):
    """Reads and writes XML with namespaces."""

    __slots__ = ()
    name = "XMLNS"
    flavour = element_types.XMLNS


@lru_cache(maxsize=8)
def _flavour(options: Options) -> Flavour:
    return element_types.compact_flavour(
        mixed=options.retain_mixed_content,
        comments=options.retain_comments,
        instructions=options.retain_processing_instructions,
    )


@parser
class Xmlnsc(Markup):
    """The compact XML domain: text is folded into fields, and only what carries data is kept unless asked for."""

    __slots__ = ()
    name = "XMLNSC"
    type_names = element_types.COMPACT_NAMES
    constants = element_types.COMPACT_CONSTANTS
    accepted = element_types.COMPACT_ACCEPTED
    lends = ("SOAP",)
    valued_type = element_types.FIELD
    beside = element_types.COMPACT_BESIDE
    flavour = element_types.XMLNSC

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return read_markup(portion, _flavour(portion.options))


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


def read_without_namespaces(portion: Portion, error: ParserException) -> tuple[Source, Handle] | None:
    """A document that was refused for its namespaces alone; None where it is none in any case, or has a DTD.

    The XML domain does not know the rules of namespaces, and libxml2 cannot keep such a document: it drops
    `xmlns:p=""`, and one of two attributes whose prefixes stand for one namespace. Names are those of XML 1.0 before
    its fifth edition, which is what expat knows.
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
