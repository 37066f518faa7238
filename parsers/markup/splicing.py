"""Splicing: a few changes written into the text that a document came as, without writing it all anew."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from lxml import etree

from parsers.markup.text import escape

_MOST_FIELDS: Final = 4  # each of them is looked for from the start of the document
_MOST_NAMESAKES: Final = 64  # in front of a field
_SHORT: Final = 4096  # characters: looking through all of a text is quicker than asking lxml where it begins
_AFTER_END: Final = frozenset(" \t\n>")
_AFTER_NAME: Final = frozenset(" \t\n/>")
_REST_OF_TAG: Final = re.compile(r"""(?>[^"'/>]++|"[^"]*+"|'[^']*+')*+(?P<empty>/)?>""")


def spliced(text: str, root: etree._Element, fields: Sequence[tuple[Any, str | None]]) -> str | None:
    """A document's text with other values in the nodes of fields; None where one cannot be found for certain.

    The text has no comments, instructions, sections or document type, so that `<` begins nothing but tags: the n-th
    element of a name, as libxml2 sees it, is the n-th tag of that name.

    >>> root = etree.fromstring('<a><b>1</b><b k="1">2</b></a>')
    >>> spliced('<a><b>1</b><b k="1">2</b></a>', root, [(root[1], "x < y")])
    '<a><b>1</b><b k="1">x &lt; y</b></a>'
    """
    if len(fields) > _MOST_FIELDS:
        return None
    for node, value in fields:
        name = _written_name(node)
        start = _start(text, root, node, name)
        if start < 0:
            return None
        field = _field(text, start, name, value)
        if field is None:
            return None
        text = field
    return text


def extended(text: str, root: etree._Element, node: etree._Element, addition: str) -> str | None:
    """A document's text with more at the end of an element; None where that cannot be found for certain.

    >>> root = etree.fromstring('<a><b k="1">x</b><c/></a>')
    >>> extended('<a><b k="1">x</b><c/></a>', root, root[0], "<d/>")
    '<a><b k="1">x<d/></b><c/></a>'
    """
    name = _written_name(node)
    if node is not root and text.count(f"<{name}") > 1:  # the last end tag of that name may be another's
        return None
    end = text.rfind(f"</{name}")
    if end < 0 or text[end + len(name) + 2] not in _AFTER_END:
        return None
    return f"{text[:end]}{addition}{text[end:]}"


def _written_name(node: etree._Element) -> str:
    """The name by which the text calls a node."""
    name: str = node.tag
    if name[0] != "{":
        return name
    name = name.rpartition("}")[2]
    return name if node.prefix is None else f"{node.prefix}:{name}"


def _start(text: str, root: etree._Element, node: etree._Element, name: str) -> int:
    """Where the start tag of a node begins, which the text calls by this name; or -1."""
    opening = f"<{name}"
    if len(text) < _SHORT:
        at = text.find(opening)
        if text.find(opening, at + 1) < 0:
            return at
    tag = node.tag
    if tag[0] == "{" or ":" in tag or "xmlns" in text:
        return _start_among(text, opening, _of_prefix(root, node), node)
    return _start_among(text, opening, root.iter(tag), node)  # without namespaces, only these are called so


def _start_among(text: str, opening: str, namesakes: Iterable[etree._Element], node: etree._Element) -> int:
    at = -1
    for number, namesake in enumerate(namesakes):
        at = text.find(opening, at + 1)
        while at >= 0 and text[at + len(opening)] not in _AFTER_NAME:
            at = text.find(opening, at + 1)
        if namesake is node:
            return at
        if at < 0 or number == _MOST_NAMESAKES:
            return -1
    return -1


def _of_prefix(root: etree._Element, node: etree._Element) -> Iterator[etree._Element]:
    """The elements that the text calls by the same name as a node, whatever namespaces they are in."""
    prefix = node.prefix
    for namesake in root.iter(f"{{*}}{node.tag.rpartition('}')[2]}"):
        if namesake.prefix == prefix:
            yield namesake


def _field(text: str, start: int, name: str, value: str | None) -> str | None:
    """The text with another value in the element without children that starts there; None where it is none."""
    inside = start + len(name) + 1
    if text[inside] != ">":
        rest = _REST_OF_TAG.match(text, inside)
        if rest is None:
            return None
        opened, inside = text[: rest.end()], rest.end()
        if rest["empty"]:
            return f"{opened[:-2]}>{escape(value)}</{name}>{text[inside:]}" if value else text
    else:
        inside += 1
        opened = text[:inside]
    closing = f"</{name}>"
    end = text.find("<", inside)
    if not text.startswith(closing, end):
        return None
    if value:
        return f"{opened}{escape(value)}{text[end:]}"
    return f"{opened[:-1].rstrip()}/>{text[end + len(closing) :]}"
