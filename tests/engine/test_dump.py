"""Dumps of trees: whole ones as files in dumps/, each rule by itself, and what no dump may do."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest

import engine.tree.dump
from engine.descriptor import Descriptor
from engine.errors import BrokerError, Insert, ParserException, Place
from engine.message.assembly import Message, exception_list
from engine.message.received import new_root
from engine.parser import Template
from engine.tree.dump import dump, lines, literal, typed
from engine.tree.element import Element
from engine.tree.sharing import copy, copy_into, read_only
from engine.tree.source import NAME_VALUE, VALUE
from parsers.markup import element_types

DUMPS = Path(__file__).parent / "dumps"


def address(_: Element) -> int:
    return 0x7F2B3C0


def received(body: bytes, domain: str, **facts: object) -> Element:
    descriptor = Descriptor(put_date="20261118", put_time="09055044", put_appl_name="orders", msg_id=bytes(range(24)))
    return Message.received(descriptor._replace(**facts), body, template=Template(domain), queue="IN").root  # type: ignore[arg-type]


def xmlnsc() -> Element:
    body = b"""<?xml version="1.0" encoding="UTF-8"?>
<o:Order xmlns:o="http://example.com/orders" number="7" xmlns="urn:lines">
  <o:Customer kind="firm">Meier &amp; 'Sons'</o:Customer>
  <Line><Item>Bolt</Item><Quantity/></Line>
  <Note><![CDATA[<soon>]]></Note>
</o:Order>"""
    return received(body, "XMLNSC")


def xml() -> Element:
    body = b"""<?xml version="1.0" standalone="yes"?>
<!DOCTYPE Order [<!ENTITY who "Meier">]>
<Order id="7">
  <Item a="1">Bolt</Item><Empty/>
  <!-- soon --><Note><![CDATA[a<b]]></Note>
</Order>
"""
    return received(body, "XML")


def blob() -> Element:
    return received(b'{"tmSymbol":"\xe2\x84\xa2"}', "BLOB")


def rfh2() -> Element:
    folders = [
        b"<mcd><Msd>xmlnsc</Msd><Set>ORDERS</Set></mcd>",
        b"<usr><n dt='i4'>7</n><who nick='Al'>Alice</who></usr>",
    ]
    padded = [folder + b" " * (-len(folder) % 4) for folder in folders]
    data = b"".join(len(f).to_bytes(4, "big") + f for f in padded)
    head = (2, 36 + len(data), 273, 1208)
    header = b"RFH " + b"".join(n.to_bytes(4, "big") for n in head) + b"MQSTR   "
    header += bytes(4) + (1208).to_bytes(4, "big") + data
    return received(header + b"<a><b>1</b></a>", "BLOB", format="MQHRF2", encoding=273)


def environment() -> Element:
    top = Element("Environment")
    variables = top.add("Variables")
    for value in (None, "it's\x01", 7, -1, 1.5, Decimal("3.50"), True, b"\xc0\x7f", date(2003, 5, 23)):
        variables.add("Value", type_=NAME_VALUE).value = value
    moments = variables.add("Moments")
    for moment in (
        time(12, 40),
        time(12, 40, 0, 5, UTC),
        datetime(2003, 5, 23),
        datetime(2010, 1, 14, 6, 15, 41, 440000, UTC),
    ):
        moments.add("Moment", moment)
    variables.add("Empty")
    held = variables.add("Held", namespace="http://example.com/h", type_=NAME_VALUE)
    held.value = "text"
    held.add("attribute", "", namespace="urn:a")
    variables.add("Missing", type_=NAME_VALUE).add("under", 1)
    copy_into(top.add("Saved"), xmlnsc().at("XMLNSC"))  # type: ignore[arg-type]  # it is there
    return top


def exceptions() -> Element:
    place = Place("orders", "Compute", "orders/total.esql", 3, 29)
    cause = ParserException(5004, "An XML parsing error has occurred", Insert("1502", 2), "line 2", place=place)
    error = BrokerError(5009, "XML Parsing Errors have occurred").at(place)
    error.__cause__ = cause
    return exception_list(error)


def output() -> Element:
    """A tree that a Compute node built: a copy with a change, beside what is new."""
    root = copy(xmlnsc())
    root.at("MQMD", "Priority").value = 9  # type: ignore[union-attr]  # it is there
    body = root.at("XMLNSC")
    assert body is not None
    body.detach()
    order = root.add("XMLNSC").add("Order")
    order.add("Id", 7)
    order.add("lang", "de", type_=element_types.COMPACT_ATTRIBUTE)
    order.add("", "mixed", type_=VALUE)
    order.add("Nothing", type_=element_types.FIELD).value = None
    return read_only(root)


WHOLE: list[Callable[[], Element]] = [xmlnsc, xml, blob, rfh2, environment, exceptions, output, new_root]


@pytest.mark.parametrize("build", WHOLE, ids=lambda build: build.__name__)
def test_a_whole_tree(build: Callable[[], Element]) -> None:
    """A tree is dumped as its file in dumps/ has it."""
    assert (DUMPS / f"{build.__name__}.txt").read_text("utf-8") == dump(build(), address=address) + "\n"


PARTS = [
    (("Properties", "CodedCharSetId"), "1208"),
    (("MQMD", "PutApplName"), f"'{'orders':28}'"),
    (("MQMD", "MsgId"), f"X'{bytes(range(24)).hex()}'"),
]


@pytest.mark.parametrize(("path", "text"), PARTS, ids=lambda part: ".".join(part) if isinstance(part, tuple) else "")
def test_a_field_is_its_bare_value(path: tuple[str, ...], text: str) -> None:
    """A field without children is dumped as its value, with neither name nor type."""
    field = xmlnsc().at(*path)
    assert field is not None
    assert text == dump(field)


def test_a_field_with_attributes_shows_both() -> None:
    """A part that has a value and children shows the value, and the children under the parser's name."""
    order = xmlnsc().at("XMLNSC")
    assert order is not None
    assert order.last_child is not None
    customer = next(child for child in order.last_child if child.name == "Customer")
    assert dump(customer, address=address).splitlines() == [
        "'Meier & 'Sons''",
        "( ['xmlnsc' : 0x7f2b3c0]",
        "  (0x03000100:Attribute):kind = 'firm' (CHARACTER)",
        ")",
    ]


def test_a_field_that_is_null() -> None:
    """A field whose value is NULL says so; a folder without anything has its parentheses at the top."""
    field = Element("Field", type_=NAME_VALUE)
    assert dump(field) == "NULL"
    assert dump(Element("Environment"), address=address) == "( ['MQROOT' : 0x7f2b3c0]\n)"


VALUES = [
    ("", "'' (CHARACTER)"),
    ("two\nlines\x1b", "'two\nlines\x1b' (CHARACTER)"),
    ("'USER'", "''USER'' (CHARACTER)"),
    (False, "FALSE (BOOLEAN)"),
    (1 << 62, "4611686018427387904 (INTEGER)"),
    (Decimal("0.10"), "0.10 (DECIMAL)"),
    (1.0, "1E+0 (FLOAT)"),
    (-0.00015, "-1.5E-4 (FLOAT)"),
    (1e300, "1E+300 (FLOAT)"),
    (float("inf"), "INFINITY (FLOAT)"),
    (float("nan"), "NAN (FLOAT)"),
    (b"", "X'' (BLOB)"),
    (date(99, 1, 2), "DATE '0099-01-02' (DATE)"),
    (time(0, 0, 1, 250000), "TIME '00:00:01.250' (TIME)"),
    (time(0, 0, 1, 250001, UTC), "GMTTIME '00:00:01.250001' (GMTTIME)"),
    (datetime(2003, 5, 23), "TIMESTAMP '2003-05-23 00:00:00' (TIMESTAMP)"),
    (datetime(2010, 1, 14, 6, 15, 41, 440000, UTC), "GMTTIMESTAMP '2010-01-14 06:15:41.440' (GMTTIMESTAMP)"),
    (None, "NULL"),
]


@pytest.mark.parametrize(("value", "text"), VALUES, ids=[text for _, text in VALUES])
def test_a_value_is_shown_in_esql_notation(value: object, text: str) -> None:
    """Every type of value has its notation and its name behind it; characters stand as they are."""
    assert text == typed(value)


def test_a_value_of_another_kind_says_its_own_name() -> None:
    """A value that the kernel does not know, as an interval is, is shown as it shows itself."""

    class Interval:
        def __str__(self) -> str:
            return "INTERVAL '5' DAY"

    assert typed(Interval()) == "INTERVAL '5' DAY (INTERVAL)"
    assert literal(Interval()) == "INTERVAL '5' DAY"


def test_addresses_are_those_of_memory_unless_said_otherwise() -> None:
    """Without an address function the brackets say where an element is."""
    top = new_root()
    assert dump(top) == f"( ['MQROOT' : {id(top):#x}]\n)"


def test_a_deep_tree_needs_no_recursion() -> None:
    """10,000 levels are dumped, line by line."""
    top = at = Element("Environment")
    for _ in range(10_000):
        at = at.add("a")
    opened = closed = widest = 0
    for line in lines(top, address=address):
        opened += line.endswith("(") or "['" in line
        closed += line.endswith(")") and line.lstrip() == ")"
        widest = max(widest, len(line))
    assert opened == closed == 10_000
    assert widest == 2 * 10_000 + len("(0x01000000:Name):a =")


def test_a_dump_changes_nothing() -> None:
    """Dumping an input tree leaves it as it was: the second dump is the first, and its message is untouched."""
    root = xmlnsc()
    assert dump(root, address=address) == dump(root, address=address) == dump(copy(root), address=address)


def test_the_examples_run() -> None:
    """What the module shows is what it does."""
    assert doctest.testmod(engine.tree.dump).failed == 0
