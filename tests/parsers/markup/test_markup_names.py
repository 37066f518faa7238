"""Names that mean something to an XML library are names like others to a flow."""

import pytest

from engine.parser import Follow, Portion, parser_catalog
from engine.received import Part
from engine.step import step
from engine.tree import Element


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
@pytest.mark.parametrize("name", ["*", "{u}b", "{*}b", "b\x00", "{", "}", "\ud800", ""])
def test_a_name_that_no_element_has_finds_nothing(domain: str, name: str) -> None:
    """Whatever is in a name, it finds the elements called so, and there are none."""
    body = b"<a><b>1</b><c>2</c></a>"
    top = Element(domain, source=Part(parser_catalog.find(domain), Portion(body, 0, len(body), Follow())))
    inner = top.at("a")
    assert inner is not None
    assert (None, None, 0) == (top.child(step(name)), inner.child(step(name)), inner.count(step(name)))
