"""Writing: a tree under an XML domain to text; what was read is patched and written by libxml2, what is new rendered.

A change is planned on the clean document, applied, and undone after the document is written: other trees share it.
"""

from __future__ import annotations

import re
import secrets
from typing import Any, Final, NamedTuple

from lxml import etree

from engine.received import Part
from engine.sharing import appended_children, changed_children, written
from engine.source import KIND, VALUE
from engine.state import EDITED, EXPANDED, REPLACED, RESTRUCTURED, VALUED
from engine.tree import Element
from parsers.markup.document import Document
from parsers.markup.flavour import Flavour
from parsers.markup.kinds import Kind
from parsers.markup.rendering import NO_SCOPE, Renderer, Scope, declaration_text
from parsers.markup.text import check, name_of, text_of

_TOKEN: Final = f"penstock-{secrets.token_hex(8)}"  # no message can hold what was chosen after it was made
_PLACEHOLDER: Final = re.compile(rf"<\?{_TOKEN} (\d+)\?>")
_FIELDS: Final = frozenset({Kind.ATTRIBUTE, Kind.TEXT, Kind.TAIL})


class _Change(NamedTuple):
    """One change of an lxml tree; applying it answers with the change that undoes it."""

    what: str
    node: Any
    key: str
    new: Any

    def apply(self) -> _Change:
        what, node, key, new = self
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
                    node.set(key, new)
            case "append":
                node.append(new)
                return _Change("remove", node, "", new)
            case "remove":
                node.remove(new)
                return _Change("append", node, "", new)
            case _:
                new.tail = node.tail
                node.getparent().replace(node, new)
                return _Change("swap", new, "", node)
        return _Change(what, node, key, old)


class Writer:
    """Writes one body; it keeps the rendered texts that stand behind placeholders in what libxml2 writes."""

    __slots__ = ("_ccsid", "_flavour", "_texts")

    def __init__(self, flavour: Flavour, ccsid: int) -> None:
        self._flavour = flavour
        self._ccsid = ccsid
        self._texts: list[str] = []

    def _renderer(self) -> Renderer:
        return Renderer(self._flavour, self._ccsid, self._sourced)

    def body(self, body: Element, encoding: str) -> str:
        """The document; `encoding` is what its declaration is to say, or empty to leave that as it is."""
        held = written(body)
        part = held.source
        document = part.content if isinstance(part, Part) else None
        if isinstance(document, Document) and document.flavour.compact == self._flavour.compact:
            changed = changed_children(held)
            if not held.state & RESTRUCTURED and not appended_children(held):
                if not changed:
                    return self._document(document, None, encoding)
                if len(changed) == 1 and changed[0][0] is document.root:
                    return self._document(document, changed[0][1], encoding)
        out: list[str] = []
        self._renderer().children(held, NO_SCOPE, out)
        return "".join(out)

    def _document(self, document: Document, root: Element | None, encoding: str) -> str:
        text = None
        if root is None or not root.state & REPLACED:
            text = self._patched(document.root, root, document)
        if text is None:
            assert root is not None
            text = self._rendered([root], NO_SCOPE)
        before, after = self._head(document, encoding), _after(document)
        return f"{before}{text}{after}" if before or after else text

    def _head(self, document: Document, encoding: str) -> str:
        prolog = document.prolog
        if not document.flavour.compact:
            return prolog.announcing(encoding) if encoding else prolog.text
        if not prolog.items:
            return ""
        before = [etree.tostring(node, encoding="unicode", with_tail=False) for node in _preceding(document)]
        declaration = prolog.declaration
        if declaration is None:
            return "".join(before)
        fields = {part.name.lower(): part.value or "" for part in declaration.children}
        if encoding and "encoding" in fields:
            fields["encoding"] = encoding
        return "".join([declaration_text(fields), *before])

    def _patched(self, node: etree._Element, held: Element | None, document: Document) -> str | None:
        """A node as libxml2 writes it, with the changes of the element that holds it, if they can be patched in."""
        document.untangle()
        if held is None or not held.state & EDITED:
            return etree.tostring(node, encoding="unicode", with_tail=False)
        plan: list[_Change] = []
        if not self._plan(held, node, document, plan):
            return None
        undo: list[_Change] = []
        try:
            for change in plan:
                undo.append(change.apply())  # noqa: PERF401  what was applied before a failure is undone
            text = etree.tostring(node, encoding="unicode", with_tail=False)
        finally:
            for change in reversed(undo):
                change.apply()
        return self._filled(text) if self._texts else text

    def _sourced(self, element: Element, document: Document) -> str | None:
        """The text of an element that stands elsewhere than in its document, if libxml2 can write it."""
        held = written(element)
        node = held.handle
        if node.__class__ is not etree._Element or document.spaced or element.namespace:
            return None
        text = self._patched(node, held, document)
        tag, name = node.tag, element.name
        if text is None or name == tag:
            return text
        name_of(name)
        if text.endswith(f"</{tag}>"):
            return f"<{name}{text[1 + len(tag) : -1 - len(tag)]}{name}>"
        return f"<{name}{text[1 + len(tag) :]}"

    def _plan(self, held: Element, node: etree._Element, document: Document, plan: list[_Change]) -> bool:
        """Add the changes that bring a node to what its element holds; False where no patch can do it."""
        state = held.state
        if state & RESTRUCTURED or held.source is not document:
            return False
        if state & VALUED and not _leads(held):
            if document.cdata or (document.flavour.compact and len(node)):
                return False
            plan.append(_Change("text", node, "", self._text(held)))
        for place, child in changed_children(held):
            if place.__class__ is tuple:
                if place[1] not in _FIELDS:
                    return False
                plan.append(_Change(place[1].value, place[0], place[2], self._text(child)))
            elif place.__class__ is not etree._Element:
                return False
            elif not self._plan_child(child, place, document, plan):
                plan.append(_Change("swap", place, "", self._placeholder([child], scope_of(node, document))))
        return held._last is None or self._plan_appended(held, node, document, plan)

    def _plan_child(self, child: Element, node: etree._Element, document: Document, plan: list[_Change]) -> bool:
        if child.state & REPLACED:
            return False
        length = len(plan)
        if self._plan(child, node, document, plan):
            return True
        del plan[length:]
        return False

    def _plan_appended(self, held: Element, node: etree._Element, document: Document, plan: list[_Change]) -> bool:
        content = []
        for child in appended_children(held):
            kind = document.flavour.kind(child.type)
            if kind is Kind.NAMESPACE:
                return False
            if kind is Kind.ATTRIBUTE:
                key = f"{{{child.namespace}}}{child.name}" if child.namespace else name_of(child.name)
                plan.append(_Change("attribute", node, key, self._text(child) or ""))
            else:
                content.append(child)
        if content:
            plan.append(_Change("append", node, "", self._placeholder(content, scope_of(node, document))))
        return True

    def _text(self, element: Element) -> str | None:
        text = text_of(element.value, compact=self._flavour.compact)
        check(text)
        return text or None

    def _rendered(self, elements: list[Element], scope: Scope) -> str:
        out: list[str] = []
        renderer = self._renderer()
        for element in elements:
            renderer.render(element, scope, out)
        return "".join(out)

    def _placeholder(self, elements: list[Element], scope: Scope) -> etree._ProcessingInstruction:
        text = self._rendered(elements, scope)
        self._texts.append(text)
        return etree.ProcessingInstruction(_TOKEN, str(len(self._texts) - 1))

    def _filled(self, text: str) -> str:
        return _PLACEHOLDER.sub(lambda found: self._texts[int(found[1])], text)


def scope_of(node: etree._Element | None, document: Document) -> Scope:
    """The prefixes in scope in a node."""
    if node is None or not document.spaced or not document.flavour.spaces:
        return NO_SCOPE
    return {**NO_SCOPE, **{prefix or "": uri for prefix, uri in node.nsmap.items()}}


def _leads(held: Element) -> bool:
    """Whether the value stands in a child of its own, which is patched itself."""
    first = held.first_child if held.state & EXPANDED else None
    return first is not None and first.type & KIND == VALUE


def _preceding(document: Document) -> list[etree._Element]:
    return list(reversed(list(document.root.itersiblings(preceding=True))))


def _after(document: Document) -> str:
    if document.root.getnext() is None:
        return document.trailing
    nodes = [etree.tostring(node, encoding="unicode", with_tail=False) for node in document.root.itersiblings()]
    return "".join(nodes)
