"""Changes: what is done to an lxml tree so that libxml2 writes what has become of it, and is undone afterwards.

What other threads may be looking at meanwhile is left alone: a copy of it is changed instead.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from copy import deepcopy
from threading import active_count
from typing import Any, Final, TypeAlias

from lxml import etree

from parsers.markup.document import Document, tidy

_TOKEN: Final = f"penstock-{secrets.token_hex(8)}"  # no message can hold what was chosen after it was made
_PLACEHOLDER: Final = re.compile(
    rf"<\?{_TOKEN} (?P<number>\d+)\?>|<\?{_TOKEN} from (?P<instead>\d+)\?>.*?<\?{_TOKEN} to (?P=instead)\?></[^>]*>",
    re.DOTALL,
)

# One change of an lxml tree: what is changed, of which node, under which key, and to what. A plain tuple: one is
# made for every field that a message changes.
Change: TypeAlias = tuple[str, Any, str, Any]


class Marks:
    """The rendered texts that are to stand in what libxml2 writes, where lxml is given marks to hold their places."""

    __slots__ = ("_texts",)

    def __init__(self) -> None:
        self._texts: list[str] = []

    def around(self, node: etree._Element, text: str) -> tuple[Change, Change]:
        """Marks around a node that a text takes the place of; the node must not move: lxml would tidy up namespaces."""
        self._texts.append(text)
        number = len(self._texts) - 1
        start, end = (etree.ProcessingInstruction(_TOKEN, f"{word} {number}") for word in ("from", "to"))
        return ("before", node, "", start), ("append", node, "", end)

    def written(self, document: Document, node: etree._Element, plan: Sequence[Change]) -> str:
        """A node as libxml2 writes it with these changes."""
        text = written(document, node, [self._marked(change) for change in plan])
        if not self._texts:
            return text
        return _PLACEHOLDER.sub(lambda found: self._texts[int(found["number"] or found["instead"])], text)

    def _marked(self, change: Change) -> Change:
        """A change that lxml can make: a mark stands for text that is to be added."""
        what, node, key, new = change
        if what not in {"append", "before"} or new.__class__ is not str:
            return change
        self._texts.append(new)
        return what, node, key, etree.ProcessingInstruction(_TOKEN, str(len(self._texts) - 1))


def written(document: Document, node: etree._Element, plan: Sequence[Change] = ()) -> str:
    """A node of a document as libxml2 writes it with some changes, which do not last."""
    if active_count() > 1 and (plan or not document.is_tidy):
        return _written_apart(document, node, plan)
    document.untangle()
    undo: list[Change] = []
    try:
        for change in plan:
            undo.append(_apply(change))  # noqa: PERF401  what was applied before a failure is undone
        return etree.tostring(node, encoding="unicode", with_tail=False)
    finally:
        for change in reversed(undo):
            _apply(change)


def _written_apart(document: Document, node: etree._Element, plan: Sequence[Change]) -> str:
    copied = deepcopy(node)  # and no more of the document: it may be written in many pieces
    if not document.is_tidy:
        tidy(copied)
    for change in [(what, _along(_way_to(place, node), copied), key, new) for what, place, key, new in plan]:
        _apply(change)
    return etree.tostring(copied, encoding="unicode", with_tail=False)


def _way_to(node: etree._Element, root: etree._Element) -> list[int]:
    """The places of a node and of those above it among their siblings, from the root down."""
    way = []
    while node is not root:
        above = node.getparent()
        assert above is not None
        way.append(above.index(node))
        node = above
    return way[::-1]


def _along(way: list[int], root: etree._Element) -> etree._Element:
    for place in way:
        root = root[place]
    return root


def _apply(change: Change) -> Change:
    """Make a change; the answer is the change that undoes it."""
    what, node, key, new = change
    match what:
        case "text":
            old, node.text = node.text, new
        case "tail":
            old, node.tail = node.tail, new
        case "attribute":
            old = node.get(key)
            if new is None:
                del node.attrib[key]
            else:
                node.set(key, new)  # in place: an attribute that is there keeps its position
        case "without":
            old = node.attrib.items()
            del node.attrib[key]
            return "attributes", node, "", old
        case "attributes":
            old = node.attrib.items()
            node.attrib.clear()
            node.attrib.update(new)
        case "append":
            node.append(new)
            return "remove", node, "", new
        case "remove":
            node.remove(new)
            return "append", node, "", new
        case _:
            node.addprevious(new)
            return "remove", node.getparent(), "", new
    return what, node, key, old
