"""JSON documents for tests: strategies, and short ways to read, show and write."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from engine.descriptor import Descriptor
from engine.message.received import Part, Received
from engine.parser import Follow, Form, Portion, Template, parser_catalog
from engine.tree.element import Element

ARRAY = 0x01001000


def body(data: bytes, ccsid: int = 1208, *, encoding: int = 546, start: int = 0) -> Element:
    """The body of a message, lazily."""
    portion = Portion(b"\0" * start + data, start, start + len(data), Follow("", encoding, ccsid))
    top = Element("JSON", "", 0x01000000, Part(parser_catalog.find("JSON"), portion))
    top.domain = parser_catalog.find("JSON")
    return top


def root_of(data: bytes) -> Element:
    """The Root of a message with this body."""
    return Received(Descriptor(), data, template=Template("JSON")).root()


def new_data() -> Element:
    """The Data of a body that is to be built."""
    root = Element("Root")
    top = root.add("JSON")
    top.domain = parser_catalog.find("JSON")
    return top.add("Data")


def write(element: Element, ccsid: int = 1208, *, encoding: int = 546) -> bytes:
    """The bytes of a body, or of what holds Data."""
    top = element if element.name == "JSON" or element.parent is None else element.parent
    return parser_catalog.find("JSON").write(top, Form(encoding, ccsid))


def shown(element: Element, indent: int = 0) -> list[str]:
    """What is below an element, a line each: type, name = value."""
    lines = []
    for child in element:
        titles = child.owner.type_names
        value = "" if child.type in {0x01000000, ARRAY} else f" = {child.value!r}"
        lines.append(f"{'  ' * indent}{titles[child.type]} {child.name}{value}")
        lines += shown(child, indent + 1)
    return lines


def tree(element: Element) -> Any:
    """What an element stands for in Python, by walking all of it."""
    if element.type == ARRAY:
        return [tree(child) for child in element]
    if element.type == 0x01000000:
        return {child.name: tree(child) for child in element}
    return element.value


def build(element: Element, value: Any) -> None:
    """Give an element what a Python value stands for, as a flow would."""
    if isinstance(value, dict):
        for name, inner in value.items():
            build(element.add(name), inner)
    elif isinstance(value, list):
        element.change(type_=ARRAY)
        for inner in value:
            build(element.add("Item"), inner)
    else:
        element.value = value


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=20
)
documents = st.lists(values, max_size=4) | st.dictionaries(texts, values, max_size=5)
layouts = st.sampled_from(
    [
        json.dumps,
        lambda value: json.dumps(value, ensure_ascii=False, indent=2),
        lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    ]
)


def exact(data: bytes) -> Any:
    """What the standard library reads, with names that repeat and all digits."""
    return json.loads(data, object_pairs_hook=lambda pairs: ("object", pairs), parse_float=Decimal)
