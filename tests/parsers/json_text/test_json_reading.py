"""JSON documents as trees."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.message.writer import write_message
from engine.tree.element import Element
from engine.tree.source import NAME_VALUE, Source
from engine.tree.step import step
from parsers import json as json_domain
from parsers.json_tree import Document
from tests.parsers.json_text.json_documents import ARRAY, body, documents, layouts, root_of, shown, tree

MANUAL = """{
    "name" : "John Doe",
    "age" : -1,
    "known" : false,
    "address" : { "street" : null,
                  "city" : "unknown" },
    "belongings" : ["this", "that", "the other"]
}"""
TREES = {
    MANUAL: """\
Object Data
  NameValue name = 'John Doe'
  NameValue age = -1
  NameValue known = False
  Object address
    NameValue street = None
    NameValue city = 'unknown'
  Array belongings
    NameValue Item = 'this'
    NameValue Item = 'that'
    NameValue Item = 'the other'""",
    '[1,[],[2,{"a":[3]}],{}]': """\
Array Data
  NameValue Item = 1
  Array Item
  Array Item
    NameValue Item = 2
    Object Item
      Array a
        NameValue Item = 3
  Object Item""",
    'scriptFn ( {"name":"John"} );': """\
NameValue Padding = 'scriptFn'
Object Data
  NameValue name = 'John'""",
    "a.b$1([])": "NameValue Padding = 'a.b$1'\nArray Data",
    '{"a":1,"b":{},"a":[2],"":3,"a b":"","é{x}":4}': """\
Object Data
  NameValue a = 1
  Object b
  Array a
    NameValue Item = 2
  NameValue  = 3
  NameValue a b = ''
  NameValue é{x} = 4""",
    " \t\r\n": "",
    "": "",
}


@pytest.mark.parametrize(("text", "expected"), TREES.items())
def test_what_a_document_looks_like(text: str, expected: str) -> None:
    """Objects, arrays with their Items, values and padding, in order."""
    assert "\n".join(shown(body(text.encode()))) == expected


NUMBERS: dict[str, Any] = {
    "0": 0,
    "-0": 0,
    "9223372036854775807": 9223372036854775807,
    "-9223372036854775808": -9223372036854775808,
    "9223372036854775808": Decimal("9223372036854775808"),
    "-9223372036854775809": Decimal("-9223372036854775809"),
    "1" + "0" * 40: Decimal("1" + "0" * 33 + "E7"),
    "9.81": 9.81,
    "1.50": 1.5,
    "-0.0": -0.0,
    "1E5": 100000.0,
    "1e-7": 1e-7,
    "1.7976931348623157e308": 1.7976931348623157e308,
    "1e400": Decimal("1E+400"),
    "12345678901234567.89": Decimal("12345678901234567.89"),
    "0.1234567890123456789012345678901234567": Decimal("0.1234567890123456789012345678901235"),
}


@pytest.mark.parametrize(("text", "expected"), NUMBERS.items())
def test_numbers(text: str, expected: Any) -> None:
    """Whole numbers are INTEGER, others FLOAT; what these cannot say exactly is DECIMAL."""
    found = body(f"[{text}]".encode()).at("Data", "Item")
    assert found is not None
    assert (type(found.value), found.value) == (type(expected), expected)


STRINGS = {
    r"\" \\ \/ \b \f \n \r \t": '" \\ / \b \f \n \r \t',
    r"\u00e9\u20AC\ud83d\ude00": "é€😀",
    r"\u0000": "\0",
    "é€😀": "é€😀",
    "\u2028\x7f": "\u2028\x7f",
    r"\\ud800": "\\ud800",
}


@pytest.mark.parametrize(("text", "expected"), STRINGS.items())
def test_strings(text: str, expected: str) -> None:
    """All escapes, in values and in names."""
    data = body(f'{{"{text}":"{text}"}}'.encode()).at("Data")
    assert data is not None
    assert [(child.name, child.value) for child in data] == [(expected, expected)]


FORMS: list[tuple[Callable[[str], bytes], int, int]] = [
    (lambda text: text.encode(), 1208, 546),
    (lambda text: text.encode(), 0, 546),
    (lambda text: text.encode("utf-8-sig"), 1208, 546),
    (lambda text: text.encode("utf-16-le"), 1208, 546),
    (lambda text: text.encode("utf-16-be"), 0, 546),
    (lambda text: text.encode("utf-32-be"), 0, 546),
    (lambda text: text.encode("utf-32-le"), 0, 546),
    (lambda text: text.encode("utf-16"), 1208, 546),
    (lambda text: text.encode("utf-32"), 0, 273),
    (lambda text: text.encode("utf-16-be"), 1200, 273),
    (lambda text: text.encode("utf-16-le"), 1200, 546),
    (lambda text: text.encode("utf-16"), 1201, 546),
    (lambda text: text.encode("latin-1"), 819, 546),
    (lambda text: text.encode("cp500"), 500, 273),
    (lambda text: text.encode("cp500").replace(b"\x25", b"\x15"), 500, 273),
]


@pytest.mark.parametrize(("encode", "ccsid", "encoding"), FORMS)
def test_character_sets(encode: Callable[[str], bytes], ccsid: int, encoding: int) -> None:
    """By CCSID; Unicode is told by a mark or by its zero bytes where no CCSID says more; EBCDIC ends lines by NEL."""
    assert tree(body(encode('{\n"é":"ü"\n}'), ccsid, encoding=encoding).first_child) == {"é": "ü"}  # type: ignore[arg-type]


@given(documents, layouts)
def test_equal_to_the_standard_library(value: Any, layout: Callable[[Any], str]) -> None:
    """A tree holds what json.loads reads."""
    data = body(layout(value).encode()).at("Data")
    assert data is not None
    assert json.dumps(tree(data)) == json.dumps(value)


@given(st.data(), documents)
def test_lookups_agree_with_a_walk(draw: st.DataObject, value: Any) -> None:
    """Fields found by name, number or type are those that a walk over all children meets."""
    data, other = (body(json.dumps(value).encode()).at("Data") for _ in "ab")
    assert data is not None
    assert other is not None
    children = list(other)
    name = draw.draw(st.sampled_from([child.name for child in children]) if children else st.just("x"))
    types = draw.draw(st.sampled_from([(), ((0xFFFFFFFF, ARRAY),), ((0xFF000000, NAME_VALUE),)]))
    namespace = draw.draw(st.sampled_from(["", None, "urn:x"]))
    wanted = step(name, namespace, types)
    expected = [tree(child) for child in children if wanted.matches(child)]
    number = draw.draw(st.integers(1, 4))
    found = data.nth(wanted, number)
    assert (None if found is None else [tree(found)]) == (expected[number - 1 : number] or None)
    first = data.child(wanted)
    assert ([] if first is None else [tree(first)]) == expected[:1]
    assert [tree(child) for child in data.every(wanted)] == expected
    assert data.count(wanted) == len(expected)


def test_one_field_makes_the_elements_on_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field of a large document is found without its siblings; nothing is parsed before the first look."""
    made: list[str] = []
    parsed: list[int] = []
    make, decode = Document.element, json_domain._decoded

    def spy(self: Source, handle: Any, parent: Element) -> Element:
        made.append(handle.name)
        return make(self, handle, parent)  # type: ignore[arg-type]

    def counted(*given: Any) -> Any:
        parsed.append(1)
        return decode(*given)

    monkeypatch.setattr(Document, "element", spy)
    monkeypatch.setattr(json_domain, "_decoded", counted)
    data = json.dumps({"head": {"id": 1}, "lines": [{"code": "x", "text": "y"}] * 2000}).encode()
    root = root_of(data)
    assert write_message(root)[1] is data
    assert parsed == []
    assert root.at("JSON", "Data", "head", "id").value == 1  # type: ignore[union-attr]
    assert (made, parsed) == (["Data", "head", "id"], [1])
