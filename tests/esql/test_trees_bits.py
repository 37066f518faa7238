"""PARSE: trees from bytes, and back by ASBITSTREAM, with the clauses that say how."""

from __future__ import annotations

import pytest

from engine.errors import ParserException
from engine.message.received import new_root
from engine.tree.element import Element
from engine.tree.step import step
from esql.functions.field import FOLDER, as_bitstream
from esql.runtime.invocation import Invocation
from esql.trees.assignments import create, set_field
from esql.trees.bitstreams import parse, set_domain
from esql.trees.moves import delete
from esql.values.errors import ValueFailure
from tests.esql.test_trees import attribute, body, ensure, found, received, set_scalar, shape

HERE = Invocation()
ORDER = '<Order id="7"><Item>café</Item><Item/></Order>'
BITS = ORDER.encode()


def parsed(bits: bytes, *clauses: object, domain: str | None = "XMLNSC", name: str | None = "x") -> Element:
    """`CREATE LASTCHILD OF Environment NAME name DOMAIN domain PARSE(bits …)`."""
    made = create(Element("Environment"), "LASTCHILD", name)
    parse(HERE, made, domain, bits, *clauses)
    return made


def test_bytes_become_a_tree_when_it_is_looked_at() -> None:
    """PARSE reads nothing by itself; what is below belongs to the parser, and is written as it came."""
    made = parsed(BITS)
    assert shape(made) == (
        "x",
        None,
        ("Order", None, ("(Attribute)id", "7"), ("Item", "café"), ("Item", "")),
    )
    assert as_bitstream(made) == BITS
    set_scalar(ensure(made, "Order", attribute("id")), 8)
    assert as_bitstream(made) == BITS.replace(b"7", b"8")


def test_bytes_that_cannot_be_read_fail_when_they_are_looked_at() -> None:
    """PARSE(X'3C') is an error of the parser, where something asks for the first field."""
    made = parsed(b"<")
    with pytest.raises(ParserException):
        _ = made.first_child


@pytest.mark.parametrize(("ccsid", "codec"), [(1208, "utf-8"), (819, "latin-1"), (1200, "utf-16-be"), (37, "cp037")])
def test_ccsid_and_encoding_say_how_the_bytes_are_read_and_written(ccsid: int, codec: str) -> None:
    """PARSE(bits ENCODING 785 CCSID c), and ASBITSTREAM(field ENCODING 785 CCSID c)."""
    bits = ORDER.encode(codec)
    made = parsed(bits, None, 785, ccsid)
    assert found(made, "Order", "Item").value == "café"
    assert as_bitstream(made, encoding=785, ccsid=ccsid) == bits
    set_scalar(ensure(made, "Order", attribute("id")), 8)
    assert as_bitstream(made, encoding=785, ccsid=ccsid) == ORDER.replace("7", "8").encode(codec)
    assert as_bitstream(made) == BITS.replace(b"7", b"8")


def test_the_field_below_outputroot_is_named_after_its_parser() -> None:
    """CREATE LASTCHILD OF OutputRoot DOMAIN('XMLNSC') PARSE(…) makes OutputRoot.XMLNSC."""
    output = new_root()
    made = create(output, "LASTCHILD", None)
    set_domain(Invocation(), made, "XMLNSC")
    parse(HERE, made, "XMLNSC", BITS)
    assert body(output, "XMLNSC") == BITS
    other = create(output, "LASTCHILD", None)
    parse(HERE, other, "BLOB", b"abc")
    assert [child.name for child in output] == ["XMLNSC", "BLOB"]
    assert body(output, "BLOB") == b"abc"


def test_without_a_domain_the_owner_of_the_place_parses() -> None:
    """CREATE LASTCHILD OF OutputRoot NAME 'XMLNSC' PARSE(…): the name says whose it is."""
    output = new_root()
    parse(HERE, create(output, "LASTCHILD", "XMLNSC"), None, BITS)
    assert body(output, "XMLNSC") == BITS
    with pytest.raises(ParserException, match=r"no parser owns Environment\.x"):
        parsed(BITS, domain=None)


def test_a_folder_of_bits_is_the_field_itself() -> None:
    """FolderBitStream writes a field with its own tags, and PARSE gives the new field what is in them."""
    source = received("XMLNSC", BITS)
    bits = as_bitstream(found(source, "XMLNSC", "Order"), options=FOLDER)
    assert bits == BITS
    made = parsed(bits, FOLDER)
    assert shape(made) == ("x", None, ("(Attribute)id", "7"), ("Item", "café"), ("Item", ""))
    assert parsed(bits, FOLDER, name=None).name == "Order"


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
def test_folders_go_there_and_back(domain: str) -> None:
    """ASBITSTREAM and PARSE with FolderBitStream are inverse, past a declaration and comments too."""
    source = received(domain, b"<?xml version='1.0'?><!-- c -->" + BITS)
    order = found(source, domain, "Order")
    made = parsed(as_bitstream(order, options=FOLDER), FOLDER, domain=domain, name="Order")
    output = new_root()
    set_field(ensure(output, domain, "Order"), made)
    assert body(output, domain) == BITS


def test_a_parsed_tree_is_copied_and_changed_as_any_other() -> None:
    """SET OutputRoot.XMLNSC = Environment.x, and DELETE below it."""
    made, output = parsed(BITS), new_root()
    set_field(ensure(output, "XMLNSC"), made)
    delete(found(output, "XMLNSC", "Order").nth(step("Item"), 1))
    assert body(output, "XMLNSC") == b'<Order id="7"><Item/></Order>'
    assert as_bitstream(made) == BITS


@pytest.mark.parametrize(
    ("bits", "clauses"),
    [
        (None, ()),
        ("<a/>", ()),
        (BITS, ("options",)),
        (BITS, (0, "546")),
        (BITS, (0, 546, "1208")),
        (BITS, (0, 546, 1208, 5)),
    ],
)
def test_bits_and_clauses_of_other_types_are_refused(bits: object, clauses: tuple[object, ...]) -> None:
    """PARSE(NULL) and a CCSID that is a CHARACTER are errors with the SQLSTATE of wrong types."""
    with pytest.raises(ValueFailure) as caught:
        parsed(bits, *clauses)  # type: ignore[arg-type]  # that is the test
    assert caught.value.sqlstate == "S42804"
