"""Document types: the declarations of an internal subset as a tree, and back; nothing external is ever read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from parsers.markup import kinds
from parsers.markup.item import Item
from parsers.markup.text import Unwritable, check, comment, instruction, name_of

if TYPE_CHECKING:
    from engine.tree import Element

_QUOTED: Final = r"""(?:"[^"]*"|'[^']*')"""
_EXTERNAL: Final = re.compile(
    rf"\s*(?:PUBLIC\s+(?P<public>{_QUOTED})(?:\s+(?P<system>{_QUOTED}))?|SYSTEM\s+(?P<only>{_QUOTED}))"
)
_HEAD: Final = re.compile(r"<!DOCTYPE\s+(\S[^\s\[>]*)")
_DECLARATION: Final = re.compile(
    rf"(?P<comment><!--.*?-->)|(?P<instruction><\?.*?\?>)|(?P<space>\s+)|(?P<reference>%[^;]*;)"
    rf"|<!(?P<kind>[A-Z]+)\s+(?P<rest>(?:{_QUOTED}|[^>\"'])*)>",
    re.DOTALL,
)
_DEFINITION: Final = re.compile(
    rf"(?P<name>\S+)\s+(?P<type>CDATA|IDREFS?|ID|ENTIT(?:Y|IES)|NMTOKENS?|NOTATION\s*\([^)]*\)|\([^)]*\))\s+"
    rf"(?:(?P<default>\#REQUIRED|\#IMPLIED)|(?P<fixed>\#FIXED\s+)?(?P<value>{_QUOTED}))\s*",
    re.DOTALL,
)
_NOTATION: Final = re.compile(r"\s+NDATA\s+(\S+)\s*")


def read_doctype(text: str) -> Item:
    """A document type declaration as a tree."""
    head = _HEAD.match(text)
    name = head.group(1) if head else ""
    at = head.end() if head else 0
    children = []
    if external := _EXTERNAL.match(text, at):
        at = external.end()
        children += _external_ids(external)
    subset = text.find("[", at)
    if subset >= 0:
        inside = text[subset + 1 : text.rindex("]")]
        children.append(Item(kinds.INT_SUBSET, "IntSubset", None, tuple(_declarations(inside))))
    return Item(kinds.DOCTYPE_DECL, name, None, tuple(children))


def _declarations(text: str) -> Iterator[Item]:
    for found in _DECLARATION.finditer(text):
        match found.lastgroup:
            case "comment":
                yield Item(kinds.DOCTYPE_COMMENT, "", found["comment"][4:-3])
            case "instruction":
                target, *rest = found["instruction"][2:-2].split(None, 1)
                yield Item(kinds.DOCTYPE_INSTRUCTION, target, rest[0] if rest else None)
            case "space":
                yield Item(kinds.DOCTYPE_WHITE_SPACE, "", found["space"])
            case "reference":
                yield Item(kinds.ENTITY_REFERENCE_START, "", found["reference"])
            case _:
                yield _declared(found["kind"], found["rest"].strip())


def _declared(kind: str, rest: str) -> Item:
    match kind:
        case "ENTITY":
            return _entity(rest)
        case "NOTATION":
            name, *more = rest.split(None, 1)
            return Item(kinds.NOTATION_DECL, name, None, tuple(_external_ids(_EXTERNAL.match("".join(more)))))
        case "ELEMENT":
            name, *content = rest.split(None, 1)
            return Item(kinds.ELEMENT_DEF, name, content[0] if content else "")
        case _:
            name, *definitions = rest.split(None, 1)
            return Item(kinds.ATTRIBUTE_LIST, name, None, tuple(_definitions(definitions[0] if definitions else "")))


def _external_ids(found: re.Match[str] | None) -> list[Item]:
    if found is None:
        return []
    ids = []
    if found["public"] is not None:
        ids.append(Item(kinds.PUBLIC_ID, "PublicId", found["public"][1:-1]))
    system = found["system"] or found["only"]
    if system is not None:
        ids.append(Item(kinds.SYSTEM_ID, "SystemId", system[1:-1]))
    return ids


def _entity(rest: str) -> Item:
    parameter = rest.startswith("%")
    name, *others = rest.lstrip("% \t\r\n").split(None, 1)
    more = "".join(others).strip()
    if more[:1] in {'"', "'"}:
        kind = kinds.PARAMETER_ENTITY_DECL if parameter else kinds.ENTITY_DECL
        return Item(kind, name, None, (Item(kinds.ENTITY_VALUE, "EntityDeclValue", more[1:-1]),))
    external = _EXTERNAL.match(more)
    ids = _external_ids(external)
    if external is not None and (notation := _NOTATION.match(more, external.end())) is not None:
        ids.append(Item(kinds.NOTATION_REFERENCE, "NotationReference", notation[1]))
        return Item(kinds.UNPARSED_ENTITY_DECL, name, None, tuple(ids))
    kind = kinds.EXTERNAL_PARAMETER_ENTITY_DECL if parameter else kinds.EXTERNAL_ENTITY_DECL
    return Item(kind, name, None, tuple(ids))


def _definitions(text: str) -> Iterator[Item]:
    for found in _DEFINITION.finditer(text):
        parts = [Item(kinds.ATTRIBUTE_DEF_TYPE, "AttributeDefType", found["type"])]
        default = found["default"] or (found["fixed"] or "").strip()
        if default:
            parts.append(Item(kinds.ATTRIBUTE_DEF_DEFAULT, "AttributeDefDefaultType", default))
        if found["value"] is not None:
            parts.append(Item(kinds.ATTRIBUTE_DEF_VALUE, "AttributeDefValue", found["value"][1:-1]))
        yield Item(kinds.ATTRIBUTE_DEF, found["name"], None, tuple(parts))


def render_entities(element: Element) -> str:
    """The text of a document type declaration from XMLNSC's tree, which knows entities alone."""
    subset = "".join(f"<!ENTITY {name_of(child.name)} {_quote(child.value)}>" for child in element)
    return f"<!DOCTYPE {name_of(element.name)}{f' [{subset}]' if subset else ''}>"


def render_doctype(element: Element) -> str:
    """The text of a document type declaration from its tree."""
    name = name_of(element.name)
    ids, subset = [], ""
    for part in element:
        match part.type:
            case kinds.PUBLIC_ID | kinds.SYSTEM_ID:
                ids.append(part)
            case kinds.INT_SUBSET:
                subset = f" [{''.join(_render(child) for child in part)}]"
    return f"<!DOCTYPE {name}{_render_ids(ids)}{subset}>"


def _render_ids(ids: list[Element]) -> str:
    public = next((part for part in ids if part.type == kinds.PUBLIC_ID), None)
    system = next((part for part in ids if part.type == kinds.SYSTEM_ID), None)
    text = f" {_quote(system.value)}" if system is not None else ""
    if public is not None:
        return f" PUBLIC {_quote(public.value)}{text}"
    return f" SYSTEM{text}" if text else ""


def _render(item: Element) -> str:
    value = "" if item.value is None else str(item.value)
    check(value)
    parts = list(item)
    match item.type:
        case kinds.DOCTYPE_COMMENT:
            return comment(value)
        case kinds.DOCTYPE_INSTRUCTION:
            return instruction(item.name, value)
        case kinds.DOCTYPE_WHITE_SPACE | kinds.ENTITY_REFERENCE_START:
            return value
        case kinds.ELEMENT_DEF:
            return f"<!ELEMENT {name_of(item.name)} {value}>"
        case kinds.ATTRIBUTE_LIST:
            return f"<!ATTLIST {name_of(item.name)} {' '.join(map(_render_definition, parts))}>"
        case kinds.NOTATION_DECL:
            return f"<!NOTATION {name_of(item.name)}{_render_ids(parts)}>"
        case _:
            return _render_entity(item, parts)


def _render_definition(definition: Element) -> str:
    parts = [_quote(p.value) if p.type == kinds.ATTRIBUTE_DEF_VALUE else str(p.value) for p in definition]
    return " ".join([name_of(definition.name), *parts])


def _render_entity(item: Element, parts: list[Element]) -> str:
    percent = "% " if item.type in {kinds.PARAMETER_ENTITY_DECL, kinds.EXTERNAL_PARAMETER_ENTITY_DECL} else ""
    value = next((part for part in parts if part.type == kinds.ENTITY_VALUE), None)
    if value is not None:
        return f"<!ENTITY {percent}{name_of(item.name)} {_quote(value.value)}>"
    notation = next((f" NDATA {part.value}" for part in parts if part.type == kinds.NOTATION_REFERENCE), "")
    return f"<!ENTITY {percent}{name_of(item.name)}{_render_ids(parts)}{notation}>"


def _quote(value: object) -> str:
    text = "" if value is None else str(value)
    check(text)
    if '"' not in text:
        return f'"{text}"'
    if "'" in text:
        raise Unwritable(
            f"a DTD cannot hold both kinds of quotes in {text[:40]!r}: write one of them as &#34; or &#39;"
        )
    return f"'{text}'"
