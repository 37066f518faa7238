"""Trees as JSON documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ParserException
from engine.message.writer import write_message
from engine.tree.element import Element
from engine.tree.links import made_children
from engine.tree.sharing import copy, read_only
from engine.tree.step import step
from tests.parsers.json_text.json_documents import (
    ARRAY,
    body,
    build,
    documents,
    exact,
    layouts,
    new_data,
    root_of,
    tree,
    write,
)

SCALARS: list[tuple[Any, str]] = [
    ("", '""'),
    ('say "hi" \\ a/b \b\f\n\r\t\x01', r'"say \"hi\" \\ a\/b \b\f\n\r\t\u0001"'),
    ("é😀", '"é😀"'),
    (True, "true"),
    (None, "null"),
    (-7, "-7"),
    (9.81, "9.81E+0"),
    (100.0, "1.0E+2"),
    (-0.00015, "-1.5E-4"),
    (0.0, "0.0E+0"),
    (Decimal("1.50"), "1.50"),
    (Decimal("1E+3"), "1000"),
    (Decimal("-1E-3"), "-0.001"),
    (Decimal("1E+999999"), "1E+999999"),
    (b"\x0a\xff", '"0AFF"'),
    (date(2020, 1, 2), '"2020-01-02"'),
    (time(12, 40), '"12:40:00"'),
    (time(12, 40, 0, 500000, tzinfo=UTC), '"12:40:00.500000"'),
    (datetime(2020, 1, 2, 3, 4, 5, 6), '"2020-01-02 03:04:05.000006"'),
]


@pytest.mark.parametrize(("value", "expected"), SCALARS)
def test_values(value: Any, expected: str) -> None:
    """Each type as the manual's table has it."""
    data = new_data()
    data.add("x").value = value
    assert write(data).decode() == f'{{"x":{expected}}}'


def _array_of(data: Element, *names: str) -> None:
    data.change(type_=ARRAY)
    for name in names:
        data.add(name, name)


def _with_value_and_fields(data: Element) -> None:
    data.add("x", "text").add("y", 1)


def _stray(data: Element) -> None:
    data.parent.add("Other", 1)  # type: ignore[union-attr]


def _twice(data: Element) -> None:
    data.parent.add("Data")  # type: ignore[union-attr]


def _padded(data: Element) -> None:
    data.add("x", 1)
    data.parent.add("Padding", "call")  # type: ignore[union-attr]


SHAPES: list[tuple[Callable[[Element], object], str]] = [
    (lambda data: None, "{}"),
    (lambda data: data.add("x"), '{"x":{}}'),
    (lambda data: data.add("x", type_=ARRAY), '{"x":[]}'),
    (lambda data: data.add("x", ""), '{"x":""}'),
    (lambda data: [data.add("x", 1), data.add("x", 2)], '{"x":1,"x":2}'),
    (_array_of, "[]"),
    (lambda data: _array_of(data, "Item", "other"), '["Item","other"]'),
    (lambda data: data.add("x", "", type_=0x01000000).add("y", 1), '{"x":{"y":1}}'),
    (_padded, 'call({"x":1})'),
    (_with_value_and_fields, "error: JSON cannot hold x: it has both the value 'text' and fields below it"),
    (_stray, "error: JSON.Other has no place in a document"),
    (_twice, "error: JSON.Data has no place in a document"),
    (lambda data: setattr(data, "value", 1), "error: JSON cannot hold Data: a document is an object or an array"),
    (lambda data: data.add("x", float("nan")), "error: JSON cannot hold x: JSON has no number nan"),
    (lambda data: data.add("x", Decimal("Infinity")), "error: JSON cannot hold x: JSON has no number Infinity"),
    (lambda data: data.add("x", "\ud800"), "error: JSON cannot hold Data: '\\ud800' is half of a character"),
]


@pytest.mark.parametrize(("shape", "expected"), SHAPES)
def test_shapes(shape: Callable[[Element], object], expected: str) -> None:
    """Empty fields, arrays, repeated names, padding; and what no document can hold."""
    data = new_data()
    shape(data)
    if expected.startswith("error: "):
        with pytest.raises(ParserException) as caught:
            write(data)
        assert caught.value.text.startswith(expected.removeprefix("error: "))
        return
    assert write(data).decode() == expected


def test_characters_that_a_ccsid_lacks_are_escaped() -> None:
    """In another character set, and across a change of CCSID."""
    data = new_data()
    data.add("é€", "😀")
    assert write(data, 819) == b'{"\xe9\\u20ac":"\\ud83d\\ude00"}'
    assert write(data, 1200, encoding=273) == '{"é€":"😀"}'.encode("utf-16-be")
    assert write(data, 500).decode("cp500") == '{"é\\u20ac":"\\ud83d\\ude00"}'


@pytest.mark.parametrize(
    ("text", "ccsid", "said"),
    [
        ("\ud800", 819, r"'\ud800' is half of a character"),
        ("\ud800", 930, r"'\ud800' is half of a character"),
        ("😀", 300, "cannot be written in CCSID 300"),  # which has no backslash
    ],
)
def test_what_cannot_be_escaped(text: str, ccsid: int, said: str) -> None:
    """Half of a character, and a character set that has no backslash."""
    data = new_data()
    data.add("x", text)
    with pytest.raises(ParserException) as caught:
        write(data, ccsid)
    assert said in caught.value.text


def test_nothing_is_written_for_a_body_without_data() -> None:
    """An empty body stays empty."""
    assert write(body(b"")) == b""


def test_too_deep() -> None:
    """A tree that is deeper than a document may be."""
    data = at = new_data()
    for _ in range(600):
        at = at.add("x")
    with pytest.raises(ParserException, match="nested deeper than 512 levels"):
        write(data)


@given(documents)
def test_built_trees_are_read_back(value: Any) -> None:
    """What a flow builds is read back as it was built."""
    data = new_data()
    build(data, value)
    assert json.dumps(tree(body(write(data)).at("Data"))) == json.dumps(value)  # type: ignore[arg-type]


@given(documents, layouts)
def test_unchanged_documents_come_back_as_they_are(value: Any, layout: Callable[[Any], str]) -> None:
    """Read or not, an untouched body is written byte by byte; in another CCSID it says the same."""
    data = layout(value).encode()
    root = root_of(data)
    assert write_message(root)[1] == data
    tree(root.at("JSON", "Data"))  # type: ignore[arg-type]
    assert write_message(copy(root))[1] == data
    assert exact(write(body(data), 1200, encoding=273).decode("utf-16-be").encode()) == exact(data)


def _places(element: Element) -> list[Element]:
    return [element, *(place for child in element for place in _places(child))]


def _change(data: Element, number: int, what: str) -> None:
    places = _places(data)
    at = places[number % len(places)]
    if what == "value" and at is not data and at.first_child is None and at.type == 0x03000000:
        at.value = "new"
    elif what == "append":
        if at.type == 0x03000000:
            at = data
        at.add("Item", "added")
    elif what == "detach" and at is not data:
        at.detach()
    elif what == "rename" and at is not data:
        at.change(name="renamed")
    elif what == "array" and at.type == 0x01000000:
        at.change(type_=ARRAY)


@given(
    documents,
    st.lists(
        st.tuples(st.integers(0, 50), st.sampled_from(["value", "append", "detach", "rename", "array"])), max_size=4
    ),
    st.booleans(),
)
def test_changes_are_written_as_if_all_was_built(value: Any, changes: list[tuple[int, str]], again: bool) -> None:
    """A document with changes laid over it says what its tree says, in copies of copies too."""
    data = json.dumps(value).encode()
    twin = copy(root_of(data))
    for number, what in changes:
        _change(twin.at("JSON", "Data"), number, what)  # type: ignore[arg-type]
        if again:
            twin = copy(read_only(twin))
    built = new_data()
    _rebuild(twin.at("JSON", "Data"), built)  # type: ignore[arg-type]
    found = write_message(twin)[1]
    assert json.loads(found, object_pairs_hook=list) == json.loads(write(built), object_pairs_hook=list)


def _rebuild(source: Element, target: Element) -> None:
    """The same tree, built by hand."""
    if source.type != target.type:
        target.change(type_=source.type)
    if source.type == 0x03000000:
        target.value = source.value
    for child in source:
        _rebuild(child, target.add(child.name))


def test_one_change_makes_no_siblings() -> None:
    """A changed value in a large array is written without making its neighbours, and their digits stay."""
    data = ('{"a":[' + ",".join(['{"n":1.50,"t":"a/b"}'] * 1000) + "]}").encode()
    twin = copy(root_of(data))
    item = twin.at("JSON", "Data", "a").nth(step("Item"), 500)  # type: ignore[union-attr]
    assert item is not None
    item.at("n").value = 2  # type: ignore[union-attr]
    written = write_message(twin)[1].decode()
    assert written.count('{"n":1.50,"t":"a\\/b"}') == 999
    assert json.loads(written)["a"][499] == {"n": 2, "t": "a/b"}
    assert len(made_children(twin.at("JSON", "Data", "a"))) == 1  # type: ignore[arg-type]
