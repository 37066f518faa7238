"""Nodes of lxml: names, fields, CDATA sections and text beside elements, at the least cost; and other parts (Item)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from threading import get_ident
from typing import Final, cast

from lxml import etree

from engine.tree.step import Step
from parsers.markup.element_types import Kind


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


def called(nodes: Iterator[etree._Element], name: str) -> Iterator[etree._Element]:
    """Yields those of some elements that have a Clark name, or a local name in any namespace, as `{*}b`.

    lxml looks a name up in the dictionary of a document, which belongs to the thread that read it. Another thread that
    did so as that one adds to it would read what is no longer there, so that it compares the names itself.

    >>> root = etree.fromstring('<a xmlns:p="u"><p:b/><b/><c/></a>')
    >>> [[child is root[1] for child in called(root.iterchildren(etree.Element), name)] for name in ("b", "{*}b")]
    [[True], [False, True]]
    """
    if name.startswith("{*}"):
        return (node for node in nodes if node.tag.rpartition("}")[2] == name[3:])
    return (node for node in nodes if node.tag == name)


def children_called(node: etree._Element, name: str, *, own: bool) -> Iterator[etree._Element]:
    """The child elements of a Clark name; `own` says that this thread has read the document."""
    return node.iterchildren(name) if own else called(node.iterchildren(etree.Element), name)


def all_called(root: etree._Element, name: str, *, own: bool) -> Iterator[etree._Element]:
    """The elements of a Clark name in the order of the document."""
    return root.iter(name) if own else called(root.iter(etree.Element), name)


def written_as(node: etree._Element, name: str, *, own: bool) -> Iterator[etree._Element]:
    """The child elements that the document calls by a name, prefix and all.

    >>> root = etree.fromstring('<a xmlns="u" xmlns:p="u"><p:b/><b/></a>')
    >>> [child is root[1] for child in written_as(root, "b", own=True)]
    [True]
    """
    prefix, _, local = name.rpartition(":")
    for child in children_called(node, f"{{*}}{local}", own=own):
        if (child.prefix or "") == prefix:
            yield child


def first_element(node: etree._Element, wanted: Step, reader: int) -> etree._Element | None:
    """The first child element of a Clark name; a short walk is cheaper than to have lxml match names.

    `reader` is the thread that has read the document.
    """
    name = wanted.clark
    if wanted.namespace is None:
        return next(children_called(node, name, own=reader == get_ident()), None)
    child = node[0] if len(node) else None
    left = _FEW
    while child is not None and child.tag != name:
        left -= 1
        if not left:
            if reader == get_ident():
                return next(child.itersiblings(name), None)
            return next(called(child.itersiblings(etree.Element), name), None)
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


_JOINT: Final = b"\1\2"  # in place of `><`; no document has these characters
_TEXT: Final = bytes(byte for byte in range(256) if byte not in b"<>/\1")

# Text in front of a start tag, behind an end tag, and behind an empty tag. Each begins with a character that is looked
# for fast.
_BESIDE: Final = (re.compile(rb">[^<]++<[^/]"), re.compile(rb"</[^>]*+>[^<]"), re.compile(rb"/>[^<]"))
_MIXED: Final = etree.XPath("//*[*][text()]", smart_strings=False)
_IS_MIXED: Final = etree.XPath(  # without mixed content; what it finds costs the square of its number
    "boolean(//text()/following-sibling::*[1]) or boolean(//text()/preceding-sibling::*[1])", smart_strings=False
)
_QUICK_SIZE: Final = 70_000


def is_unmixed(data: bytes) -> bool:
    """Returns whether a document of nothing but tags and text surely has no text beside elements.

    Without its letters, and where tags touch, it is soon looked through. If it has three marks for each `/`, but for
    those `>` that are left, then each `/` is that of an end tag. If each `>` that is left, but the last, stands in
    front of an end tag and behind none, then text stands only between a start tag and its end tag.

    >>> is_unmixed(b"<a><b>1</b></a>"), is_unmixed(b"<a>1<b>2</b></a>"), is_unmixed(b"<a><b>1</b>2</a>")
    (True, False, False)
    """
    bones = data.replace(b"><", _JOINT).translate(None, _TEXT)
    left = bones.count(b">")
    return (
        3 * bones.count(b"/") + left == len(bones)
        and bones.count(b"></") + 1 == left
        and bones.find(b"/>") == len(bones) - 2
    )


def may_be_mixed(data: bytes) -> bool:
    """Returns whether text may stand beside elements in a document of nothing but tags and text.

    A `>` that stands in a text or in an attribute makes that uncertain.

    >>> may_be_mixed(b'<a k="/"><b>1/2</b></a>'), may_be_mixed(b"<a><b/>1</a>"), may_be_mixed(b"<a>1 > 0</a>")
    (False, True, True)
    """
    return data.count(b">") != data.count(b"<") or any(beside.search(data) is not None for beside in _BESIDE)


def is_mixed(root: etree._Element, size: int) -> bool:
    """Returns whether text stands beside elements in a tree, which was read from so many bytes."""
    return bool((_MIXED if size > _QUICK_SIZE else _IS_MIXED)(root))


def tidy(root: etree._Element) -> None:
    """Take away the text that stands beside elements."""
    for node in cast("list[etree._Element]", _MIXED(root)):
        node.text = None
        for child in node:
            child.tail = None
