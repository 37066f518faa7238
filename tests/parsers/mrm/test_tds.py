"""TDS: every way to tell elements apart, read to trees and written back."""

import doctest
import importlib
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from engine.errors import ConfigurationException, ParserException
from engine.tree.element import Element
from engine.tree.fresh_rows import fresh_rows
from engine.tree.sharing import copy
from engine.tree.step import step
from parsers.mrm.model import Definition, Field, Group, Message, MessageSet, WireFormatUse
from parsers.mrm.tds import TaggedText
from parsers.mrm.tds.properties import TdsFormat
from tests.parsers.mrm.texts import ALL_DELIMITED, built, codec, complex_, group, plain, read, simple, write

TAGGED = group(
    simple("a", tag="tag1"), simple("b", tag="tag2222222"), simple("c", tag="tag333"),
    data_element_separation="taggedDelimited", group_indicator="{", group_terminator="}", delimiter="*",
    tag_data_separator=":",
)  # fmt: skip
BY_LENGTH_OF_TAG = group(
    simple("a", tag="tag11"), simple("b", tag="tag22"), simple("c", tag="tag33"),
    data_element_separation="taggedDelimited", delimiter="*", tag_length=5,
)  # fmt: skip
ALL = group(*(simple(f"d{n}", min_occurs=0) for n in range(1, 5)), **ALL_DELIMITED, delimiter="*")
NEVER = group(
    *(simple(f"d{n}", min_occurs=0) for n in range(1, 5)),
    **ALL_DELIMITED, delimiter="*", suppress_absent_element_delimiters="never",
)  # fmt: skip
REPEATING = group(
    simple("d1"), simple("d2", max_occurs=-1, repeating_element_delimiter=":"), simple("d3"),
    **ALL_DELIMITED, delimiter="*", group_indicator="{", group_terminator="}",
)  # fmt: skip
TWICE = group(simple("a", min_occurs=2, max_occurs=2), simple("b"), **ALL_DELIMITED, delimiter="*")
LENGTHS = group(
    simple("a", length=6, padding_character="0"), simple("b", length=5, min_occurs=3, max_occurs=3),
    simple("c", length=7, padding_character="0"), data_element_separation="fixedLength",
)  # fmt: skip
ENCODED = group(
    simple("a", tag="tagA"), simple("b", tag="tagB"),
    data_element_separation="taggedEncodedLength", tag_length=4, length_of_encoded_length=3,
)  # fmt: skip
SOME = group(
    simple("a", length=3), simple("b"), simple("c", length=2), simple("d"),
    data_element_separation="variableLengthElementsDelimited", delimiter=",",
)  # fmt: skip
PATTERNS = group(
    simple("a", data_pattern="[A-Z]{1,3}"), simple("b", "integer", data_pattern="[0-9]+"),
    simple("c", data_pattern="[a-z]*"), data_element_separation="useDataPattern",
)  # fmt: skip
NESTED = group(
    complex_("one", group(simple("d2"), simple("d3"), **ALL_DELIMITED, delimiter="+",
                          group_indicator="[", group_terminator="]"), tag="t2"),
    complex_("two", group(simple("d4", length=5), simple("d5", length=5), data_element_separation="fixedLength",
                          group_indicator="<", group_terminator=">"), tag="t3"),
    simple("d1", tag="t1"),
    data_element_separation="taggedDelimited", group_indicator="{", group_terminator="}", delimiter="*",
    tag_data_separator=":",
)  # fmt: skip
RECORDS = group(
    complex_("line", group(simple("name"), simple("price", "decimal"), simple("note", min_occurs=0),
                           **ALL_DELIMITED, delimiter=","),
             max_occurs=-1, repeating_element_delimiter="<CR><LF>"),
    **ALL_DELIMITED, delimiter="<CR><LF>",
)  # fmt: skip
COUNTED = group(
    simple("n", "integer", length=2), simple("item", length=3, max_occurs=-1, repeat_reference="n"),
    simple("size", "integer", length=2), simple("rest", length_reference="size"),
    data_element_separation="fixedLength",
)  # fmt: skip
CHOICE = group(
    complex_("semicolon", group(simple("x"), simple("y"), **ALL_DELIMITED, delimiter=";"),
             data_pattern="[0-9]*;[0-9]*"),
    complex_("slash", group(simple("x"), simple("y"), **ALL_DELIMITED, delimiter="/"),
             data_pattern="[0-9]*/[0-9]*"),
    composition="choice", data_element_separation="useDataPattern",
)  # fmt: skip
ENVELOPE = group(
    simple("kind", interpret_value_as="messageIdentity"),
    complex_("body", group(composition="message", data_element_separation="undefined")),
    **ALL_DELIMITED, delimiter="|",
)  # fmt: skip
INNER = {"Inner": group(simple("x"), simple("y"), **ALL_DELIMITED, delimiter="-")}
AMONG_MEMBERS = group(
    simple("kind", interpret_value_as="messageIdentity"),
    group(composition="message", group_indicator="[", group_terminator="]"),
    simple("end"),
    **ALL_DELIMITED, delimiter="|",
)  # fmt: skip


def loops(delimiter: str, **said: Any) -> Group:
    """An order whose lines, and their parts, are groups without a tag that repeat; each part may have two notes."""
    tagged = {"data_element_separation": "taggedDelimited", "delimiter": delimiter, "tag_data_separator": "=", **said}
    part = group(simple("part", tag="PRT"), simple("note", tag="NTE", max_occurs=2, min_occurs=0), **tagged)
    line = group(simple("item", tag="LIN"), complex_("parts", part, max_occurs=-1), **tagged)
    members = (simple("number", tag="ORD"), complex_("lines", line, max_occurs=-1), simple("end", tag="END"))
    return group(*members, **tagged)


LOOPS_TREE: list[Any] = [
    ("number", "7"),
    ("lines", [("item", "nut"), ("parts", [("part", "a"), ("note", "x"), ("note", "y")]), ("parts", [("part", "b")])]),
    ("lines", [("item", "nail"), ("parts", [("part", "c"), ("note", "z")])]),
    ("end", "2"),
]
SEGMENT = group(simple("text"), **ALL_DELIMITED, group_terminator="!")
WITHOUT_DELIMITER = group(
    complex_("loop", group(complex_("a", SEGMENT, tag="A"), data_element_separation="taggedDelimited"), max_occurs=-1),
    complex_("z", SEGMENT, tag="Z"),
    data_element_separation="taggedDelimited",
    tag_data_separator="=",
)


PAIR = group(simple("x", length=2), simple("y", length=1), data_element_separation="fixedLength")
ROWS = group(  # rows of two kinds: each of the first begins a record, to which one of the other may belong
    complex_(
        "record",
        group(
            complex_("first", PAIR, tag="10"), complex_("second", PAIR, tag="11", min_occurs=0),
            data_element_separation="taggedDelimited", delimiter="<LF>", tag_length=2,
        ),
        max_occurs=-1,
    ),
    **ALL_DELIMITED, delimiter="<LF>", group_terminator="<LF>",
)  # fmt: skip
PARAGRAPHS = group(
    group(simple("title"), **ALL_DELIMITED, delimiter="<LF>", group_terminator="<LF>"),
    group(simple("by"), simple("on"), **ALL_DELIMITED, delimiter="<LF>", group_terminator="<LF>"),
    complex_(
        "table",
        group(
            simple("name"), simple("row", max_occurs=-1),
            **ALL_DELIMITED, delimiter="<LF>", group_indicator="BEGIN ", group_terminator="<LF>END",
        ),
        max_occurs=-1, repeating_element_delimiter="<LF><LF>",
    ),
    **ALL_DELIMITED, delimiter="<LF>",
)  # fmt: skip
ALIKE = group(
    simple("a"), complex_("g", group(*(simple(name, min_occurs=0) for name in "bcd"), **ALL_DELIMITED, delimiter="*")),
    simple("e"), **ALL_DELIMITED, delimiter="*",
)  # fmt: skip
UP_TO_FIVE = simple("b", min_occurs=0, max_occurs=5, repeating_element_delimiter=":")
IN_A_ROW = group(
    simple("a"), simple("b", length=2, min_occurs=2, max_occurs=2), simple("c"),
    data_element_separation="variableLengthElementsDelimited", delimiter=",",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A text, its tree, and what is written for the tree where that is not the text itself."""

    content: Group
    text: str
    tree: list[Any]
    written: str = ""
    settings: TdsFormat = field(default_factory=TdsFormat)
    others: dict[str, Group] = field(default_factory=dict)


CASES = {
    "tagged with a separator": Case(
        TAGGED, "{tag1:data1*tag2222222:data2*tag333:data3}", [("a", "data1"), ("b", "data2"), ("c", "data3")]
    ),
    "tagged by the length of tags": Case(
        BY_LENGTH_OF_TAG, "tag11data1*tag22data2*tag33data3", [("a", "data1"), ("b", "data2"), ("c", "data3")]
    ),
    "tags in any order, some absent": Case(
        TAGGED, "{tag333:z*tag1:x}", [("c", "z"), ("a", "x")], "{tag1:x*tag333:z}"
    ),
    "groups without tags, in one another": Case(
        loops("/"), "ORD=7/LIN=nut/PRT=a/NTE=x/NTE=y/PRT=b/LIN=nail/PRT=c/NTE=z/END=2", LOOPS_TREE
    ),
    "groups without tags whose elements end themselves": Case(
        WITHOUT_DELIMITER, "A=x!A=y!Z=z!",
        [("loop", [("a", [("text", "x")])]), ("loop", [("a", [("text", "y")])]), ("z", [("text", "z")])],
        settings=TdsFormat(tag_data_separator="="),
    ),
    "rows that belong together, by their tags": Case(
        ROWS, "10abc\n10def\n11ghi\n10jkl\n",
        [("record", [("first", [("x", "ab"), ("y", "c")])]),
         ("record", [("first", [("x", "de"), ("y", "f")]), ("second", [("x", "gh"), ("y", "i")])]),
         ("record", [("first", [("x", "jk"), ("y", "l")])])],
    ),
    "a tag more often than the model says": Case(TAGGED, "{tag1:x*tag1:y}", [("a", "x"), ("a", "y")]),
    "paragraphs, with blank lines as terminators": Case(
        PARAGRAPHS, "T\n\nann\ntoday\n\nBEGIN one\nr1\nr2\nEND\n\nBEGIN two\nr3\nEND",
        [("title", "T"), ("by", "ann"), ("on", "today"), ("table", [("name", "one"), ("row", "r1"), ("row", "r2")]),
         ("table", [("name", "two"), ("row", "r3")])],
    ),
    "delimiters as those around": Case(
        ALIKE, "1*2*3*4*5", [("a", "1"), ("g", [("b", "2"), ("c", "3"), ("d", "4")]), ("e", "5")]
    ),
    "delimiters as those around, some absent": Case(ALIKE, "1*2***5", [("a", "1"), ("g", [("b", "2")]), ("e", "5")]),
    "delimiters as those around, all absent": Case(ALIKE, "1****5", [("a", "1"), ("e", "5")]),
    "absent occurrences whose delimiters are never left out": Case(
        group(simple("a"), UP_TO_FIVE, simple("c"), **ALL_DELIMITED, delimiter="*",
              suppress_absent_element_delimiters="never"),
        "1*x::::*z", [("a", "1"), ("b", "x"), ("c", "z")],
    ),
    "rows without a delimiter of their own": Case(
        group(simple("row", max_occurs=-1), **ALL_DELIMITED, delimiter="<LF>"), "a\n\nb\n",
        [("row", "a"), ("row", "b")], "a\nb",
    ),
    "occurrences with a length, in a row": Case(
        IN_A_ROW, "x,aabby", [("a", "x"), ("b", "aa"), ("b", "bb"), ("c", "y")]
    ),
    "a tag that the model does not know": Case(TAGGED, "{tag1:x*new:y}", [("a", "x"), ("new", "y")]),
    "all delimited": Case(ALL, "w*x*y*z", [("d1", "w"), ("d2", "x"), ("d3", "y"), ("d4", "z")]),
    "one in the middle absent": Case(ALL, "w**y*z", [("d1", "w"), ("d3", "y"), ("d4", "z")]),
    "the last ones absent": Case(ALL, "w*x", [("d1", "w"), ("d2", "x")]),
    "delimiters of absent ones": Case(ALL, "w*x**", [("d1", "w"), ("d2", "x")], "w*x"),
    "delimiters never left out": Case(NEVER, "w*x**", [("d1", "w"), ("d2", "x")]),
    "an element that repeats": Case(
        REPEATING, "{a*b:c:d*e}", [("d1", "a"), ("d2", "b"), ("d2", "c"), ("d2", "d"), ("d3", "e")]
    ),
    "as often as the model says": Case(TWICE, "x*y*z", [("a", "x"), ("a", "y"), ("b", "z")]),
    "fixed lengths": Case(
        LENGTHS, "data10data2data2data2data300",
        [("a", "data10"), ("b", "data2"), ("b", "data2"), ("b", "data2"), ("c", "data300")],
    ),
    "encoded lengths": Case(ENCODED, "tagA007dataAAAtagB006dataBB", [("a", "dataAAA"), ("b", "dataBB")]),
    "lengths for some": Case(SOME, "abcx,deyy", [("a", "abc"), ("b", "x"), ("c", "de"), ("d", "yy")]),
    "patterns": Case(PATTERNS, "DT31758934information", [("a", "DT"), ("b", 31758934), ("c", "information")]),
    "groups in groups": Case(
        NESTED, "{t1:Data1*t2:[Data2+Data3]*t3:<Data4Data5>}",
        [("d1", "Data1"), ("one", [("d2", "Data2"), ("d3", "Data3")]), ("two", [("d4", "Data4"), ("d5", "Data5")])],
        "{t2:[Data2+Data3]*t3:<Data4Data5>*t1:Data1}",
    ),
    "comma-separated values": Case(
        RECORDS, 'nail,0.05,"short, thin"\r\nnut,1.10',
        [("line", [("name", "nail"), ("price", Decimal("0.05")), ("note", "short, thin")]),
         ("line", [("name", "nut"), ("price", Decimal("1.10"))])],
        settings=TdsFormat(messaging_standard="CSV"),
    ),
    "counts and lengths in fields": Case(
        COUNTED, "02aaabbb04rest", [("n", 2), ("item", "aaa"), ("item", "bbb"), ("size", 4), ("rest", "rest")]
    ),
    "the first alternative whose pattern matches": Case(CHOICE, "12/34", [("slash", [("x", "12"), ("y", "34")])]),
    "a message in a message": Case(
        ENVELOPE, "Inner|p-q", [("kind", "Inner"), ("body", [("Inner", [("x", "p"), ("y", "q")])])],
        others=INNER,
    ),
    "a message among members": Case(
        AMONG_MEMBERS, "Inner|[p-q]|z", [("kind", "Inner"), ("Inner", [("x", "p"), ("y", "q")]), ("end", "z")],
        others=INNER,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_reading(case: Case) -> None:
    """A text becomes the tree that its model says."""
    assert plain(read(codec(case.content, case.settings, **case.others), case.text)) == case.tree


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_writing(case: Case) -> None:
    """A tree that was built is written as the text that means it."""
    own = codec(case.content, case.settings, **case.others)
    assert write(own, built(case.tree)) == (case.written or case.text)


class Interrupted(list[Any]):
    """A list whose first reader is interrupted behind its first item."""

    interruption: Any = None

    def __iter__(self) -> Any:
        for item in super().__iter__():
            yield item
            then, self.interruption = self.interruption, None
            if then is not None:
                then()


def test_fields_that_two_threads_look_for() -> None:
    """Who looks for a field while another thread puts the fields in order by their names finds it all the same."""
    members = [simple(f"d{n}") for n in range(100)]
    own = codec(group(*members, **ALL_DELIMITED, delimiter="*"))
    tree = read(own, "*".join(map(str, range(100))))
    one, other, found = copy(tree), copy(tree), []
    assert tree.first_child is not None
    text: Any = tree.source.source  # type: ignore[attr-defined]  # of the part of a message that it is
    text.fields = Interrupted(text.fields)
    text.fields.interruption = lambda: found.append(other.at("d99"))
    assert one.count(step("d98")) == 1
    assert [each and each.value for each in found] == ["99"]


def test_undefined_is_for_messages() -> None:
    """Only a message that an earlier field names has no separation of its own."""
    with pytest.raises(ConfigurationException, match="only a group of composition message"):
        codec(group(simple("a"), data_element_separation="undefined"))


def test_a_row_whose_columns_are_in_another_case() -> None:
    """A column that a field is called as in another case is written as that field, and counts as known."""
    row = fresh_rows(("D2", "D1"), [("b", "a")])[0]
    assert "a*b" == write(codec(ALL), row)


@pytest.mark.parametrize("name", ["scanning", "properties"])
def test_examples(name: str) -> None:
    """Every example of the module does what it shows, and there is at least one."""
    found = doctest.testmod(importlib.import_module(f"parsers.mrm.tds.{name}"))
    assert (found.attempted > 0, found.failed) == (True, 0)


def test_loops_in_loops_are_read_once() -> None:
    """What begins a loop again is read as part of it alone, however deep loops stand in one another."""
    tagged = {"data_element_separation": "taggedDelimited", "tag_data_separator": "=", "delimiter": "<EMPTY>"}
    members: list[Any] = [simple("x", min_occurs=0)]
    text = ""
    for depth in range(20):
        item = complex_("item", group(*members, **ALL_DELIMITED, delimiter=";", group_terminator="!"), tag=f"T{depth}")
        members = [complex_("loops", group(complex_("loop", group(item, **tagged), max_occurs=-1), **tagged))]
        text = f"T{depth}=!T{depth}={text}!"

    def count(element: Element) -> int:
        return (element.name == "loop") + sum(map(count, element))

    assert 40 == count(read(codec(members[0].type), text))


def test_room_for_any_number() -> None:
    """What may occur nearly without end has delimiters only where something stands behind it, and not all memory."""
    own = codec(group(simple("a"), simple("b", max_occurs=2**31 - 1), simple("c"), **ALL_DELIMITED, delimiter="*"))
    assert "1*x" == write(own, built([("a", "1"), ("b", "x")]))
    with pytest.raises(ParserException, match="what is absent takes more than"):
        write(own, built([("a", "1"), ("b", "x"), ("c", "z")]))


def test_a_group_in_itself_with_its_delimiter() -> None:
    """What is absent has delimiters down to the first group that is in itself."""
    inner = group(simple("x"), Field("self", "G", min_occurs=0), simple("y"), **ALL_DELIMITED, delimiter="*")
    content = group(simple("a"), Field("g", "G", min_occurs=0), simple("z"), **ALL_DELIMITED, delimiter="*")
    messages = {"M": Message("M", content)}
    formats = {"Text": WireFormatUse("Text", "TDS", TdsFormat())}
    made = MessageSet("SET", formats=formats, messages=messages, types={"G": inner})
    own = TaggedText(Definition(made, messages["M"], "Text"))
    assert "1****9" == write(own, built([("a", "1"), ("z", "9")]))
