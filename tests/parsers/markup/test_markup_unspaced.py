"""Documents that are well-formed but for the rules of namespaces: the XML domain takes them, the others do not."""

from __future__ import annotations

import pytest
from hypothesis import given

from engine.errors import ParserException
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step
from parsers.markup import element_types
from tests.parsers.markup.documents import Tag, body, documents, shown, text_of, write

TAKEN = {
    '<a xmlns:p=""><p:b p:c="1"/></a>': [
        *("Element a", "Attribute xmlns:p = ''", "Element p:b = ''", "Attribute p:c = '1'"),
    ],
    '<a xmlns:p="u" xmlns:q="u" p:x="1" q:x="2"/>': [
        *("Element a = ''", "Attribute xmlns:p = 'u'", "Attribute xmlns:q = 'u'"),
        *("Attribute p:x = '1'", "Attribute q:x = '2'"),
    ],
    "<a:b:c>x<:d/></a:b:c>": ["Element a:b:c = 'x'", "Content  = 'x'", "Element :d = ''"],
    '<a xmlns:p="" xmlns:q="a b" z:c="1"/>': [
        *("Element a = ''", "Attribute xmlns:p = ''", "Attribute xmlns:q = 'a b'", "Attribute z:c = '1'"),
    ],
    '<a xmlns:xml="u" b="1&#10;2">&lt;</a>': [
        *("Element a = '<'", "Attribute xmlns:xml = 'u'", "Attribute b = '1\\n2'", "Content  = '<'"),
    ],
    '<?xml version="1.0"?>\n<!--c--><a xmlns:p=""><!--d--><?e f?>g<![CDATA[]]><![CDATA[h]]></a><?i?>': [
        *("XmlDecl XmlDecl", "Version Version = '1.0'", "WhiteSpace  = '\\n'", "Comment  = 'c'", "Element a"),
        *("Attribute xmlns:p = ''", "Comment  = 'd'", "ProcessingInstruction e = 'f'", "Content  = 'g'"),
        *("CDataSection  = ''", "CDataSection  = 'h'", "ProcessingInstruction i"),
    ],
}


@pytest.mark.parametrize(("text", "expected"), TAKEN.items())
def test_the_xml_domain_takes_them(text: str, expected: list[str]) -> None:
    """A prefix is a part of the name, whatever is declared for it; nothing of the document is lost."""
    top = body("XML", text.encode())
    assert expected == [line.strip() for line in shown(top)]
    assert write(body("XML", text.encode())).decode() == text
    for domain in ("XMLNS", "XMLNSC"):
        with pytest.raises(ParserException, match="BIP5009"):
            shown(body(domain, text.encode()))


@pytest.mark.parametrize("text", TAKEN)
def test_they_are_changed_and_moved(text: str) -> None:
    """What is added to such a document, or copied out of it into another, is written with all that was there."""
    top = copy(body("XML", text.encode()))
    root = next(child for child in top if child.type == element_types.ELEMENT)
    root.add("new", "")
    assert any(line.strip() == "Element new = ''" for line in shown(top))
    assert told(top) == told(body("XML", write(top)))
    other = copy(body("XML", b"<o>x</o>"))
    place = other.child(step("o"))
    assert place is not None
    place.append(copy(root))
    assert told(other) == told(body("XML", write(other)))


def told(top: Element) -> list[str]:
    """What is shown of a body; whether an element with others in it has a value besides is not."""
    return [line.removesuffix(" = ''") for line in shown(top)]


@given(documents(spaces=False))
def test_they_are_read_as_other_documents(tag: Tag) -> None:
    """But for the prefix, a document with a prefix for nothing has the tree that it has where it is for something."""
    text = text_of(tag).replace("\u0220", "n").replace("\U00010400", "l")  # names as the first XML 1.0 had them
    with_nothing, with_something = (f'<w xmlns:z="{uri}">{text}</w>' for uri in ("", "u"))
    expected = [line.replace("xmlns:z = 'u'", "xmlns:z = ''") for line in shown(body("XML", with_something.encode()))]
    assert expected == shown(body("XML", with_nothing.encode()))
    assert shown(body("XML", with_nothing.encode("utf-16"), 1200)) == expected
    assert shown(body("XML", with_nothing.encode("utf-16-le"), 1202)) == expected


DEEP = '<a xmlns:p="">' + "<b>" * 511 + "</b>" * 511 + "</a>"
REFUSED = {
    "not well-formed": '<a xmlns:p=""></b>',
    "an attribute twice": '<a xmlns:p="" p:x="1" p:x="2"/>',
    "a DTD": '<!DOCTYPE a [<!ENTITY e "x">]><a xmlns:p="">&e;</a>',
    "an entity that is none": '<a xmlns:p="">&e;</a>',
    "too deep": f'<o xmlns:p="">{DEEP}</o>',
    "too many attributes": '<a xmlns:p="" ' + " ".join(f'b{n}=""' for n in range(1024)) + "/>",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(what: str) -> None:
    """What is no document in any case stays refused, with its place; limits hold, and DTDs are not read this way."""
    with pytest.raises(ParserException, match=r"BIP5009: .* at offset \d+ "):
        shown(body("XML", REFUSED[what].encode()))


def test_limits_are_those_of_other_documents() -> None:
    """A document that is just within the limits is read."""
    assert len(shown(body("XML", DEEP.encode()))) == 513
