"""Writing: a tree under an XML domain to text; what was read is patched and written by libxml2, what is new rendered.

A change is planned on the clean document, applied, and undone after the document is written: other trees share it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from lxml import etree

from engine.received import Part
from engine.sharing import appended_children, changed_children, only_change, written
from engine.source import Value, leading
from engine.state import EDITED, EXPANDED, REPLACED, RESTRUCTURED, SHARES, VALUED
from engine.tree import Element
from parsers.markup.document import Document
from parsers.markup.flavour import Flavour
from parsers.markup.kinds import Kind
from parsers.markup.rendering import NO_SCOPE, Renderer, Scope, kind_of, unwritable
from parsers.markup.splicing import extended, spliced
from parsers.markup.text import Unwritable, check, escape, name_of, text_of

_TOKEN: Final = f"penstock-{secrets.token_hex(8)}"  # no message can hold what was chosen after it was made
_PLACEHOLDER: Final = re.compile(
    rf"<\?{_TOKEN} (?P<number>\d+)\?>|<\?{_TOKEN} from (?P<instead>\d+)\?>.*?<\?{_TOKEN} to (?P=instead)\?></[^>]*>",
    re.DOTALL,
)
_FIELDS: Final = frozenset({Kind.ATTRIBUTE, Kind.TEXT, Kind.TAIL})
_MAX_NESTING: Final = 8  # of what is rendered in what is patched in what is rendered


# One change of an lxml tree: what is changed, of which node, under which key, and to what. A plain tuple: one is
# made for every field that a message changes.
_Change: TypeAlias = tuple[str, Any, str, Any]

# What an element changes in its own node, and which elements below it have changes of their own.
_Patch: TypeAlias = tuple[list[_Change], list[tuple[Any, Element]]]


def _apply(change: _Change) -> _Change:
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


class Writer:
    """Writes one body; it keeps the rendered texts that stand behind placeholders in what libxml2 writes."""

    __slots__ = ("_ccsid", "_encoding", "_flavour", "_nesting", "_texts")

    def __init__(self, flavour: Flavour, ccsid: int) -> None:
        self._flavour = flavour
        self._ccsid = ccsid
        self._encoding = ""
        self._nesting = 0
        self._texts: list[str] = []

    def body(self, held: Element, encoding: str) -> str:
        """The document that an element holds; `encoding` is what its declaration is to say, empty to leave that."""
        self._encoding = encoding
        part = held.source
        document = part.content if part.__class__ is Part else None
        if document.__class__ is Document and document.flavour.compact == self._flavour.compact:
            if (text := self._one_field(document, held)) is not None:
                return text if document.bounded else self._framed(document, text)
            changed = changed_children(held)
            if not held.state & RESTRUCTURED and (held._first is None or not appended_children(held)):
                if not changed:
                    return self._document(document, None)
                if len(changed) == 1 and changed[0][0] is document.root:
                    return self._document(document, changed[0][1])
        if not self._flavour.compact:
            self._check_body(held)
        return self._rendered(held, NO_SCOPE)

    def _one_field(self, document: Document, held: Element) -> str | None:
        """The root element with one field changed, where that is all that has changed in the document."""
        change = only_change(held)
        if change is None or change[0].__class__ is not etree._Element:
            return None
        node, element = change
        if element.source is not document or len(node) or kind_of(element, document.flavour) is not Kind.ELEMENT:
            return None
        own, value = document.own_text(), self._text(element, element._value) or None
        text = None if own is None else spliced(own, document.root, [(node, value)])
        if text is None and not document.cdata:
            document.untangle()
            was = node.text
            try:
                node.text = value
                text = etree.tostring(document.root, encoding="unicode", with_tail=False)
            finally:
                node.text = was
        return text

    def _check_body(self, body: Element) -> None:
        kinds = [self._flavour.kind(child.type) for child in body]
        elements = kinds.count(Kind.ELEMENT)
        if kinds and elements != 1:
            raise unwritable(
                body, f"a document has one body element, and here are {elements}: put what there is below one"
            )

    def _document(self, document: Document, root: Element | None) -> str:
        text = None
        if root is not None and kind_of(root, self._flavour) is not Kind.ELEMENT:
            raise unwritable(root, "a document has one body element, and this is none: copy it into a field below one")
        if root is None or not root.state & REPLACED:
            text = self._patched(document.root, root, document)
        if text is None:
            assert root is not None
            text = self._rendered([root], NO_SCOPE)
        return text if document.bounded else self._framed(document, text)

    def _framed(self, document: Document, text: str) -> str:
        """The root element's text with what stands before and behind it."""
        return f"{self._head(document)}{text}{_after(document)}"

    def _head(self, document: Document) -> str:
        prolog, encoding = document.prolog, self._encoding
        if not document.flavour.compact:
            return prolog.announcing(encoding) if encoding else prolog.text
        before = prolog.compact_announcing(encoding) if encoding else prolog.compact
        if document.alone:
            return before
        nodes = reversed(list(document.root.itersiblings(preceding=True)))
        return before + "".join([etree.tostring(node, encoding="unicode", with_tail=False) for node in nodes])

    def _patched(self, node: etree._Element, held: Element | None, document: Document) -> str | None:
        """A node as libxml2 writes it, with the changes of the element that holds it, if they can be patched in."""
        if held is None or not held.state & EDITED:
            document.untangle()
            return etree.tostring(node, encoding="unicode", with_tail=False)
        plan = self._plan(held, node, document)
        if plan is None:
            return None
        if node is document.root and (text := _spliced(document, plan)) is not None:
            return text
        document.untangle()
        undo: list[_Change] = []
        try:
            for change in plan:
                undo.append(_apply(self._marked(change)))  # noqa: PERF401  what was applied before a failure is undone
            text = etree.tostring(node, encoding="unicode", with_tail=False)
        finally:
            for change in reversed(undo):
                _apply(change)
        return self._filled(text) if self._texts else text

    def _sourced(self, element: Element, document: Document, scope: Scope) -> str | None:
        """The text of an element that stands elsewhere than in its document, if libxml2 can write it."""
        node = element.handle
        if (
            not element.state & (EDITED | SHARES)
            and node.__class__ is etree._Element
            and document.plain
            and not element.namespace
            and not len(node)
            and len(scope) == 1
        ):
            own, called = node.text, name_of(element.name)
            return f"<{called}>{escape(own)}</{called}>" if own else f"<{called}/>"
        held = written(element)
        node = held.handle
        if node.__class__ is not etree._Element or document.spaced or element.namespace or scope.get(""):
            return None
        if held.state & EDITED and self._nesting >= _MAX_NESTING:
            return None
        if not held.state & EDITED and not document.cdata and len(node) == 0 and not node.attrib:
            own, called = node.text, name_of(element.name)
            return f"<{called}>{escape(own)}</{called}>" if own else f"<{called}/>"
        text = self._patched(node, held, document)
        tag, name = node.tag, element.name
        if text is None or name == tag:
            return text
        name_of(name)
        if text.endswith(f"</{tag}>"):
            return f"<{name}{text[1 + len(tag) : -1 - len(tag)]}{name}>"
        return f"<{name}{text[1 + len(tag) :]}"

    def _plan(self, held: Element, node: etree._Element, document: Document) -> list[_Change] | None:
        """The changes that bring a node to what its element holds; None where no patch can do it."""
        patch = self._patch(held, node, document)
        if patch is None:
            return None
        plan, pending = patch
        while pending:
            place, child = pending.pop()
            if kind_of(child, document.flavour) is not Kind.ELEMENT:
                return None  # what stands here now is no element: the parent is written anew
            patch = None if child.state & REPLACED else self._patch(written(child), place, document)
            if patch is None:
                plan += self._instead(child, place, document)
            else:
                plan += patch[0]
                pending += patch[1]
        return plan

    def _patch(self, held: Element, node: etree._Element, document: Document) -> _Patch | None:
        state = held.state
        if state & RESTRUCTURED or held.source is not document:
            return None
        changes: list[_Change] = []
        below: list[tuple[etree._Element, Element]] = []
        if state & VALUED and not (state & EXPANDED and held._value is None and _leads(held, document)):
            if document.cdata or (document.flavour.compact and len(node)):
                return None
            changes.append(("text", node, "", self._text(held, held._value) or None))
        for place, child in changed_children(held):
            if place.__class__ is etree._Element:
                below.append((place, child))
            elif place.__class__ is tuple and place[1] in _FIELDS and not child.state & REPLACED:
                if place[1] is Kind.ATTRIBUTE and not _settable(place[2], node, document):
                    return None
                changes.append((place[1].value, place[0], place[2], self._text(child, child.value)))
            else:
                return None
        if held._last is not None and not self._append(held, node, document, changes):
            return None
        return changes, below

    def _append(self, held: Element, node: etree._Element, document: Document, changes: list[_Change]) -> bool:
        """Add the changes that append what came after the children of the source; False where no patch can do it."""
        content = []
        for child in appended_children(held):
            kind = document.flavour.kind(child.type)
            if kind is Kind.ATTRIBUTE:
                name = child.name
                if child.namespace or not name.isascii() or ":" in name or name == "xmlns" or name in node.attrib:
                    return False
                if any(what == "attribute" and key == name for what, _, key, _ in changes):
                    return False
                try:
                    name_of(name)
                except Unwritable as error:
                    raise unwritable(child, str(error)) from error
                changes.append(("attribute", node, name, self._text(child, child.value)))
            elif kind is Kind.NAMESPACE:
                return False
            else:
                content.append(child)
        if content:
            changes.append(("append", node, "", self._rendered(content, _scope_of(node, document))))
        return True

    def _text(self, element: Element, value: Value) -> str:
        if value.__class__ is str and value.isprintable():
            return value
        text = text_of(value, compact=self._flavour.compact)
        try:
            check(text)
        except Unwritable as error:
            raise unwritable(element, str(error)) from error
        return text

    def _rendered(self, elements: Iterable[Element], scope: Scope) -> str:
        out: list[str] = []
        self._nesting += 1
        Renderer(self._flavour, self._ccsid, self._sourced, self._encoding).render(elements, scope, out)
        self._nesting -= 1
        return "".join(out)

    def _marked(self, change: _Change) -> _Change:
        """A change that lxml can make: a mark stands for text that is to be appended."""
        what, node, key, new = change
        if what != "append" or new.__class__ is not str:
            return change
        self._texts.append(new)
        return what, node, key, etree.ProcessingInstruction(_TOKEN, str(len(self._texts) - 1))

    def _instead(self, element: Element, node: etree._Element, document: Document) -> tuple[_Change, _Change]:
        """Marks around a node, which itself must not move: lxml would tidy up its namespaces."""
        self._texts.append(self._rendered([element], _scope_of(node.getparent(), document)))
        number = len(self._texts) - 1
        start, end = (etree.ProcessingInstruction(_TOKEN, f"{word} {number}") for word in ("from", "to"))
        return ("before", node, "", start), ("append", node, "", end)

    def _filled(self, text: str) -> str:
        return _PLACEHOLDER.sub(lambda found: self._texts[int(found["number"] or found["instead"])], text)


def _spliced(document: Document, plan: list[_Change]) -> str | None:
    """The root element's own text with the changes in it: values of a few fields, what is appended to one element."""
    fields = []
    appended: list[tuple[Any, str]] = []
    for what, node, _, new in plan:
        if what == "text":
            fields.append((node, new))
        elif what == "append" and new.__class__ is str and not appended:
            appended.append((node, new))
        else:
            return None
    text = document.own_text()
    if text is not None:
        text = spliced(text, document.root, fields)
    for node, addition in appended:
        text = None if text is None else extended(text, document.root, node, addition)
    return text


def _leads(held: Element, document: Document) -> bool:
    """Whether the value of an element is that of a text which was read, and not its own; one that came later is not."""
    text = leading(held)
    return text is not None and text.source is document and not text.state & REPLACED


def _settable(key: str, node: etree._Element, document: Document) -> bool:
    """Whether lxml can set an attribute and set it back: not where references or a choice of prefix would be lost."""
    if document.declared:
        return False
    uri = key[1:].rpartition("}")[0] if key[0] == "{" else ""
    return not uri or sum(bound == uri for bound in node.nsmap.values()) < 2


def _scope_of(node: etree._Element | None, document: Document) -> Scope:
    """The prefixes in scope in a node."""
    if node is None or not document.spaced or not document.flavour.spaces:
        return NO_SCOPE
    return {**NO_SCOPE, **{prefix or "": uri or "" for prefix, uri in node.nsmap.items()}}


def _after(document: Document) -> str:
    if document.root.getnext() is None:
        return document.trailing
    nodes = [etree.tostring(node, encoding="unicode", with_tail=False) for node in document.root.itersiblings()]
    return "".join(nodes)
