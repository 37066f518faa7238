"""Bodies beside each other: what counts as a difference in XML, JSON, text and bytes."""

from __future__ import annotations

import pytest

from engine.testing.body_comparison import Found, compare

ROWS = [
    ("xml", "<a><b>1</b></a>", "<a>\n  <b>1</b>\n</a>", []),
    ("xml", '<a x="1" y="2"/>', "<a y='2' x='1'></a>", []),
    ("xml", '<p:a xmlns:p="u"/>', '<a xmlns="u"/>', []),
    ("xml", "<?xml version='1.0'?><a/>", "<a/>", []),
    ("xml", "<a>&#65;</a>", "<a>A</a>", []),
    ("xml", "<a> </a>", "<a/>", ["a: expected ' ', found ''"]),
    ("xml", "<a>x<b/> y</a>", "<a>x<b/>y</a>", ["a: expected ' y', found 'y'"]),
    ("xml", "<a><b>1</b></a>", "<a><b>2</b></a>", ["a.b: expected '1', found '2'"]),
    ("xml", "<a><b/><b>1</b></a>", "<a><b/><b>2</b></a>", ["a.b[2]: expected '1', found '2'"]),
    ("xml", "<a/>", '<a x="1"/>', ["a.@x: expected nothing, found '1'"]),
    ("xml", "<a><b/></a>", "<a/>", ["a.b: expected, not found"]),
    ("xml", "<a/>", "<a><b/></a>", ["a.b: not expected"]),
    ("xml", "<a/>", '<a xmlns="u"/>', ["a: expected a, found {u}a"]),
    ("xml", "<a><!--c--></a>", "<a><!--d--></a>", ["a.<!-- -->: expected 'c', found 'd'"]),
    ("xml", "<a><?x y?></a>", "<a><?z y?></a>", ["a.<?x?>: expected <?x?>, found <?z?>"]),
    ("json", '{"a": 1, "b": [1.0]}', '{"b":[1],"a":1}', []),
    ("json", '{"a": 1}', '{"a": true}', ["$.a: expected 1, found True"]),
    ("json", '{"a": 1}', '{"b": 1}', ["$.a: expected, not found", "$.b: not expected"]),
    ("json", "[1, 2]", "[1]", ["$: expected 2 items, found 1"]),
    ("text", "ab", "ac", ["differs from offset 1: expected 'b', found 'c'"]),
    ("bytes", "ab", "abc", ["expected 2 bytes, found 3, alike as far as the shorter goes"]),
    ("", "<a/>", "<a></a>", []),
    ("", "{}", "{ }", []),
    ("", "<a", "<a", []),
    ("", "plain", "plain ", ["expected 5 bytes, found 6, alike as far as the shorter goes"]),
]


@pytest.mark.parametrize(("how", "expected", "found", "lines"), ROWS)
def test_differences(how: str, expected: str, found: str, lines: list[str]) -> None:
    """A body is compared as what it is, and differences are named by their paths."""
    difference = compare(expected, Found(found.encode(), 1208, 546), how)
    assert lines == ([] if difference is None else list(difference.lines))


@pytest.mark.parametrize("text", ["<a>é</a>", '<?xml version="1.0" encoding="UTF-8"?><a>é</a>'])
def test_a_document_in_ebcdic(text: str) -> None:
    """Text is compared as characters, whatever the CCSID of the message that came out."""
    assert compare(text, Found("<a>é</a>".encode("cp500"), 500, 273), "xml") is None


def test_a_diff() -> None:
    """Documents that differ are shown as a unified diff of their indented forms."""
    difference = compare("<a><b>1</b><c/></a>", Found(b"<a><b>2</b><c/></a>", 1208, 546))
    assert difference is not None
    expected = [
        "--- expected",
        "+++ found",
        "@@ -1,4 +1,4 @@",
        " <a>",
        "-  <b>1</b>",
        "+  <b>2</b>",
        "   <c/>",
        " </a>",
    ]
    assert expected == difference.diff.splitlines()


def test_entities_are_not_read_from_files() -> None:
    """A document that speaks of a file is compared without reading it."""
    text = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>'
    assert compare(text, Found(text.encode(), 1208, 546), "xml") is None


def test_what_is_no_document() -> None:
    """A body that is not what it is compared as is compared by its bytes, and it is said why."""
    difference = compare("<a/>", Found(b"<b", 1208, 546))
    assert difference is not None
    assert difference.lines[0].startswith("cannot be compared as xml: Couldn't find end of Start Tag b")
    assert difference.diff.splitlines()[-2:] == ["-<a/>", "+<b"]


def test_data_that_is_nested_too_deeply() -> None:
    """Data too deep to be compared is a difference, not the end of the run."""
    difference = compare("[]", Found(b"[" * 100_000, 1208, 546, "JSON"))
    assert difference is not None
    assert difference.lines[0].startswith("cannot be compared as json: ")
