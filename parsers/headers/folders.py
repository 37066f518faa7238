"""Folders: the XML-like name/value data of an MQRFH2, read a folder at a time, and the typed values in it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Generic, Protocol, TypeVar

from lxml import etree

from engine.errors import ParserException
from engine.message.thread_parsers import PARSERS
from engine.tree.element import Element
from engine.tree.sharing import written
from engine.tree.source import KIND, NAME, NAME_VALUE, VALUE, Value, kept
from engine.tree.states import EDITED
from parsers.charsets.ccsid import codec, decode
from parsers.headers.fields import TOP, Beside, Besides
from parsers.markup.text import escape, name_of, quote, text_of

_KIND: Final = "folders"
_FEW: Final = 16  # as many are looked through faster than they are sorted


class _HasName(Protocol):
    @property
    def name(self) -> str: ...


C = TypeVar("C", bound=_HasName)


class Named(Generic[C]):
    """The children of a source by their names, which are read once and stay as they are.

    >>> from collections import namedtuple
    >>> Field = namedtuple("Field", "name")
    >>> fields = [Field(f"f{number}") for number in range(100)]
    >>> Named().among(None, fields, "f7")
    [Field(name='f7')]
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[object, dict[str, list[C]]] = {}

    def among(self, handle: object, children: Sequence[C], name: str | None) -> Sequence[C]:
        """The children of a handle that may have a name, in order; all of them where they are few."""
        if name is None or len(children) <= _FEW:
            return children
        known = self._known.get(handle)
        if known is None:
            known = {}
            for child in children:
                known.setdefault(child.name, []).append(child)
            self._known[handle] = known  # last: another thread finds it whole
        return known.get(name, ())


ATTRIBUTE: Final = NAME_VALUE | 0x100

_XSI: Final = "http://www.w3.org/2001/XMLSchema-instance"
_NIL: Final = f"{{{_XSI}}}nil"
_XSI_ALONE: Final = {_XSI: "xsi"}
_BEFORE, _AFTER = f'<_ xmlns:xsi="{_XSI}">'.encode(), b"</_>"
_PADDING: Final = b" \0\r\n\t"
_FIRST_NAME: Final = re.compile(rb"[ \0\r\n\t]*<([^ \r\n\t/>!?<]+)[ \r\n\t/>]")
_DEEPEST: Final = 128

_INTEGERS: Final = {"i1": 1, "i2": 2, "i4": 4, "i8": 8, "int": 8}
_TYPED: Final = frozenset({*_INTEGERS, "boolean", "bin.hex", "r4", "r8"})
_TRUTH: Final = {"1": True, "true": True, "0": False, "false": False}
# IBM defines what is in these, so their values say no type.
_UNTYPED: Final = frozenset({"mcd", "psc", "pscr", "jms"})


class Node(Beside):
    """An element, attribute or text of a folder; `kind` is what its dt attribute says."""

    __slots__ = ("children", "kind", "name", "text", "type", "where")

    def __init__(self, name: str, type_: int, text: str | None, where: str, kind: str = "") -> None:
        self.name = name
        self.type = type_
        self.text = text
        self.where = where
        self.kind = kind
        self.children: tuple[Node, ...] = ()


class Segment:
    """One length-prefixed piece of name/value data; in most there is one folder."""

    __slots__ = ("_ccsid", "_content", "_encoding", "_folders", "_nodes", "data", "offset")

    def __init__(self, data: bytes, ccsid: int, encoding: int, offset: int) -> None:
        self.data = data
        self._ccsid = ccsid
        self._encoding = encoding
        self.offset = offset
        self._content: bytes | None = None
        self._nodes: list[Node] | None = None
        self._folders: list[Folder] | None = None

    @property
    def where(self) -> str:
        """Returns what the piece is called in errors."""
        return f"MQRFH2.NameValueData at offset {self.offset}"

    @property
    def content(self) -> bytes:
        """The piece in UTF-8, without what fills it up."""
        if self._content is None:
            data = self.data
            if codec(self._ccsid).name != "utf-8":
                what = "MQRFH2.NameValueData"
                data = decode(data, self._ccsid, self._encoding, offset=self.offset, what=what).encode()
            self._content = data.removeprefix(b"\xef\xbb\xbf").strip(_PADDING)
        return self._content

    @property
    def nodes(self) -> list[Node]:
        """The folders, read once."""
        if self._nodes is None:
            nodes = list(_read(self.content, self.where))
            stray = next((node.text for node in nodes if node.type & KIND == VALUE), None)
            if stray:
                raise ParserException(5009, f"{self.where}: {stray.strip()[:40]!r} is not in a folder", "MQRFH2")
            return kept(self, "_nodes", nodes)
        return self._nodes

    @property
    def folders(self) -> list[Folder]:
        """The folders by their names; where it is plain that there is only one, nothing is read yet."""
        if self._folders is None:
            return kept(self, "_folders", self._found())
        return self._folders

    def _found(self) -> list[Folder]:
        content = self.content
        if not content:
            return []
        found = _FIRST_NAME.match(content)
        if found is not None:
            end = b"</" + found[1] + b">"
            if content.endswith(end) and content.count(end) == 1:
                return [Folder(found[1].decode("utf-8", "replace"), self, 0)]
        return [Folder(node.name, self, number) for number, node in enumerate(self.nodes)]


class Folder(Beside):
    """A folder by its name, before anything in it is read."""

    __slots__ = ("name", "number", "segment")
    type = NAME

    def __init__(self, name: str, segment: Segment, number: int) -> None:
        self.name = name
        self.segment = segment
        self.number = number

    @property
    def node(self) -> Node:
        """Returns what is in it."""
        nodes = self.segment.nodes
        if self.number >= len(nodes):
            raise ParserException(5009, f"{self.segment.where}: there is no folder {self.name}", "MQRFH2")
        return nodes[self.number]


class Folders(Besides):
    """All folders of a header as a source; a handle is a Folder or a Node, TOP is the header."""

    __slots__ = ("_folders", "_named", "segments")

    def __init__(self, segments: list[Segment]) -> None:
        self.segments = segments
        self._named = Named[Folder | Node]()
        self._folders: list[Folder] | None = None

    @property
    def folders(self) -> list[Folder]:
        """The folders in order."""
        if self._folders is None:
            return kept(self, "_folders", [folder for segment in self.segments for folder in segment.folders])
        return self._folders

    def value(self, handle: Folder | Node) -> Value:
        return value_of(handle.node if isinstance(handle, Folder) else handle)

    def children(self, handle: Folder | Node | None) -> Sequence[Folder | Node]:
        if handle is TOP:
            return self.folders
        return (handle.node if isinstance(handle, Folder) else handle).children

    def called(self, handle: Folder | Node | None, name: str | None) -> Sequence[Folder | Node]:
        return self._named.among(handle, self.children(handle), name)


def _new_parser(_: str) -> etree.XMLParser:
    # collect_ids stays on: turning it off makes libxml2 load external DTDs.
    return etree.XMLParser(
        encoding="UTF-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


def _read(content: bytes, where: str) -> tuple[Node, ...]:
    if b"<!DOCTYPE" in content:
        raise ParserException(5009, f"{where}: a folder cannot have a document type", "MQRFH2")
    try:
        top = etree.fromstring(_BEFORE + content + _AFTER, PARSERS.kept.get(_KIND) or PARSERS.made(_KIND, _new_parser))
    except etree.XMLSyntaxError as error:
        problem = (error.msg or "nothing can be read").split(", line ")[0]
        line, column = error.position
        column -= len(_BEFORE) if line == 1 else 0
        raise ParserException(
            5009, f"{where}: {problem}, in line {line}, column {column} of {content[:40]!r}", "MQRFH2"
        ) from None
    return _children(top, where, 0, prefixes=b"xmlns" in content)


def _children(element: etree._Element, where: str, depth: int, *, prefixes: bool) -> tuple[Node, ...]:
    """Returns what stands in an element; text that is only there to space elements out does not count."""
    if depth > _DEEPEST:
        raise ParserException(5009, f"{where}: folders are nested deeper than {_DEEPEST} levels", "MQRFH2")
    found = list(_text_node(element.text, where))
    for child in element:
        if isinstance(child.tag, str):
            found.append(_node(child, where, depth, prefixes=prefixes))
        found += _text_node(child.tail, where)
    return tuple(found)


def _text_node(text: str | None, where: str) -> Iterator[Node]:
    if text and not text.isspace():
        yield Node("", VALUE, text, where)


def _node(element: etree._Element, where: str, depth: int, *, prefixes: bool) -> Node:
    attributes, names = _declared(element, where) if prefixes else ([], _XSI_ALONE)
    kind, nil = "", False
    for key, text in element.items():
        if key == "dt":
            kind = str(text)
        elif key == _NIL:
            nil = text in {"true", "1"}
        else:
            attributes.append(Node(_prefixed(str(key), names), ATTRIBUTE, str(text), where))
    leaf = not any(isinstance(child.tag, str) for child in element)
    name = _prefixed(str(element.tag), names)
    node = Node(name, NAME_VALUE if leaf else NAME, None, where, kind)
    if leaf and not nil:
        node.text = "".join(str(text) for text in element.itertext())
    node.children = (*attributes, *(() if leaf else _children(element, where, depth + 1, prefixes=prefixes)))
    return node


def _declared(element: etree._Element, where: str) -> tuple[list[Node], dict[str, str | None]]:
    above = element.getparent()
    known = {} if above is None else above.nsmap
    attributes = [
        Node(f"xmlns:{prefix}" if prefix else "xmlns", ATTRIBUTE, uri, where)
        for prefix, uri in element.nsmap.items()
        if known.get(prefix) != uri
    ]
    return attributes, {uri: prefix for prefix, uri in element.nsmap.items()}


def _prefixed(tag: str, names: Mapping[str, str | None]) -> str:
    uri, _, local = tag.removeprefix("{").rpartition("}")
    prefix = names.get(uri) if uri else None
    return f"{prefix}:{local}" if prefix else local


def value_of(node: Node) -> Value:
    """The value of a node as its dt attribute has it; text where there is none, or one that is not known."""
    text, kind = node.text, node.kind
    if text is None and node.children and node.children[0].type & KIND == VALUE:
        return node.children[0].text
    if text is None or kind not in _TYPED:
        return text
    try:
        value = _converted(text.strip(), kind)
    except ValueError:
        value = None
    if value is None:
        raise ParserException(5009, f"{node.where}: {text[:40]!r} in {node.name} is not of its type {kind}", "MQRFH2")
    return value


def _converted(text: str, kind: str) -> Value:
    if "_" in text or not text.isascii():  # what Python takes for a number, and no one else
        return None
    if kind in _INTEGERS:
        number = int(text)
        return number if _in_range(number, kind) else None
    if kind == "boolean":
        return _TRUTH.get(text.lower())
    return bytes.fromhex(text) if kind == "bin.hex" else float(text)


def _in_range(number: int, kind: str) -> bool:
    bits = 8 * _INTEGERS[kind] - 1
    return -(1 << bits) <= number < 1 << bits


def render(folder: Element) -> str:
    """A folder of a tree as its text; whole numbers, floats, booleans and bytes say their type."""
    pieces: list[str] = []
    try:
        _render(folder, pieces, 0, typed=folder.name not in _UNTYPED)
    except ValueError as error:
        raise ParserException(5010, f"MQRFH2.{folder.name}: {error}", "MQRFH2") from error
    return "".join(pieces)


def _render(element: Element, pieces: list[str], depth: int, *, typed: bool) -> None:
    if depth > _DEEPEST:
        raise ParserException(5010, f"MQRFH2: folders are nested deeper than {_DEEPEST} levels", "MQRFH2")
    name = name_of(element.name)
    children = list(element)
    pieces.append(f"<{name}")
    pieces += [f" {name_of(c.name)}={quote(_text(c))}" for c in children if c.type == ATTRIBUTE]
    inner = [child for child in children if child.type != ATTRIBUTE]
    kind, text = _typed(element, typed=typed)
    if inner and inner[0].type & KIND == VALUE:
        if inner[0] is children[0]:
            kind, text = "", None  # the element's value is that of this child
        elif text is not None:
            inner = inner[1:]
    if depth and not inner and text is None and element.type & KIND == NAME_VALUE:
        pieces.append(" xsi:nil='true'")
    pieces.append(f" dt={quote(kind)}>" if kind else ">")
    pieces.append(escape(text or ""))
    for child in inner:
        if child.type & KIND == VALUE:
            pieces.append(escape(_text(child)))
        else:
            _render(child, pieces, depth + 1, typed=typed)
    pieces.append(f"</{name}>")


def _text(element: Element) -> str:
    return text_of(element.value, compact=True)


def _typed(element: Element, *, typed: bool) -> tuple[str, str | None]:
    """Returns the dt attribute for an element's value, and its text; a type that the value still has stays."""
    held = written(element)
    node = held.handle if isinstance(held.handle, Node) else None
    if node is not None and not held.state & EDITED:
        return node.kind, node.text
    return _described(element.value, "" if node is None else node.kind, typed=typed)


def _described(value: Value, was: str, *, typed: bool) -> tuple[str, str | None]:
    if value is None:
        return "", None
    if isinstance(value, bool):
        return was if was == "boolean" or not typed else "boolean", str(int(value))
    if isinstance(value, int):
        smallest = "i4" if -(1 << 31) <= value < 1 << 31 else "i8"
        fits = was in _INTEGERS and _in_range(value, was)
        return (was if fits else smallest if typed else ""), str(value)
    if isinstance(value, float):
        text = repr(value) if math.isfinite(value) else text_of(value, compact=True)
        return (was if was in {"r4", "r8"} else "r8" if typed else ""), text
    if isinstance(value, bytes):
        return was if was == "bin.hex" or not typed else "bin.hex", value.hex().upper()
    return "" if was in _TYPED else was, text_of(value, compact=True)
