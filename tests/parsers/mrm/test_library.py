"""Which message a template selects, and what is said where it selects none."""

from __future__ import annotations

import pytest

from engine.descriptor import Descriptor
from engine.errors import ConfigurationException, ParserException
from engine.message.received import Received, RootDomain
from engine.parser import Template
from engine.tree.step import step
from parsers.mrm import Library, Mrm
from parsers.mrm.model import Group, Message, MessageSet, WireFormatUse
from tests.parsers.mrm.records import field

ORDERS = MessageSet(
    "ORDERS",
    "DH5TB4G002001",
    formats={"Old": WireFormatUse("Old", "CWF"), "New": WireFormatUse("New", "CWF"), "X": WireFormatUse("X", "XML")},
    messages={name: Message(name, Group((field("id", "byte"),))) for name in ("Order", "Refund")},
    default_format="Old",
)
NOTES = MessageSet(
    "NOTES",
    formats={"CWF": WireFormatUse("CWF", "CWF")},
    messages={"Note": Message("Note", Group((field("id", "byte"),)))},
)
LIBRARY = Library([ORDERS, NOTES])

SELECTED = [
    (("ORDERS", "Order", "New"), ("ORDERS", "Order", "New")),
    (("DH5TB4G002001", "Refund", ""), ("ORDERS", "Refund", "Old")),
    (("ORDERS", "Order", "XML"), ("ORDERS", "Order", "X")),
    (("ORDERS", "Order/Refund", "X"), ("ORDERS", "Order", "X")),
    (("NOTES", "", ""), ("NOTES", "Note", "CWF")),
]
UNKNOWN = [
    (("ORDER", "Order", "New"), "no message set here is called ORDER; did you mean ORDERS?; known: ORDERS"),
    (("", "Order", "New"), "no message set is named, and there is a choice here"),
    (("ORDERS", "Ordre", "New"), "no message in message set ORDERS is called Ordre; did you mean Order?; known: Order"),
    (("ORDERS", "", "New"), "no message is named, and there is a choice in message set ORDERS"),
    (("ORDERS", "Order", "CWF"), "no wire format of message set ORDERS is called CWF; known: Old, New, X"),
    (("NOTES", "Note", "TDS"), "no wire format of message set NOTES is called TDS; did you mean"),
]


@pytest.mark.parametrize(("asked", "found"), SELECTED)
def test_selected(asked: tuple[str, str, str], found: tuple[str, str, str]) -> None:
    """A template names a set, a message and a format; where there is one only, it need not."""
    definition = LIBRARY.definition(Template("MRM", *asked))
    assert found == (definition.message_set.name, definition.message.name, definition.format)


@pytest.mark.parametrize(("asked", "said"), UNKNOWN)
def test_unknown(asked: tuple[str, str, str], said: str) -> None:
    """What is not known is said with what is."""
    with pytest.raises(ParserException) as caught:
        LIBRARY.codec(Template("MRM", *asked))
    assert said.partition("; did you mean")[0] in caught.value.text
    assert "known: " in caught.value.text


def test_codecs_are_kept() -> None:
    """A message is compiled once, whatever it is asked for by; paths of any text do not add up."""
    library = Library([ORDERS, NOTES])
    asked = [
        ("ORDERS", "Order", "Old"),
        ("DH5TB4G002001", "Order", ""),
        *(("ORDERS", f"Order/{n}", "") for n in range(9)),
    ]
    assert 1 == len({id(library.codec(Template("MRM", *one))) for one in asked})
    assert 2 == len(library.kept)


def test_without_sets() -> None:
    """The parser of the catalogue, which no deployment has bound, says that it knows no message sets."""
    received = Received(Descriptor(), b"\1", template=Template("MRM", "ORDERS", "Order", "Old"))
    body = received.root().last_child
    assert body is not None
    with pytest.raises(ParserException, match="no message sets are deployed, and ORDERS needs one"):
        body.at("id")


def test_namesakes() -> None:
    """Two sets of one name are refused."""
    with pytest.raises(ConfigurationException, match="there are two message sets called NOTES"):
        Library([NOTES, MessageSet("NOTES")])


def test_header_selects() -> None:
    """The mcd folder of an MQRFH2 header selects a message, whatever the node says."""
    folder = b"<mcd><Msd>mrm</Msd><Set>ORDERS</Set><Type>Order</Type><Fmt>New</Fmt></mcd> "
    folder += b" " * (-len(folder) % 4)
    numbers = [2, 36 + 4 + len(folder), 785, 819]
    header = b"RFH " + b"".join(n.to_bytes(4, "big") for n in numbers) + b" " * 8
    header += b"".join(n.to_bytes(4, "big") for n in (0, 1208, len(folder))) + folder
    received = Received(Descriptor(format="MQHRF2", encoding=785, coded_char_set_id=819), header + b"\7")
    received.domain = RootDomain({"MRM": Mrm(LIBRARY)})
    body = received.root().child(step("MRM"))
    found = None if body is None else body.at("id")
    assert found is not None
    assert 7 == found.value
    assert ["ORDERS", "Order", "New"] == [
        one.value
        for name in ("MessageSet", "MessageType", "MessageFormat")
        if (one := received.root().at("Properties", name)) is not None
    ]
