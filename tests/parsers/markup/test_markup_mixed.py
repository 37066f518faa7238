"""Mixed: a document's text tells whether text stands beside elements, and tells it in time."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from engine.tree.sharing import copy
from engine.tree.step import step
from parsers.markup.lxml_nodes import is_unmixed, may_be_mixed
from tests.parsers.markup.documents import body, write

TEXTS = st.sampled_from(["", "", "1", "x y", "/", "1/2", ">", "te>", "\n  ", "ä€𝐛", "&lt;b&gt;", "&#32;", ">/", "/>"])
NAMES = st.sampled_from(["a", "b", "ab", "ä"])


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> str:
    """An element as text, with text in all places."""
    name, blank = draw(NAMES), draw(st.sampled_from(["", "", " ", "\n"]))
    value = draw(st.sampled_from([None, None, "", "1", "/", ">", "/>", ">>", "x>y", "//"]))
    attribute = "" if value is None else draw(st.sampled_from([f' k="{value}"', f" k='{value}' l=\"1\""]))
    if depth and draw(st.booleans()):
        children = [draw(trees(depth - 1)) + draw(TEXTS) for _ in range(draw(st.integers(1, 3)))]
        return f"<{name}{attribute}{blank}>{draw(TEXTS)}{''.join(children)}</{name}{blank}>"
    text = draw(TEXTS)
    start = f"<{name}{attribute}{blank}"
    return f"{start}>{text}</{name}>" if text or draw(st.booleans()) else f"{start}/>"


def is_mixed(document: str) -> bool:
    """Whether libxml2 finds text beside elements."""
    return bool(etree.fromstring(document).xpath("boolean(//*[*]/text())"))


@given(trees())
def test_nothing_mixed_is_taken_for_unmixed(document: str) -> None:
    """What is called unmixed is that."""
    if is_mixed(document):
        assert (is_unmixed(document.encode()), may_be_mixed(document.encode())) == (False, True)


@pytest.mark.parametrize(
    "document",
    [
        "<a></a>",
        "<a>1</a>",
        "<a><b>1</b></a>",
        "<a><b></b><c><d>x = y</d></c></a >",
        "<Größe><b>€ 1</b><b>\n</b></Größe>",
        "<a k=\"1\"><b l='2'>1</b></a>",
    ],
)
def test_plain_documents_are_seen_at_once(document: str) -> None:
    """Documents without empty tags and slashes in texts need no second look."""
    assert is_unmixed(document.encode())


@pytest.mark.parametrize("document", ["<a/>", "<a><b/></a>", "<a><b>1/2</b><c/></a>", '<a k="/"><b>1</b></a>'])
def test_others_by_a_second_look(document: str) -> None:
    """Those with empty tags, or slashes in texts or attributes, are seen to be unmixed by the second look."""
    assert not may_be_mixed(document.encode())


@pytest.mark.parametrize("text", [">" * 1_000_000, "x>" * 500_000, "/" * 1_000_000, "/>" * 500_000, "x/y " * 250_000])
@pytest.mark.parametrize("domain", ["XML", "XMLNSC"])
def test_hostile_texts_take_no_longer(domain: str, text: str) -> None:
    """A megabyte of any mark in a text is copied with one field changed in a moment."""
    changed = copy(body(domain, f"<a><b>{text}</b><c>1</c></a>".encode()))
    began = process_time()
    changed.ensure(step("a")).ensure(step("c")).value = "2"
    written = etree.fromstring(write(changed))
    assert process_time() - began < 5
    assert [(child.tag, child.text) for child in written] == [("b", text), ("c", "2")]
