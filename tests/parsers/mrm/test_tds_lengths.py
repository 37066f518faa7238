"""TDS: lengths and counts, which are the same in writing as in reading, whatever the CCSID and the rest of the set."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import ParserException
from engine.parser import Form
from engine.tree.element import Element
from engine.tree.source import NAME
from parsers.mrm.model import Group
from parsers.mrm.tds import TaggedText
from parsers.mrm.tds.properties import TdsFormat
from tests.parsers.mrm.texts import built, codec, complex_, group, part_of, plain, simple

FIXED: dict[str, Any] = {"data_element_separation": "fixedLength"}
UTF_8, LATIN, JAPANESE = 1208, 819, 943
NUMBER = simple("n", "int", physical_type="integer", tag="N")
BINARY = group(NUMBER, **FIXED)


def read(own: TaggedText, data: bytes, ccsid: int = UTF_8) -> Element:
    part = part_of(own, data, ccsid)
    return Element("MRM", "", NAME, part)


def write(own: TaggedText, tree: list[Any], ccsid: int = UTF_8) -> bytes:
    return own.write(built(tree), Form(273, ccsid))


TEXTS = (simple("a", length=3, tag="A"), simple("b", length=3, tag="B"))
ENCODED = {"data_element_separation": "taggedEncodedLength", "tag_length": 1, "length_of_encoded_length": 2}

# The group of the message, and what is written of a and b before what is binary.
GROUPS: list[tuple[Group, dict[str, Group], str]] = [
    (group(*TEXTS, NUMBER, **FIXED), {}, "é  xyz"),
    (group(*TEXTS, **FIXED), {}, "é  xyz"),
    (group(*TEXTS, **FIXED), {"B": BINARY}, "é  xyz"),
    (group(*TEXTS, data_element_separation="taggedFixedLength", tag_length=1), {"B": BINARY}, "Aé  Bxyz"),
    (group(simple("a", tag="A"), simple("b", tag="B"), **ENCODED), {"B": BINARY}, "A01éB03xyz"),
    (group(simple("a", tag="A"), simple("b", tag="B"), **ENCODED), {}, "A01éB03xyz"),
    (
        group(simple("a", data_pattern="."), simple("b", data_pattern="..."), data_element_separation="useDataPattern"),
        {"B": BINARY},
        "éxyz",
    ),
    (
        group(
            simple("s", "integer", length=1),
            simple("a", length_reference="s"),
            simple("b", length=3),
            **FIXED,
        ),
        {"B": BINARY},
        "1éxyz",
    ),
    (
        group(complex_("g", group(TEXTS[0], **FIXED), length=3), TEXTS[1], **FIXED),
        {"B": BINARY},
        "é  xyz",
    ),
    (group(*TEXTS, NUMBER, data_element_separation="taggedFixedLength", tag_length=1), {}, "Aé  BxyzN"),
    (group(simple("a", tag="A"), simple("b", tag="B"), NUMBER, **ENCODED), {}, "A01éB03xyzN04"),
    (
        group(
            group(
                simple("a", data_pattern="."), simple("b", data_pattern="..."), data_element_separation="useDataPattern"
            ),
            NUMBER,
            **FIXED,
        ),
        {},
        "éxyz",
    ),
    (
        group(simple("s", "integer", length=1), simple("a", length_reference="s"), TEXTS[1], NUMBER, **FIXED),
        {},
        "1éxyz",
    ),
    (group(complex_("g", group(TEXTS[0], **FIXED), length=3), TEXTS[1], NUMBER, **FIXED), {}, "é  xyz"),
]


def _values(tree: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in tree:
        found |= _values(value) if isinstance(value, list) else {name: value}
    return found


@pytest.mark.parametrize(("content", "others", "text"), GROUPS)
def test_characters_are_characters(content: Group, others: dict[str, Group], text: str) -> None:
    """A length counts characters in reading and in writing, whether or not the set has fields that are no text."""
    own = codec(content, **others)
    tail: list[Any] = [("n", 7)] if NUMBER in content.members else []
    data = text.encode() + b"\0\0\0\7" * len(tail)
    found = plain(read(own, data))
    values = _values(found)
    assert ("é", "xyz") == (values["a"].rstrip(), values["b"])
    assert data == write(own, found)


def test_bytes_are_bytes() -> None:
    """A length in bytes counts bytes in both directions, in sets with and without fields that are no text."""
    content = group(*(simple(name, length=3, length_units="bytes") for name in "ab"), **FIXED)
    for own in (codec(content), codec(content, B=BINARY)):
        data = write(own, [("a", "é"), ("b", "xyz")])
        assert "é xyz".encode() == data
        assert [("a", "é "), ("b", "xyz")] == plain(read(own, data))
        with pytest.raises(ParserException, match="room for 3 bytes"):
            write(own, [("a", "éé"), ("b", "xyz")])


def test_cut_to_bytes() -> None:
    """Text that is cut to a length in bytes is cut between characters."""
    content = group(simple("a", length=3, length_units="bytes"), **FIXED)
    assert "é ".encode() == write(codec(content, TdsFormat(truncate_on_output=True)), [("a", "éé")])


def test_markup_of_several_bytes() -> None:
    """Markup that takes several bytes is markup too where the set has fields that are no text."""
    content = group(simple("a", tag="ü"), simple("b", tag="ä"), delimiter="¬", tag_data_separator="§")
    own = codec(content, B=BINARY)
    data = "ü§é¬ä§x".encode()
    assert [("a", "é"), ("b", "x")] == plain(read(own, data))
    assert data == write(own, [("a", "é"), ("b", "x")])


def test_no_characters_that_look_like_markup() -> None:
    """Beside fields that are no text, a CCSID is refused whose characters have bytes that are others by themselves."""
    own = codec(group(simple("a"), NUMBER, data_element_separation="allElementsDelimited", delimiter="|"))
    with pytest.raises(ParserException, match="943"):
        plain(read(own, "ポ|".encode("cp932") + b"\0\0\0\7", JAPANESE))


SAID = simple("s", "integer", length=1)
LONG = group(SAID, simple("a", length_reference="s"), simple("b", length=2), **FIXED)
OFTEN = group(SAID, simple("a", length=1, repeat_reference="s", max_occurs=9), simple("b", length=2), **FIXED)
COUNTS: list[tuple[Group, list[Any], str]] = [
    (LONG, [("s", 3), ("a", "abc"), ("b", "xy")], "3abcxy"),
    (LONG, [("s", 5), ("a", "abc"), ("b", "xy")], "5abc  xy"),
    (LONG, [("s", 2), ("a", "abc"), ("b", "xy")], "error"),
    (LONG, [("s", 0), ("a", "abc"), ("b", "xy")], "error"),
    (OFTEN, [("s", 2), ("a", "a"), ("a", "b"), ("b", "xy")], "2abxy"),
    (OFTEN, [("s", 3), ("a", "a"), ("b", "xy")], "error"),
    (OFTEN, [("s", 1), ("a", "a"), ("a", "b"), ("b", "xy")], "error"),
]


@pytest.mark.parametrize(("content", "tree", "text"), COUNTS)
def test_lengths_and_counts_that_fields_say(content: Group, tree: list[Any], text: str) -> None:
    """What is written is as long and occurs as often as the field before it says, or is refused."""
    own = codec(content)
    if text != "error":
        assert text == write(own, tree, LATIN).decode()
        return
    with pytest.raises(ParserException):
        write(own, tree, LATIN)


def test_null_of_a_boolean_has_its_length() -> None:
    """A boolean that is NULL takes the length of its field, so that what follows is read where it stands."""
    own = codec(
        group(simple("a", "boolean", length=5, nullable=True), simple("b", length=1), **FIXED),
        TdsFormat(boolean_true_representation="true", boolean_false_representation="false"),
    )
    data = write(own, [("a", None), ("b", "x")], LATIN)
    assert (6, [("a", None), ("b", "x")]) == (len(data), plain(read(own, data, LATIN)))


TAGGED = group(
    simple("a", tag="A"), simple("b", tag="B", min_occurs=0), tag_data_separator=":", delimiter="+", group_indicator="{"
)


@pytest.mark.parametrize("text", ["{?", "{A:1+?", "{B+?:+A", "{A:1+X:2"])
def test_tags_keep_their_form(text: str) -> None:
    """A tag that nothing separates from data, known or not, is written as it was read when another field changes."""
    own = codec(TAGGED)
    tree = read(own, text.encode(), LATIN)
    assert plain(tree)
    tree.add("new", "y")
    kept = sorted(text.removeprefix("{").split("+"))
    assert sorted([*kept, "new:y"]) == sorted(own.write(tree, Form(273, LATIN)).decode().removeprefix("{").split("+"))


@pytest.mark.parametrize("name", ["a:b", "a+b", ""])
def test_names_that_are_no_tags(name: str) -> None:
    """What the model does not know is refused where its name would be read as something else."""
    own = codec(TAGGED)
    with pytest.raises(ParserException, match="cannot be a tag"):
        write(own, [("a", "1"), (name, "2")], LATIN)


def test_lengths_are_digits() -> None:
    """A length that is no digits is an error of the message, whatever else counts as a blank."""
    own = codec(group(simple("a", tag="N"), **ENCODED))
    with pytest.raises(ParserException, match="takes 2 digits"):
        plain(read(own, b"N0\x1c", LATIN))


def test_a_choice_that_fails_leaves_nothing() -> None:
    """An alternative that cannot be read leaves no trace in how the next one is."""
    first = group(complex_("g", group(simple("x", length=2), simple("y", length=9), **FIXED)))
    second = group(simple("z", length=3), **FIXED)
    own = codec(group(first, second, composition="choice", **FIXED))
    assert [("z", "abc")] == plain(read(own, b"abc", LATIN))


def test_what_fills_a_complex_field_up() -> None:
    """A complex field that has a length keeps it when another field changes, and what fills it up with it."""
    inner = complex_("g", group(simple("x", length=2), **FIXED), length=5)
    own = codec(group(inner, simple("b", length=3), **FIXED))
    tree = read(own, b"ab   xyz", LATIN)
    found = tree.at("b")
    assert found is not None
    found.value = "uvw"
    assert b"ab   uvw" == own.write(tree, Form(273, LATIN))


@pytest.mark.parametrize("ccsid", [JAPANESE, 1200, 939])
def test_a_message_of_text_alone_has_any_ccsid(ccsid: int) -> None:
    """A message without fields that are no text is of any CCSID, whatever other messages and types the set has."""
    own = codec(group(*TEXTS, **FIXED), B=BINARY)
    assert "日  xyz" == "".join(
        field.value for field in read(own, write(own, [("a", "日"), ("b", "xyz")], ccsid), ccsid)
    )
    with pytest.raises(ParserException, match=f"cannot be of CCSID {ccsid}"):
        write(codec(group(complex_("g", BINARY), **FIXED), B=BINARY), [("g", [("n", 7)])], ccsid)
