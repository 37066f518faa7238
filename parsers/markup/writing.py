"""Writing: a tree under an XML domain to text; what was read is patched and written by libxml2, what is new rendered.

There are three ways: into the bytes of a document or into a copy of its lxml tree (`document_changes`), and what
stands elsewhere than it was read, or is new, element by element (`rendering`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from lxml import etree

from engine.tree.element import Element
from engine.tree.sharing import appended_children, changed_children, only_change, standing_children, written
from engine.tree.source import Value, leading
from engine.tree.states import EDITED, EXPANDED, REPLACED, RESTRUCTURED, SHARES, VALUED
from parsers.markup.document import Document
from parsers.markup.document_changes import Change, is_short, keeps_form, spliced, with_value, written_by_libxml
from parsers.markup.element_types import Flavour, Kind
from parsers.markup.lxml_nodes import has_sections, is_settable, qualified
from parsers.markup.namespace_scope import rescoped, unscoped
from parsers.markup.prolog import before, behind, framed
from parsers.markup.rendering import NO_SCOPE, Renderer, Scope, kind_of, unwritable
from parsers.markup.text import Unwritable, check, escape, name_of, text_of

_FIELDS: Final = frozenset({Kind.ATTRIBUTE, Kind.TEXT, Kind.TAIL})
_MOST_IN_VAIN: Final = 1 << 18
_MAX_NESTING: Final = 8  # of what is rendered in what is patched in what is rendered


# What an element changes in its own node, and which elements below it have changes of their own.
_Patch: TypeAlias = tuple[list[Change], list[tuple[Any, Element]]]


def with_one_value(document: Document, held: Element) -> bytes | None:
    """A document in its own encoding with one value changed, as most programs leave it; None if more is to be done."""
    change = only_change(held)
    if change is None:
        return None
    node, element = change
    if node.__class__ is not etree._Element or element.source is not document or len(node):
        return None  # a node that holds others has no value of its own in all domains
    value = own_value(element, element.value, document.flavour)
    data, encoding = document.own_data(), document.encoding
    if data is not None:
        data = with_value(data, document.root, node, value, encoding, own=document.is_own)
    if data is not None:
        if document.bounded or not document.flavour.compact:
            return data
        return before(document).encode(encoding) + document.own_root(data) + behind(document).encode(encoding)
    if document.cdata and has_sections(node):
        return None
    plan: list[Change] = [("text", node, "", value or None)]
    text = _spliced(document, plan) or written_by_libxml(document, document.root, plan)
    return framed(document, text).encode(encoding, "xmlcharrefreplace")


class Writer:
    """Writes one body."""

    __slots__ = ("_ccsid", "_encoding", "_flavour", "_in_vain", "_nesting")

    def __init__(self, flavour: Flavour, ccsid: int, encoding: str = "") -> None:
        self._flavour = flavour
        self._ccsid = ccsid
        self._encoding = encoding
        self._nesting = 0
        self._in_vain = 0  # characters that libxml2 wrote of elements that had to be rendered all the same

    def body(self, held: Element, document: Document | None) -> str:
        """The document that an element holds; where most of that is as it was read, also as what."""
        if document is not None:
            changed = changed_children(held)
            if not held.state & RESTRUCTURED and (held.first_linked is None or not appended_children(held)):
                if not changed:
                    return self._document(document, None)
                if len(changed) == 1 and changed[0][0] is document.root:
                    return self._document(document, changed[0][1])
        if not self._flavour.compact:
            self._check_body(held)
        return self._rendered(held, NO_SCOPE)

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
        return framed(document, text, self._encoding)

    def _patched(self, node: etree._Element, held: Element | None, document: Document) -> str | None:
        """A node as libxml2 writes it, with the changes of the element that holds it, if they can be patched in."""
        if held is None or not held.state & EDITED:
            return written_by_libxml(document, node)
        plan = self._plan(held, node, document)
        if plan is None:
            return None
        if node is document.root and (text := _spliced(document, plan)) is not None:
            return text
        return written_by_libxml(document, node, plan)

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
        if document.spaced and node.__class__ is etree._Element and not held.state & EDITED:
            return self._scoped(element, node, document, scope)
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

    def _scoped(self, element: Element, node: etree._Element, document: Document, scope: Scope) -> str | None:
        """The text of a clean element of a document with namespaces; None where it has to be rendered."""
        spaces = document.flavour.spaces
        if document.declared or self._in_vain > _MOST_IN_VAIN or not _is_called_so(element, node, spaces=spaces):
            return None
        text = written_by_libxml(document, node)
        found = rescoped(text, node, scope, marked=document.marked) if spaces else unscoped(text, node)
        if found is None:
            self._in_vain += len(text)
        return found

    def _plan(self, held: Element, node: etree._Element, document: Document) -> list[Change] | None:
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
                plan.append(("instead", place, "", self._rendered([child], _scope_of(place.getparent(), document))))
            else:
                plan += patch[0]
                pending += patch[1]
        return plan

    def _patch(self, held: Element, node: etree._Element, document: Document) -> _Patch | None:
        state = held.state
        if held.source is not document:
            return None
        if state & RESTRUCTURED:
            return self._rearranged(held, node, document)
        changes: list[Change] = []
        below: list[tuple[etree._Element, Element]] = []
        if state & VALUED and not (state & EXPANDED and held.raw_value is None and _leads(held, document)):
            if (document.cdata and has_sections(node)) or (document.flavour.compact and len(node)):
                return None
            changes.append(("text", node, "", own_value(held, held.raw_value, self._flavour) or None))
        for place, child in changed_children(held):
            if place.__class__ is etree._Element:
                below.append((place, child))
            elif child.state & REPLACED or not self._change_field(place, child, document, changes):
                return None
        if held.last_linked is not None and not self._add(appended_children(held), node, node, document, changes):
            return None
        return changes, below

    def _rearranged(self, held: Element, node: etree._Element, document: Document) -> _Patch | None:
        """As _patch, where children were inserted, moved, renamed or taken away: the others stay where they are."""
        changes: list[Change] = []
        below: list[tuple[etree._Element, Element]] = []
        staying: set[Any] = set()
        for new, place, child in _grouped(held):
            if new and not (isinstance(place, etree._Element) and self._add(new, node, place, document, changes)):
                return None
            if child is None:
                break
            staying.add(place)
            if place.__class__ is etree._Element and child.state & EDITED:
                below.append((place, child))
            elif child.state & EDITED and not self._change_field(place, child, document, changes):
                return None
        gone = [place for place in document.children(node) if place not in staying]
        if held.state & VALUED or not all(self._take_away(place, document, changes) for place in gone):
            return None
        return (changes, below) if held.first_linked is not None else None

    def _change_field(self, place: Any, child: Element, document: Document, changes: list[Change]) -> bool:
        """Add the change of what lxml keeps in a field of a node; False where no patch can do it."""
        if place.__class__ is not tuple or place[1] not in _FIELDS:
            return False
        if place[1] is Kind.ATTRIBUTE and not _settable(place[2], place[0], document):
            return False
        changes.append((place[1].value, place[0], place[2], own_value(child, child.value, self._flavour)))
        return True

    def _take_away(self, place: Any, document: Document, changes: list[Change]) -> bool:
        """Add the changes after which nothing stands in a place; False where no patch can do it."""
        if place.__class__ is etree._Element:
            changes.append(("instead", place, "", ""))
        elif place.__class__ is not tuple or place[1] not in _FIELDS:
            return False
        elif place[1] is not Kind.ATTRIBUTE:
            changes.append((place[1].value, place[0], "", None))
        elif document.declared or any(key[0] == "{" or not is_settable(key) for key in place[0].attrib):
            return False
        else:
            changes.append(("attribute", place[0], place[2], None))
        return True

    def _add(
        self,
        children: list[Element],
        node: etree._Element,
        where: etree._Element,
        document: Document,
        changes: list[Change],
    ) -> bool:
        """Add the changes that bring new children into a node, at its end or before another that stands in it.

        False where no patch can do it.
        """
        content = []
        for child in children:
            kind = document.flavour.kind(child.type)
            if kind is Kind.ATTRIBUTE:
                name = child.name
                try:
                    name_of(name)
                except Unwritable as error:
                    raise unwritable(child, str(error)) from error
                if child.namespace or not name.isascii() or ":" in name or name == "xmlns" or name in node.attrib:
                    return False
                if any(what == "attribute" and key == name for what, _, key, _ in changes):
                    return False
                changes.append(("attribute", node, name, own_value(child, child.value, self._flavour)))
            elif kind is Kind.NAMESPACE:
                return False
            else:
                content.append(child)
        if content:
            what = "append" if where is node else "before"
            changes.append((what, where, "", self._rendered(content, _scope_of(node, document))))
        return True

    def _rendered(self, elements: Iterable[Element], scope: Scope) -> str:
        out: list[str] = []
        self._nesting += 1
        Renderer(self._flavour, self._ccsid, self._sourced, self._encoding).render(elements, scope, out)
        self._nesting -= 1
        return "".join(out)


def _is_called_so(element: Element, node: etree._Element, *, spaces: bool) -> bool:
    """Returns whether an element still has the name of the node that it was read from."""
    name, namespace = element.name, element.namespace
    if not spaces:
        return not namespace and name == qualified(node)
    return bool(node.tag == (f"{{{namespace}}}{name}" if namespace else name))


def _grouped(held: Element) -> Iterator[tuple[list[Element], Any, Element | None]]:
    """The children that still stand in a place of a node, each with those that are new in front of it.

    New ones at the end come with the node itself.
    """
    new: list[Element] = []
    for place, child in standing_children(held):
        if place is None:
            new.append(child)
        else:
            yield new, place, child
            new = []
    yield new, held.handle, None


def _spliced(document: Document, plan: list[Change]) -> str | None:
    """The root element's text with a few changes in it; None where they are many, or their places are uncertain.

    Where all that changes are values and what is appended, the rest stays as it came, else it is as libxml2 writes it.
    """
    if keeps_form(plan) and (came := document.own_data()) is not None:
        data = spliced(came, document.root, plan, document.encoding, own=document.is_own)
        return None if data is None else document.own_root(data).decode(document.encoding)
    if document.marked or not is_short(plan) or not document.is_tidy:
        return None
    data = spliced(written_by_libxml(document, document.root).encode(), document.root, plan, own=document.is_own)
    return None if data is None else data.decode()


def own_value(element: Element, value: Value, flavour: Flavour) -> str:
    """The text of a value that an element is to have, if XML can hold it."""
    if isinstance(value, str) and value.isprintable():
        return value
    text = text_of(value, compact=flavour.compact)
    try:
        check(text)
    except Unwritable as error:
        raise unwritable(element, str(error)) from error
    return text


def _leads(held: Element, document: Document) -> bool:
    """Returns True where an element has the value of a text that was read, and none of its own."""
    text = leading(held)
    return text is not None and text.source is document and not text.state & REPLACED


def _settable(key: str, node: etree._Element, document: Document) -> bool:
    """Returns True where lxml can set an attribute without loss of references or of a choice of prefix."""
    if document.declared or not is_settable(key):
        return False
    uri = key[1:].rpartition("}")[0] if key[0] == "{" else ""
    return not uri or sum(bound == uri for bound in node.nsmap.values()) < 2


def _scope_of(node: etree._Element | None, document: Document) -> Scope:
    if node is None or not document.spaced or not document.flavour.spaces:
        return NO_SCOPE
    return {**NO_SCOPE, **{prefix or "": uri or "" for prefix, uri in node.nsmap.items()}}
