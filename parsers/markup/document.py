"""Document: a parsed document as the lazy source of a message tree, in any of the three domains."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from threading import get_ident
from typing import TYPE_CHECKING, Final

from lxml import etree

from engine.tree.element import Element
from engine.tree.source import EXPAND, Handle, Source, Value
from parsers.markup import element_types
from parsers.markup.doctype import expand
from parsers.markup.element_types import Flavour, Kind
from parsers.markup.lxml_nodes import (
    XMLNS_URI,
    Item,
    children_called,
    field_value,
    first_element,
    has_elements,
    is_mixed,
    is_unmixed,
    may_be_mixed,
    own_declarations,
    pieces_of,
    prefixed,
    qualified,
    whole_text,
    written_as,
)
from parsers.markup.prolog import COMPACT_DECLARATION, NO_PROLOG, Prolog, compact_declaration

if TYPE_CHECKING:
    from engine.tree.step import Step
    from parsers.markup.reading import Read

_NIL: Final = "{http://www.w3.org/2001/XMLSchema-instance}nil"
_CROWD: Final = 100
_EXACT: Final = 0xFFFFFFFF
_SINGLE_QUOTES: Final = re.compile(rb"=[ \t\n]*'")

# A handle is an lxml node, an Item, or a tuple (node, what, key) for what lxml keeps in a node's fields.
TOP: Final = ("", Kind.PART, "")


class Document(Source):
    """One parsed document; the flavour says which of its parts the tree shows, and as what.

    `marked` says that there may be more in it than tags, text and a declaration; `bounded`, that its root is all of
    it; `alone`, that no other node stands beside the root; `spaced`, that it declares namespaces; `attributed`, that it
    may have attributes; `instructed`, that it may have processing instructions; `cdata`, CDATA sections; `declared`,
    that a document type may bring in any of these. Where they do not apply, a child is found by name alone. In a
    `_bare` one, all that a node holds are elements; a `plain` one has neither attributes nor CDATA sections.

    libxml2 does not keep where namespace declarations stand among attributes: in the tree they come first. Elements
    without content have the value '' in all domains, as XMLNSC has it. What an entity stands for shows between
    EntityReferenceStart and -End; one that is external, or declared by way of a parameter entity, stands for nothing.
    """

    __slots__ = (
        "_bare",
        "_crowded",
        "_data",
        "_direct",
        "_expansions",
        "_reader",
        "_splices",
        "_tidy",
        "alone",
        "attributed",
        "bounded",
        "cdata",
        "declared",
        "encoding",
        "flavour",
        "instructed",
        "marked",
        "plain",
        "prolog",
        "root",
        "spaced",
    )

    def __init__(self, read: Read, flavour: Flavour, prolog: Prolog) -> None:
        root, data, self.encoding, marked = read
        self.root = root
        self._reader = get_ident()
        self.flavour = flavour
        self.prolog = prolog
        if prolog is NO_PROLOG and not marked and b"=" not in data:  # most documents: tags and text
            self.declared = self.attributed = self.spaced = self.instructed = self.cdata = False
            self.plain = True
        else:
            declared = self.declared = bool(prolog.doctype)
            self.attributed = declared or data.find(b"=", len(prolog.text)) >= 0
            self.spaced = declared or (self.attributed and b"xmlns" in data)
            self.instructed = marked and flavour.keep.instructions and b"?" in data
            self.cdata = declared or (marked and b"<![CDATA[" in data)
            self.plain = not (self.spaced or self.attributed or self.cdata)
        self._data = data
        self.marked = marked
        self.alone = not marked or (root.getnext() is None and root.getprevious() is None)
        self.bounded = self.alone and prolog is NO_PROLOG and data[-1:] == b">"
        self._direct = not self.spaced and not self.instructed
        self._bare = not (self.declared or flavour.keep.comments or flavour.keep.instructions)
        self._tidy: bool | None = flavour.mixed or None  # not looked at yet
        self._splices: bool | None = None
        if self.spaced:
            self._crowded: dict[etree._Element, dict[str, str]] = {}
            self._expansions: dict[str, tuple[Item, ...]] = {}

    # What Source asks for

    def value(self, handle: Handle) -> Value:
        kind = handle.__class__
        if kind is tuple:
            crowd = self._crowded.get(handle[0]) if handle[1] is Kind.NAMESPACE else None
            return field_value(*handle) if crowd is None else crowd[handle[2]]
        if kind is Item:
            return handle.value
        text: str | None = handle.text
        if not self.flavour.compact:
            if text and self.cdata and kind is etree._Element:
                return self._leading(handle, text)
            return text if text is not None or len(handle) or kind is not etree._Element else ""
        if len(handle) == 0:
            if text is None:
                return None if self.attributed and handle.get(_NIL) in {"true", "1"} else ""
            return text
        if not self._bare and not has_elements(handle):
            return whole_text(handle)
        return self._leading(handle, text) if text and self.flavour.mixed else None

    def children(self, handle: Handle) -> Iterable[Handle]:
        kind = handle.__class__
        if handle is TOP:
            return self._top_level()
        if kind is tuple:
            return ()
        if kind is Item:
            return handle.children  # type: ignore[no-any-return]
        return self._inside(handle) if isinstance(handle.tag, str) else ()

    def element(self, handle: Handle, parent: Element) -> Element:
        kind = handle.__class__
        if kind is etree._Element and not self.spaced:
            type_ = self._type(handle) if self.flavour.compact else element_types.ELEMENT
            return Element(handle.tag, "", type_, self, handle, parent)
        if kind is tuple:
            return self._field(handle, parent)
        if kind is Item:
            return Element(handle.name, handle.namespace, handle.type, self, handle, parent)
        tag = handle.tag
        if tag.__class__ is not str:
            return self._annotation(handle, parent)
        namespace = ""
        if self.spaced:
            if not self.flavour.spaces:
                tag = qualified(handle)
            elif tag[0] == "{":
                namespace, _, tag = tag[1:].rpartition("}")
        return Element(
            tag, namespace, self._type(handle) if self.flavour.compact else element_types.ELEMENT, self, handle, parent
        )

    def first(self, handle: Handle, wanted: Step) -> Handle:
        if handle is TOP:
            return self._first_on_top(wanted)
        if handle.__class__ is not etree._Element:
            return EXPAND
        if wanted.types or self.attributed or not self._direct:
            return self._first_of_any(handle, wanted)
        return first_element(handle, wanted, self._reader) if wanted.plain else EXPAND

    def _first_of_any(self, handle: Handle, wanted: Step) -> Handle:
        attributes = elements = True
        if wanted.types:
            attributes, elements = self._only(wanted)
        if not (attributes or elements):
            return EXPAND
        by_name = self._by_name(wanted)
        if not by_name and not self._as_written(handle, wanted):
            return EXPAND
        if attributes and self.attributed:
            if wanted.namespace is None and handle.attrib:
                return EXPAND
            if handle.get(wanted.clark) is not None:
                return handle, Kind.ATTRIBUTE, wanted.clark
        if not elements:
            return None
        if by_name:
            return first_element(handle, wanted, self._reader)
        return next(written_as(handle, wanted.clark, own=self.is_own), None)

    def every(self, handle: Handle, wanted: Step) -> list[Handle] | object:
        if handle.__class__ is not etree._Element or wanted.types:
            return EXPAND
        by_name = self._by_name(wanted)
        if not by_name and not self._as_written(handle, wanted):
            return EXPAND
        found: list[Handle] = []
        if self.attributed:
            if wanted.namespace is None and handle.attrib:
                return EXPAND
            if handle.get(wanted.clark) is not None:
                found.append((handle, Kind.ATTRIBUTE, wanted.clark))
        found += (children_called if by_name else written_as)(handle, wanted.clark, own=self.is_own)
        return found

    @property
    def is_own(self) -> bool:
        """True in the thread that has read the document, which alone may have lxml look names up in it."""
        return self._reader == get_ident()

    def beside(self, handle: Handle) -> frozenset[int]:
        return element_types.COMPACT_BESIDE if self.flavour.compact else element_types.GENERIC_BESIDE

    # What writers ask for

    @property
    def trailing(self) -> str:
        """The blanks behind the document's last mark."""
        data = self._data
        if self.flavour.compact or data.endswith(b">"):
            return ""
        return data[data.rfind(b">") + 1 :].decode("utf-8", "replace")

    def own_data(self) -> bytes | None:
        """The document as it came, where that is but tags and text and nothing of it is hidden in its domain.

        Attributes in single quotes are written in double ones, so that a document with such is written anew.
        """
        if self.marked or not self.alone:
            return None
        if self._splices is None:
            quoted = self.attributed and b"'" in self._data and _SINGLE_QUOTES.search(self._data, self.prolog.length)
            self._splices = not quoted and (self.flavour.mixed or self._is_unmixed())
        return self._data if self._splices else None

    def own_root(self, data: bytes) -> bytes:
        """The root element in what came, or in what has become of it."""
        return data if self.bounded else data[self.prolog.length : data.rfind(b">") + 1]

    def _is_unmixed(self) -> bool:
        data = self.own_root(self._data)
        if b"\n" in data and b">\n" in data:  # layout, which the domain leaves out
            return False
        sure = (not self.spaced and is_unmixed(data)) or not may_be_mixed(data)  # names of spaces have a `/`
        if sure:
            self._tidy = True
        return sure

    @property
    def is_tidy(self) -> bool:
        """Returns whether no text stands beside elements that the domain does not show."""
        if self._tidy is None:
            self._tidy = not is_mixed(self.root, len(self._data))
        return self._tidy

    # How it looks for things

    def _by_name(self, wanted: Step) -> bool:
        """Returns whether the children that a step matches are the elements and the attribute of its Clark name."""
        if not wanted.plain or self.instructed or (self.declared and not self.flavour.compact):
            return False
        if self._direct:
            return self.flavour.spaces or (not wanted.namespace and ":" not in wanted.clark)
        return self.flavour.spaces and wanted.name != "xmlns" and wanted.namespace not in {None, XMLNS_URI}

    def _as_written(self, handle: etree._Element, wanted: Step) -> bool:
        """Returns whether they are those that the document calls by the step's name, prefix and all."""
        if self.flavour.spaces or self.marked or not wanted.plain or wanted.namespace != "":
            return False
        name = wanted.clark
        if name.startswith("xmlns"):
            return False
        return ":" not in name or not any(key[0] == "{" for key in handle.attrib)

    def _only(self, wanted: Step) -> tuple[bool, bool]:
        """Returns whether a step's types admit attributes, and elements; neither where a type alone does not tell."""
        if len(wanted.types) != 1 or wanted.types[0][0] != _EXACT:
            return False, False
        type_ = wanted.types[0][1]
        return type_ == self.flavour.attribute, type_ == element_types.ELEMENT and not self.flavour.compact

    def _first_on_top(self, wanted: Step) -> Handle:
        if not self.alone or wanted.types or wanted.namespace is None or not wanted.plain:
            return EXPAND
        if not self.bounded and (wanted.name in self.prolog.names or wanted.name == COMPACT_DECLARATION):
            return EXPAND
        root = self.root
        name = root.tag if not self.spaced or self.flavour.spaces else qualified(root)
        return root if name == wanted.clark else None

    def _top_level(self) -> Iterator[Handle]:
        keep = self.flavour.keep
        if self.flavour.compact:
            declaration = self.prolog.declaration
            if declaration is not None:
                yield compact_declaration(declaration)
            yield from reversed(list(self.root.itersiblings(preceding=True)))
        else:
            yield from self.prolog.items
        yield self.root
        if keep.comments or keep.instructions:
            yield from self.root.itersiblings()

    def _inside(self, node: etree._Element) -> Iterator[Handle]:
        flavour = self.flavour
        if self.spaced:
            declared = own_declarations(node)
            if len(declared) > _CROWD:  # lxml goes through all of them for each
                self._crowded[node] = declared
            for prefix in declared:
                yield node, Kind.NAMESPACE, prefix
        if self.attributed:
            for key in node.attrib:
                yield node, Kind.ATTRIBUTE, key
        texts = not flavour.compact or (flavour.mixed and has_elements(node))
        if texts and node.text is not None:
            yield from self._texts(node, Kind.TEXT, node.text)
        for child in node:
            if child.__class__ is etree._Entity:
                yield from self._referred(child)
            else:
                yield child
            if texts and child.tail is not None:
                yield from self._texts(child, Kind.TAIL, child.tail)

    def _texts(self, node: etree._Element, where: Kind, text: str) -> Iterator[Handle]:
        """The text in front of a node's children (Kind.TEXT) or behind the node (Kind.TAIL), by CDATA sections."""
        pieces = pieces_of(node, text, tail=where is Kind.TAIL) if self.cdata else ()
        if not any(section for section, _ in pieces):
            yield node, where, text
            return
        for section, piece in pieces:
            yield Item(self.flavour.cdata if section else self.flavour.text, "", piece)

    def _leading(self, node: etree._Element, text: str) -> str:
        """The first of the values into which text in front of a node's children is cut by CDATA sections."""
        pieces = pieces_of(node, text, tail=False) if self.cdata else ()
        return pieces[0][1] if pieces else text

    def _referred(self, node: etree._Element) -> Iterator[Item]:
        name: str = node.name  # type: ignore[attr-defined]  # an entity
        expansion = self._expansions.get(name)
        if expansion is None:
            expansion = self._expansions[name] = expand(name, self.prolog.doctype)
        yield Item(element_types.ENTITY_REFERENCE_START, "", name)
        for item in expansion:
            yield item.again()
        yield Item(element_types.ENTITY_REFERENCE_END, "", name)

    # How it names things

    def _type(self, node: etree._Element) -> int:
        if len(node) and (self._bare or has_elements(node)):
            return element_types.FOLDER
        if not self.cdata or not node.text:
            return element_types.FIELD
        sections = {section for section, _ in pieces_of(node, node.text, tail=False)}
        if sections == {True} and not any(child.tail for child in node):
            return element_types.CDATA_FIELD
        return element_types.HYBRID_FIELD if True in sections else element_types.FIELD

    def _field(self, handle: Handle, parent: Element) -> Element:
        node, kind, key = handle
        flavour = self.flavour
        if kind is Kind.ATTRIBUTE:
            if not flavour.spaces:
                return Element(
                    prefixed(node, key) if key[0] == "{" else key, "", flavour.attribute, self, handle, parent
                )
            namespace, _, name = key[1:].rpartition("}") if key[0] == "{" else ("", "", key)
            return Element(name, namespace, flavour.attribute, self, handle, parent)
        if kind is Kind.NAMESPACE:
            if not flavour.spaces:
                return Element(f"xmlns:{key}" if key else "xmlns", "", flavour.namespace, self, handle, parent)
            name, namespace = (key, XMLNS_URI) if key else ("xmlns", "")
            return Element(name, namespace, flavour.namespace, self, handle, parent)
        return Element("", "", flavour.text, self, handle, parent)

    def _annotation(self, node: etree._Element, parent: Element) -> Element:
        if node.__class__ is etree._Comment:
            return Element("", "", self.flavour.comment, self, node, parent)
        target = node.target  # type: ignore[attr-defined]  # an instruction
        return Element(target, "", self.flavour.instruction, self, node, parent)
