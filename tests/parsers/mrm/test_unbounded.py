"""Messages and models of a few bytes that would take all memory or time: they are refused, and soon."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from engine.errors import BrokerError, ConfigurationException, ParserException
from engine.parser import Form
from engine.tree.element import Element
from engine.tree.source import NAME
from parsers.importers.copybook import read_text
from parsers.mrm import problems_of, validate
from parsers.mrm.cwf import CwfCodec
from parsers.mrm.cwf.layout import MOST_FIELDS
from parsers.mrm.cwf.properties import CwfField, CwfFormat
from parsers.mrm.model import Codec, Definition, Field, Group, Message, MessageSet, SimpleType, WireFormatUse
from parsers.mrm.tds import TaggedText
from parsers.mrm.tds.properties import TdsField, TdsFormat, TdsGroup
from parsers.records.framing import Cut, Framing
from parsers.records.json_fields import coding_of
from parsers.records.layout_table import model_data
from parsers.records.record_file import Choices, record_file
from tests.limits import bounded
from tests.parsers.mrm.texts import built, part_of
from tests.parsers.mrm.texts import read as read_text_message

MANY = 2**31 - 1


def cwf(*members: Any, types: dict[str, Group] | None = None, **messages: Group) -> Codec:
    all_messages = {name: Message(name, group) for name, group in {"M": Group(members), **messages}.items()}
    formats = {"C": WireFormatUse("C", "CWF", CwfFormat())}
    made = MessageSet("SET", formats=formats, messages=all_messages, types=types or {})
    return CwfCodec(Definition(made, made.messages["M"], "C"))


def stored(name: str, kind: str = "string", **said: Any) -> Field:
    own = {key: said.pop(key) for key in ("max_occurs", "repeat_reference", "default") if key in said}
    return Field(name, SimpleType(kind), physical={"C": CwfField(**said)}, **own)  # type: ignore[arg-type]


COUNT, LENGTH = stored("n", "int"), stored("l", "byte")
EMPTY = stored("x", length_reference="l")
POISON: list[tuple[Any, ...]] = [
    (COUNT, LENGTH, stored("x", length_reference="l", max_occurs=-1, repeat_reference="n")),
    (COUNT, LENGTH, Field("g", Group((EMPTY,)), max_occurs=-1, repeat_reference="n")),
    (COUNT, LENGTH, Field("g", Group((Field("h", Group((EMPTY,)), max_occurs=MANY),)), max_occurs=MANY)),
]


@pytest.mark.parametrize("members", POISON)
def test_a_record_of_empty_fields(members: tuple[Any, ...]) -> None:
    """A record of 5 bytes that says that it has 2,147,483,647 empty fields is refused."""
    own = cwf(*members)
    with bounded(), pytest.raises(ParserException, match="look at the counts"):
        list(_opened(own, bytes.fromhex("7fffffff00")))


def _opened(own: Codec, data: bytes) -> Element:
    return Element("MRM", "", NAME, part_of(own, data))


@pytest.mark.parametrize(
    "members",
    [
        (COUNT, stored("x", length=1, default="a", max_occurs=-1, repeat_reference="n")),
        (COUNT, LENGTH, stored("x", length_reference="l", default="", max_occurs=-1, repeat_reference="n")),
    ],
)
def test_a_record_of_defaults(members: tuple[Any, ...]) -> None:
    """A count in a tree does not bring any number of defaults into a record."""
    with bounded(), pytest.raises(ParserException, match="look at the counts"):
        cwf(*members).write(built([("n", MANY), ("l", 0)]), Form(273, 1208))


OPTIONS = Group((stored("x", length=1), stored("t", length=1, max_occurs=MANY)), "choice")
LONG: list[tuple[tuple[Any, ...], list[Any]]] = [
    ((OPTIONS,), [("x", "a")]),
    ((stored("x", length=MANY),), [("x", "a")]),
    ((stored("x", length=MANY, default="a"),), []),
    ((COUNT, stored("x", length_reference="n")), [("n", MANY), ("x", "a")]),
    ((stored("x", length=1, leading_skip_count=MANY),), [("x", "a")]),
]


@pytest.mark.parametrize(("members", "values"), LONG)
def test_a_record_longer_than_any_message(members: tuple[Any, ...], values: list[Any]) -> None:
    """What a model or a length in the tree fills up is refused where no message is so long."""
    with bounded(), pytest.raises(BrokerError, match="104,857,600"):
        cwf(*members).write(built(values), Form(273, 1208))


@pytest.mark.parametrize("said_length", [{"length": MANY}, {"length_reference": "n"}])
def test_a_text_longer_than_any_message(said_length: dict[str, Any]) -> None:
    """A field of text is not filled up to a length that no message has."""
    own = tds(said("n", "integer", length=10), said("x", **said_length))
    with bounded(), pytest.raises(ParserException, match="104,857,600"):
        own.write(built([("n", MANY), ("x", "a")]), Form(273, 819))


def _doubling(levels: int) -> dict[str, Group]:
    fixed = {"T": TdsGroup(data_element_separation="fixedLength")}
    leaf = Field("x", SimpleType("int"), default="1", physical={"T": TdsField(length=1)})
    types = {"T0": Group((leaf,), physical=fixed)}
    for level in range(1, levels + 1):
        pair = tuple(Field(name, f"T{level - 1}") for name in "ab")
        types[f"T{level}"] = Group(pair, physical=fixed)
    return types


def _in_formats(levels: int) -> MessageSet:
    formats = {"C": WireFormatUse("C", "CWF", CwfFormat()), "T": WireFormatUse("T", "TDS", TdsFormat())}
    return MessageSet("SET", formats=formats, types=_doubling(levels), messages={"M": Message("M", f"T{levels}")})


@pytest.mark.parametrize("levels", [16, 24, 60])
def test_types_that_hold_the_next_twice(levels: int) -> None:
    """A model of a few lines that means any number of fields is refused where each of them takes memory."""
    made = _in_formats(levels)
    definition = Definition(made, made.messages["M"], "C")
    with bounded():
        with pytest.raises(ConfigurationException, match=f"{MOST_FIELDS:,}"):
            CwfCodec(definition)
        with pytest.raises(ConfigurationException, match=f"{MOST_FIELDS:,}"):
            model_data(made)
        own = TaggedText(Definition(made, made.messages["M"], "T"))
        with pytest.raises(ParserException):
            read_text_message(own, "123").first_child  # type: ignore[arg-type]  # noqa: B018


def test_absent_fields_of_such_types() -> None:
    """The defaults of such a model are written as far as a message has room for them."""
    made = _in_formats(60)
    own = TaggedText(Definition(made, made.messages["M"], "T"))
    with bounded(), pytest.raises(ParserException, match="104,857,600"):
        own.write(Element("MRM"), Form(273, 819))


def test_messages_in_messages() -> None:
    """Messages that hold any other message of their set mean as many fields as there are orders of them."""
    inner = Group((), "message")
    messages = {f"M{number}": Group((stored("t", length=1), inner)) for number in range(12)}
    with bounded(), pytest.raises(ConfigurationException, match=f"{MOST_FIELDS:,}"):
        cwf(stored("t", length=1), inner, LEAF=Group((stored("t", length=1),)), **messages)


def test_a_group_without_bytes() -> None:
    """A group that takes no bytes does not repeat: nothing would say how often."""
    with pytest.raises(ConfigurationException, match="takes no bytes"):
        cwf(Field("g", Group(()), max_occurs=MANY))


def tds(*members: Any, separation: str = "fixedLength", composition: str = "sequence") -> Codec:
    own = Group(members, composition, physical={"T": TdsGroup(data_element_separation=separation)})  # type: ignore[arg-type]
    formats = {"T": WireFormatUse("T", "TDS", TdsFormat())}
    made = MessageSet("SET", formats=formats, messages={"M": Message("M", own)})
    return TaggedText(Definition(made, made.messages["M"], "T"))


def said(name: str, kind: str = "string", **what: Any) -> Field:
    own = {key: what.pop(key) for key in ("max_occurs", "repeat_reference") if key in what}
    return Field(name, SimpleType(kind), physical={"T": TdsField(**what)}, **own)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("separation", "kind"),
    [("fixedLength", "simple"), ("fixedLength", "complex"), ("variableLengthElementsDelimited", "simple")],
)
def test_a_text_of_empty_fields(separation: str, kind: str) -> None:
    """A text that says that it has 999,999,999 empty fields is refused."""
    often: dict[str, Any] = {"max_occurs": -1, "repeat_reference": "n"}
    field = said("x", length_reference="l", **often)
    if kind == "complex":
        field = Field("g", Group((said("x", length_reference="l"),)), **often)
    own = tds(said("n", "integer", length=9), said("l", "integer", length=1), field, separation=separation)
    with bounded(), pytest.raises(ParserException, match="look at its counts"):
        read_text_message(own, "9999999990").first_child  # type: ignore[arg-type]  # noqa: B018


def test_choices_in_choices() -> None:
    """Choices whose alternatives all begin alike are not tried without end."""
    group = Group((said("x", length=1),))
    for _ in range(24):
        both = tuple(Group((Field(name, group), said("e", length=1))) for name in "ab")
        group = Group(both, "choice", physical={"T": TdsGroup(data_element_separation="fixedLength")})
    with bounded(), pytest.raises(ParserException):
        read_text_message(tds(Field("c", group)), "1").first_child  # type: ignore[arg-type]  # noqa: B018


def test_patterns_of_one_message() -> None:
    """The pattern facets of all fields of a message share one allowance of time."""
    slow = SimpleType("string", pattern="(a|aa)+b")
    content = Group(tuple(Field(f"f{number}", slow) for number in range(50)))
    made = MessageSet("SET", formats={}, messages={"M": Message("M", content)})
    tree = built([(f"f{number}", "a" * 50) for number in range(50)])
    with bounded(seconds=4), pytest.raises(ParserException, match="search for 1 s in all"):
        validate(tree, Definition(made, made.messages["M"], ""), values=True)


def test_numbers_of_any_size() -> None:
    """A facet of digits is held against a number without writing all of its zeros."""
    with bounded():
        found = list(problems_of(Decimal("1E+999999999"), SimpleType("decimal", total_digits=3)))
    assert ["may have 3 digits"] == [text.partition("and ")[2] for text in found]


TABLE = """
       01 R.
          05 N PIC 9(8).
          05 M PIC 9.
          05 T OCCURS 0 TO 99999999 DEPENDING ON N.
             10 X PIC X OCCURS 0 TO 9 DEPENDING ON M.
"""


def test_a_table_of_empty_groups() -> None:
    """A record of a copybook that says that it has 99,999,999 groups of nothing is refused."""
    file = record_file(read_text("c.cpy", TABLE), Framing(), coding_of(819), Choices())
    with bounded(), pytest.raises(BrokerError, match="take no bytes"):
        file.decode(Cut(1, 0, b"999999990", b"999999990"))


@pytest.mark.parametrize("value", [{"N": 99999999, "M": 0}, {"N": 99999999, "M": 9}])
def test_a_table_of_nothing_given(value: dict[str, Any]) -> None:
    """A count in JSON does not bring any number of empty occurrences into a record."""
    file = record_file(read_text("c.cpy", TABLE), Framing(), coding_of(819), Choices())
    with bounded(), pytest.raises(BrokerError, match="look at its count"):
        file.encode(value, 1)


@pytest.mark.parametrize("kind", ["int", "float"])
def test_a_number_whose_length_another_field_says(kind: str) -> None:
    """A number whose type says how long it is has that length, aligned or not."""
    own = cwf(LENGTH, stored("x", kind, length_reference="l", byte_alignment=4), stored("y", "byte"))
    tree = built([("l", 1), ("x", 7), ("y", 2)])
    size = 4 + 4 + 1
    assert size == len(own.write(tree, Form(273, 1208)))


def test_aligned_groups_without_number() -> None:
    """A table of aligned groups takes no memory before there is a message, however often it occurs."""
    with bounded():
        inner = Group((stored("x", "int", byte_alignment=4),))
        cwf(Field("g", Group((Field("h", inner, max_occurs=MANY),)), max_occurs=MANY))


def test_absent_groups_without_number() -> None:
    """A table of groups that take no text is not written without end."""
    own = tds(Field("g", Group(()), max_occurs=MANY))
    with bounded(), pytest.raises(ParserException, match="absent"):
        own.write(Element("MRM"), Form(273, 819))


def test_many_absent_occurrences_without_default() -> None:
    """Of a field that occurs any number of times, is not there and has no default, the error is that it is missing."""
    own = cwf(COUNT, stored("x", "byte", max_occurs=MANY))
    with bounded(), pytest.raises(ParserException, match="x is missing, and has no default"):
        own.write(built([("n", 1)]), Form(273, 819))


def test_a_length_that_occurs_twice() -> None:
    """Of a field that occurs more than once the first says the length of another, in writing as in reading."""
    own = cwf(stored("l", "byte", max_occurs=2), stored("x", length_reference="l"))
    data = own.write(built([("l", 3), ("l", 1), ("x", "abc")]), Form(273, 1208))
    assert b"\3\1abc" == data
    assert ["3", "1", "abc"] == [str(child.value) for child in _opened(own, data)]


@pytest.mark.parametrize("data", ["7fc00000", "7f800000", "3fc00000", "bf800000"])
def test_counts_that_are_no_numbers(data: str) -> None:
    """A float that says how often a field occurs must be a whole number: NaN and infinity are errors of the message."""
    own = cwf(stored("n", "float", length=4), stored("x", "byte", max_occurs=-1, repeat_reference="n"))
    with pytest.raises(ParserException, match="whole number"):
        list(_opened(own, bytes.fromhex(data)))
