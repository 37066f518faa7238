"""MQCFH: PCF messages and their parameters."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ParserException
from engine.parser import Follow, Header, Portion, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step
from parsers.mqcfh import Parameters
from tests.parsers.samples import BIG, CODECS, FORMS, LITTLE, Writer, built, tree, write

HEAD = {"Type": 7, "StrucLength": 36, "Version": 3, "Command": 45, "MsgSeqNumber": 1, "Control": 1, "CompCode": 1}
FIXED = {**HEAD, "Reason": 2053}


def pcf(w: Writer, *parameters: bytes, count: int | None = None) -> bytes:
    return w.longs(*FIXED.values(), len(parameters) if count is None else count) + b"".join(parameters)


def string(w: Writer, number: int, text: str, ccsid: int = 0) -> bytes:
    data = text.encode(CODECS.get(ccsid, w.codec))
    return w.longs(4, 20 + len(data) + -len(data) % 4, number, ccsid, len(data)) + data + bytes(-len(data) % 4)


def integer(w: Writer, number: int, value: int) -> bytes:
    return w.longs(3, 16, number, value)


def group(w: Writer, number: int, *parameters: bytes) -> bytes:
    return w.longs(20, 16, number, len(parameters)) + b"".join(parameters)


def strings(w: Writer, number: int, *texts: str) -> bytes:
    size = max(map(len, texts), default=0)
    data = b"".join(w.text(text, size) for text in texts)
    data += bytes(-len(data) % 4)
    return w.longs(6, 24 + len(data), number, 0, len(texts), size) + data


def every_kind(w: Writer) -> list[bytes]:
    """One parameter of each structure, each spelled out."""
    long_long = struct.Struct(f"{w.order}q").pack
    return [
        integer(w, 1009, -5),
        string(w, 2016, "ORDERS.IN"),
        string(w, 2015, "QM1 é", 819),
        w.longs(9, 20, 7001, 3) + b"\1\2\3\0",
        w.longs(5, 24, 1026, 2, 7, 8),
        strings(w, 3011, "ALPHA", "B"),
        w.longs(23, 24, 748, 0) + long_long(1 << 40),
        w.longs(25, 32, 749, 2) + long_long(-1) + long_long(1),
        w.longs(13, 20, 20, 3, 99),
        w.longs(14, 28, 2016, 18, 0, 4) + w.text("ABC*", 4),
        w.longs(15, 24, 7002, 4, 2) + b"\xfe\xff\0\0",
        group(w, 8001, integer(w, 1, 2), group(w, 8002, string(w, 3, "deep")), group(w, 8003)),
    ]


EXPECTED: list[Any] = [
    ("Parameter", 1009, [("Value", -5)]),
    ("Parameter", 2016, [("Value", "ORDERS.IN")]),
    ("Parameter", 2015, [("Value", "QM1 é")]),
    ("Parameter", 7001, [("Value", b"\1\2\3")]),
    ("ParameterList", 1026, [("Value", 7), ("Value", 8)]),
    ("ParameterList", 3011, [("Value", "ALPHA"), ("Value", "B    ")]),
    ("Parameter64", 748, [("Value", 1 << 40)]),
    ("ParameterList64", 749, [("Value", -1), ("Value", 1)]),
    ("Filter", 20, [("Operator", 3), ("Value", 99)]),
    ("Filter", 2016, [("Operator", 18), ("Value", "ABC*")]),
    ("Filter", 7002, [("Operator", 4), ("Value", b"\xfe\xff")]),
    ("Group", 8001, [
        ("Parameter", 1, [("Value", 2)]),
        ("Group", 8002, [("Parameter", 3, [("Value", "deep")])]),
        ("Group", 8003, []),
    ]),
]  # fmt: skip


def shown(element: Element) -> list[Any]:
    """Parameters as names, numbers and what is below; values as names and values."""
    return [
        (child.name, child.value) if child.name in {"Value", "Operator"} else (child.name, child.value, shown(child))
        for child in element
        if child.name not in FIXED
    ]


def add(element: Element, content: list[Any]) -> None:
    for name, value, *below in content:
        child = element.add(name, value)
        if below:
            add(child, below[0])


@pytest.mark.parametrize(("encoding", "ccsid"), FORMS)
def test_every_structure(encoding: int, ccsid: int) -> None:
    """Each structure has its place in the tree, and comes back as the bytes it was."""
    w = Writer(encoding, ccsid)
    data = pcf(w, *every_kind(w))
    found = tree("MQPCF", b"12" + data, encoding, ccsid, start=2)
    assert [(child.name, child.value) for child in found][: len(FIXED)] == list(FIXED.items())
    assert shown(found) == EXPECTED
    assert write(copy(found), encoding, ccsid) == data


@pytest.mark.parametrize(("encoding", "ccsid"), FORMS)
def test_a_built_message(encoding: int, ccsid: int) -> None:
    """A tree that a flow builds is written in the structures that its values ask for, and counted."""
    found = built("MQPCF", FIXED)
    add(found, EXPECTED)
    found.add("ParameterCount", 99)
    w = Writer(encoding, ccsid)
    parameters = every_kind(w)
    parameters[2] = string(w, 2015, "QM1 é")  # a new string has the CCSID of its message
    assert write(found, encoding, ccsid) == pcf(w, *parameters)


def test_values_without_a_name() -> None:
    """A value is what stands below its parameter, whatever it is called: `SET Parameter[1].* = ...`."""
    found = built("MQPCF", FIXED)
    found.add("Parameter", 2016).add("", "Q")
    found.add("ParameterList", 1026).add("", 1)
    w = Writer(LITTLE, 819)
    assert write(found, LITTLE, 819) == pcf(w, string(w, 2016, "Q"), w.longs(5, 20, 1026, 1, 1))


@given(start=st.sampled_from(FORMS), end=st.sampled_from(FORMS))
def test_conversion(start: tuple[int, int], end: tuple[int, int]) -> None:
    """In another encoding or CCSID a message has the same tree; a string that names its CCSID keeps it."""
    w, other = Writer(*start), Writer(*end)
    assert write(tree("MQPCF", pcf(w, *every_kind(w)), *start), *end) == pcf(other, *every_kind(other))


CHANGES: list[tuple[tuple[str, int], Any, int, Any]] = [
    (("Parameter", 1), 6, 0, lambda w: integer(w, 1009, 6)),
    (("Parameter", 1), "now text", 0, lambda w: string(w, 1009, "now text")),
    (("Parameter", 2), "Q", 1, lambda w: string(w, 2016, "Q")),
    (("Parameter", 3), "é", 2, lambda w: string(w, 2015, "é", 819)),
    (("ParameterList", 2), "LONGER", 5, lambda w: strings(w, 3011, "LONGER", "B    ")),
]


@pytest.mark.parametrize(("path", "value", "place", "expected"), CHANGES)
def test_a_changed_value(path: tuple[str, int], value: Any, place: int, expected: Any) -> None:
    """A changed value is written in the structure it asks for; the other parameters stay as they came."""
    w = Writer(BIG, 500)
    odd = w.longs(9, 32, 7001, 3) + b"\1\2\3" + b"padding in it"
    parameters = [*every_kind(w), odd]
    found = tree("MQPCF", pcf(w, *parameters), BIG, 500)
    parameter = found.nth(step(path[0]), path[1])
    assert parameter is not None
    assert parameter.first_child is not None
    parameter.first_child.value = value
    parameters[place] = expected(w)
    assert write(found, BIG, 500) == pcf(w, *parameters)


def test_parameters_are_put_in_and_taken_away() -> None:
    """ParameterCount, and that of a group, is how many there are when the message is written."""
    w = Writer(LITTLE, 1208)
    one, two = integer(w, 1, 1), string(w, 2, "two")
    found = tree("MQPCF", pcf(w, one, group(w, 3, one, two)), LITTLE, 1208)
    inner = found.at("Group", "Parameter")
    assert inner is not None
    inner.detach()
    found.add("Parameter", 9).add("Value", 9)
    assert write(found, LITTLE, 1208) == pcf(w, one, group(w, 3, two), integer(w, 9, 9))


def test_one_value_is_read_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field is read without the parameters, and a parameter without the others."""
    read: list[Any] = []
    original = Parameters.value
    monkeypatch.setattr(Parameters, "value", lambda self, handle: read.append(handle) or original(self, handle))
    w = Writer(BIG, 819)
    found = tree("MQPCF", pcf(w, *every_kind(w)), BIG, 819)
    reason, value = found.at("Reason"), found.at("Parameter64", "Value")
    assert reason is not None
    assert value is not None
    assert (reason.value, read) == (2053, [])
    assert (value.value, len(read)) == (1 << 40, 1)


def test_what_is_left_over_follows() -> None:
    """A message is as long as its parameters; it names no format for what may be left."""
    w, owner = Writer(BIG, 500), parser_catalog.find("MQPCF")
    assert isinstance(owner, Header)
    data = pcf(w, *every_kind(w))
    portion = Portion(data + b"rest", 0, len(data) + 4, Follow("MQEVENT", BIG, 500))
    assert owner.measure(portion) == (len(data), Follow("", BIG, 500))


def _garbled() -> list[tuple[bytes, str]]:
    w = Writer(BIG, 819)
    good = pcf(w, integer(w, 1, 2))
    return [
        (good[:35], "the MQPCF at offset 0 is cut off: it takes 36 bytes and 35 are left"),
        (good[:4] + w.longs(40) + good[8:], "says it is 40 bytes long, and it takes 36"),
        (good[:8] + w.longs(9) + good[12:], "has version 9, and only 1 or 2 or 3 can be read"),
        (pcf(w, count=-1), "has -1 parameters"),
        (pcf(w, integer(w, 1, 2), count=2), "the PCF parameter at offset 52 is cut off: 0 bytes are left"),
        (pcf(w, count=(1 << 31) - 1), "the PCF parameter at offset 36 is cut off"),
        (pcf(w, w.longs(99, 16, 1, 1)), "the PCF parameter at offset 36 has type 99"),
        (pcf(w, w.longs(3, 0, 1, 1)), "says it is 0 bytes long: it takes 16 at least"),
        (pcf(w, w.longs(3, 1 << 30, 1, 1)), "says it is 1073741824 bytes long"),
        (pcf(w, w.longs(4, 20, 1, 0, 1)), "has 1 values of 1 bytes in a structure of 20"),
        (pcf(w, w.longs(4, 20, 1, 0, -1)), "has 1 values of -1 bytes"),
        (pcf(w, w.longs(5, 20, 1, 2, 7)), "has 2 values of 4 bytes in a structure of 20"),
        (pcf(w, w.longs(5, 16, 1, -2)), "has -2 values of 4 bytes"),
        (pcf(w, w.longs(6, 24, 1, 0, 1 << 30, 0)), "has 1073741824 values of 0 bytes"),
        (pcf(w, w.longs(20, 16, 1, (1 << 31) - 1)), "values of"),
        (pcf(w, group(w, 1, integer(w, 1, 2))[:-16]), "the PCF parameter at offset 52 is cut off"),
    ]


GARBLED = _garbled()


@pytest.mark.parametrize(("data", "expected"), GARBLED, ids=[expected for _, expected in GARBLED])
def test_garbled(data: bytes, expected: str) -> None:
    """Types, lengths and counts that cannot be are refused with their offset, and nothing is counted to the end."""
    with pytest.raises(ParserException) as caught:
        list(tree("MQPCF", data, BIG, 819))
    assert expected in str(caught.value)


def test_deep_groups() -> None:
    """Groups within groups within groups are walked without going deep, and written back."""
    w, data = Writer(BIG, 819), b""
    for number in range(5000):
        data = group(w, number, *([data] if data else []))
    found = tree("MQPCF", pcf(w, data), BIG, 819)
    field = found.at("Reason")
    assert field is not None
    field.value = 1
    assert write(found, BIG, 819)[36:] == data
    with pytest.raises(ParserException, match="groups are nested deeper than 128 levels"):
        write(found, LITTLE, 819)


BAD: list[tuple[list[Any], str]] = [
    ([("Parameter", 1, [])], "MQPCF.Parameter takes one value below it, and 0 are there"),
    ([("Parameter", 1, [("Value", 1), ("Value", 2)])], "MQPCF.Parameter takes one value below it, and 2 are there"),
    ([("Parameter", None, [("Value", 1)])], "MQPCF.Parameter has no number"),
    ([("Parameter", "Q", [("Value", 1)])], "MQPCF.Parameter takes an integer, not 'Q'"),
    ([("Parameter", 1, [("Value", 1 << 31)])], "takes an integer of 4 bytes"),
    ([("Parameter64", 1, [("Value", "x")])], "MQPCF.Parameter64 cannot hold 'x'"),
    ([("ParameterList", 1, [("Value", 1), ("Value", "x")])], "MQPCF.ParameterList takes an integer, not 'x'"),
    ([("ParameterList", 1, [("Value", b"x")])], "MQPCF.ParameterList cannot hold b'x'"),
    ([("Group", 1, [("Nonsense", 1, [("Value", 1)])])], "the MQPCF has no field called Nonsense"),
    ([("Parameters", 1, [("Value", 1)])], "the MQPCF has no field called Parameters; its parameters are Filter, Group"),
]


@pytest.mark.parametrize(("content", "expected"), BAD)
def test_trees_that_are_no_pcf(content: list[Any], expected: str) -> None:
    """What no structure can hold is an error that names the parameter."""
    found = built("MQPCF", FIXED)
    add(found, content)
    with pytest.raises(ParserException) as caught:
        write(found, LITTLE, 819)
    assert expected in str(caught.value)


longs = st.integers(-(1 << 31), (1 << 31) - 1)
wide = st.integers(-(1 << 63), (1 << 63) - 1)
text = st.text("ABC xyz.019", max_size=9)
same_size = st.integers(0, 5).flatmap(
    lambda n: st.lists(st.text("AB.01", min_size=n, max_size=n), min_size=1, max_size=3)
)


def values(of: st.SearchStrategy[Any], *, many: bool = False) -> st.SearchStrategy[Any]:
    each = of.map(lambda value: ("Value", value))
    return st.lists(each, max_size=3) if many else each.map(lambda value: [value])


def filters(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(longs, of).map(lambda pair: [("Operator", pair[0]), ("Value", pair[1])])


leaves = st.one_of(
    st.tuples(st.just("Parameter"), longs, values(longs | text | st.binary(max_size=9))),
    st.tuples(st.just("Parameter64"), longs, values(wide)),
    st.tuples(st.just("ParameterList"), longs, values(longs, many=True)),
    st.tuples(st.just("ParameterList"), longs, same_size.map(lambda texts: [("Value", each) for each in texts])),
    st.tuples(st.just("ParameterList64"), longs, values(wide, many=True)),
    st.tuples(st.just("Filter"), longs, filters(longs | text | st.binary(max_size=9))),
)
contents = st.recursive(
    st.lists(leaves, max_size=4),
    lambda inner: st.lists(st.tuples(st.just("Group"), longs, inner) | leaves, max_size=3),
    max_leaves=8,
)


@given(content=contents, start=st.sampled_from(FORMS), end=st.sampled_from(FORMS))
def test_any_parameters_come_back(content: list[Any], start: tuple[int, int], end: tuple[int, int]) -> None:
    """Parameters of every structure are read as they were written, and written as they were read."""
    found = built("MQPCF", FIXED)
    add(found, content)
    data = write(found, *start)
    again = tree("MQPCF", data, *start)
    assert shown(again) == content
    assert write(again, *start) == data
    assert shown(tree("MQPCF", write(again, *end), *end)) == content
