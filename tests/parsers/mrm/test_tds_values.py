"""TDS: how values are spelled, what stands for NULL, and what is refused."""

import time as clock
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ConfigurationException, ParserException
from parsers.mrm.tds.properties import TdsFormat
from tests.parsers.mrm.texts import ALL_DELIMITED, LATIN, built, codec, complex_, group, plain, read, simple, write

# The kind, what TDS says of the field, its text, its value; each is read and written.
SPELLED: list[tuple[str, dict[str, Any], str, Any]] = [
    ("string", {}, "abc", "abc"),
    ("integer", {}, "42", 42),
    ("integer", {}, "-42", -42),
    ("integer", {"length": 5}, "00042", 42),
    ("integer", {"length": 5}, "-0042", -42),
    ("integer", {"length": 5, "padding_character": "SPACE"}, "   42", 42),
    ("integer", {"sign_orientation": "trailing"}, "42-", -42),
    ("integer", {"sign_orientation": "trailing", "positive_sign": "+"}, "42+", 42),
    ("integer", {"virtual_decimal_point": -3}, "7", 7000),
    ("decimal", {}, "12.50", Decimal("12.50")),
    ("decimal", {"virtual_decimal_point": 2}, "1250", Decimal("12.50")),
    ("decimal", {"precision": 3}, "1.500", Decimal("1.500")),
    ("float", {}, "1.5", 1.5),
    ("float", {}, "0.1", 0.1),
    ("boolean", {}, "1", True),
    ("boolean", {}, "0", False),
    ("date", {}, "2004-10-07", date(2004, 10, 7)),
    ("date", {"date_time_format": "yyMMdd"}, "530101", date(1953, 1, 1)),
    ("time", {}, "11:16:56", time(11, 16, 56)),
    ("dateTime", {}, "2004-10-07T11:16:56", datetime(2004, 10, 7, 11, 16, 56)),
    ("dateTime", {"date_time_format": "yyyy-MM-dd'T'HH:mm:ssZZZ"}, "2004-10-07T11:16:56+00:00",
     datetime(2004, 10, 7, 11, 16, 56, tzinfo=UTC)),
    ("gYearMonth", {}, "2004-10", date(2004, 10, 1)),
    ("binary", {"length": 2}, "\x00\xff", b"\x00\xff"),
]  # fmt: skip
# How NULL is represented, and the text of it in a field of three characters.
NULLS = [
    ({"encoding_null": "nullPadFill", "padding_character": "#"}, "###"),
    ({"encoding_null": "nullLiteralFill", "encoding_null_value": "-"}, "---"),
    ({"encoding_null": "nullLiteralValue", "encoding_null_value": "NIL"}, "NIL"),
    ({"encoding_null": "nullLogicalValue", "encoding_null_value": "999"}, "999"),
]
LINES = {**ALL_DELIMITED, "delimiter": "|"}


def one(kind: str, said: dict[str, Any], **others: Any) -> Any:
    """A message of one field, of a fixed length where it has one."""
    how = "fixedLength" if "length" in said else "allElementsDelimited"
    return group(simple("x", kind, **said, **others), data_element_separation=how, delimiter="|")


@pytest.mark.parametrize(("kind", "said", "text", "value"), SPELLED)
def test_spelling(kind: str, said: dict[str, Any], text: str, value: Any) -> None:
    """A value is read from its text and written as it."""
    own = codec(one(kind, said))
    assert plain(read(own, text)) == [("x", value)]
    assert write(own, built([("x", value)])) == text


@pytest.mark.parametrize(("said", "text"), NULLS)
def test_null(said: dict[str, Any], text: str) -> None:
    """Each representation of NULL is read as NULL, and written for it."""
    own = codec(group(simple("x", "string", length=3, nullable=True, **said), data_element_separation="fixedLength"))
    assert plain(read(own, text)) == [("x", None)]
    assert write(own, built([("x", None)])) == text


def test_empty_data_is_absent_but_for_null() -> None:
    """Nothing between delimiters is no field; where a field may be NULL and an empty text means it, it is one."""
    own = codec(group(simple("a"), simple("b", nullable=True), simple("c"), **LINES))
    assert plain(read(own, "||z")) == [("b", None), ("c", "z")]
    assert plain(read(codec(group(simple("a"), simple("b"), **LINES)), "|z")) == [("b", "z")]


REFUSED_TEXTS = [
    (group(simple("n", "integer"), **LINES), "4x", "n: '4x' cannot be read: it is no integer"),
    (group(simple("n", "integer", signed=False), **LINES), "-4", "n: '-4' cannot be read"),
    (group(simple("n", "boolean"), **LINES), "yes", "n: 'yes' cannot be read"),
    (group(simple("n", "date"), **LINES), "2004-02-30", "there is no such day"),
    (group(simple("a", length=4), data_element_separation="fixedLength"), "abc", "offset 0, at 'abc'"),
    (group(simple("a", length=2), data_element_separation="fixedLength"), "abc", "offset 2, at 'c'"),
    (group(simple("a"), **LINES), "x|y", "more elements than the group has"),
    (group(simple("a"), **LINES, group_indicator="{"), "x", "'{' must begin the group"),
    (group(complex_("g", group(simple("a"), **LINES, group_indicator="{", group_terminator="}")), **LINES), "{x",
     "'}' must end the group"),
    (group(simple("a", tag="A"), data_element_separation="taggedEncodedLength", tag_length=1,
           length_of_encoded_length=2), "A9x", "takes 2 digits"),
    (group(simple("a", tag="A"), data_element_separation="taggedEncodedLength", tag_length=1,
           length_of_encoded_length=2), "A09x", "says that it is 9 characters long, and 1 are left"),
    (group(simple("n", "integer", length=1), simple("a", length_reference="m"), data_element_separation="fixedLength"),
     "2ab", "m, which says the length of a field, does not stand in front of it"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "text", "why"), REFUSED_TEXTS)
def test_refused_texts(content: Any, text: str, why: str) -> None:
    """A text that is not as its model says is refused, with the place and the reason."""
    with pytest.raises(ParserException) as raised:
        plain(read(codec(content), text))
    assert why in str(raised.value)


REFUSED_TREES = [
    (group(simple("a"), **LINES), [("a", "x|y")], "holds the markup '|'"),
    (group(simple("a", length=2), data_element_separation="fixedLength"), [("a", "xyz")], "room for 2 characters"),
    (group(simple("a", length=2), data_element_separation="fixedLength"), [], "a is not in the tree"),
    (group(simple("a"), **LINES), [("a", "x"), ("b", "y")], "no field called b in its model"),
    (group(simple("a"), **LINES), [("a", "x"), ("a", "y")], "has 2 of a, which may stand there 1 times"),
    (group(simple("a", "integer"), **LINES), [("a", "x")], "it takes a integer"),
    (group(simple("a"), **LINES), [("a", None)], "it may not be NULL"),
]


@pytest.mark.parametrize(("content", "tree", "why"), REFUSED_TREES)
def test_refused_trees(content: Any, tree: list[Any], why: str) -> None:
    """A tree that its model cannot write is refused; nothing of it is lost unsaid."""
    with pytest.raises(ParserException) as raised:
        write(codec(content), built(tree))
    assert why in str(raised.value)


def test_strict_numbers() -> None:
    """With strict checking, blanks around numbers and more decimals than the model has are refused."""
    content = group(simple("n", "decimal", precision=2), **LINES)
    assert plain(read(codec(content), " 1.125")) == [("n", Decimal("1.125"))]
    for text in (" 1.12", "1.125"):
        with pytest.raises(ParserException, match="cannot be read"):
            plain(read(codec(content, TdsFormat(strict_numeric_checking="true")), text))


def test_defaults_fill_fixed_lengths() -> None:
    """An absent field of fixed length is written as its default."""
    own = codec(group(simple("a", length=4, default="x"), simple("n", "integer", length=3, default="7"),
                      data_element_separation="fixedLength"))  # fmt: skip
    assert write(own, built([])) == "x   007"


def test_long_searches_end() -> None:
    """A data pattern that would search for ever is an error, and soon."""
    own = codec(group(simple("a", data_pattern="(a|aa)+$"), data_element_separation="useDataPattern"))
    started = clock.monotonic()
    with pytest.raises(ParserException, match="searches for more than"):
        read(own, "a" * 40 + "b").first_child  # noqa: B018  # looking is what reads
    assert clock.monotonic() - started < 10


def test_a_pattern_that_is_none() -> None:
    """A data pattern that is no regular expression is refused when the set is deployed."""
    with pytest.raises(ConfigurationException, match="is no regular expression"):
        codec(group(simple("a", data_pattern="("), data_element_separation="useDataPattern"))


WORDS = st.text(st.characters(min_codepoint=32, max_codepoint=255), min_size=1, max_size=8)
ESCAPED = TdsFormat(escape_character="?")
QUOTED = TdsFormat(quote_character='"')


@given(st.lists(st.lists(WORDS, min_size=2, max_size=2), min_size=1, max_size=5), st.sampled_from([ESCAPED, QUOTED]))
def test_any_text_comes_back(lines: list[list[str]], settings: TdsFormat) -> None:
    """Whatever stands in fields, markup too, is read as it was written."""
    line = group(simple("a"), simple("b"), **ALL_DELIMITED, delimiter=",")
    own = codec(group(complex_("line", line, max_occurs=-1, repeating_element_delimiter=";"), **ALL_DELIMITED,
                      delimiter=";"), settings)  # fmt: skip
    tree = [("line", [("a", one), ("b", other)]) for one, other in lines]
    assert plain(read(own, write(own, built(tree)))) == tree


@given(st.text("tag12:*{}ab\x00", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text does more harm than a ParserException."""
    fields = simple("a", tag="tag1"), simple("b", "integer", tag="tag2")
    own = codec(group(*fields, delimiter="*", tag_data_separator=":", group_indicator="{", group_terminator="}"))
    with suppress(ParserException):
        plain(read(own, text))


def test_lengths_in_bytes() -> None:
    """A length in bytes counts what characters take in the CCSID of the message."""
    fields = simple("a", length=3, length_units="bytes"), simple("b", length=1)
    own = codec(group(*fields, data_element_separation="fixedLength"))
    assert plain(read(own, "éxy", 1208)) == [("a", "éx"), ("b", "y")]
    assert plain(read(own, "éxzy", LATIN)) == [("a", "éxz"), ("b", "y")]


@pytest.mark.parametrize("kind", ["integer", "decimal", "double"])
@pytest.mark.parametrize("text", ["1_000", "\u0661\u0662"])
def test_texts_that_only_python_takes_for_numbers(kind: str, text: str) -> None:
    """A text is written into a number's field where ASCII digits say one."""
    with pytest.raises(ParserException, match=f"it takes a {kind}"):
        write(codec(group(simple("a", kind), **ALL_DELIMITED, delimiter=",")), built([("a", text)]))
