"""MQRFH: pairs of names and values in a string."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ParserException
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step
from parsers.mqrfh import _Pairs
from tests.parsers.samples import BIG, FORMS, LITTLE, Writer, built, tree, write

FIXED = {"Version": 1, "Format": "MQSTR   ", "Encoding": 546, "CodedCharSetId": 1208, "Flags": 0}


def mqrfh(string: str, encoding: int, ccsid: int) -> bytes:
    """A header whose string is filled up to a multiple of four with blanks."""
    w = Writer(encoding, ccsid)
    size = len(string) + -len(string) % 4
    head = w.text("RFH ", 4) + w.longs(1, 32 + size, 546, 1208) + w.text("MQSTR", 8) + w.longs(0)
    return head + w.text(string, size)


def pairs(element: Element) -> list[tuple[str, object]]:
    return [(child.name, child.value) for child in element][len(FIXED) :]


STRINGS = [
    ("", []),
    ("A b", [("A", "b")]),
    ("  A   b  ", [("A", "b")]),
    ("MQPSCommand Publish MQPSTopic a/b", [("MQPSCommand", "Publish"), ("MQPSTopic", "a/b")]),
    ('FAMOUS_WORDS "Hello World"', [("FAMOUS_WORDS", "Hello World")]),
    ('W "The program displayed ""Hello World"""', [("W", 'The program displayed "Hello World"')]),
    ('"a name" "" b ""', [("a name", ""), ("b", "")]),
    ("A 1 A 2 B 3 A 4", [("A", "1"), ("A", "2"), ("B", "3"), ("A", "4")]),
    ("A it's", [("A", "it's")]),
    ("A b\0C d", [("A", "b")]),
    ("Format x Flags 7", [("Format", "x"), ("Flags", "7")]),
    ('A "1\r2"', [("A", "1\r2")]),
]


@pytest.mark.parametrize(("string", "expected"), STRINGS)
@pytest.mark.parametrize(("encoding", "ccsid"), FORMS)
def test_the_tree_of_a_string(string: str, expected: list[tuple[str, str]], encoding: int, ccsid: int) -> None:
    """Names and values are separated by blanks, or stand in quotation marks; names may come again."""
    found = tree("MQRFH", mqrfh(string, encoding, ccsid), encoding, ccsid)
    assert [(child.name, child.value) for child in found] == [*FIXED.items(), *expected]
    assert write(copy(found), encoding, ccsid) == mqrfh(string, encoding, ccsid)


def test_repeated_names_are_counted() -> None:
    """The n-th value of a name is found, and a field goes before a pair of its name."""
    found = tree("MQRFH", mqrfh("A 1 A 2 Format x", LITTLE, 819), LITTLE, 819)
    assert found.count(step("A")) == 2
    second, formats = found.nth(step("A"), 2), found.every(step("Format"))
    assert second is not None
    assert second.value == "2"
    assert [child.value for child in formats] == ["MQSTR   ", "x"]


BAD = [
    ('A "b', "MQRFH.NameValueString at offset 35: there is no end to what is quoted at"),
    ('A "b"c', "there is no end to what is quoted"),
    ("A b C", "'C' is a name with no value"),
]


@pytest.mark.parametrize(("string", "expected"), BAD)
def test_strings_that_are_no_pairs(string: str, expected: str) -> None:
    """A quotation that does not end and a name without a value are refused, but only when pairs are looked at."""
    found = tree("MQRFH", b"xyz" + mqrfh(string, BIG, 819), BIG, 819, start=3)
    encoding = found.at("Encoding")
    assert encoding is not None
    assert encoding.value == 546
    with pytest.raises(ParserException) as caught:
        list(found)
    assert expected in str(caught.value)


def test_pairs_are_read_when_they_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field of the header is read without the string."""
    read = []
    original = _Pairs.pairs
    monkeypatch.setattr(_Pairs, "pairs", lambda self: read.append(1) or original(self))
    found = tree("MQRFH", mqrfh("A b", BIG, 819), BIG, 819)
    field = found.at("CodedCharSetId")
    assert field is not None
    assert (field.value, read) == (1208, [])
    assert found.at("A") is not None
    assert read


CHANGES = [
    ("A", "x y", '"n 1"   v A "x y" C  d'),
    ("C", 42, '"n 1"   v A  b C 42'),
    ("n 1", 'q"', '"n 1" "q""" A  b C  d'),
    ("E", "e", '"n 1"   v A  b C  d E e'),
    ("E", None, '"n 1"   v A  b C  d E ""'),
]


@pytest.mark.parametrize(("name", "value", "expected"), CHANGES)
def test_a_changed_pair(name: str, value: object, expected: str) -> None:
    """A changed or added pair is written anew; the others keep their spelling, and all keep their order."""
    found = tree("MQRFH", mqrfh('  "n 1"   v   A  b  C  d ', LITTLE, 819), LITTLE, 819)
    found.ensure(step(name)).value = value
    assert write(found, LITTLE, 819) == mqrfh(expected, LITTLE, 819)


def test_a_pair_is_taken_away() -> None:
    """A pair that a tree no longer has is not written."""
    found = tree("MQRFH", mqrfh("A 1 B 2 A 3", BIG, 500), BIG, 500)
    first = found.at("A")
    assert first is not None
    first.detach()
    assert write(found, BIG, 500) == mqrfh("B 2 A 3", BIG, 500)


def test_a_changed_field_leaves_the_string() -> None:
    """A changed field of the header leaves the string as it was spelt, even one that cannot be read as pairs."""
    data = mqrfh('A   b "garbage', BIG, 819)
    found = tree("MQRFH", data, BIG, 819)
    field = found.at("Flags")
    assert field is not None
    field.value = 1
    assert write(found, BIG, 819) == data[:28] + b"\0\0\0\1" + data[32:]


words = st.text(st.characters(codec="latin-1", exclude_characters="\0\x85\xa0"), max_size=12)


@given(
    names=st.lists(st.tuples(words.filter(lambda name: name not in FIXED), words), max_size=5),
    encoding=st.sampled_from([BIG, LITTLE]),
)
def test_any_pairs_come_back(names: list[tuple[str, str]], encoding: int) -> None:
    """Names and values of any characters but null are read as they were written."""
    top = built("MQRFH", FIXED)
    for name, value in names:
        if name not in {"StrucId", "StrucLength"}:
            top.add(name, value)
    data = write(top, encoding, 819)
    found = tree("MQRFH", data, encoding, 819)
    assert pairs(found) == [pair for pair in names if pair[0] not in {"StrucId", "StrucLength"}]
    assert write(found, encoding, 819) == data


def test_a_null_cannot_be_written() -> None:
    """A null character would end the string, so it is refused."""
    with pytest.raises(ParserException, match=r"MQRFH.A has a null character"):
        write(built("MQRFH", {"A": "b\0c"}), BIG, 819)
