"""Splicing: a few changed fields written into the text that a document came as, without writing it all anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lxml import etree

from parsers.markup.text import escape

_MOST_FIELDS: Final = 4  # each of them is looked for from the start of the document
_MOST_NAMESAKES: Final = 64  # in front of a field
_AFTER_NAME: Final = frozenset(" \t\n/>")


def spliced(text: str, root: etree._Element, fields: Sequence[tuple[Any, str | None]]) -> str | None:
    """A document's text with other values in the nodes of fields; None where one cannot be found for certain.

    The text has no comments, instructions, sections or document type, so that `<` begins nothing but tags: the n-th
    element of a name, as libxml2 sees it, is the n-th tag of that name.

    >>> root = etree.fromstring("<a><b>1</b><b>2</b></a>")
    >>> spliced("<a><b>1</b><b>2</b></a>", root, [(root[1], "x < y")])
    '<a><b>1</b><b>x &lt; y</b></a>'
    """
    if len(fields) > _MOST_FIELDS:
        return None
    for node, value in fields:
        start, tag = _start(text, root, node), node.tag
        if start < 0:
            return None
        end = _end(text, start, tag)
        if end < 0:
            return None
        field = f"<{tag}>{escape(value)}</{tag}>" if value else f"<{tag}/>"
        text = f"{text[:start]}{field}{text[end:]}"
    return text


def _start(text: str, root: etree._Element, node: etree._Element) -> int:
    """Where the start tag of a node begins, or -1."""
    opening, at = f"<{node.tag}", -1
    for number, namesake in enumerate(root.iter(node.tag)):
        at = text.find(opening, at + 1)
        while at >= 0 and text[at + len(opening)] not in _AFTER_NAME:
            at = text.find(opening, at + 1)
        if namesake is node:
            return at
        if at < 0 or number == _MOST_NAMESAKES:
            return -1
    return -1


def _end(text: str, start: int, tag: str) -> int:
    """Where an element without attributes and children ends, or -1."""
    at = start + len(tag) + 1
    if text.startswith("/>", at):
        return at + 2
    closing = f"</{tag}>"
    at = text.find("<", at) if text[at] == ">" else -1
    return at + len(closing) if at >= 0 and text.startswith(closing, at) else -1
