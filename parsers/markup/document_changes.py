"""Changes of a document that was read, as data, written into its bytes or into a copy of its lxml tree.

Other trees, of this thread and of others, look at the tree itself at any time: it is never changed. Bytes that changes
are spliced into are in an encoding that extends ASCII, and hold no comments, instructions, sections or document type,
so that `<` begins nothing but tags: the n-th element of a name, as libxml2 sees it, is the n-th tag of that name.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from operator import itemgetter
from typing import Any, Final, TypeAlias

from lxml import etree

from engine.message.thread_parsers import PARSERS
from parsers.markup.document import Document
from parsers.markup.lxml_nodes import all_called, tidy
from parsers.markup.text import escape, quote

_TOKEN: Final = f"penstock-{secrets.token_hex(8)}"  # no message can hold what was chosen after it was made
_PLACEHOLDER: Final = re.compile(
    rf"<\?{_TOKEN} (?P<number>\d+)\?>|<\?{_TOKEN} from (?P<instead>\d+)\?>.*?<\?{_TOKEN} to (?P=instead)\?></[^>]*>",
    re.DOTALL,
)
_MANY: Final = 500  # changes: then the copy is walked beside the original
_MOST_VALUES: Final = 4  # each of them is looked for from the start of the document
_MOST_CHANGES: Final = 5
_MOST_NAMESAKES: Final = 64  # in front of a field
_SHORT: Final = 4096  # bytes: looking through all of them is quicker than asking lxml where a field begins
_END: Final = ord(">")
_AFTER_END: Final = frozenset(b" \t\n>")
_AFTER_NAME: Final = frozenset(b" \t\n/>")
_REST_OF_TAG: Final = re.compile(rb"""(?>[^"'/>]++|"[^"]*+"|'[^']*+')*+(?P<empty>/)?>""")
_ATTRIBUTE: Final = re.compile(rb""" (?P<name>[^ =]+)=(?P<value>"[^"]*"|'[^']*')""")

# One change of an lxml tree: what is changed, of which node, under which key, and to what: for "append", "before" and
# "instead" the text of elements. A plain tuple: one is made for every field that a message changes.
Change: TypeAlias = tuple[str, Any, str, Any]
# What takes the place of the bytes from one offset to another.
_Edit: TypeAlias = tuple[int, int, bytes]


def keeps_form(plan: Sequence[Change]) -> bool:
    """Returns True where changes are few values and at most one addition: what is around them stays as it came."""
    appended = [change for change in plan if change[0] == "append"]
    return (
        len(appended) <= 1 and len(plan) - len(appended) == sum(change[0] == "text" for change in plan) <= _MOST_VALUES
    )


def is_short(plan: Sequence[Change]) -> bool:
    """Returns True where looking for the place of each change is quicker than to copy the tree and change that.

    Where a text is empty but there, libxml2 writes an element with an end tag, and that is left to it.
    """
    return len(plan) <= _MOST_CHANGES and not any(what == "text" and new == "" for what, _, _, new in plan)


def spliced(
    data: bytes, root: etree._Element, plan: Sequence[Change], encoding: str = "utf-8", *, own: bool
) -> bytes | None:
    """A document with some changes; None where the place of one cannot be found for certain.

    `own` says that this thread has read it.

    Attributes and elements are changed only in bytes that libxml2 has written, in which all quotes are double.

    >>> root = etree.fromstring('<a><b>1</b><b k="1">2</b></a>')
    >>> spliced(etree.tostring(root), root, [("text", root[1], "", "x < y"), ("append", root, "", "<c/>")], own=True)
    b'<a><b>1</b><b k="1">x &lt; y</b><c/></a>'
    >>> plan = [("attribute", root[1], "k", "2"), ("instead", root[0], "", "<d/>")]
    >>> spliced(etree.tostring(root), root, plan, own=True)
    b'<a><d/><b k="2">2</b></a>'
    """
    edits: list[_Edit] = []
    for change in plan:
        try:
            edit = _edit(data, root, change, encoding, own=own)
        except UnicodeEncodeError:
            return None
        if edit is None:
            return None
        edits.append(edit)
    edits.sort(key=itemgetter(0, 1))
    pieces: list[bytes] = []
    at = 0
    for start, end, new in edits:
        if start < at:
            return None
        pieces += data[at:start], new
        at = end
    return b"".join([*pieces, data[at:]])


def with_value(
    data: bytes, root: etree._Element, node: Any, value: str | None, encoding: str, *, own: bool
) -> bytes | None:
    """A document with another value in one node; None where that cannot be found for certain."""
    try:
        edit = _edit(data, root, ("text", node, "", value), encoding, own=own)
    except UnicodeEncodeError:
        return None
    return None if edit is None else b"".join((data[: edit[0]], edit[2], data[edit[1] :]))


def _edit(data: bytes, root: etree._Element, change: Change, encoding: str, *, own: bool) -> _Edit | None:
    what, node, key, new = change
    name: str = node.tag
    if name[0] == "{":
        name = _prefixed(node)
    called = name.encode(encoding)
    if what == "append":
        return _addition(data, called, new.encode(encoding), is_root=node is root)
    opening = b"<" + called
    if len(data) >= _SHORT or data.find(opening, (start := data.find(opening)) + 1) >= 0:
        start = _start(data, root, node, opening, own=own)
    if start < 0:
        return None
    inside = start + len(opening)
    match what:
        case "text":
            return _value(data, inside, called, escape(new).encode(encoding) if new else b"")
        case "attribute" if new is not None:
            return _attribute(data, inside, key.encode(encoding), quote(new).encode(encoding))
        case "before":
            return start, start, new.encode(encoding)
        case "instead":
            whole = etree.tostring(node, encoding="unicode", with_tail=False).encode()
            return (start, start + len(whole), new.encode()) if data.startswith(whole, start) else None
        case _:
            return None


def _addition(data: bytes, name: bytes, new: bytes, *, is_root: bool) -> _Edit | None:
    if not is_root and data.count(b"<" + name) > 1:  # the last end tag of that name may be another's
        return None
    end = data.rfind(b"</" + name)
    if end < 0 or data[end + len(name) + 2] not in _AFTER_END:
        return None
    return end, end, new


def _prefixed(node: etree._Element) -> str:
    name = node.tag.rpartition("}")[2]
    return name if node.prefix is None else f"{node.prefix}:{name}"


def _start(data: bytes, root: etree._Element, node: etree._Element, opening: bytes, *, own: bool) -> int:
    """Returns where the start tag of a node begins, among others that begin alike; or -1."""
    tag = node.tag
    if tag[0] == "{" or ":" in tag or b"xmlns" in data:
        return _start_among(data, opening, _of_prefix(root, node, own=own), node)
    namesakes = all_called(root, tag, own=own)  # without namespaces, only these are called so
    return _start_among(data, opening, namesakes, node)


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


def _of_prefix(root: etree._Element, node: etree._Element, *, own: bool) -> Iterator[etree._Element]:
    """The elements that the document calls by the same name as a node, whatever namespaces they are in."""
    prefix = node.prefix
    for namesake in all_called(root, f"{{*}}{node.tag.rpartition('}')[2]}", own=own):
        if namesake.prefix == prefix:
            yield namesake


def _value(data: bytes, inside: int, name: bytes, value: bytes) -> _Edit | None:
    """Another value for an element, from behind the name in its start tag; None if it has children."""
    closing = b"</%b>" % name
    if data[inside] == _END:
        inside += 1
    else:
        rest = _REST_OF_TAG.match(data, inside)
        if rest is None:
            return None
        inside = rest.end()
        if rest["empty"]:
            return inside - 2, inside, b"".join((b">", value, closing)) if value else b"/>"
    end = data.find(b"<", inside)
    if not data.startswith(closing, end):
        return None
    if value:
        return inside, end, value
    return len(data[: inside - 1].rstrip()), end + len(closing), b"/>"


def _attribute(data: bytes, inside: int, name: bytes, quoted: bytes) -> _Edit | None:
    """An attribute of an element, in the place of the one that is there, or behind all others."""
    rest = _REST_OF_TAG.match(data, inside)
    if rest is None or b":" in name or b"}" in name:
        return None
    for found in _ATTRIBUTE.finditer(data, inside, rest.end()):  # one by one: the name may stand in a value, too
        if found["name"] == name:
            return *found.span("value"), quoted
    end = rest.end() - (2 if rest["empty"] else 1)
    return end, end, b" %b=%b" % (name, quoted)


def written_by_libxml(document: Document, node: etree._Element, plan: Sequence[Change] = ()) -> str:
    """A node of a document as libxml2 writes it, with some changes and without text that the domain does not show."""
    is_tidy = not len(node) or document.is_tidy
    if is_tidy and not plan:
        return etree.tostring(node, encoding="unicode", with_tail=False)
    PARSERS.keep_names_apart()
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
