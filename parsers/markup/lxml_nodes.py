"""Nodes of lxml: names, fields and CDATA sections, in the ways that cost least; and parts that are no nodes (Item)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lxml import etree

from parsers.markup.element_types import Kind

if TYPE_CHECKING:
    from engine.tree.step import Step


class Item:
    """A type, a name, a value and children; two items are never equal, so that each can be a place in a tree."""

    __slots__ = ("children", "name", "namespace", "type", "value")

    def __init__(
        self, type_: int, name: str, value: str | None, children: tuple[Item, ...] = (), namespace: str = ""
    ) -> None:
        self.type = type_
        self.name = name
        self.value = value
        self.children = children
        self.namespace = namespace

    def again(self) -> Item:
        """The same in another place."""
        return Item(self.type, self.name, self.value, self.children, self.namespace)


XMLNS_URI: Final = "http://www.w3.org/2000/xmlns/"
XML_URI: Final = "http://www.w3.org/XML/1998/namespace"
_WRITTEN_NAME: Final = etree.XPath("name(@*[$number])", smart_strings=False)


def qualified(node: etree._Element) -> str:
    """The name of an element as the document writes it, with its prefix."""
    name = node.tag.rpartition("}")[2]
    return f"{node.prefix}:{name}" if node.prefix else name


def own_declarations(node: etree._Element) -> dict[str, str]:
    """The prefixes that an element declares itself, with their namespaces; the default namespace's prefix is empty."""
    declared: dict[str, str] = {}
    for event, what in etree.iterwalk(node, events=("start-ns", "start")):
        if event == "start":
            break
        declared[what[0]] = what[1]
    return declared


def prefixed(node: etree._Element, key: str) -> str:
    """The name of an attribute in a namespace as the document writes it, with its prefix."""
    namespace, _, name = key[1:].rpartition("}")
    if namespace == XML_URI:
        return f"xml:{name}"
    prefixes = [prefix for prefix, uri in node.nsmap.items() if uri == namespace and prefix]
    if len(prefixes) > 1:
        return str(_WRITTEN_NAME(node, number=list(node.attrib).index(key) + 1))
    return f"{prefixes[0]}:{name}"


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


_PIECE: Final = re.compile(r"<!\[CDATA\[(?P<section>.*?)\]\]>|&(?P<entity>lt|gt|amp|quot|#13);|[^<&]+", re.DOTALL)
_CHARACTERS: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "#13": "\r"}


def pieces_of(node: etree._Element, text: str, *, tail: bool) -> list[tuple[bool, str]]:
    """Text cut where CDATA sections begin and end, and whether each piece is one; lxml tells the text alone."""
    alone = etree.tostring(node, encoding="unicode", with_tail=False)
    if tail:
        raw, at = etree.tostring(node, encoding="unicode"), len(alone)
    else:
        raw, at = alone, alone.index(">") + 1
    pieces: list[tuple[bool, str]] = []
    left = len(text)
    while (piece := _PIECE.match(raw, at)) is not None and (left or piece["section"] == ""):
        at = piece.end()
        section = piece["section"]
        is_section = section is not None
        found = section if is_section else _CHARACTERS[piece["entity"]] if piece["entity"] else piece[0]
        left -= len(found)
        if pieces and not is_section and not pieces[-1][0]:
            pieces[-1] = (False, pieces[-1][1] + found)
        else:
            pieces.append((is_section, found))
    return pieces
