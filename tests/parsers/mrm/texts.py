"""TDS models, texts and trees in few words, for the tests."""

from typing import Any

from engine.message.received import Part
from engine.parser import Follow, Form, Portion
from engine.tree.element import Element
from engine.tree.source import NAME
from parsers.mrm.model import Definition, Field, Group, Message, MessageSet, SimpleType, WireFormatUse
from parsers.mrm.tds import TaggedText
from parsers.mrm.tds.properties import TdsField, TdsFormat, TdsGroup

LATIN = 819
ALL_DELIMITED = {"data_element_separation": "allElementsDelimited"}


def simple(name: str, kind: str = "string", **said: Any) -> Field:
    """A simple field; what is no property of TDS is said of the field itself."""
    own = {
        key: said.pop(key)
        for key in ("min_occurs", "max_occurs", "default", "nullable", "repeat_reference")
        if key in said
    }
    own["interpret_value_as"] = said.pop("interpret_value_as", "")
    return Field(name, SimpleType(kind), physical={"Text": TdsField(**said)}, **own)  # type: ignore[arg-type]


def group(*members: Any, composition: str = "sequence", **said: Any) -> Group:
    """A group with what TDS says of it."""
    return Group(tuple(members), composition, physical={"Text": TdsGroup(**said)})  # type: ignore[arg-type]


def complex_(name: str, content: Group, **said: Any) -> Field:
    own = {key: said.pop(key) for key in ("min_occurs", "max_occurs", "repeat_reference") if key in said}
    return Field(name, content, physical={"Text": TdsField(**said)}, **own)


def codec(content: Group, settings: TdsFormat | None = None, **others: Group) -> TaggedText:
    """The codec of a message of that content, in a set with other messages beside it."""
    messages = {name: Message(name, inner) for name, inner in {"M": content, **others}.items()}
    formats = {"Text": WireFormatUse("Text", "TDS", settings or TdsFormat())}
    made = MessageSet("SET", formats=formats, messages=messages)
    return TaggedText(Definition(made, messages["M"], "Text"))


class _Mrm:
    """Stands for the parser while one codec is looked at."""

    name = "MRM"

    def __init__(self, own: Any) -> None:
        self.read = own.read


def part_of(own: Any, data: bytes, ccsid: int = 1208, encoding: int = 273) -> Part:
    """A part of a message that one codec alone reads."""
    portion = Portion(data, 0, len(data), Follow("", encoding, ccsid))
    return Part(_Mrm(own), portion)  # type: ignore[arg-type]  # as much of a parser as is looked at


def read(own: TaggedText, text: str, ccsid: int = LATIN) -> Element:
    data = text.encode({LATIN: "latin-1", 1208: "utf-8", 500: "cp500"}[ccsid])
    return Element("MRM", "", NAME, part_of(own, data, ccsid))


def plain(element: Element) -> Any:
    """A tree as lists of names and values."""
    return [(child.name, plain(child) if child.type == NAME else child.value) for child in element]


def built(content: list[Any], name: str = "MRM") -> Element:
    """A tree from lists of names and values."""
    top = Element(name)
    for child, value in content:
        if isinstance(value, list):
            top.append(built(value, child))
        else:
            top.add(child, value)
    return top


def write(own: TaggedText, element: Element, ccsid: int = LATIN) -> str:
    return own.write(element, Form(273, ccsid)).decode({LATIN: "latin-1", 1208: "utf-8", 500: "cp500"}[ccsid])
