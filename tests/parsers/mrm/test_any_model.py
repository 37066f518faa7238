"""TDS and MRM XML over generated models: what is written for a tree is read as that tree, and written the same."""

from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.parser import Form
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.source import NAME
from parsers.mrm.model import Definition, Field, Group, Message, MessageSet, SimpleType, WireFormatUse
from parsers.mrm.tds import TaggedText
from parsers.mrm.tds.properties import TdsField, TdsFormat, TdsGroup
from parsers.mrm.xml import ModelledDocument
from parsers.mrm.xml.values import XmlField, XmlFormat
from tests.parsers.mrm.texts import built, part_of, plain

KINDS = ("string", "integer", "decimal", "boolean")
WORDS = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=6)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": WORDS,
    "integer": st.integers(-9999, 9999),
    "decimal": st.decimals(-999, 999, places=2),
    "boolean": st.booleans(),
}
SIZE = 8  # every value has room in it
SEPARATIONS = (
    *("fixedLength", "taggedDelimited", "taggedFixedLength", "taggedEncodedLength"),
    *("allElementsDelimited", "variableLengthElementsDelimited"),
)
RENDERINGS = ("XMLElement", "XMLAttribute", "XMLElementAttrID", "XMLElementAttrVal", "XMLElementAttrIDVal")


def comes_back(own: Any, tree: list[Any], data: bytes) -> tuple[list[Any], bytes]:
    """What is read of data, and what is written for a changed copy that was changed back."""
    part = part_of(own, data)
    read = Element("MRM", "", NAME, part)
    found = plain(read)
    again = copy(read)
    first = next(iter(again), None)
    while first is not None and first.first_child is not None:
        first = first.first_child
    if first is not None:
        first.value = first.value  # an edit, though to the same value
    return found, own.write(again, Form(273, 1208))


@st.composite
def texts(draw: st.DrawFn, depth: int = 0) -> tuple[Group, list[Any]]:
    """A group with what TDS says of it, and a tree that it allows."""
    separation = draw(st.sampled_from(SEPARATIONS))
    members, tree = [], []
    for number in range(draw(st.integers(1, 4))):
        name = f"{'abc'[depth]}{number}"
        said: dict[str, Any] = {"tag": f"T{name}"}
        if depth < 2 and draw(st.booleans()):
            inner, below = draw(texts(depth + 1))
            members.append(Field(name, inner, physical={"Text": TdsField(**said)}))
            tree.append((name, below))
            continue
        kind = draw(st.sampled_from(KINDS))
        sized = separation in {"fixedLength", "taggedFixedLength"} or (
            separation == "variableLengthElementsDelimited" and draw(st.booleans())
        )
        value = draw(VALUES[kind])
        if sized:
            said |= {"length": SIZE} | ({"precision": 2} if kind == "decimal" else {})
            value = value.ljust(SIZE) if kind == "string" else value
        members.append(Field(name, SimpleType(kind), physical={"Text": TdsField(**said)}))  # type: ignore[arg-type]
        tree.append((name, value))
    own = TdsGroup(
        data_element_separation=separation,  # type: ignore[arg-type]
        group_indicator="[{("[depth],
        group_terminator="]})"[depth],
        delimiter="|;,"[depth],
        tag_length=3,
        length_of_encoded_length=4,
    )
    return Group(tuple(members), physical={"Text": own}), tree


@given(texts())
@settings(max_examples=150)
def test_any_tagged_or_delimited_text(given_: tuple[Group, list[Any]]) -> None:
    """Whatever the separations of groups in groups, a tree is read as it was written, and written the same again."""
    group, tree = given_
    formats = {"Text": WireFormatUse("Text", "TDS", TdsFormat(escape_character="\\", reserved_characters="[]{}()|;,"))}
    made = MessageSet("SET", formats=formats, messages={"M": Message("M", group)})
    own = TaggedText(Definition(made, made.messages["M"], "Text"))
    data = own.write(built(tree), Form(273, 1208))
    assert comes_back(own, tree, data) == (tree, data)


@st.composite
def documents(draw: st.DrawFn, depth: int = 0) -> tuple[Group, list[Any]]:
    """A group with what an XML format says of it, and a tree that it allows: attributes stand first in both."""
    attributes, elements, first, tree = [], [], [], []
    for number in range(draw(st.integers(1, 4))):
        name = f"{'abc'[depth]}{number}"
        if depth < 2 and draw(st.booleans()):
            inner, below = draw(documents(depth + 1))
            elements.append(Field(name, inner))
            tree.append((name, below))
            continue
        kind, render = draw(st.sampled_from(KINDS)), draw(st.sampled_from(RENDERINGS))
        said = XmlField(render=render, id_attribute_value=name)  # type: ignore[arg-type]
        field = Field(name, SimpleType(kind), max_occurs=-1, physical={"Doc": said})  # type: ignore[arg-type]
        if render == "XMLAttribute":
            attributes.append(field)
            first.append((name, draw(VALUES[kind])))
            continue
        elements.append(field)
        tree += [(name, value) for value in draw(st.lists(VALUES[kind], min_size=1, max_size=3))]
    return Group((*attributes, *elements)), first + tree


@given(documents())
@settings(max_examples=150)
def test_any_document(given_: tuple[Group, list[Any]]) -> None:
    """Whatever the rendering of fields, a tree is read as it was written, and written the same again."""
    group, tree = given_
    formats = {"Doc": WireFormatUse("Doc", "XML", XmlFormat())}
    made = MessageSet("SET", formats=formats, messages={"M": Message("M", group)})
    own = ModelledDocument(Definition(made, made.messages["M"], "Doc"))
    data = own.write(built(tree), Form(273, 1208))
    assert comes_back(own, tree, data) == (tree, data)


def test_decimals_of_any_size() -> None:
    """A decimal keeps all of its digits in both formats."""
    value = Decimal("1234567890123456789012345678.123456")
    field = Field("d", SimpleType("decimal"))
    formats = {"Text": WireFormatUse("Text", "TDS", TdsFormat()), "Doc": WireFormatUse("Doc", "XML", XmlFormat())}
    plain_group = Group((field,), physical={"Text": TdsGroup(data_element_separation="allElementsDelimited")})
    made = MessageSet("SET", formats=formats, messages={"M": Message("M", plain_group)})
    for own in (
        TaggedText(Definition(made, made.messages["M"], "Text")),
        ModelledDocument(Definition(made, made.messages["M"], "Doc")),
    ):
        data = own.write(built([("d", value)]), Form(273, 1208))
        assert comes_back(own, [("d", value)], data)[0] == [("d", value)]
