"""Rendering: elements that no document holds, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from lxml import etree

from engine.budget import pay
from engine.errors import ConversionException, ParserException
from engine.tree.element import Element
from engine.tree.sharing import written
from engine.tree.source import NAME, UNREAD, leading
from engine.tree.states import EDITED, EXPANDED, SHARES
from parsers.charsets.ccsid import decode
from parsers.markup import element_types
from parsers.markup.doctype import render_doctype, render_entities
from parsers.markup.document import Document
from parsers.markup.element_types import Flavour, Kind
from parsers.markup.lxml_nodes import XML_URI, XMLNS_URI, prefixed
from parsers.markup.namespace_scope import unused_prefix
from parsers.markup.prolog import declaration_text
from parsers.markup.text import (
    Unwritable,
    check,
    comment,
    escape,
    formed,
    instruction,
    name_of,
    quote,
    section,
    text_of,
)

MAX_DEPTH: Final = 512

# The prefixes in scope, each with its namespace; the default namespace's prefix is empty.
Scope: TypeAlias = dict[str, str]
NO_SCOPE: Final[Scope] = {"xml": XML_URI}
_OWN: Final = SHARES | EDITED
_BLOCK: Final = 256  # elements that are paid for together
_REFERENCE: Final = element_types.ENTITY_REFERENCE_START
_ITEMS: Final = (Kind.TEXT, Kind.CDATA)
_BESIDE: Final = (Kind.ATTRIBUTE, Kind.NAMESPACE, Kind.PART)  # few, and found faster than by a hash


# An element whose start tag is written: what follows it, its end tag, the scope around it. And a start tag that was
# just written: the first child behind it, its end tag, the scope within. Plain tuples: each element makes them.
_Level: TypeAlias = tuple[Element | None, str, Scope]
_Open: TypeAlias = tuple[Element, str, Scope]


class Renderer:
    """Renders elements in one domain; `sourced` answers with the text of one that a document holds, or None.

    `encoding` is what a declaration that nobody has changed is to say instead of its own, or empty.
    """

    __slots__ = ("_ccsid", "_encoding", "_flavour", "_sourced")

    def __init__(
        self,
        flavour: Flavour,
        ccsid: int,
        sourced: Callable[[Element, Document, Scope], str | None],
        encoding: str = "",
    ) -> None:
        self._flavour = flavour
        self._ccsid = ccsid
        self._sourced = sourced
        self._encoding = encoding

    def render(self, elements: Iterable[Element], scope: Scope, out: list[str]) -> None:
        """Append the texts of elements, and of anything else that stands in content, in order."""
        end: Element | None = None
        for element in elements:
            if end is None:
                end = self._whole(element, scope, out)
            elif element is end:
                end = None

    def _whole(self, element: Element, scope: Scope, out: list[str]) -> Element | None:
        """Append an element with all that is in it; the answer is where what an entity reference stands for ends."""
        levels: list[_Level] = []
        at: Element = element
        left = _BLOCK
        while True:
            left -= 1
            if not left:
                pay(left := _BLOCK)
            try:
                opened = self._one(at, scope, out)
            except (Unwritable, ConversionException) as error:
                raise unwritable(at, str(error)) from error
            if opened is not None:
                if len(levels) >= MAX_DEPTH:
                    text = f"elements are nested deeper than {MAX_DEPTH} levels: make the tree flatter"
                    raise unwritable(at, text)
                first, closing, inner = opened
                levels.append((at.next_linked, closing, scope))
                at, scope = first, inner
                continue
            end = _end_of_reference(at) if at.raw_type == _REFERENCE else None
            if not levels:
                return end
            following = at.next_linked if end is None else end.next_linked
            while following is None:
                following, closing, scope = levels.pop()
                out.append(closing)
                if not levels:
                    return None
            at = following

    def _one(self, element: Element, scope: Scope, out: list[str]) -> _Open | None:
        """Append the text of an element; where it has content, that of its start tag alone."""
        flavour = self._flavour
        state, source = element.state, element.source
        if source is None and element.raw_type == NAME:
            return _element(element, flavour, scope, out)
        if state & SHARES:
            source = written(element).source
        if source.__class__ is Document:
            flavour = source.flavour
        kind = kind_of(element, flavour)
        if kind is Kind.ELEMENT:
            if source.__class__ is Document:
                text = self._sourced(element, source, scope)
                if text is not None:
                    out.append(text)
                    return None
            return _element(element, flavour, scope, out)
        if kind is Kind.LIST:
            out.append(_list(element, flavour, scope))
        elif kind not in _BESIDE:
            out.append(self._other(element, kind, flavour))
        return None

    def _other(self, element: Element, kind: Kind, flavour: Flavour) -> str:
        value = element.value
        if kind is Kind.RAW and isinstance(value, bytes):
            return decode(value, self._ccsid, what=element.name)
        if kind is Kind.DECLARATION:
            return render_declaration(element, self._encoding)
        return _OTHERS[kind](element, text_of(value, compact=flavour.compact), flavour)


def kind_of(element: Element, flavour: Flavour) -> Kind:
    """Returns what an element is to a document; a name is an element, whether it has got a value or not."""
    number = element.raw_type
    return Kind.ELEMENT if number == NAME else flavour.kind(number)


def unwritable(element: Element, problem: str, number: int = 5010) -> ParserException:
    """The error that names an element that cannot be written, by its path."""
    names: list[str] = []
    at: Element | None = element
    while at is not None and len(names) < 20:
        names.append(at.name or "()")
        at = at.parent
    return ParserException(number, f"XML writing errors have occurred: {'.'.join(reversed(names))}: {problem}")


_NAMESPACES_AT_ODDS: Final = 5014
_PSEUDO: Final = {
    element_types.VERSION: "version",
    element_types.ENCODING: "encoding",
    element_types.STANDALONE: "standalone",
}


def render_declaration(element: Element, encoding: str = "") -> str:
    """An XML declaration from its tree, in the order that XML asks for."""
    fields = {_PSEUDO.get(child.type, child.name.lower()): text_of(child.value, compact=True) for child in element}
    if encoding and "encoding" in fields and not written(element).state & EDITED:
        fields["encoding"] = encoding
    return declaration_text(fields)


def _own_text(element: Element, flavour: Flavour) -> str:
    """The text of the value that is the element's own, and not that of its first child."""
    value = element.raw_value
    if value is UNREAD or element.state & SHARES:
        value = element.value
        if element.first_linked is not None and leading(element) is not None:
            value = written(element).raw_value  # a copy may have cached what is its first child's
    if value is None or value is UNREAD:
        return ""
    text = formed(element, value, flavour)
    return section(text) if flavour.compact and element.type == element_types.CDATA_FIELD else escape(text)


def _items_text(element: Element, flavour: Flavour) -> str:
    """The values below an element as XML Schema writes a list: with a blank between each two."""
    items = [child for child in element if flavour.kind(child.type) in _ITEMS]
    return " ".join([formed(item, item.value, flavour) for item in items])


def _list(element: Element, flavour: Flavour, scope: Scope) -> str:
    beside: list[tuple[Kind, Element]] = [
        (kind, child) for child in element if (kind := flavour.kind(child.type)) in _BESIDE
    ]
    tag, head, _ = _head(element, beside, flavour, scope)
    return f"<{head}>{escape(_items_text(element, flavour))}</{tag}>"


def _end_of_reference(element: Element) -> Element | None:
    at = element.next_sibling
    while at is not None and at.type != element_types.ENTITY_REFERENCE_END:
        at = at.next_sibling
    return at


def _element(element: Element, flavour: Flavour, scope: Scope, out: list[str]) -> _Open | None:
    """Append an element without content, or its start tag."""
    beside: list[tuple[Kind, Element]] = []
    content: Element | None = None
    child = element.first_linked if element.state & EXPANDED else element.first_child
    while child is not None:
        number = child.raw_type
        if number == NAME:
            content = content or child
        elif (kind := flavour.kind(number)) in _BESIDE:
            beside.append((kind, child))
        else:
            content = content or child
        child = child.next_linked
    tag = head = name_of(element.name)
    if beside or element.namespace or len(scope) > 1:
        tag, head, scope = _head(element, beside, flavour, scope)
    text = "" if element.raw_value is None and not element.state & SHARES else _own_text(element, flavour)
    if content is None:
        out.append(f"<{head}>{text}</{tag}>" if text else f"<{head}/>")
        return None
    out.append(f"<{head}>{text}")
    following = _leaves(content, out) if len(scope) == 1 else content
    if following is not None:
        return following, f"</{tag}>", scope
    out.append(f"</{tag}>")
    return None


def _leaves(content: Element, out: list[str]) -> Element | None:
    """Append the plain leaves that come first; the answer is the first child that is none."""
    at: Element | None = content
    while at is not None:
        try:
            text = _leaf(at)
        except Unwritable as error:
            raise unwritable(at, str(error)) from error
        if text is None:
            return at
        out.append(text)
        at = at.next_linked
    return None


def _leaf(element: Element) -> str | None:
    """An element that has neither namespace nor attributes nor children, but a text: as it was read, or its value."""
    source, number, value = element.source, element.raw_type, element.raw_value
    if element.namespace:
        return None
    if source.__class__ is Document:
        node = element.handle
        if element.state & _OWN or not source.plain or node.__class__ is not etree._Element or len(node):
            return None
        if number != NAME and not (source.flavour.compact and number == element_types.FIELD):
            return None
        value = node.text
    elif number != NAME or element.first_linked is not None or source is not None:
        return None
    if value.__class__ is not str or not value:
        return None
    name = name_of(element.name)
    return f"<{name}>{escape(value)}</{name}>"


def _head(
    element: Element, beside: list[tuple[Kind, Element]], flavour: Flavour, scope: Scope
) -> tuple[str, str, Scope]:
    """The tag, the start tag's inside, and the scope in the element."""
    attributes, declared = [], {}
    if len(scope) == 1 and not flavour.spaces and not element.namespace and len(beside) == 1:
        kind, child = beside[0]
        if kind is Kind.ATTRIBUTE and not child.namespace:
            tag = name_of(element.name)
            return tag, f"{tag} {name_of(child.name)}={_quoted(child, flavour)}", scope
    for kind, child in beside:
        if kind is Kind.NAMESPACE or (kind is Kind.ATTRIBUTE and child.namespace == XMLNS_URI):
            prefix, uri = _declaration(child, flavour)
            declared[prefix] = uri
        elif kind is Kind.ATTRIBUTE:
            attributes.append(child)
    if flavour.compact and not element.namespace and declared.get(""):
        problem = f"it has no namespace and declares {declared['']} as the default: give it and what is in it that one"
        raise unwritable(element, problem, _NAMESPACES_AT_ODDS)
    inner = {**scope, **declared}
    tag = _prefixed(element, inner, attribute=False) if flavour.spaces or element.namespace else name_of(element.name)
    written_as: dict[str, str] = {}
    for child in attributes:
        name = _prefixed(child, inner, attribute=True)
        if name in written_as:
            raise Unwritable(f"there are two attributes called {name}: set the one that is there, or delete it first")
        written_as[name] = _quoted(child, flavour)
    needed = [prefix for prefix, uri in inner.items() if prefix not in declared and scope.get(prefix, "") != uri]
    pieces = [
        f" {f'xmlns:{name_of(prefix)}' if prefix else 'xmlns'}={quote(inner[prefix])}"
        for prefix in [*declared, *needed]
    ]
    return tag, "".join([tag, *pieces, *(f" {name}={text}" for name, text in written_as.items())]), inner


def _quoted(child: Element, flavour: Flavour) -> str:
    value = child.raw_value
    if value.__class__ is not str:
        held = written(child)
        is_list = flavour.compact and held.first_linked and any(flavour.kind(item.type) in _ITEMS for item in held)
        value = _items_text(child, flavour) if is_list else formed(child, child.value, flavour)
    text = str(value)
    try:
        return quote(text, single=child.raw_type == element_types.SINGLE_ATTRIBUTE)
    except Unwritable as error:
        raise unwritable(child, str(error)) from error


def _declaration(child: Element, flavour: Flavour) -> tuple[str, str]:
    """The prefix and the namespace that a namespace declaration binds to each other."""
    prefix = "" if child.name == "xmlns" and not child.namespace else child.name
    uri = text_of(child.value, compact=flavour.compact)
    if prefix and not uri:
        raise Unwritable(f"the prefix {prefix} is declared for no namespace: give it one, or delete the declaration")
    if (prefix == "xml") != (uri == XML_URI) or prefix == "xmlns" or uri == XMLNS_URI:
        raise Unwritable(f"xmlns:{prefix} cannot be declared for {uri!r}: the prefixes xml and xmlns are XML's own")
    return prefix, uri


def _prefixed(element: Element, scope: Scope, *, attribute: bool) -> str:
    """The name with the prefix of its namespace; a namespace that has none yet is given one in the scope."""
    name, namespace = name_of(element.name), element.namespace
    if not namespace:
        if not attribute and scope.get(""):
            scope[""] = ""
        return name
    bound = [prefix for prefix, uri in scope.items() if uri == namespace and (prefix or not attribute)]
    if bound:
        prefix = bound[0] if len(bound) == 1 else _as_read(element, bound)
        return f"{prefix}:{name}" if prefix else name
    if namespace == XMLNS_URI:
        raise Unwritable(f"{name} is in the namespace of namespace declarations: give it the type NamespaceDecl")
    check(namespace)
    prefix = unused_prefix(scope)
    scope[prefix] = namespace
    return f"{prefix}:{name}"


def _as_read(element: Element, bound: list[str]) -> str:
    """Of several prefixes of a namespace the one that an element was read with, or the first."""
    handle = written(element).handle
    if handle.__class__ is etree._Element:
        prefix = handle.prefix or ""
    elif handle.__class__ is tuple and handle[1] is Kind.ATTRIBUTE and handle[2][0] == "{":
        prefix = prefixed(handle[0], handle[2]).partition(":")[0]
    else:
        return bound[0]
    return prefix if prefix in bound else bound[0]


def _entity_reference(name: str, entity: str) -> str:
    """A reference to an entity, in an element of its own where it has both a name and an entity to stand for."""
    if name and entity:
        return f"<{name_of(name)}>&{name_of(entity)};</{name}>"
    return f"&{name_of(entity or name)};"


_OTHERS: Final[dict[Kind, Callable[[Element, str, Flavour], str]]] = {
    Kind.DOCTYPE: lambda e, _, flavour: render_entities(e) if flavour.compact else render_doctype(e),
    Kind.REFERENCE: lambda e, text, _: _entity_reference(e.name, text),
    Kind.TEXT: lambda _, text, __: escape(text),
    Kind.CDATA: lambda _, text, __: section(text),
    Kind.COMMENT: lambda _, text, __: comment(text),
    Kind.INSTRUCTION: lambda e, text, _: instruction(e.name, text),
    Kind.SPACE: lambda _, text, __: check(text),
    Kind.RAW: lambda _, text, __: check(text),
}
