"""Document types: the internal subset as a tree and back, and what entities stand for; nothing external is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from lxml import etree

from engine.errors import ParserException
from engine.tree.element import Element
from parsers.markup import element_types
from parsers.markup.lxml_nodes import Item
from parsers.markup.text import Unwritable, check, comment, instruction, name_of

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
# What may stand in each part of a DTD; what is not here has a value and nothing in it.
_SPACES: Final = frozenset({element_types.DOCTYPE_WHITE_SPACE, element_types.WHITE_SPACE})
_IDS: Final = frozenset({element_types.PUBLIC_ID, element_types.SYSTEM_ID})
_ENTITY: Final = _IDS | {element_types.ENTITY_VALUE, element_types.NOTATION_REFERENCE}
_ENTITIES: Final = (
    *(element_types.ENTITY_DECL, element_types.PARAMETER_ENTITY_DECL, element_types.EXTERNAL_ENTITY_DECL),
    *(element_types.EXTERNAL_PARAMETER_ENTITY_DECL, element_types.UNPARSED_ENTITY_DECL),
)
_IN_ORDER: Final = (
    element_types.ATTRIBUTE_DEF_TYPE,
    element_types.ATTRIBUTE_DEF_DEFAULT,
    element_types.ATTRIBUTE_DEF_VALUE,
)
_DECLARATIONS: Final = frozenset(
    {*_ENTITIES, element_types.NOTATION_DECL, element_types.ELEMENT_DEF, element_types.ATTRIBUTE_LIST}
)
_NOTES: Final = frozenset(
    {element_types.DOCTYPE_COMMENT, element_types.COMMENT, element_types.DOCTYPE_INSTRUCTION, element_types.INSTRUCTION}
)
_WITHIN: Final[Mapping[int, frozenset[int]]] = {
    element_types.DOCTYPE_DECL: _IDS | _SPACES | {element_types.INT_SUBSET},
    element_types.INT_SUBSET: _DECLARATIONS | _NOTES | _SPACES | {element_types.ENTITY_REFERENCE_START},
    **dict.fromkeys(_ENTITIES, _ENTITY),
    element_types.NOTATION_DECL: _IDS,
    element_types.ATTRIBUTE_LIST: frozenset({element_types.ATTRIBUTE_DEF}),
    element_types.ATTRIBUTE_DEF: frozenset(_IN_ORDER),
}
_SINGLE: Final = _ENTITY | {element_types.INT_SUBSET, *_IN_ORDER}
_VALUED: Final = _NOTES | _SPACES | {element_types.ELEMENT_DEF, element_types.ENTITY_REFERENCE_START}
_DEFAULTS: Final = frozenset({"REQUIRED", "IMPLIED", "FIXED"})
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
        children.append(Item(element_types.INT_SUBSET, "IntSubset", None, tuple(_declarations(inside))))
    return Item(element_types.DOCTYPE_DECL, name, None, tuple(children))


def _declarations(text: str) -> Iterator[Item]:
    for found in _DECLARATION.finditer(text):
        match found.lastgroup:
            case "comment":
                yield Item(element_types.DOCTYPE_COMMENT, "", found["comment"][4:-3])
            case "instruction":
                target, *rest = found["instruction"][2:-2].split(None, 1)
                yield Item(element_types.DOCTYPE_INSTRUCTION, target, rest[0] if rest else None)
            case "space":
                yield Item(element_types.DOCTYPE_WHITE_SPACE, "", found["space"])
            case "reference":
                yield Item(element_types.ENTITY_REFERENCE_START, "", found["reference"])
            case _:
                yield _declared(found["kind"], found["rest"].strip())


def _declared(kind: str, rest: str) -> Item:
    match kind:
        case "ENTITY":
            return _entity(rest)
        case "NOTATION":
            name, *more = rest.split(None, 1)
            return Item(element_types.NOTATION_DECL, name, None, tuple(_external_ids(_EXTERNAL.match("".join(more)))))
        case "ELEMENT":
            name, *content = rest.split(None, 1)
            return Item(element_types.ELEMENT_DEF, name, content[0] if content else "")
        case _:
            name, *definitions = rest.split(None, 1)
            return Item(
                element_types.ATTRIBUTE_LIST, name, None, tuple(_definitions(definitions[0] if definitions else ""))
            )


def _external_ids(found: re.Match[str] | None) -> list[Item]:
    if found is None:
        return []
    ids = []
    if found["public"] is not None:
        ids.append(Item(element_types.PUBLIC_ID, "PublicId", found["public"][1:-1]))
    system = found["system"] or found["only"]
    if system is not None:
        ids.append(Item(element_types.SYSTEM_ID, "SystemId", system[1:-1]))
    return ids


def _entity(rest: str) -> Item:
    parameter = rest.startswith("%")
    name, *others = rest.lstrip("% \t\r\n").split(None, 1)
    more = "".join(others).strip()
    if more[:1] in {'"', "'"}:
        kind = element_types.PARAMETER_ENTITY_DECL if parameter else element_types.ENTITY_DECL
        return Item(kind, name, None, (Item(element_types.ENTITY_VALUE, "EntityDeclValue", more[1:-1]),))
    external = _EXTERNAL.match(more)
    ids = _external_ids(external)
    if external is not None and (notation := _NOTATION.match(more, external.end())) is not None:
        ids.append(Item(element_types.NOTATION_REFERENCE, "NotationReference", notation[1]))
        return Item(element_types.UNPARSED_ENTITY_DECL, name, None, tuple(ids))
    kind = element_types.EXTERNAL_PARAMETER_ENTITY_DECL if parameter else element_types.EXTERNAL_ENTITY_DECL
    return Item(kind, name, None, tuple(ids))


def _definitions(text: str) -> Iterator[Item]:
    for found in _DEFINITION.finditer(text):
        parts = [Item(element_types.ATTRIBUTE_DEF_TYPE, "AttributeDefType", found["type"])]
        default = found["default"] or (found["fixed"] or "").strip()
        if default:
            parts.append(Item(element_types.ATTRIBUTE_DEF_DEFAULT, "AttributeDefDefaultType", default))
        if found["value"] is not None:
            parts.append(Item(element_types.ATTRIBUTE_DEF_VALUE, "AttributeDefValue", found["value"][1:-1]))
        yield Item(element_types.ATTRIBUTE_DEF, found["name"], None, tuple(parts))


def render_entities(element: Element) -> str:
    """The text of a document type declaration from XMLNSC's tree, which knows entities alone."""
    subset = "".join(map(_render_definition_of_entity, element))
    return _sound(f"<!DOCTYPE {name_of(element.name)}{f' [{subset}]' if subset else ''}>")


def _render_definition_of_entity(item: Element) -> str:
    if item.type not in {element_types.ENTITY_DEFINITION, element_types.SINGLE_ENTITY_DEFINITION}:
        raise _stray(item, "type XMLNSC.EntityDefinition")
    single = item.type == element_types.SINGLE_ENTITY_DEFINITION
    return f"<!ENTITY {name_of(item.name)} {_quote(item.value, single=single)}>"


def render_doctype(element: Element) -> str:
    """The text of a document type declaration from its tree."""
    name = name_of(element.name)
    parts = _parts(element)
    subset = next((part for part in parts if part.type == element_types.INT_SUBSET), None)
    inside = "" if subset is None else f" [{''.join(map(_render, _parts(subset)))}]"
    return _sound(f"<!DOCTYPE {name}{_render_ids(parts)}{inside}>")


def _parts(item: Element) -> list[Element]:
    """Returns the items in a part of a DTD, and only the first of those that mean nothing again."""
    parts = list(item)
    known = _WITHIN.get(item.type, ())
    single: set[int] = set()
    for part in parts:
        if part.type not in known:
            raise _stray(part, f"one of the types {', '.join(_names(known))}" if known else "")
        if part.type in _SINGLE and part.type in single:
            name = element_types.GENERIC_NAMES[part.type]
            raise Unwritable(f"{_path(part)} is a second {name} where there can be one: delete one of them")
        single.add(part.type)
    if item.type not in _VALUED and str(item.value or "").strip():
        raise Unwritable(
            f"{_path(item)} has the value {str(item.value)[:40]!r}, which has no place in a DTD: set its parts instead"
        )
    return parts


def _stray(item: Element, wanted: str) -> Unwritable:
    """The complaint that something stands in a DTD that is no part of one."""
    advice = f"give it {wanted}, or delete it" if wanted else "delete it"
    above = item.parent
    if above is not None and above.type == element_types.DOCTYPE_DECL:
        advice += f"; the element that is called as the document type is reached by (XML.Element){above.name}"
    return Unwritable(f"{_path(item)} is no part of a document type declaration: {advice}")


def _names(types: Iterable[int]) -> list[str]:
    return [f"XML.{element_types.GENERIC_NAMES[number]}" for number in sorted(types)]


def _path(item: Element) -> str:
    """Returns where a part stands, from the document type on; parts without a name by what they are."""
    steps: list[str] = []
    at: Element | None = item
    while at is not None and at.type not in {element_types.DOCTYPE_DECL, element_types.DOCUMENT_TYPE}:
        steps.append(at.name or element_types.GENERIC_NAMES.get(at.type, "()"))
        at = at.parent
    return ".".join(reversed(steps)) or "it"


def _sound(text: str) -> str:
    """A document type declaration, if XML takes it: what is in its parts is text that may say anything."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        etree.fromstring(f"{text}<a/>".encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        problem = (error.msg or "").split(", line ")[0]
        raise Unwritable(f"{text[:200]!r} is no document type declaration: {problem}; correct its parts") from error
    return text


def _render_ids(parts: list[Element]) -> str:
    public = next((part for part in parts if part.type == element_types.PUBLIC_ID), None)
    system = next((part for part in parts if part.type == element_types.SYSTEM_ID), None)
    text = f" {_quote(system.value)}" if system is not None else ""
    if public is not None:
        return f" PUBLIC {_quote(public.value)}{text}"
    return f" SYSTEM{text}" if text else ""


def _render(item: Element) -> str:
    value = "" if item.value is None else str(item.value)
    check(value)
    parts = _parts(item)
    match item.type:
        case element_types.DOCTYPE_COMMENT | element_types.COMMENT:
            return comment(value)
        case element_types.DOCTYPE_INSTRUCTION | element_types.INSTRUCTION:
            return instruction(item.name, value)
        case element_types.DOCTYPE_WHITE_SPACE | element_types.WHITE_SPACE | element_types.ENTITY_REFERENCE_START:
            return value
        case element_types.ELEMENT_DEF:
            return f"<!ELEMENT {name_of(item.name)} {value}>"
        case element_types.ATTRIBUTE_LIST:
            return f"<!ATTLIST {name_of(item.name)} {' '.join(map(_render_definition, parts))}>"
        case element_types.NOTATION_DECL:
            return f"<!NOTATION {name_of(item.name)}{_render_ids(parts)}>"
        case _:
            return _render_entity(item, parts)


def _render_definition(definition: Element) -> str:
    """Returns the definition of an attribute: its type, its default and the value of that, in XML's order."""
    pieces = [name_of(definition.name)]
    for part in sorted(_parts(definition), key=lambda part: _IN_ORDER.index(part.type)):
        text = str(part.value)
        if part.type == element_types.ATTRIBUTE_DEF_VALUE:
            text = _quote(part.value)
        elif part.type == element_types.ATTRIBUTE_DEF_DEFAULT and text in _DEFAULTS:
            text = f"#{text}"
        pieces.append(text)
    return " ".join(pieces)


def _render_entity(item: Element, parts: list[Element]) -> str:
    percent = (
        "% " if item.type in {element_types.PARAMETER_ENTITY_DECL, element_types.EXTERNAL_PARAMETER_ENTITY_DECL} else ""
    )
    value = next((part for part in parts if part.type == element_types.ENTITY_VALUE), None)
    if value is not None and len(parts) > 1:
        raise Unwritable(f"{_path(item)} has a value and says where it stands as well: delete one of the two")
    if value is not None:
        return f"<!ENTITY {percent}{name_of(item.name)} {_quote(value.value)}>"
    notation = next((f" NDATA {part.value}" for part in parts if part.type == element_types.NOTATION_REFERENCE), "")
    return f"<!ENTITY {percent}{name_of(item.name)}{_render_ids(parts)}{notation}>"


def _quote(value: object, *, single: bool = False) -> str:
    text = "" if value is None else str(value)
    check(text)
    if "'" not in text and (single or '"' in text):
        return f"'{text}'"
    if '"' not in text:
        return f'"{text}"'
    raise Unwritable(f"a DTD cannot hold both kinds of quotes in {text[:40]!r}: write one of them as &#34; or &#39;")


_EXPLOSIONS: Final = {89, 114}  # libxml2's XML_ERR_ENTITY_LOOP and XML_ERR_RESOURCE_LIMIT


def expand(name: str, document_type: str) -> tuple[Item, ...]:
    """Returns what an entity stands for, as a tree: its text and elements.

    >>> [item.value for item in expand("both", '<!DOCTYPE x [<!ENTITY one "1"><!ENTITY both "&one;&#43;&one;">]>')]
    ['1+1']
    """
    opening = document_type.find("[")
    inside = document_type[opening:] if opening >= 0 else ">"
    try:
        parser = etree.XMLParser(
            resolve_entities="internal",  # type: ignore[arg-type]  # newer than the stubs
            no_network=True,
            load_dtd=False,
        )
        return _items(etree.fromstring(f"<!DOCTYPE x {inside}<x>&{name};</x>".encode(), parser))
    except etree.XMLSyntaxError as error:
        if getattr(error, "code", 0) in _EXPLOSIONS:
            raise ParserException(5009, f"the entity {name} cannot be expanded: {error.msg}") from error
        return ()


def _items(node: etree._Element) -> tuple[Item, ...]:
    """Returns what is in an element, as items: attributes, text and elements."""
    items = []
    for key, text in dict[str, str](node.attrib.items()).items():  # type: ignore[arg-type]  # str for a parsed document
        namespace, _, name = key[1:].rpartition("}") if key[0] == "{" else ("", "", key)
        items.append(Item(element_types.ATTRIBUTE, name, text, namespace=namespace))
    if node.text:
        items.append(Item(element_types.CONTENT, "", node.text))
    for child in node:
        if isinstance(child.tag, str):
            namespace, _, name = child.tag[1:].rpartition("}") if child.tag[0] == "{" else ("", "", child.tag)
            items.append(Item(element_types.ELEMENT, name, child.text, _items(child), namespace))
        if child.tail:
            items.append(Item(element_types.CONTENT, "", child.tail))
    return tuple(items)
