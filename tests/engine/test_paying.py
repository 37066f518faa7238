"""What the engine does with large messages is paid for: reading, walking, copying and writing end with the budget."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.budget import Allowance, spending
from engine.errors import LimitExceeded
from engine.message.received import Part
from engine.parser import Follow, Form, Parser, Portion, parser_catalog
from engine.tree.dump import dump
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.source import NAME
from parsers.mrm import validate
from parsers.mrm.cwf.properties import CwfField, CwfFormat
from parsers.mrm.model import (
    Definition,
    Field,
    Group,
    Message,
    MessageSet,
    SimpleType,
    WireFormatUse,
    wire_format_catalog,
)
from parsers.mrm.tds.properties import TdsField, TdsFormat, TdsGroup
from parsers.mrm.xml.values import XmlFormat
from tests.fuzz.trees import Anything, rebuilt

MANY = 60_000
ALLOWED = Allowance(cpu=0.02)
SEPARATED = {"T": TdsGroup(data_element_separation="allElementsDelimited", delimiter=";")}
OUTER = {"T": TdsGroup(data_element_separation="allElementsDelimited", delimiter="|")}
INNER = Group(
    (Field("x", SimpleType("string"), physical={"C": CwfField(length=1), "T": TdsField(length=1)}),),
    physical={"T": TdsGroup(data_element_separation="fixedLength")},
)
SET = MessageSet(
    "SET",
    formats={
        "C": WireFormatUse("C", "CWF", CwfFormat()),
        "T": WireFormatUse("T", "TDS", TdsFormat()),
        "X": WireFormatUse("X", "XML", XmlFormat()),
    },
    messages={
        "M": Message(
            "M",
            Group(
                (Field("g", INNER, max_occurs=MANY, physical={"T": TdsField(repeating_element_delimiter=";")}),),
                physical=SEPARATED,
            ),
        )
    },
)

COUNTED = Group(
    (
        Field("n", SimpleType("int")),
        Field("l", SimpleType("byte")),
        Field(
            "g",
            Group((Field("x", SimpleType("string"), physical={"C": CwfField(length_reference="l")}),)),
            max_occurs=-1,
            repeat_reference="n",
        ),
    )
)
INSIDE = MessageSet(
    "INSIDE",
    formats=SET.formats,
    messages={
        "C": Message("C", Group((Field("all", COUNTED),))),
        "T": Message("T", Group((Field("all", SET.messages["M"].type),), physical=OUTER)),
    },
)


def _codec(name: str, made: MessageSet = SET, message: str = "M") -> Parser:
    definition = Definition(made, made.messages[message], name)
    return Anything(wire_format_catalog.find(made.formats[name].kind).compile(definition))


def _read(parser: Parser, data: bytes) -> Element:
    return Element(parser.name, "", NAME, Part(parser, Portion(data, 0, len(data), Follow("", 273, 1208))))


def _walk(element: Element) -> int:
    return sum(1 + _walk(child) for child in element)


BODIES: dict[str, tuple[Callable[[], Parser], bytes]] = {
    "CWF": (lambda: _codec("C"), b"a" * MANY),
    "TDS": (lambda: _codec("T"), b";".join([b"a"] * MANY)),
    "MRM XML": (lambda: _codec("X"), b"<M>" + b"<g><x>a</x></g>" * MANY + b"</M>"),
    "XML": (lambda: parser_catalog.find("XML"), b"<M>" + b"<g><x>a</x></g>" * MANY + b"</M>"),
    "XMLNSC": (lambda: parser_catalog.find("XMLNSC"), b"<M>" + b"<g><x>a</x></g>" * MANY + b"</M>"),
    "JSON": (lambda: parser_catalog.find("JSON"), b"[" + b",".join([b'{"x":"a"}'] * MANY) + b"]"),
}


@pytest.mark.parametrize("name", BODIES)
def test_reading_is_paid_for(name: str) -> None:
    """Fields of a large message are made for as long as its budget lasts."""
    make, data = BODIES[name]
    parser = make()
    with spending(ALLOWED) as budget:
        budget.look()
        with pytest.raises(LimitExceeded):
            _walk(_read(parser, data))


@pytest.mark.parametrize(
    ("name", "data"),
    [("C", MANY.to_bytes(4, "big") + b"\1" + b"a" * MANY), ("T", b";".join([b"a"] * MANY))],
    ids=["CWF", "TDS"],
)
def test_reading_what_nobody_looks_into_is_paid_for(name: str, data: bytes) -> None:
    """What has to be read before the first field is known is paid for, also where no element is made of it."""
    parser = _codec(name, INSIDE, name)
    first = _read(parser, data).first_child
    assert first is not None
    assert "all" == first.name
    with spending(ALLOWED) as budget:
        budget.look()
        with pytest.raises(LimitExceeded):
            _read(parser, data).first_child  # noqa: B018


@pytest.mark.parametrize("name", [*BODIES, "dump", "copy", "validate"])
def test_writing_is_paid_for(name: str) -> None:
    """A large tree that was built is written, copied, dumped and validated for as long as the budget lasts."""
    make, data = BODIES.get(name, BODIES["XMLNSC"])
    parser = make()
    built = rebuilt(_read(parser_catalog.find("XMLNSC") if name == "XML" else parser, data), parser.name)
    wanted = Definition(SET, SET.messages["M"], "X")
    work: dict[str, Callable[[], object]] = {
        "dump": lambda: dump(built),
        "copy": lambda: copy(built),
        "validate": lambda: validate(rebuilt(_read(_codec("C"), b"a" * MANY)), wanted, values=True),
    }
    codec = parser._codec if isinstance(parser, Anything) else parser
    with spending(ALLOWED) as budget:
        budget.look()
        with pytest.raises(LimitExceeded):
            work.get(name, lambda: codec.write(built, Form(273, 1208)))()
