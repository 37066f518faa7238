"""Feeding: documents that are read the quick way are read as any other way reads them, whoever reads them when."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from engine.errors import ParserException
from engine.parser import Follow, Portion
from parsers.markup import reading
from parsers.markup.element_types import XML, XMLNSC, Flavour
from parsers.markup.reading import read_document
from tests.parsers.markup.documents import documents, text_of

HEADS = ["", "\ufeff", "<?xml version='1.0'?>\n", "<?xml version='1.0' encoding='IBM500'?>", " "]
TAILS = ["", "\n", " \t", "x", "<", "<a/>"]
PIECES = ["<a>", "</a>", "<b/>", "<b x='1' y=\"&lt;\">", "</b>", "text", " ", "\n", "&amp;", "&#10;", "&e;", "<", "&"]
PIECES += [
    "<p:q xmlns:p='urn:u'>",
    "</p:q>",
    "<p:z/>",
    "]]>",
    "é",
    "\x00",
    "\x01",
    "x" * 400,
    "<a xml:space='preserve'>",
]


def asked(data: bytes, flavour: Flavour) -> Any:
    """What the parser's own answer to a document is: its canonical form, its lines, its names as they are written."""
    how = (flavour.keep.blanks, not flavour.keep.comments, not flavour.keep.instructions)
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        strip_cdata=False,
        remove_blank_text=not how[0],
        remove_comments=how[1],
        remove_pis=how[2],
    )
    return shown(etree.fromstring(data, parser))


def shown(root: etree._Element) -> Any:
    """A document as data."""
    return etree.tostring(root, method="c14n"), [(node.sourceline, node.prefix, node.nsmap) for node in root.iter()]


def answered(data: bytes, flavour: Flavour) -> Any:
    """What read_document makes of a document."""
    read = read_document(Portion(data, 0, len(data), Follow()), flavour.keep, spaces=True)
    assert read is not None
    return shown(read[0])


@pytest.mark.parametrize("flavour", [XML, XMLNSC], ids=["XML", "XMLNSC"])
@given(st.sampled_from(HEADS), documents(spaces=True).map(text_of), st.sampled_from(TAILS), st.integers(0, 400))
def test_documents_are_what_the_parser_says(flavour: Flavour, head: str, text: str, tail: str, cut: int) -> None:
    """A generated document, whole or cut off, is the tree that lxml makes of it, or is refused as lxml refuses it."""
    data = f"{head}{text}{tail}".encode()
    for given_ in (data, data[:cut]):
        compare(given_, flavour)


@pytest.mark.parametrize("flavour", [XML, XMLNSC], ids=["XML", "XMLNSC"])
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_what_looks_like_a_document_is_what_the_parser_says(flavour: Flavour, text: str) -> None:
    """Pieces of markup in any order are a document where lxml finds one, and no other document."""
    compare(f"<a>{text}</a>".encode(), flavour)


def compare(data: bytes, flavour: Flavour) -> None:
    """A document is read as lxml reads it, or refused."""
    try:
        expected = asked(data, flavour)
    except etree.XMLSyntaxError:
        if data.strip():
            with pytest.raises(ParserException):
                answered(data, flavour)
        return
    assert expected == answered(data, flavour)


def test_threads_read_documents_of_their_own() -> None:
    """Threads that read at once never see each other's documents."""
    texts = [f"<a>{'<b>' * depth}{depth}{'</b>' * depth}</a>".encode() for depth in range(8)]

    def read(number: int) -> bool:
        data = texts[number % len(texts)]
        return all(asked(data, XMLNSC) == answered(data, XMLNSC) for _ in range(50))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read, range(16)))


def test_an_interrupted_reading_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document that follows one whose reading was interrupted is read from its own beginning."""

    class Interrupted:
        """A parser that is interrupted when it has been fed."""

        def __init__(self, parser: etree.XMLParser) -> None:
            self.parser = parser

        def feed(self, data: bytes) -> None:
            self.parser.feed(data)

        def close(self) -> None:
            raise KeyboardInterrupt

    own = reading.PARSERS

    def made(kind: Any, make: Callable[[Any], etree.XMLParser]) -> Interrupted:
        return Interrupted(own.kept.get(kind) or own.made(kind, make))

    monkeypatch.setattr(reading, "PARSERS", SimpleNamespace(kept={}, made=made, forget=own.forget))
    with pytest.raises(KeyboardInterrupt):
        answered(b"<a>", XMLNSC)
    monkeypatch.undo()
    with pytest.raises(ParserException):
        answered(b"<b/></a>", XMLNSC)
    assert answered(b"<c/>", XMLNSC) == asked(b"<c/>", XMLNSC)
