"""Splicing: a few changes written into the bytes that a document came as, without writing it all anew.

They are in an encoding that extends ASCII, and hold no comments, instructions, sections or document type, so that `<`
begins nothing but tags: the n-th element of a name, as libxml2 sees it, is the n-th tag of that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from lxml import etree

from parsers.markup.text import escape

_MOST_FIELDS: Final = 4  # each of them is looked for from the start of the document
_MOST_NAMESAKES: Final = 64  # in front of a field
_SHORT: Final = 4096  # bytes: looking through all of them is quicker than asking lxml where a field begins
_END: Final = ord(">")
_AFTER_END: Final = frozenset(b" \t\n>")
_AFTER_NAME: Final = frozenset(b" \t\n/>")
_REST_OF_TAG: Final = re.compile(rb"""(?>[^"'/>]++|"[^"]*+"|'[^']*+')*+(?P<empty>/)?>""")


def spliced(
    data: bytes, root: etree._Element, fields: Sequence[tuple[Any, str | None]], encoding: str = "utf-8"
) -> bytes | None:
    """A document with other values in the nodes of fields; None where one cannot be found for certain.

    >>> root = etree.fromstring('<a><b>1</b><b k="1">2</b></a>')
    >>> spliced(b'<a><b>1</b><b k="1">2</b></a>', root, [(root[1], "x < y")])
    b'<a><b>1</b><b k="1">x &lt; y</b></a>'
    """
    if len(fields) > _MOST_FIELDS:
        return None
    changed: bytes | None = data
    for node, value in fields:
        if changed is not None:
            changed = respelled(changed, root, node, value, encoding)
    return changed


def respelled(data: bytes, root: etree._Element, node: Any, value: str | None, encoding: str) -> bytes | None:
    """A document with another value in the node of one field; None where it cannot be found for certain."""
    name: str = node.tag
    if name[0] == "{":
        name = _prefixed(node)
    opening = f"<{name}".encode(encoding)
    if len(data) >= _SHORT or data.find(opening, (start := data.find(opening)) + 1) >= 0:
        start = _start(data, root, node, opening)
    if start < 0:
        return None
    try:
        content = escape(value).encode(encoding) if value else b""
    except UnicodeEncodeError:
        return None
    return _field(data, start + len(opening), opening[1:], content)


def extended(
    data: bytes, root: etree._Element, node: etree._Element, addition: str, encoding: str = "utf-8"
) -> bytes | None:
    """A document with more at the end of an element; None where that cannot be found for certain.

    >>> root = etree.fromstring('<a><b k="1">x</b><c/></a>')
    >>> extended(b'<a><b k="1">x</b><c/></a>', root, root[0], "<d/>")
    b'<a><b k="1">x<d/></b><c/></a>'
    """
    name = (_prefixed(node) if node.tag[0] == "{" else node.tag).encode(encoding)
    if node is not root and data.count(b"<" + name) > 1:  # the last end tag of that name may be another's
        return None
    end = data.rfind(b"</" + name)
    if end < 0 or data[end + len(name) + 2] not in _AFTER_END:
        return None
    try:
        return data[:end] + addition.encode(encoding) + data[end:]
    except UnicodeEncodeError:
        return None


def _prefixed(node: etree._Element) -> str:
    """The name by which the document calls a node in a namespace."""
    name = node.tag.rpartition("}")[2]
    return name if node.prefix is None else f"{node.prefix}:{name}"


def _start(data: bytes, root: etree._Element, node: etree._Element, opening: bytes) -> int:
    """Returns where the start tag of a node begins, among others that begin alike; or -1."""
    tag = node.tag
    if tag[0] == "{" or ":" in tag or b"xmlns" in data:
        return _start_among(data, opening, _of_prefix(root, node), node)
    return _start_among(data, opening, root.iter(tag), node)  # without namespaces, only these are called so


def _start_among(data: bytes, opening: bytes, namesakes: Iterable[etree._Element], node: etree._Element) -> int:
    at = -1
    for number, namesake in enumerate(namesakes):
        at = data.find(opening, at + 1)
        while at >= 0 and data[at + len(opening)] not in _AFTER_NAME:
            at = data.find(opening, at + 1)
        if namesake is node:
            return at
        if at < 0 or number == _MOST_NAMESAKES:
            return -1
    return -1


def _of_prefix(root: etree._Element, node: etree._Element) -> Iterator[etree._Element]:
    """The elements that the document calls by the same name as a node, whatever namespaces they are in."""
    prefix = node.prefix
    for namesake in root.iter(f"{{*}}{node.tag.rpartition('}')[2]}"):
        if namesake.prefix == prefix:
            yield namesake


def _field(data: bytes, inside: int, name: bytes, value: bytes) -> bytes | None:
    """The document with another value in an element, from behind the name in its start tag; None if it has children."""
    closing = b"</%b>" % name
    if data[inside] == _END:
        inside += 1
    else:
        rest = _REST_OF_TAG.match(data, inside)
        if rest is None:
            return None
        inside = rest.end()
        if rest["empty"]:
            return b"".join((data[: inside - 2], b">", value, closing, data[inside:])) if value else data
    end = data.find(b"<", inside)
    if not data.startswith(closing, end):
        return None
    if value:
        return data[:inside] + value + data[end:]
    return data[: inside - 1].rstrip() + b"/>" + data[end + len(closing) :]
