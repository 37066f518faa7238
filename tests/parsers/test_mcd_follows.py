"""The mcd folder of an MQRFH2 header: it follows the body, and what a flow says of it in Properties."""

from __future__ import annotations

import pytest

from engine.descriptor import LITTLE_ENDIAN, Descriptor
from engine.message.received import Received
from engine.message.writer import write_message
from engine.parser import Template
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step
from tests.parsers.folder_samples import mqrfh2

MCD = "<mcd><Msd>xmlns</Msd><Set>S</Set><Type>T</Type><Fmt>F</Fmt></mcd>"
USR = "<usr><a>1</a></usr>"
BODY = b"<x/>"
UNCHANGED = ("xmlns", "S", "T", "F")


def received(mcd: str = MCD) -> Element:
    data = mqrfh2(LITTLE_ENDIAN, 1208, mcd, USR) + BODY
    return copy(Received(Descriptor(format="MQHRF2"), data, template=Template("BLOB")).root())


def given(root: Element, **fields: str) -> None:
    for name, value in fields.items():
        root.ensure(step("Properties")).ensure(step(name)).value = value


def written(root: Element) -> tuple[object, ...]:
    """What mcd says of the message that a Root is written as."""
    descriptor, data = write_message(root)
    mcd = Received(descriptor, data).root().at("MQRFH2", "mcd")
    assert mcd is not None
    fields = {field.name: field.value for field in mcd}
    return tuple(fields.get(name) for name in ("Msd", "Set", "Type", "Fmt"))


def in_another_domain(root: Element, domain: str) -> None:
    assert root.last_child is not None
    root.last_child.detach()
    root.add(domain).add("x")


PROPERTIES = [
    ({"MessageSet": "New"}, ("xmlns", "New", "T", "F")),
    ({"MessageType": "t", "MessageFormat": "f"}, ("xmlns", "S", "t", "f")),
    ({"MessageSet": "S"}, UNCHANGED),
    ({"MessageSet": ""}, UNCHANGED),
    ({"Priority": "3"}, UNCHANGED),
]


@pytest.mark.parametrize(("fields", "expected"), PROPERTIES)
def test_properties(fields: dict[str, str], expected: tuple[str, ...]) -> None:
    """What a flow writes into Properties of the body is in mcd as well."""
    root = received()
    given(root, **fields)
    assert written(root) == expected


@pytest.mark.parametrize(("domain", "said"), [("XMLNSC", "xmlnsc"), ("XML", "xml"), ("XMLNS", "xmlns")])
def test_domain(domain: str, said: str) -> None:
    """A body of another domain is announced as one of it."""
    root = received()
    in_another_domain(root, domain)
    assert written(root) == (said, *UNCHANGED[1:])


def test_what_jms_says_stays() -> None:
    """jms_text leaves the choice to the reader, so it is true of any domain."""
    root = received("<mcd><Msd>jms_text</Msd></mcd>")
    in_another_domain(root, "XMLNSC")
    assert written(root)[0] == "jms_text"


def test_what_the_flow_has_written_stays() -> None:
    """What a flow has written into mcd itself stands."""
    root = received()
    mcd = root.at("MQRFH2", "mcd")
    assert mcd is not None
    mcd.ensure(step("Msd")).value = "xml"
    mcd.ensure(step("Set")).value = "Own"
    in_another_domain(root, "XMLNSC")
    assert written(root) == ("xml", "Own", "T", "F")


def test_what_nobody_has_changed_keeps_its_bytes() -> None:
    """A header of which nothing is untrue is written as it came."""
    root = received("<mcd ><Msd>xmlns</Msd ></mcd>")
    in_another_domain(root, "XMLNS")
    given(root, Priority="3")
    data = write_message(root)[1]
    assert b"<mcd ><Msd>xmlns</Msd ></mcd>" in data
    assert data.endswith(BODY)
