"""Rendering: elements that no document holds, as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from engine.errors import ParserException
from engine.sharing import written
from engine.source import KIND, VALUE
from engine.tree import Element
from parsers.ccsid import decode
from parsers.markup import kinds
from parsers.markup.doctype import render_doctype, render_entities
from parsers.markup.document import XML_URI, XMLNS_URI, Document
from parsers.markup.flavour import Flavour
from parsers.markup.kinds import Kind
from parsers.markup.text import check, escape, name_of, quote, text_of

MAX_DEPTH: Final = 512

# The prefixes in scope, each with its namespace; the default namespace's prefix is empty.
Scope: TypeAlias = dict[str, str]
NO_SCOPE: Final[Scope] = {"xml": XML_URI}
_BESIDE: Final = frozenset({Kind.ATTRIBUTE, Kind.NAMESPACE, Kind.PART})


class Renderer:
    """Renders elements in one domain; `sourced` answers with the text of one that a document holds, or None."""

    __slots__ = ("_ccsid", "_depth", "_flavour", "_sourced")

    def __init__(self, flavour: Flavour, ccsid: int, sourced: Callable[[Element, Document], str | None]) -> None:
        self._flavour = flavour
        self._ccsid = ccsid
        self._sourced = sourced
        self._depth = 0

    def render(self, element: Element, scope: Scope, out: list[str]) -> None:
        """Append the text of an element, or of anything else that stands in content."""
        flavour = self._flavour
        source = written(element).source
        if source.__class__ is Document:
            assert isinstance(source, Document)
            flavour = source.flavour
            text = self._sourced(element, source)
            if text is not None:
                out.append(text)
                return
        kind = flavour.kind(element.type)
        if kind is Kind.ELEMENT:
            self.element(element, flavour, scope, out)
        elif kind not in _BESIDE:
            out.append(self._other(element, kind, flavour))

    def children(self, element: Element, scope: Scope, out: list[str]) -> None:
        """Append the texts of all children; what stands between the marks of an entity reference is left out."""
        referred = False
        for child in element:
            if referred:
                referred = child.type != kinds.ENTITY_REFERENCE_END
                continue
            self.render(child, scope, out)
            referred = child.type == kinds.ENTITY_REFERENCE_START

    def element(self, element: Element, flavour: Flavour, scope: Scope, out: list[str]) -> None:
        """Append the text of an element from its name, value and children, whatever its source holds."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ParserException(5010, f"elements are nested deeper than {MAX_DEPTH} levels at {element.name}")
        beside, content = [], False
        for child in element:
            kind = flavour.kind(child.type)
            if kind in _BESIDE:
                beside.append((kind, child))
            else:
                content = True
        if beside or element.namespace or len(scope) > 1:
            tag, head, scope = _head(element, beside, flavour, scope)
        else:
            tag = head = name_of(element.name)
        text = self._own_text(element, flavour)
        if content:
            out.append(f"<{head}>{text}")
            self.children(element, scope, out)
            out.append(f"</{tag}>")
        else:
            out.append(f"<{head}>{text}</{tag}>" if text else f"<{head}/>")
        self._depth -= 1

    def _own_text(self, element: Element, flavour: Flavour) -> str:
        first = element.first_child
        if first is not None and first.type & KIND == VALUE:
            return ""
        value = element.value
        if value is None:
            return ""
        text = text_of(value, compact=flavour.compact)
        return _section(text) if flavour.compact and element.type == kinds.CDATA_FIELD else escape(text)

    def _other(self, element: Element, kind: Kind, flavour: Flavour) -> str:
        if kind is Kind.RAW and isinstance(element.value, bytes):
            return decode(element.value, self._ccsid, what=element.name)
        text = text_of(element.value, compact=flavour.compact)
        return _OTHERS[kind](element, text, flavour)


def render_declaration(element: Element) -> str:
    """An XML declaration from its tree, in the order that XML asks for."""
    return declaration_text({child.name.lower(): text_of(child.value, compact=True) for child in element})


def declaration_text(fields: Mapping[str, str]) -> str:
    """An XML declaration of these pseudo-attributes.

    >>> declaration_text({"encoding": "UTF-8"})
    '<?xml version="1.0" encoding="UTF-8"?>'
    """
    complete = {"version": "1.0", **{name: text for name, text in fields.items() if text}}
    parts = [f" {name}={quote(complete[name])}" for name in ("version", "encoding", "standalone") if name in complete]
    return f"<?xml{''.join(parts)}?>"


def _head(
    element: Element, beside: list[tuple[Kind, Element]], flavour: Flavour, scope: Scope
) -> tuple[str, str, Scope]:
    """The tag, the start tag's inside, and the scope in the element."""
    declared = {
        "" if child.name == "xmlns" else child.name: str(child.value)
        for kind, child in beside
        if kind is Kind.NAMESPACE
    }
    inner = {**scope, **declared}
    tag = _prefixed(element, inner, attribute=False) if flavour.spaces or element.namespace else name_of(element.name)
    attributes = []
    for kind, child in beside:
        if kind is Kind.ATTRIBUTE:
            name = _prefixed(child, inner, attribute=True)
            attributes.append(f" {name}={quote(text_of(child.value, compact=flavour.compact))}")
    declarations = [
        f" {f'xmlns:{name_of(prefix)}' if prefix else 'xmlns'}={quote(uri)}"
        for prefix, uri in inner.items()
        if prefix in declared or scope.get(prefix, "") != uri
    ]
    return tag, "".join([tag, *declarations, *attributes]), inner


def _prefixed(element: Element, scope: Scope, *, attribute: bool) -> str:
    """The name with the prefix of its namespace; a namespace that has none yet is given one in the scope."""
    name, namespace = name_of(element.name), element.namespace
    if not namespace:
        if not attribute and scope.get(""):
            scope[""] = ""
        return name
    for prefix, uri in scope.items():
        if uri == namespace and (prefix or not attribute):
            return f"{prefix}:{name}" if prefix else name
    if namespace == XMLNS_URI:
        return f"xmlns:{name}"
    number = 1
    while f"NS{number}" in scope:
        number += 1
    scope[f"NS{number}"] = namespace
    return f"NS{number}:{name}"


def _section(text: str) -> str:
    check(text)
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


def _comment(text: str) -> str:
    check(text)
    if "--" in text or text.endswith("-"):
        raise ParserException(5010, f"an XML comment cannot hold '--': {text[:40]!r}")
    return f"<!--{text}-->"


def _instruction(name: str, text: str) -> str:
    check(text)
    if "?>" in text or name.lower() == "xml":
        raise ParserException(5010, f"{name} {text[:40]!r} cannot be an XML processing instruction")
    return f"<?{name_of(name)} {text}?>" if text else f"<?{name_of(name)}?>"


_OTHERS: Final[dict[Kind, Callable[[Element, str, Flavour], str]]] = {
    Kind.DOCTYPE: lambda e, _, flavour: render_entities(e) if flavour.compact else render_doctype(e),
    Kind.DECLARATION: lambda e, _, __: render_declaration(e),
    Kind.REFERENCE: lambda e, text, _: f"&{name_of(text or e.name)};",
    Kind.TEXT: lambda _, text, __: escape(text),
    Kind.CDATA: lambda _, text, __: _section(text),
    Kind.COMMENT: lambda _, text, __: _comment(text),
    Kind.INSTRUCTION: lambda e, text, _: _instruction(e.name, text),
    Kind.SPACE: lambda _, text, __: _checked(text),
    Kind.RAW: lambda _, text, __: _checked(text),
}


def _checked(text: str) -> str:
    check(text)
    return text
