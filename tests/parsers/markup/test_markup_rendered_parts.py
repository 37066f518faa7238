"""Edits that bring a part of a document to be written in another way than the rest of it."""

from __future__ import annotations

import pytest

from engine.tree.sharing import copy
from tests.parsers.markup.documents import body, write

TEXT = 0x02000000

DECLARED = [
    b'<a xmlns="urn:d" xmlns:p="urn:p">0<a/><![CDATA[]]><a xmlns:p="urn:1" xmlns="urn:1"/></a>',
    b'<r xmlns="urn:1" xmlns:p="urn:1" xmlns:q="urn:1">0<![CDATA[]]><p:a q:x="1" y="2"/><a p:x="1"/><q:a/></r>',
]


@pytest.mark.parametrize("document", DECLARED)
@pytest.mark.parametrize("domain", ["XML", "XMLNS"])
def test_what_is_rendered_keeps_prefixes_and_the_order_of_declarations(domain: str, document: bytes) -> None:
    """An element that is rendered because of what stands beside it looks as it was read, each time it is written."""
    top = copy(body(domain, document))
    (root,) = top
    root.value = "0"
    assert write(top) == document
    assert write(top) == document


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
def test_a_field_whose_text_is_taken_away_behind_another(domain: str) -> None:
    """NULL takes away the text that was read, and leaves the one that was added."""
    top = copy(body(domain, b"<r><a>1</a></r>"))
    field = top.at("r", "a")
    assert field is not None
    if domain != "XMLNSC":
        assert field.first_child is not None
        field.first_child.detach()
    field.add("", "2", type_=TEXT)
    if domain == "XMLNSC":
        field.value = None
    assert field.value == "2"
    assert write(top) == b"<r><a>2</a></r>"
