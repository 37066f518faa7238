"""Broken and hostile JSON: a ParserException that says where; never anything else, never slow."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.errors import ParserException
from tests.parsers.json_text.json_documents import body, tree, write

# What is wrong, the number of the cause, and the offset that it names.
BROKEN: list[tuple[bytes, int, int]] = [
    (b'{"a":1', 5702, 6),
    (b'{"a":"text', 5702, 5),
    (b"[1,", 5702, 3),
    (b"[1,]", 5701, 3),
    (b'{"a":1,}', 5701, 7),
    (b"{'a':1}", 5701, 1),
    (b"{a:1}", 5701, 1),
    (b'{"a" 1}', 5701, 5),
    (b'{"a":1} x', 5701, 8),
    (b"[1][2]", 5701, 3),
    (b"[01]", 5701, 2),
    (b"[.5]", 5701, 1),
    (b"[+1]", 5701, 1),
    (b"[NaN]", 5701, 1),
    (b'["NaN", -Infinity]', 5701, 8),
    (b"[1e99999999999999999999]", 5701, 1),
    (b"[1," + b"9" * 5000 + b"]", 5701, 3),
    (b'["\x01"]', 5701, 2),
    (b'["\\x"]', 5701, 2),
    (b'["\\u12"]', 5701, 3),
    (b'["\\ud800"]', 5701, 1),
    (b'{"\\uDC00x":1}', 5701, 1),
    (b'["\xff"]', 5701, 2),
    (b"\xef\xbb\xbf[1,]", 5701, 6),
    (b'"text"', 5701, 0),
    (b"12", 5701, 0),
    (b"null", 5701, 0),
    (b"f(1)", 5701, 2),
    (b"f([1)", 5701, 4),
    (b"<a/>", 5701, 0),
    ('["é",]'.encode(), 5701, 6),
    (b"[" * 600 + b"]" * 600, 5701, 512),
    (b'{"[":' * 513 + b"1" + b"}" * 513, 5701, 2560),
]


@pytest.mark.parametrize(("data", "number", "offset"), BROKEN, ids=lambda value: repr(value)[:30])
def test_broken_documents(data: bytes, number: int, offset: int) -> None:
    """Each is BIP5705 caused by what is wrong, with offset, line and column, counted from the message's start."""
    with pytest.raises(ParserException) as caught:
        _ = body(data, start=7).first_child
    cause = caught.value.__cause__
    assert isinstance(cause, ParserException)
    assert (caught.value.number, cause.number) == (5705, number)
    assert f"at offset {7 + offset} (line 1, column " in cause.text


def test_lines_and_columns() -> None:
    """The place of an error in lines, and what stands there."""
    with pytest.raises(ParserException, match=r"offset 11 \(line 3, column 3\): Expecting value"):
        _ = body(b'{\n  "a":\n  x}').first_child


def test_as_deep_as_allowed() -> None:
    """Documents of 512 levels are read and written."""
    data = b"[" * 512 + b"]" * 512
    top = body(data)
    assert write(top, 1200, encoding=273).decode("utf-16-be").encode() == data


SLOW = [
    b'["' + b"\\" * 1_000_000,
    b'["' + b'\\"' * 500_000,
    b"[" * 500_000,
    b"[" * 1_000_000 + b"]" * 1_000_000,
    b'{"a":' * 200_000,
    b'"' * 1_000_000,
    b"f(" * 500_000,
    b" " * 1_000_000 + b"x",
    b"[" + b"1e5," * 200_000,
    b"[" + b'"\\ud83d\\ude00",' * 100_000 + b'"\\ud800"]',
    b"[NaN" + b',"NaN"' * 200_000 + b"]",
    b"[" + b"9" * 1_000_000 + b"]",
]


@pytest.mark.parametrize("data", SLOW, ids=lambda data: repr(data[:12]))
def test_nothing_takes_long(data: bytes) -> None:
    """A megabyte of anything is refused in a second or two."""
    started = time.process_time()
    with pytest.raises(ParserException):
        _ = body(data).first_child
    assert time.process_time() - started < 2


@given(st.binary(max_size=40) | st.text('{}[]",:\\/u0deE+-.1 tfn\n(;)', max_size=30).map(str.encode))
@example(b'{"\\ud83d":1}')
@example(b"[1E+]")
def test_any_bytes(data: bytes) -> None:
    """Any bytes are a tree, as the standard library reads them, or a ParserException."""
    try:
        found = [tree(child) for child in body(data) if child.name == "Data"]
    except ParserException:
        return
    if found and data.lstrip()[:1] in {b"{", b"["} and b"\0" not in data and data.isascii():
        assert json.dumps(found[0]) == json.dumps(json.loads(data))
