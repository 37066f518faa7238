"""Writing what was built: names, namespaces, quotes, and what XML cannot hold."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from engine.errors import ParserException
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step
from parsers.markup import element_types
from tests.parsers.markup.documents import XMLNS, body, new_body, write

DOMAINS = ["XML", "XMLNS", "XMLNSC"]
COMMENTS = {"XML": element_types.COMMENT, "XMLNS": element_types.COMMENT, "XMLNSC": element_types.COMPACT_COMMENT}
INSTRUCTIONS = {
    "XML": element_types.INSTRUCTION,
    "XMLNS": element_types.INSTRUCTION,
    "XMLNSC": element_types.COMPACT_INSTRUCTION,
}
ATTRIBUTES = {
    "XML": element_types.ATTRIBUTE,
    "XMLNS": element_types.ATTRIBUTE,
    "XMLNSC": element_types.COMPACT_ATTRIBUTE,
}


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(
    ("value", "generic", "compact"),
    [
        (None, "<a/>", "<a/>"),
        ("", "<a/>", "<a/>"),
        ("<&>'\"\r]]>", "<a>&lt;&amp;&gt;'\"&#13;]]&gt;</a>", None),
        (True, "<a>TRUE</a>", "<a>true</a>"),
        (Decimal("1.50"), "<a>1.50</a>", None),
        (44.72, "<a>4.472E+1</a>", None),
        (b"\x01\xff", "<a>01FF</a>", None),
    ],
)
def test_values_are_written_as_the_domain_writes_them(
    domain: str, value: Any, generic: str, compact: str | None
) -> None:
    """NULL and the empty string are both an empty element; XMLNSC writes XML Schema's forms."""
    top = new_body(domain)
    top.add("a").value = value
    assert write(top).decode() == (compact or generic if domain == "XMLNSC" else generic)


def test_namespaces_without_a_prefix_are_given_one() -> None:
    """A namespace that nothing declares gets NS1, NS2 ...; one that is declared, its prefix; the default none."""
    top = new_body("XMLNSC")
    root = top.add("a", namespace="urn:1")
    root.add("b", "x", namespace="urn:1")
    root.add("c", "1", namespace="urn:2", type_=element_types.COMPACT_ATTRIBUTE)
    root.add("d")
    assert write(top) == b'<NS1:a xmlns:NS1="urn:1" xmlns:NS2="urn:2" NS2:c="1"><NS1:b>x</NS1:b><d/></NS1:a>'
    root.add("p", "urn:2", namespace=XMLNS, type_=element_types.COMPACT_NAMESPACE)
    root.add("xmlns", "urn:1", type_=element_types.COMPACT_NAMESPACE)
    assert write(top) == b'<a xmlns:p="urn:2" xmlns="urn:1" p:c="1"><b>x</b><d xmlns=""/></a>'


def test_a_copied_part_keeps_its_namespace_under_another_default() -> None:
    """An element without a namespace that is put below a default namespace undeclares it."""
    part = next(iter(next(iter(body("XMLNSC", b"<o><i>1</i></o>")))))
    top = new_body("XMLNSC")
    root = top.add("a", namespace="u")
    root.add("xmlns", "u", type_=element_types.COMPACT_NAMESPACE)
    root.append(copy(part))
    assert write(top) == b'<a xmlns="u"><i xmlns="">1</i></a>'


def test_a_default_namespace_is_for_elements_that_are_in_it() -> None:
    """An element without a namespace that declares a default one is refused, as the product has it."""
    top = new_body("XMLNSC")
    root = top.add("a")
    root.add("xmlns", "u", type_=element_types.COMPACT_NAMESPACE)
    with pytest.raises(ParserException, match=r"XMLNSC\.a: it has no namespace and declares u as") as raised:
        write(top)
    assert raised.value.number == 5014
    root.namespace = "u"
    assert write(top) == b'<a xmlns="u"/>'


def test_single_attributes_are_written_in_single_quotes() -> None:
    """XMLNSC.SingleAttribute chooses the quotes."""
    top = new_body("XMLNSC")
    top.add("a").add("b", "it's", type_=element_types.SINGLE_ATTRIBUTE)
    assert write(top) == b"<a b='it&apos;s'/>"


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(
    ("name", "value", "kind", "message"),
    [
        ("x", "a\x01b", None, r"a\.x: XML cannot hold the character U\+0001, at position 2.*take it out"),
        ("x", "\ud800", None, r"a\.x: XML cannot hold the character U\+D800"),
        ("x", "\ufffe", ATTRIBUTES, r"a\.x: XML cannot hold the character U\+FFFE"),
        ("1x", "", None, r"a\.1x: '1x' cannot be a name in XML: start it with a letter"),
        ("x y", "", ATTRIBUTES, r"a\..*'x y' cannot be a name in XML"),
        ("", "", None, r"a\.\(\): '' cannot be a name"),
        ("", "a--b", COMMENTS, r"cannot hold '--'.*put blanks"),
        ("", "a-", COMMENTS, r"cannot hold '--' or end in '-'"),
        ("go", "?>", INSTRUCTIONS, r"a\.go: a processing instruction cannot hold '\?>'"),
        ("xml", "x", INSTRUCTIONS, r"a\.xml: a processing instruction cannot be called xml"),
        ("old", "2", ATTRIBUTES, r"two attributes called old"),
    ],
)
def test_what_xml_cannot_hold_is_refused(
    domain: str, name: str, value: str, kind: dict[str, int] | None, message: str
) -> None:
    """The error is a 5010, names the element and says what to do; what was read stays as it was."""
    data = b'<a old="1"><b>x</b></a>'
    source = body(domain, data)
    for expand in (False, True):
        top = copy(source)
        root = top.child(step("a"))
        assert root is not None
        root.ensure(step("b")).value = "changed"
        assert not expand or list(root)
        root.append(Element(name, "", element_types.ELEMENT if kind is None else kind[domain]))
        assert root.last_child is not None
        root.last_child.value = value
        with pytest.raises(ParserException, match=message) as caught:
            write(top)
        assert caught.value.number == 5010
        assert write(source) == data
        assert write(body(domain, data)) == data


@pytest.mark.parametrize("domain", DOMAINS)
def test_trees_deeper_than_any_document_are_refused(domain: str) -> None:
    """2,000 levels that a program has built are an error that says so, and no exhausted stack."""
    for top in (new_body(domain), copy(body(domain, b"<a/>"))):
        at = top.child(step("a")) or top.add("a")
        for _ in range(2_000):
            at = at.add("a")
        with pytest.raises(ParserException, match=r"BIP5010.*deeper than 512 levels"):
            write(top)


@pytest.mark.parametrize("domain", ["XML", "XMLNS"])
def test_a_document_has_one_body_element(domain: str) -> None:
    """The older domains refuse to write two body elements, or a declaration alone."""
    top = new_body(domain)
    assert write(top) == b""
    top.add("XmlDecl", type_=element_types.XML_DECL).add("Version", "1.0", type_=element_types.VERSION)
    with pytest.raises(ParserException, match=r"BIP5010.*one body element, and here are 0"):
        write(top)
    top.add("a")
    assert write(top) == b'<?xml version="1.0"?><a/>'
    top.add("b")
    with pytest.raises(ParserException, match=r"BIP5010.*one body element, and here are 2"):
        write(top)


DOCTYPE = (
    '<!DOCTYPE a PUBLIC "pub" "sys" [\n<!ELEMENT a (#PCDATA)><!ATTLIST a x CDATA "1" y (p|q) #REQUIRED>'
    '<!ENTITY e "v"><!ENTITY % pe "w"><!ENTITY x SYSTEM "s"><!ENTITY u SYSTEM "NDATA" NDATA n>'
    '<!NOTATION n SYSTEM "viewer"><!--c--><?t d?>]><a y="p">1&e;2</a>'
)


@pytest.mark.parametrize("domain", ["XML", "XMLNS"])
def test_a_document_type_is_rendered_as_it_was_read(domain: str) -> None:
    """A body whose parts were moved has its document type rendered from the tree, declaration by declaration."""
    top = body(domain, DOCTYPE.encode())
    root = list(top)[1]
    top.append(root.detach())
    root.add("b")
    assert write(top).decode() == DOCTYPE.replace("</a>", "<b/></a>")


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("name", ["", "{u", "{}", "k}l", "1"])
def test_an_attribute_that_is_added_to_what_was_read_needs_a_name(domain: str, name: str) -> None:
    """An attribute that comes to an element of a document is refused by its name, as one that is built is."""
    changed = copy(body(domain, b"<a k='1'><b/></a>"))
    changed.ensure(step("a")).add(name, "x", type_=ATTRIBUTES[domain])
    with pytest.raises(ParserException, match="cannot be a name in XML"):
        write(changed)


@pytest.mark.parametrize("domain", DOMAINS)
def test_an_attribute_keeps_its_value_when_a_field_is_put_below_it(domain: str) -> None:
    """What XML has no place for below an attribute leaves its value alone."""
    top = new_body(domain)
    top.add("a").add("k", 5, type_=ATTRIBUTES[domain]).add("below", "x")
    assert write(top) == b'<a k="5"/>'
