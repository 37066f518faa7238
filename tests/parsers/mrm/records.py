"""Messages in CWF, made up for tests: a model in YAML's short form, trees over bytes, and bytes of trees."""

from collections.abc import Mapping
from typing import Any

from engine.message.received import Part, part_element
from engine.parser import NO_OPTIONS, Follow, Form, Options, Portion, Template
from engine.tree.element import Element
from engine.tree.sharing import copy
from parsers.mrm import Library, Mrm
from parsers.mrm.cwf.properties import CwfField, CwfFormat
from parsers.mrm.model import Field, Group, Member, Message, MessageSet, SimpleType, WireFormatUse

BIG = 785
LITTLE = 546
TEMPLATE = Template("MRM", "SET", "M", "CWF")


def field(name: str, kind: Any = "string", cwf: Mapping[str, Any] | None = None, **said: Any) -> Field:
    """A field of a simple kind, or of a group of its own."""
    type_ = SimpleType(kind) if isinstance(kind, str) else kind
    return Field(name, type_, physical={"CWF": CwfField(**(cwf or {}))}, **said)


def parser(*members: Member, settings: CwfFormat | None = None, composition: Any = "sequence") -> Mrm:
    """A parser that knows one message, M, of these members."""
    use = WireFormatUse("CWF", "CWF", settings)
    message = Message("M", Group(members, composition))
    return Mrm(Library([MessageSet("SET", formats={"CWF": use}, messages={"M": message})]))


def embedding(*members: Member, **inner: Group) -> Mrm:
    """A parser that knows one message, M, of these members, and other messages that may stand in it."""
    messages = {"M": Message("M", Group(members))} | {name: Message(name, group) for name, group in inner.items()}
    use = WireFormatUse("CWF", "CWF")
    return Mrm(Library([MessageSet("SET", formats={"CWF": use}, messages=messages)]))


def read(mrm: Mrm, data: bytes, encoding: int = BIG, ccsid: int = 819, options: Options = NO_OPTIONS) -> Element:
    """The tree of a record."""
    portion = Portion(data, 0, len(data), Follow("", encoding, ccsid), TEMPLATE, options)
    return part_element(Part(mrm, portion))


def write(mrm: Mrm, element: Element, encoding: int = BIG, ccsid: int = 819) -> bytes:
    """The record of a tree."""
    return mrm.write(element, Form(encoding, ccsid, TEMPLATE))


def built(mrm: Mrm, **values: Any) -> Element:
    """A tree with these fields and values; a dictionary is a group, a list repeats."""
    top = Element("MRM")
    top.domain = mrm
    fill(top, values)
    return top


def fill(element: Element, values: Mapping[str, Any]) -> None:
    """Add fields with these values."""
    for name, value in values.items():
        for one in value if isinstance(value, list) else [value]:
            child = element.add(name, None if isinstance(one, dict) else one)
            if isinstance(one, dict):
                fill(child, one)


def plain(element: Element) -> Any:
    """A tree as dictionaries: of what repeats, lists."""
    if element.first_child is None:
        return element.value
    found: dict[str, Any] = {}
    for child in element:
        value = plain(child)
        if child.name in found:
            known = found[child.name]
            found[child.name] = [*known, value] if isinstance(known, list) else [known, value]
        else:
            found[child.name] = value
    return found


def edited(tree: Element, value: Any, *path: str) -> Element:
    """A copy of a tree in which one field has another value."""
    twin = copy(tree)
    found = twin.at(*path)
    assert found is not None
    found.value = value
    return twin
