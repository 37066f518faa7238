"""Scoping: parts of documents with namespaces are copied as libxml2 writes them, and as they would be rendered."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from engine.tree.sharing import copy
from parsers.markup.writing import Writer
from tests.parsers.markup.documents import Tag, body, documents, new_body, text_of, write

XMLNS = "http://www.w3.org/2000/xmlns/"
DECLARATION = {"XMLNS": 0x07000012, "XMLNSC": 0x03000102}


@st.composite
def places(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """The namespace of an element, and what it declares itself."""
    uris = st.sampled_from(["urn:default", "urn:p", "urn:q", "urn:else"])
    declared = draw(st.dictionaries(st.sampled_from(["", "p", "q", "NS1"]), uris, max_size=3))
    namespace = draw(st.sampled_from([*declared.values(), "urn:out"]))
    return namespace, declared


@given(documents(spaces=True), places(), st.sampled_from(["XML", "XMLNS", "XMLNSC"]), st.data())
def test_copied_parts_are_written_as_if_rendered(
    document: Tag, place: tuple[str, dict[str, str]], domain: str, data: st.DataObject
) -> None:
    """A part that is copied below an element with prefixes of its own means the same, whichever way it is written."""
    at = copy(body(domain, text_of(document).encode()))
    for _ in range(data.draw(st.integers(1, 3))):
        inside = [
            child for child in at if isinstance(child.handle, etree._Element) and child.handle.tag.__class__ is str
        ]
        at = data.draw(st.sampled_from(inside)) if inside else at
    top, (namespace, declared) = new_body(domain), place
    out = top.add("Out", namespace="" if domain == "XML" else namespace)
    for prefix, uri in declared.items() if domain != "XML" else ():
        known = {"name": prefix, "namespace": XMLNS} if prefix else {"name": "xmlns"}
        out.add(value=uri, type_=DECLARATION[domain], **known)
    out.append(copy(at))
    out.append(copy(at))
    quickly = write(top)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Writer, "_scoped", lambda *_: None)
        rendered = write(top)
    assert alike(rendered) == alike(quickly)


def alike(document: bytes) -> object:
    """A document without the difference that sections make."""
    parser = etree.XMLParser(recover=True)  # XML knows no namespaces, and may leave a prefix without one
    return _facts(etree.fromstring(document, parser))


def _facts(node: etree._Element) -> object:
    return (
        node.tag,
        dict(node.attrib),
        dict(node.nsmap),
        node.text or "",
        node.tail or "",
        [_facts(one) for one in node],
    )


FORMS = [
    # the document, the path to the part, what the element is called that it is copied below, and what is written
    ('<o:O xmlns:o="u"><o:a k="1"><o:b/></o:a></o:O>', "a", "", '<NS1:a xmlns:NS1="u" k="1"><NS1:b/></NS1:a>'),
    ('<O xmlns="u"><a><b>1</b></a></O>', "a", "", '<NS1:a xmlns:NS1="u"><NS1:b>1</NS1:b></NS1:a>'),
    ('<O xmlns="u" xmlns:x="v"><a><x:b/></a></O>', "a", "", None),
    ('<o:O xmlns:o="u" xmlns:x="v"><o:a>x:1</o:a></o:O>', "a", "", '<NS1:a xmlns:NS1="u">x:1</NS1:a>'),
    ('<o:O xmlns:o="u"><o:a o:k="1"/></o:O>', "a", "", '<NS1:a xmlns:NS1="u" NS1:k="1"/>'),
    ('<o:O xmlns:o="u"><a>&lt;o:b/></a></o:O>', "a", "", "<a>&lt;o:b/&gt;</a>"),
    ('<o:O xmlns:o="u"><o:a><![CDATA[<o:b>]]></o:a></o:O>', "a", "", '<NS1:a xmlns:NS1="u"><![CDATA[<o:b>]]></NS1:a>'),
]


@pytest.mark.parametrize(("document", "name", "namespace", "expected"), FORMS)
def test_what_a_copied_part_looks_like(document: str, name: str, namespace: str, expected: str | None) -> None:
    """Prefixes that nothing declares any more give way to new ones, as the product makes them."""
    source = body("XMLNSC", document.encode())
    root = source.first_child
    assert root is not None
    part = next(child for child in root if child.name == name)
    top = new_body("XMLNSC")
    top.add("Out", namespace=namespace).append(copy(part))
    written = write(top).decode()
    if expected is not None:
        assert f"<Out>{expected}</Out>" == written
    found = etree.fromstring(written)[0]
    assert [node.tag for node in part.handle.iter()] == [node.tag for node in found.iter()]


def test_parts_that_cannot_be_copied_so_do_not_take_the_square_of_their_number() -> None:
    """Each level of a deep document in which all has to be rendered is not written by libxml2 again and again."""
    depth, wide = 400, "<i/>" * 2_000
    text = '<p:a xmlns:p="u" xmlns:q="v">' * depth + f"<q:b>{wide}</q:b>" + "</p:a>" * depth
    top = new_body("XMLNSC")
    top.add("Out").append(copy(next(iter(body("XMLNSC", text.encode())))))
    started = process_time()
    write(top)
    assert process_time() - started < 5
