"""SET between documents, trees without a parser and documents of another domain, seen in the bytes that are written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.message.received import new_root
from engine.parser import parser_catalog
from engine.tree.element import Element
from engine.tree.source import NAME_VALUE
from engine.tree.step import step
from esql.trees.assignments import copy_of, create_repeat, set_field, set_list
from esql.trees.moves import delete
from tests.esql.test_trees import ATTRIBUTE, attribute, body, build, ensure, found, received, set_scalar

ORDER = b'<Order when="now"><Id>7</Id><Note>a<![CDATA[b]]></Note><Item code="p">pen</Item><Item>ink</Item></Order>'


def test_a_whole_message_is_copied_without_being_read() -> None:
    """SET OutputRoot = InputRoot shares what came in, down to its bytes."""
    source = received("XMLNSC", b"this is no XML")
    target = new_root()
    set_field(target, source)
    assert [child.name for child in target] == ["Properties", "MQMD", "XMLNSC"]
    target, environment = new_root(), Element("Environment")
    set_field(ensure(target, "XMLNSC"), source.at("XMLNSC"))
    set_field(ensure(environment, "saved"), source.at("XMLNSC"))
    set_field(ensure(target, "XMLNSC"), environment.at("saved"))
    assert [child.name for child in target] == ["XMLNSC"]


COPIES: list[tuple[str, Callable[[Element, Element], object], bytes]] = [
    ("SET OutputRoot = InputRoot", lambda i, o: set_field(o, i), ORDER),
    (
        "SET OutputRoot.XMLNSC = InputRoot.XMLNSC",
        lambda i, o: set_field(ensure(o, "XMLNSC"), i.at("XMLNSC")),
        ORDER,
    ),
    (
        "SET OutputRoot.XMLNSC.A.B = InputRoot.XMLNSC.Order.Item",
        lambda i, o: set_field(ensure(o, "XMLNSC", "A", "B"), i.at("XMLNSC", "Order", "Item")),
        b'<A><B code="p">pen</B></A>',
    ),
    (
        "SET OutputRoot.XMLNSC.A.B[] = InputRoot.XMLNSC.Order.Item[]",
        lambda i, o: set_list(ensure(o, "XMLNSC", "A"), step("B"), found(i, "XMLNSC", "Order").every(step("Item"))),
        b'<A><B code="p">pen</B><B>ink</B></A>',
    ),
    (
        "SET OutputRoot.XMLNSC.A.(XMLNSC.Attribute)id = InputRoot.XMLNSC.Order.Id",
        lambda i, o: set_field(ensure(o, "XMLNSC", "A", attribute("id")), i.at("XMLNSC", "Order", "Id")),
        b'<A id="7"/>',
    ),
    (
        "SET OutputRoot.XMLNSC.A.when = InputRoot.XMLNSC.Order.(XMLNSC.Attribute)when",
        lambda i, o: set_field(ensure(o, "XMLNSC", "A", "at"), found(i, "XMLNSC", "Order").child(attribute("when"))),
        b'<A at="now"/>',
    ),
    (
        "SET OutputRoot.XMLNSC.Order = InputRoot.XMLNSC.Order; SET OutputRoot.XMLNSC.Order.Item[2] = NULL",
        lambda i, o: (
            set_field(ensure(o, "XMLNSC", "Order"), i.at("XMLNSC", "Order")),
            delete(found(o, "XMLNSC", "Order").nth(step("Item"), 2)),
        ),
        ORDER.replace(b"<Item>ink</Item>", b""),
    ),
    (
        "SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.Order.Item = 'cap'",
        lambda i, o: (set_field(o, i), set_scalar(ensure(o, "XMLNSC", "Order", "Item"), "cap")),
        ORDER.replace(b"pen", b"cap"),
    ),
    (
        "SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.Order.Item = OutputRoot.XMLNSC.Order",
        lambda i, o: (set_field(o, i), set_field(ensure(o, "XMLNSC", "Order", "Item"), o.at("XMLNSC", "Order"))),
        ORDER.replace(b'<Item code="p">pen</Item>', ORDER.replace(b"Order", b"Item")),
    ),
    (
        "SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.Order = OutputRoot.XMLNSC.Order.Item",
        lambda i, o: (
            set_field(o, i),
            set_field(ensure(o, "XMLNSC", "Order"), o.at("XMLNSC", "Order", "Item")),
        ),
        b'<Order code="p">pen</Order>',
    ),
]


@pytest.mark.parametrize(("esql", "does", "expected"), COPIES, ids=[row[0] for row in COPIES])
def test_documents_are_copied_and_changed(
    esql: str, does: Callable[[Element, Element], object], expected: bytes
) -> None:
    """What the parser writes says that values, attributes and children came along."""
    source, target = received("XMLNSC", ORDER), new_root()
    does(source, target)
    assert body(target, "XMLNSC") == expected
    assert body(source, "XMLNSC") == ORDER


TRANSLATIONS: list[tuple[str, str, bytes, bytes]] = [
    ("XMLNSC", "XML", ORDER, ORDER.replace(b"a<![CDATA[b]]>", b"ab")),
    ("XMLNSC", "XMLNS", ORDER, ORDER.replace(b"a<![CDATA[b]]>", b"ab")),
    ("XML", "XMLNSC", b'<a b="1">t<!--no--></a>', b'<a b="1">t</a>'),
    ("XML", "XMLNSC", b"<Name3><Name31>Value31</Name31></Name3>", b"<Name3><Name31>Value31</Name31></Name3>"),
    ("XML", "XMLNSC", b"<a>\n  <b>1</b>\n  <c> </c>\n</a>", b"<a><b>1</b><c> </c></a>"),
    ("XML", "XMLNSC", b"<a>t<b>1</b>u</a>", b"<a>t<b>1</b>u</a>"),
    ("XMLNS", "XMLNSC", b'<p:a xmlns:p="u"><b>1</b></p:a>', b'<p:a xmlns:p="u"><b>1</b></p:a>'),
    ("XMLNS", "XML", b'<a b="1"><c>2</c></a>', b'<a b="1"><c>2</c></a>'),
]


@pytest.mark.parametrize(("domain", "other", "came", "expected"), TRANSLATIONS)
def test_documents_are_copied_to_another_domain(domain: str, other: str, came: bytes, expected: bytes) -> None:
    """SET OutputRoot.XML = InputRoot.XMLNSC and its like: attributes stay attributes, text becomes a value."""
    target = new_root()
    set_field(ensure(target, other), received(domain, came).at(domain))
    assert body(target, other) == expected


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
def test_documents_come_back_from_the_environment_as_they_were(domain: str) -> None:
    """SET Environment.saved = InputRoot.domain, and back: what no parser owns still knows where it is from."""
    environment, target = Element("Environment"), new_root()
    source = received(domain, ORDER)
    set_field(ensure(environment, "saved"), source.at(domain))
    set_field(ensure(environment, "order"), source.at(domain, "Order"))
    set_field(ensure(target, domain), environment.at("saved"))
    assert body(target, domain) == ORDER
    set_field(ensure(target, domain, "Order"), environment.at("order"))
    assert body(target, domain) == ORDER


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
def test_values_in_the_environment_belong_to_no_parser(domain: str) -> None:
    """SET Environment.id = InputRoot.domain.Order.Id gives it the value; what is more than a value keeps its parser."""
    environment, order = Element("Environment"), found(received(domain, ORDER), domain, "Order")
    set_field(ensure(environment, "id"), order.at("Id"))
    set_field(ensure(environment, "when"), order.at("when"))
    set_field(ensure(environment, "item"), order.at("Item"))
    assert [child.value for child in environment] == ["7", "now", "pen"]
    assert [child.owner.name for child in environment] == ["", domain, domain]


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
def test_fields_of_the_environment_become_elements(domain: str) -> None:
    """A field with a value is an element in a document, though NameValue is the number of an attribute of XML."""
    environment = build(("Environment", None, ("order", None, ("id", 7), ("item", None, ("code", "p")))))
    target = new_root()
    set_field(ensure(target, domain, "Order"), environment.at("order"))
    set_field(ensure(target, domain, "Order", "copy"), environment.at("order", "id"))
    assert body(target, domain) == b"<Order><id>7</id><item><code>p</code></item><copy>7</copy></Order>"


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
def test_repeats_in_the_environment_become_elements(domain: str) -> None:
    """CREATE NEXTSIBLING OF Environment.a REPEAT takes over that a is a field, not the number of an attribute."""
    environment, target = build(("Environment", None, ("a", 7))), new_root()
    made = create_repeat(found(environment, "a"), "NEXTSIBLING")
    set_field(made, build(("", 8, ("b", 9))))
    set_field(made, found(environment, "a"))
    set_field(ensure(target, domain, "Order"), environment)
    assert body(target, domain) == b"<Order><a>7</a><a>7</a></Order>"


@pytest.mark.parametrize(("domain", "type_"), [("XML", NAME_VALUE), ("XMLNS", NAME_VALUE), ("XMLNSC", ATTRIBUTE)])
def test_attributes_of_a_row_become_attributes(domain: str, type_: int) -> None:
    """ROW('x' AS (XML.Attribute)a) says so by its type."""
    row, target = Element(""), new_root()
    row.add("a", "x", type_=type_)
    row.add("b", "y")
    set_field(ensure(target, domain, "Order"), row)
    assert body(target, domain) == b'<Order a="x"><b>y</b></Order>'


def test_header_fields_are_copied_by_value() -> None:
    """SET OutputRoot.XML.m.id = InputRoot.MQMD.Priority: domains that have nothing in common but names and values."""
    source, target = received("XMLNSC", ORDER), new_root()
    set_field(ensure(target, "XML", "m", "priority"), source.at("MQMD", "Priority"))
    set_field(ensure(target, "MQMD", "ReplyToQ"), source.at("XMLNSC", "Order", "Item"))
    assert body(target, "XML") == b"<m><priority>0</priority></m>"
    assert target.at("MQMD", "ReplyToQ").value == "pen"  # type: ignore[union-attr]  # it was just set


def test_a_scalar_leaves_attributes_and_children_in_place() -> None:
    """SET OutputRoot.XMLNSC.Order.Item = 'cap' keeps the attribute of the item, in what was read and what was built."""
    target = new_root()
    set_field(target, received("XMLNSC", ORDER))
    item = ensure(target, "XMLNSC", "Order", ("Item", 2))
    set_scalar(ensure(item, attribute("code")), "i")
    set_scalar(item, "pot")
    set_scalar(ensure(target, "XMLNSC", "Order", "Item"), "cap")
    assert body(target, "XMLNSC") == ORDER.replace(b"pen", b"cap").replace(b"<Item>ink", b'<Item code="i">pot')


def test_copies_stand_alone_with_their_domain() -> None:
    """What is taken out of a document for later still knows its parser."""
    twin = copy_of(received("XMLNSC", ORDER).at("XMLNSC", "Order"))  # type: ignore[arg-type]  # it is there
    assert (twin.parent, twin.owner) == (None, parser_catalog.find("XMLNSC"))
