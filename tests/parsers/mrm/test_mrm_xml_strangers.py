"""MRM XML: what a model does not know, and names that no document can have."""

import pytest

from engine.errors import ConfigurationException, ParserException
from engine.tree.element import Element
from engine.tree.fresh_rows import fresh_rows
from engine.tree.sharing import copy, copy_into
from parsers.mrm.model import Field, Group
from tests.parsers.mrm.test_mrm_xml import codec, read, simple, write
from tests.parsers.mrm.texts import built, plain

STATUS = Group((simple("id", "integer", render="XMLAttribute"), simple("status", xml_name="Status"), simple("when")))
STRANGE = [
    '<status l="x"/>',
    '<status l="x">T</status>',
    '<odd l="x">T<b/>U</odd>',
    "<status>a</status><status>b</status>",
]


@pytest.mark.parametrize("strange", STRANGE)
def test_what_is_called_as_a_field_and_is_none(strange: str) -> None:
    """An element that has the name of a field, but not in XML, stays what it was when another field changes."""
    own = codec(STATUS)
    tree = copy(read(own, f'<Order id="7"><Status>NEW</Status>{strange}<when>1</when></Order>'))
    found = tree.at("when")
    assert found is not None
    found.value = "2"
    assert f'<Order id="7"><Status>NEW</Status><when>2</when>{strange}</Order>'.encode() == write(own, tree)


def test_a_field_that_takes_a_stranger() -> None:
    """What the model does not know becomes a field where it is copied into a tree as one."""
    own = codec(STATUS)
    tree, made = read(own, '<Order id="7"><status>T</status></Order>'), Element("MRM")
    found = tree.at("status")
    assert found is not None
    copy_into(made.add("status"), found)
    assert b"<Order><Status>T</Status></Order>" == write(own, made)


def test_text_beside_what_the_model_does_not_know() -> None:
    """Text in and around elements that the model does not know is kept when one of their attributes changes."""
    own = codec(Group((simple("a"),)))
    tree = copy(read(own, '<Order><e q="2">t<g/>u</e>v<a>x</a></Order>'))
    found = tree.at("e", "q")
    assert found is not None
    found.value = "3"
    assert b'<Order><a>x</a><e q="3">t<g/>u</e>v</Order>' == write(own, tree)


def test_attributes_that_the_tree_does_not_show() -> None:
    """A field that changes keeps the attributes that its model does not name, and the message those of XML Schema."""
    own = codec(Group((simple("a"), simple("b"))))
    space = "http://www.w3.org/2001/XMLSchema-instance"
    text = f'<Order xmlns:x="{space}" x:schemaLocation="u v"><a unit="kg">1</a><b>2</b></Order>'
    tree = copy(read(own, text))
    found = tree.at("a")
    assert found is not None
    found.value = "3"
    made = write(own, tree)
    assert b'<a unit="kg">3</a><b>2</b>' in made
    assert b'schemaLocation="u v"' in made


def test_a_namespace_with_a_brace() -> None:
    """An attribute whose namespace has a brace in it has its value; that it cannot be written anew is said."""
    own = codec(STATUS)
    tree = read(own, '<Order id="7" xmlns:p="urn:a}b" p:z="q"><when>1</when></Order>')
    assert ("z", "q") in plain(tree)
    tree.add("more", "x")
    with pytest.raises(ParserException, match="cannot be the name of an attribute"):
        write(own, tree)


@pytest.mark.parametrize(
    "field",
    [
        simple("a", xml_name="a b"),
        simple("a", namespace="u}v"),
        simple("a", xml_name="b", render="XMLAttribute", namespace="}"),
    ],
)
def test_names_that_no_element_can_have(field: Field) -> None:
    """A model that calls a field what XML cannot is refused when it is read."""
    with pytest.raises(ConfigurationException, match="cannot be a name in XML"):
        write(codec(Group((field,))), built([]))


def test_a_row_whose_columns_are_in_another_case() -> None:
    """A column that a field is called as in another case is written as that field, and only as that."""
    own = codec(Group((simple("sku"), simple("qty", "integer"))))
    row = fresh_rows(("QTY", "SKU", "Extra"), [(3, "A", "x")])[0]
    assert b"<Order><sku>A</sku><qty>3</qty><Extra>x</Extra></Order>" == write(own, row)
