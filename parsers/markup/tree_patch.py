"""Changes of an lxml tree as data, and what libxml2 writes of a copy of the tree that they are made in.

Other trees, of this thread and of others, look at the tree itself at any time: it is never changed.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from copy import copy
from typing import Any, Final, TypeAlias

from lxml import etree

from parsers.markup.document import Document
from parsers.markup.mixed_content import tidy

_TOKEN: Final = f"penstock-{secrets.token_hex(8)}"  # no message can hold what was chosen after it was made
_PLACEHOLDER: Final = re.compile(
    rf"<\?{_TOKEN} (?P<number>\d+)\?>|<\?{_TOKEN} from (?P<instead>\d+)\?>.*?<\?{_TOKEN} to (?P=instead)\?></[^>]*>",
    re.DOTALL,
)
_MANY: Final = 500  # changes: then the copy is walked beside the original

# One change of an lxml tree: what is changed, of which node, under which key, and to what: for "append", "before" and
# "instead" the text of elements. A plain tuple: one is made for every field that a message changes.
Change: TypeAlias = tuple[str, Any, str, Any]


def written(document: Document, node: etree._Element, plan: Sequence[Change] = ()) -> str:
    """A node of a document as libxml2 writes it, with some changes and without text that the domain does not show."""
    is_tidy = not len(node) or document.is_tidy
    if is_tidy and not plan:
        return etree.tostring(node, encoding="unicode", with_tail=False)
    copied = copy(node)  # lxml copies all that is below a node, and nothing beside it
    places = _places(plan, node, copied)
    if not is_tidy:
        tidy(copied)
    texts: list[str] = []
    for (what, _, key, new), place in zip(plan, places, strict=True):
        if what in {"append", "before", "instead"}:
            _mark(what, place, len(texts))
            texts.append(new)
        else:
            _set(what, place, key, new)
    text = etree.tostring(copied, encoding="unicode", with_tail=False)
    return _PLACEHOLDER.sub(lambda found: texts[int(found["number"] or found["instead"])], text) if texts else text


def _mark(what: str, place: etree._Element, number: int) -> None:
    """Put marks where the text of elements is to stand: around a node that it takes the place of, which does not move.

    Lxml would take along what follows it.
    """
    if what == "append":
        place.append(etree.ProcessingInstruction(_TOKEN, str(number)))
    elif what == "before":
        place.addprevious(etree.ProcessingInstruction(_TOKEN, str(number)))
    else:
        place.addprevious(etree.ProcessingInstruction(_TOKEN, f"from {number}"))
        place.append(etree.ProcessingInstruction(_TOKEN, f"to {number}"))


def _set(what: str, place: etree._Element, key: str, new: str | None) -> None:
    """Change what lxml keeps in a field of a node."""
    if what == "text":
        place.text = new
    elif what == "tail":
        place.tail = new
    elif new is None:
        del place.attrib[key]
    else:
        place.set(key, new)  # an attribute that is there keeps its position


def _places(plan: Sequence[Change], node: etree._Element, copied: etree._Element) -> list[etree._Element]:
    """The nodes of the copy that stand where those of the changes stand in the original."""
    if len(plan) > _MANY:
        twins = dict(zip(node.iter(), copied.iter(), strict=True))
        return [twins[place] for _, place, _, _ in plan]
    return [_along(_way_to(place, node), copied) for _, place, _, _ in plan]


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
