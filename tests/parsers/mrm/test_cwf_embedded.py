"""Messages in CWF messages: told by a field that names them, or by what is asked for."""

from __future__ import annotations

import pytest

from engine.errors import ParserException
from parsers.mrm import Mrm
from parsers.mrm.cwf.properties import CwfField
from parsers.mrm.model import Field, Group, SimpleType
from tests.parsers.mrm.records import TEMPLATE, built, embedding, field, plain, read, write

SHORT = SimpleType("string", max_length=2)
INNER = Group((), "message")
MESSAGES = {
    "One": Group((field("a", "byte"),)),
    "Two": Group((Field("b", SHORT, physical={"CWF": CwfField(length=3)}),)),
}
IDENTITY = field("kind", "string", {"length": 3}, interpret_value_as="messageIdentity")
NAMED = embedding(IDENTITY, field("inner", INNER), field("end", "byte"), **MESSAGES)
ASKED = embedding(field("kind", "byte"), INNER, field("end", "byte"), **MESSAGES)


@pytest.mark.parametrize(
    ("data", "values"),
    [
        (b"One\7\1", {"kind": "One", "inner": {"One": {"a": 7}}, "end": 1}),
        (b"TwoABC\1", {"kind": "Two", "inner": {"Two": {"b": "ABC"}}, "end": 1}),
    ],
)
def test_message_identity(data: bytes, values: dict[str, object]) -> None:
    """The message that a field names is read, and is as long as itself."""
    assert values == plain(read(NAMED, data))
    assert data == write(NAMED, built(NAMED, **values))


@pytest.mark.parametrize("mrm", [NAMED, embedding(IDENTITY, INNER, field("end", "byte"), **MESSAGES)])
def test_validated(mrm: Mrm) -> None:
    """A message in a message is valid as its own definition has it."""
    for data, wrong in ((b"One\7\1", ""), (b"TwoABC\1", "Two.b is 'ABC', and may be 2 long at most")):
        if wrong:
            with pytest.raises(ParserException, match=wrong):
                mrm.validate(read(mrm, data), TEMPLATE, values=True)
        else:
            mrm.validate(read(mrm, data), TEMPLATE, values=True)


def test_unknown_identity() -> None:
    """A name that is no message's is an error that says which there are."""
    with pytest.raises(ParserException, match=r"M\.inner: kind says that message Six is in it"):
        read(NAMED, b"Six\7\1").at("end")


def test_asked_for() -> None:
    """Where no field names it, the message that is asked for is read; the room is that of the longest."""
    tree = read(ASKED, b"\1ABC\2")
    assert tree.at("Two", "b") is not None
    assert {"kind": 1, "Two": {"b": "ABC"}, "end": 2} == plain(tree)
    assert {"kind": 1, "One": {"a": 65}, "end": 2} == plain(read(ASKED, b"\1ABC\2"))
