"""Document: a parsed document as the lazy source of a message tree, in any of the three domains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from lxml import etree

from engine.source import EXPAND, Handle, Source, Value
from engine.tree import Element
from parsers.markup import doctype, kinds
from parsers.markup.flavour import Flavour
from parsers.markup.item import Item
from parsers.markup.kinds import Kind
from parsers.markup.prolog import Prolog

if TYPE_CHECKING:
    from engine.step import Step

XMLNS_URI: Final = "http://www.w3.org/2000/xmlns/"
XML_URI: Final = "http://www.w3.org/XML/1998/namespace"
_NIL: Final = "{http://www.w3.org/2001/XMLSchema-instance}nil"
_EXACT: Final = 0xFFFFFFFF

# A handle is an lxml node, an Item, or a tuple (node, what, key) for what lxml keeps in a node's fields.
TOP: Final = ("", Kind.PART, "")
_MIXED: Final = etree.XPath(
    "boolean(//text()/following-sibling::*) or boolean(//text()/preceding-sibling::*)", smart_strings=False
)


class Document(Source):
    """One parsed document; the flavour says which of its parts the tree shows, and as what.

    `spaced` says that it declares namespaces; `attributed`, that it may have attributes; `instructed`, that it may
    have processing instructions; `cdata`, CDATA sections. Where they do not apply, a child is found by name alone.
    """

    __slots__ = (
        "_alone",
        "_data",
        "_direct",
        "_untangled",
        "attributed",
        "cdata",
        "flavour",
        "instructed",
        "prolog",
        "root",
        "spaced",
    )

    def __init__(self, root: etree._Element, data: bytes, flavour: Flavour, prolog: Prolog) -> None:
        self.root = root
        self.flavour = flavour
        self.prolog = prolog
        self.attributed = b"=" in data
        self.spaced = self.attributed and b"xmlns" in data
        self.instructed = flavour.keep.instructions and b"?" in data
        self.cdata = b"!" in data and b"<![CDATA[" in data
        self._data = b"" if flavour.compact else data
        self._alone = not prolog.items and root.getnext() is None
        self._direct = not self.spaced and not self.instructed
        self._untangled = flavour.mixed

    # What Source asks for

    def value(self, handle: Handle) -> Value:
        kind = handle.__class__
        if kind is tuple:
            return _field_value(*handle)
        if kind is Item:
            return handle.value
        text: str | None = handle.text
        if not self.flavour.compact:
            return text if text is not None or len(handle) or kind is not etree._Element else ""
        if len(handle) == 0:
            if text is None:
                return None if self.attributed and handle.get(_NIL) in {"true", "1"} else ""
            return text
        return None if kind is etree._Element and _has_elements(handle) else _whole_text(handle)

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
        if kind is tuple:
            return self._field(handle, parent)
        if kind is Item:
            return Element(handle.name, "", handle.type, self, handle, parent)
        tag = handle.tag
        if tag.__class__ is not str:
            return self._annotation(handle, parent)
        namespace = ""
        if self.spaced:
            if not self.flavour.spaces:
                tag = qualified(handle)
            elif tag[0] == "{":
                namespace, _, tag = tag[1:].partition("}")
        return Element(
            tag, namespace, self._type(handle) if self.flavour.compact else kinds.ELEMENT, self, handle, parent
        )

    def first(self, handle: Handle, wanted: Step) -> Handle:
        if self._direct and not self.attributed and not wanted.types and handle.__class__ is etree._Element:
            return next(handle.iterchildren(wanted.clark), None) if wanted.name is not None else EXPAND
        if handle.__class__ is not etree._Element:
            return self._first_on_top(wanted) if handle is TOP else EXPAND
        attributes = elements = True
        if wanted.types:
            attributes, elements = self._only(wanted)
        if not (attributes or elements) or not self._by_name(wanted):
            return EXPAND
        if attributes and self.attributed:
            if wanted.namespace is None and handle.attrib:
                return EXPAND
            if handle.get(wanted.clark) is not None:
                return handle, Kind.ATTRIBUTE, wanted.clark
        if elements:
            for child in handle.iterchildren(wanted.clark):
                return child
        return None

    def every(self, handle: Handle, wanted: Step) -> list[Handle] | object:
        if handle.__class__ is not etree._Element or wanted.types or not self._by_name(wanted):
            return EXPAND
        found: list[Handle] = []
        if self.attributed:
            if wanted.namespace is None and handle.attrib:
                return EXPAND
            if handle.get(wanted.clark) is not None:
                found.append((handle, Kind.ATTRIBUTE, wanted.clark))
        found += handle.iterchildren(wanted.clark)
        return found

    # What writers ask for

    @property
    def trailing(self) -> str:
        """The blanks behind the document's last mark."""
        return self._data[self._data.rfind(b">") + 1 :].decode("utf-8", "replace")

    def untangle(self) -> None:
        """Before the first change is written: text beside elements goes, where the domain does not show it."""
        if self._untangled:
            return
        self._untangled = True
        if _MIXED(self.root):
            for node in self.root.iter(etree.Element):
                if _has_elements(node):
                    node.text = None
                    for child in node:
                        child.tail = None

    # How it looks for things

    def _by_name(self, wanted: Step) -> bool:
        """Whether the children that a step matches are the elements and the attribute of its Clark name."""
        if wanted.name is None or self.instructed:
            return False
        if self._direct:
            return True
        return self.flavour.spaces and wanted.name != "xmlns" and wanted.namespace not in {None, XMLNS_URI}

    def _only(self, wanted: Step) -> tuple[bool, bool]:
        """Whether a step's types admit attributes, and elements; neither where that is not told by the type alone."""
        if len(wanted.types) != 1 or wanted.types[0][0] != _EXACT:
            return False, False
        type_ = wanted.types[0][1]
        return type_ == self.flavour.attribute, type_ == kinds.ELEMENT and not self.flavour.compact

    def _first_on_top(self, wanted: Step) -> Handle:
        if not self._alone or wanted.types or wanted.namespace is None or wanted.name is None:
            return EXPAND
        if self.spaced and not self.flavour.spaces:
            return EXPAND
        root = self.root
        return root if root.tag == wanted.clark else None

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
            for prefix in own_prefixes(node):
                yield node, Kind.NAMESPACE, prefix
        if self.attributed:
            for key in node.attrib:
                yield node, Kind.ATTRIBUTE, key
        texts = not flavour.compact or (flavour.mixed and _has_elements(node))
        if texts and node.text:
            yield from self._texts(node, Kind.TEXT, node.text)
        for child in node:
            if child.__class__ is etree._Entity:
                yield from self._referred(child)
            else:
                yield child
            if texts and child.tail:
                yield from self._texts(child, Kind.TAIL, child.tail)

    def _texts(self, node: etree._Element, where: Kind, text: str) -> Iterator[Handle]:
        """The text in front of a node's children (Kind.TEXT) or behind the node (Kind.TAIL), by CDATA sections."""
        if self.cdata:
            pieces = _sections(node, where)
            if "]]>" in pieces or "<![CDATA[" in pieces:
                yield from self._section_items(pieces)
                return
        yield node, where, text

    def _section_items(self, raw: str) -> Iterator[Item]:
        while raw:
            head, section, rest = raw.partition("<![CDATA[")
            if head:
                yield Item(self.flavour.text, "", _unescape(head))
            if section:
                inside, _, rest = rest.partition("]]>")
                yield Item(self.flavour.cdata, "", inside)
            raw = rest

    def _referred(self, node: etree._Element) -> Iterator[Item]:
        name = node.name  # type: ignore[attr-defined]  # an entity
        yield Item(kinds.ENTITY_REFERENCE_START, "", name)
        known = doctype.entities(self.prolog.document_type)
        yield Item(kinds.CONTENT, "", doctype.expand(name, known))
        yield Item(kinds.ENTITY_REFERENCE_END, "", name)

    # How it names things

    def _type(self, node: etree._Element) -> int:
        if len(node) and _has_elements(node):
            return kinds.FOLDER
        if self.cdata and node.text and "<![CDATA[" in etree.tostring(node, encoding="unicode", with_tail=False):
            return kinds.CDATA_FIELD
        return kinds.FIELD

    def _field(self, handle: Handle, parent: Element) -> Element:
        node, kind, key = handle
        flavour = self.flavour
        if kind is Kind.ATTRIBUTE:
            if not flavour.spaces:
                return Element(
                    _prefixed(node, key) if key[0] == "{" else key, "", flavour.attribute, self, handle, parent
                )
            namespace, _, name = key[1:].partition("}") if key[0] == "{" else ("", "", key)
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


def qualified(node: etree._Element) -> str:
    """The name of an element as the document writes it, with its prefix."""
    name = etree.QName(node).localname
    return f"{node.prefix}:{name}" if node.prefix else name


def own_prefixes(node: etree._Element) -> list[str]:
    """The prefixes that an element declares itself; the default namespace's is empty."""
    above = node.getparent()
    known = {} if above is None else above.nsmap
    return [prefix or "" for prefix, uri in node.nsmap.items() if known.get(prefix) != uri]


def compact_declaration(declaration: Item) -> Item:
    """An XML declaration as the XMLNSC domain shows it."""
    names = {"Standalone": "StandAlone"}
    parts = tuple(
        Item(kinds.COMPACT_ATTRIBUTE, names.get(part.name, part.name), part.value) for part in declaration.children
    )
    return Item(kinds.XML_DECLARATION, "XmlDeclaration", None, parts)


def _prefixed(node: etree._Element, key: str) -> str:
    namespace, _, name = key[1:].partition("}")
    if namespace == XML_URI:
        return f"xml:{name}"
    return next(f"{prefix}:{name}" for prefix, uri in node.nsmap.items() if uri == namespace and prefix)


def _field_value(node: etree._Element, kind: Kind, key: str) -> str | None:
    match kind:
        case Kind.ATTRIBUTE:
            return node.get(key)
        case Kind.NAMESPACE:
            return node.nsmap[key or None]
        case Kind.TEXT:
            return node.text
        case Kind.TAIL:
            return node.tail
        case _:
            return None


def _has_elements(node: etree._Element) -> bool:
    return any(True for _ in node.iterchildren(etree.Element))


def _whole_text(node: etree._Element) -> str:
    return (node.text or "") + "".join(child.tail or "" for child in node)


def _sections(node: etree._Element, where: Kind) -> str:
    """Text as it is written, with its CDATA sections; lxml tells the text alone."""
    alone = etree.tostring(node, encoding="unicode", with_tail=False)
    if where is Kind.TAIL:
        return etree.tostring(node, encoding="unicode")[len(alone) :]
    start = at = alone.index(">") + 1
    while alone.startswith("<![CDATA[", at) or alone[at] != "<":
        at = alone.index("]]>", at) + 3 if alone.startswith("<![CDATA[", at) else alone.index("<", at)
    return alone[start:at]


def _unescape(text: str) -> str:
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&#13;", "\r"), ("&amp;", "&")):
        text = text.replace(entity, character)
    return text
