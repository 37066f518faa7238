"""Names that mean something to an XML library are names like others to a flow."""

import pytest
from hypothesis import given

from engine.errors import ParserException
from engine.message.received import Part
from engine.parser import Follow, Portion, parser_catalog
from engine.tree.element import Element
from engine.tree.step import step
from tests.parsers.markup.documents import body, documents, shown, text_of, write


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
@pytest.mark.parametrize("name", ["*", "{u}b", "{*}b", "b\x00", "{", "}", "\ud800", ""])
def test_a_name_that_no_element_has_finds_nothing(domain: str, name: str) -> None:
    """Whatever is in a name, it finds the elements called so, and there are none."""
    data = b"<a><b>1</b><c>2</c></a>"
    top = Element(domain, source=Part(parser_catalog.find(domain), Portion(data, 0, len(data), Follow())))
    inner = top.at("a")
    assert inner is not None
    assert (None, None, 0) == (top.child(step(name)), inner.child(step(name)), inner.count(step(name)))


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
@given(documents(spaces=True, mixed=False).map(text_of))
def test_what_is_asked_for_by_name_is_what_the_order_shows(domain: str, text: str) -> None:
    """The first, the n-th and the number of the children of a name are the same before and after all are made."""
    ordered, asked = body(domain, text.encode()), body(domain, text.encode())
    pending = [(ordered, asked)]
    while pending:
        whole, lazy = pending.pop()
        children = list(whole)
        for wanted in {step(child.name, child.namespace) for child in children} | {step("none")}:
            expected = [child for child in children if wanted.matches(child)]
            found = lazy.child(wanted)
            assert [facts(child) for child in expected[:1]] == [facts(child) for child in (found,) if child is not None]
            assert len(expected) == lazy.count(wanted)
            for number, child in enumerate(expected, 1):
                twin = lazy.nth(wanted, number)
                assert twin is not None
                assert facts(child) == facts(twin)
                pending.append((child, twin))


def facts(element: Element) -> tuple[object, ...]:
    """What an element shows, without making what is in it."""
    return element.name, element.namespace, element.type, element.value


@pytest.mark.parametrize("uri", ["urn default", "http://example.com/my schema", ":::", "http://[x", "{u}", "relative"])
@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
def test_a_namespace_may_be_called_anything(domain: str, uri: str) -> None:
    """The name of a namespace need not be a URI that anyone could use: it is read, found by, and written as it is."""
    text = f'<a xmlns="{uri}" xmlns:p="{uri}2"><b p:c="1">2</b></a>'
    top = body(domain, text.encode())
    assert write(top).decode() == text
    root = top.child(step("a", uri if domain != "XML" else ""))
    assert root is not None
    found = root.child(step("b", uri if domain != "XML" else ""))
    assert found is not None
    assert found.value == "2"
    found.value = "3"
    assert write(top).decode() == text.replace("2</b>", "3</b>")


@pytest.mark.parametrize("domain", ["XMLNS", "XMLNSC"])
@pytest.mark.parametrize("rest", ['q:c="1"', 'p:c="1" p:c="2"', "><b></a"])
def test_what_else_is_wrong_is_still_refused(domain: str, rest: str) -> None:
    """A document is not taken for its namespace alone: a prefix without one, or an attribute twice, is refused."""
    with pytest.raises(ParserException, match="BIP5009"):
        shown(body(domain, f'<a xmlns:p="a b" {rest}/>'.encode()))
