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
from parsers.markup.text import check, text_of

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

    __slots__ = ("_flavour", "_renderer", "_texts")

    def __init__(self, flavour: Flavour, ccsid: int) -> None:
        self._flavour = flavour
        self._renderer = Renderer(flavour, ccsid, self._sourced)
        self._texts: list[str] = []

    def body(self, body: Element, encoding: str) -> str:
        """The document; `encoding` is what its declaration is to say, or empty to leave that as it is."""
        held = written(body)
        part = held.source
        document = part.content if isinstance(part, Part) else None
        if isinstance(document, Document) and document.flavour.compact == self._flavour.compact:
            changes = dict(changed_children(held)) if held.state & EDITED else {}
            untouched = not held.state & RESTRUCTURED and not any(True for _ in appended_children(held))
            if untouched and changes.keys() <= {document.root}:
                return self._document(document, changes.get(document.root), encoding)
        out: list[str] = []
        self._renderer.children(held, NO_SCOPE, out)
        return "".join(out)

    def _document(self, document: Document, root: Element | None, encoding: str) -> str:
        if root is not None and root.state & REPLACED:
            text = self._rendered([root], NO_SCOPE)
        else:
            text = self._patched(document.root, None if root is None else written(root), document)
        return f"{self._head(document, encoding)}{text}{_after(document)}"

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

    def _patched(self, node: etree._Element, held: Element | None, document: Document) -> str:
        """A node as libxml2 writes it, with the changes of the element that holds it."""
        document.untangle()
        if held is None or not held.state & EDITED:
            return etree.tostring(node, encoding="unicode", with_tail=False)
        if not self._is_patchable(held, document):
            out: list[str] = []
            self._renderer.element(held, document.flavour, scope_of(node.getparent(), document), out)
            return "".join(out)
        plan: list[_Change] = []
        self._plan(held, node, document, plan)
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
        if held.state & EDITED and not self._is_patchable(held, document):
            return None
        text = self._patched(node, held, document)
        tag, name = node.tag, element.name
        if name == tag:
            return text
        end = len(tag) if text.endswith(f"</{tag}>") else 0
        check(name)
        return f"<{name}{text[1 + len(tag) : -end - 1]}{name}>" if end else f"<{name}{text[1 + len(tag) :]}"

    def _is_patchable(self, held: Element, document: Document) -> bool:
        if held.source is not document or held.state & RESTRUCTURED:
            return False
        if held.state & VALUED and (document.cdata or (document.flavour.compact and len(held.handle))):
            return False
        kind_of = document.flavour.kind
        return all(
            place.__class__ is etree._Element or (place.__class__ is tuple and place[1] in _FIELDS)
            for place, _ in changed_children(held)
        ) and all(kind_of(child.type) is not Kind.NAMESPACE for child in appended_children(held))

    def _plan(self, held: Element, node: etree._Element, document: Document, plan: list[_Change]) -> None:
        if held.state & VALUED and not _leads(held):
            plan.append(_Change("text", node, "", self._text(held)))
        for place, child in changed_children(held):
            if place.__class__ is tuple:
                plan.append(_Change(place[1].value, place[0], place[2], self._text(child)))
                continue
            inner = written(child)
            if child.state & REPLACED or (inner.state & EDITED and not self._is_patchable(inner, document)):
                plan.append(_Change("swap", place, "", self._placeholder([child], scope_of(node, document))))
            else:
                self._plan(inner, place, document, plan)
        content = []
        for child in appended_children(held):
            if document.flavour.kind(child.type) is Kind.ATTRIBUTE:
                key = f"{{{child.namespace}}}{child.name}" if child.namespace else child.name
                plan.append(_Change("attribute", node, key, self._text(child) or ""))
            else:
                content.append(child)
        if content:
            plan.append(_Change("append", node, "", self._placeholder(content, scope_of(node, document))))

    def _text(self, element: Element) -> str | None:
        text = text_of(element.value, compact=self._flavour.compact)
        check(text)
        return text or None

    def _rendered(self, elements: list[Element], scope: Scope) -> str:
        out: list[str] = []
        for element in elements:
            self._renderer.render(element, scope, out)
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
    nodes = [etree.tostring(node, encoding="unicode", with_tail=False) for node in document.root.itersiblings()]
    return "".join(nodes) or document.trailing
