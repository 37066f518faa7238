"""Documents for the tests of the XML parsers: strategies for generated ones, and short ways to read, show and write."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hypothesis import strategies as st

from engine.message.received import Part
from engine.parser import NO_OPTIONS, NO_TEMPLATE, Follow, Form, Options, Portion, parser_catalog
from engine.tree.element import Element

URIS = {"": "urn:default", "p": "urn:p", "q": "urn:q"}
XMLNS = "http://www.w3.org/2000/xmlns/"


def body(
    domain: str, data: bytes, ccsid: int = 1208, *, encoding: int = 546, options: Options = NO_OPTIONS, start: int = 0
) -> Element:
    """The body of a message, lazily."""
    parser = parser_catalog.find(domain)
    portion = Portion(b"\0" * start + data, start, start + len(data), Follow("", encoding, ccsid), NO_TEMPLATE, options)
    top = Element(domain, "", 0x01000000, Part(parser, portion))
    top.domain = parser
    return top


def new_body(domain: str) -> Element:
    """A body that is to be built."""
    top = Element(domain)
    top.domain = parser_catalog.find(domain)
    return top


def write(top: Element, ccsid: int = 1208, *, encoding: int = 546) -> bytes:
    """The bytes of a body."""
    return parser_catalog.find(top.name).write(top, Form(encoding, ccsid))


def shown(element: Element, indent: int = 0) -> list[str]:
    """What is below an element, a line each: type, {namespace}name = value."""
    lines = []
    for child in element:
        space = f"{{{child.namespace}}}" if child.namespace else ""
        value = "" if child.value is None else f" = {child.value!r}"
        lines.append(
            f"{'  ' * indent}{child.owner.type_names.get(child.type, hex(child.type))} {space}{child.name}{value}"
        )
        lines += shown(child, indent + 1)
    return lines


@dataclass
class Tag:
    """An element of a generated document."""

    prefix: str
    name: str
    declares: dict[str, str] = field(default_factory=dict)
    attributes: dict[tuple[str, str], str] = field(default_factory=dict)
    content: list[Tag | Mark | str] = field(default_factory=list)


@dataclass
class Mark:
    """Something else in a document: a CDATA section, a comment, an instruction."""

    kind: str
    text: str
    target: str = ""


_LEGAL = st.characters(
    codec="utf-8",
    categories=("L", "N", "P", "S", "Zs"),
    include_characters="\t\n\x7f\x85\x9f\u2028\U0001f600\U00100000",
)
texts = st.text(_LEGAL, min_size=1, max_size=6)
values = st.text(st.one_of(_LEGAL, st.just("\r")), max_size=6)
names = st.sampled_from(["a", "b", "c", "Größe", "\U00010400x", "\u0220", "x-1.y"])
comments = st.text(_LEGAL, max_size=6).filter(lambda t: "--" not in t and not t.endswith("-"))
instructions = texts.map(str.strip).filter(lambda t: "?>" not in t and t)
sections = st.text(_LEGAL, max_size=6).filter(lambda t: "]]>" not in t)
marks = st.one_of(
    st.builds(Mark, st.just("cdata"), sections),
    st.builds(Mark, st.just("comment"), comments),
    st.builds(Mark, st.just("instruction"), instructions, st.sampled_from(["go", "php"])),
)


@st.composite
def tags(draw: st.DrawFn, *, spaces: bool, mixed: bool = True, depth: int = 3) -> Tag:
    """An element with all that may be in it; where it uses prefixes, it declares them."""
    prefixes = ["", "p", "q"] if spaces else [""]
    tag = Tag(draw(st.sampled_from(prefixes)), draw(names))
    if spaces:
        for prefix in draw(st.lists(st.sampled_from(prefixes), unique=True, max_size=3)):
            tag.declares[prefix] = draw(st.sampled_from(["urn:1", "urn:2", "" if not prefix else "urn:3"]))
    for prefix in draw(st.lists(st.sampled_from(prefixes), max_size=3)):
        tag.attributes[prefix, draw(names)] = draw(values)
    if depth:
        inner = tags(spaces=spaces, mixed=mixed, depth=depth - 1)
        parts = st.one_of(inner, inner, texts, marks) if mixed else inner
        tag.content = draw(st.lists(parts, max_size=4)) or draw(st.lists(texts, max_size=1))
    return tag


@st.composite
def documents(draw: st.DrawFn, *, spaces: bool, mixed: bool = True) -> Tag:
    """The root element of a document that is well-formed as to namespaces."""
    root = draw(tags(spaces=spaces, mixed=mixed))
    if spaces:
        root.declares = {**URIS, **root.declares}
    _unambiguous(root, {})
    return root


def _unambiguous(tag: Tag, scope: dict[str, str]) -> None:
    """Take away attributes that have the same name in the same namespace as one before."""
    scope = {**scope, **tag.declares}
    seen: set[tuple[str, str]] = set()
    for key in list(tag.attributes):
        expanded = (scope[key[0]] if key[0] else "", key[1])
        if expanded in seen:
            del tag.attributes[key]
        seen.add(expanded)
    for child in tag.content:
        if isinstance(child, Tag):
            _unambiguous(child, scope)


def text_of(tag: Tag) -> str:
    """The document as it is written."""
    name = f"{tag.prefix}:{tag.name}" if tag.prefix else tag.name
    parts = [f"<{name}"]
    parts += [f' {f"xmlns:{p}" if p else "xmlns"}="{uri}"' for p, uri in tag.declares.items()]
    parts += [f" {f'{p}:{n}' if p else n}='{_escaped(value)}'" for (p, n), value in tag.attributes.items()]
    if not tag.content:
        return "".join([*parts, "/>"])
    inside = [_part(part) for part in tag.content]
    return "".join([*parts, ">", *inside, f"</{name}>"])


def _part(part: Tag | Mark | str) -> str:
    match part:
        case str():
            return _escaped(part)
        case Mark("cdata", text):
            return f"<![CDATA[{text}]]>"
        case Mark("comment", text):
            return f"<!--{text}-->"
        case Mark(_, text, target):
            return f"<?{target} {text}?>"
        case _:
            return text_of(part)


def _escaped(text: str) -> str:
    return re.sub("[<>&'\"\t\r\n]", lambda found: f"&#{ord(found[0])};", text)
