"""What has become an attribute where an element stood is written as one, and a document needs an element."""

import pytest

from engine.errors import ParserException
from engine.message.received import Part
from engine.parser import Follow, Form, Portion, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy, copy_into


def read(domain: str) -> Element:
    body, parser = b'<r a="1"><b>x</b><c>y</c></r>', parser_catalog.find(domain)
    top = Element(domain, source=Part(parser, Portion(body, 0, len(body), Follow())))
    top.domain = parser
    return top


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
def test_a_field_that_was_given_an_attribute_is_written_as_one(domain: str) -> None:
    """SET r.b = r.a makes b an attribute of r, and nothing is lost."""
    source, target = read(domain), copy(read(domain))
    field, attribute = target.at("r", "b"), source.at("r", "a")
    assert field is not None
    assert attribute is not None
    copy_into(field, attribute)
    assert b'<r a="1" b="1"><c>y</c></r>' == parser_catalog.find(domain).write(target, Form())


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
def test_a_document_without_an_element_is_refused(domain: str) -> None:
    """SET r = r.a leaves no body element to write."""
    source, target = read(domain), copy(read(domain))
    field, attribute = target.at("r"), source.at("r", "a")
    assert field is not None
    assert attribute is not None
    copy_into(field, attribute)
    with pytest.raises(ParserException) as raised:
        parser_catalog.find(domain).write(target, Form())
    assert raised.value.number == 5010
