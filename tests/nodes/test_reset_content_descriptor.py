"""ResetContentDescriptor: what a body is read as, what is written of it, and what the headers say of it."""

from __future__ import annotations

from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.message.received import Part, Received, new_root
from engine.message.writer import write_message
from engine.node import build, node_catalog
from engine.parser import Options, Template
from engine.tree.sharing import copy, read_only
from tests.nodes.bench import carried, exception_numbers

BODY = b"<a  x='1'><b>1</b>t</a>"
SHOP = Template("BLOB", "SHOP", "order", "xml")
TO_XML: dict[str, object] = {"messageDomain": "XMLNSC", "resetMessageDomain": True}


def came(body: bytes = BODY, template: Template = SHOP, **facts: Any) -> Message:
    descriptor = facts.pop("descriptor", Descriptor(format="MQSTR"))
    return Message(read_only(Received(descriptor, body, template=template, **facts).root()))


def reset(message: Message, **properties: object) -> Message:
    seen = carried("ResetContentDescriptor", message, "out", properties=properties)
    assert seen.error is None, seen.error
    return seen.message


def value(message: Message, *path: str) -> object:
    found = message.root.at(*path)
    return None if found is None else found.value


def described(message: Message) -> tuple[object, ...]:
    """The domain, set, type and format, as the body and Properties say them."""
    body = message.root.last_child
    assert body is not None
    return body.name, *(value(message, "Properties", f"Message{name}") for name in ("Set", "Type", "Format"))


RESETS: list[tuple[dict[str, object], tuple[object, ...]]] = [
    ({}, ("BLOB", "SHOP", "order", "xml")),
    ({"messageDomain": "XMLNSC", "messageSet": "x", "messageType": "y"}, ("BLOB", "SHOP", "order", "xml")),
    (TO_XML, ("XMLNSC", "SHOP", "order", "xml")),
    ({"resetMessageDomain": True}, ("BLOB", "SHOP", "order", "xml")),
    ({"messageSet": "BANK", "resetMessageSet": True}, ("BLOB", "BANK", "order", "xml")),
    ({"resetMessageSet": True}, ("BLOB", "", "order", "xml")),
    ({"messageType": "bill", "resetMessageType": True}, ("BLOB", "SHOP", "bill", "xml")),
    ({"messageFormat": "cwf", "resetMessageFormat": True}, ("BLOB", "SHOP", "order", "cwf")),
    (TO_XML | {"resetMessageSet": True, "resetMessageType": True, "resetMessageFormat": True}, ("XMLNSC", "", "", "")),
]


@pytest.mark.parametrize(("properties", "expected"), RESETS, ids=[f"{p}" for p, _ in RESETS])
def test_resets(properties: dict[str, object], expected: tuple[object, ...]) -> None:
    """Only what is to be reset changes, to nothing if nothing is given; the bytes and the descriptor never do."""
    message = came()
    sent = reset(message, **properties)
    assert expected == described(sent)
    assert described(message) == ("BLOB", "SHOP", "order", "xml")
    assert (Descriptor(format="MQSTR"), BODY) == write_message(sent.root)


def test_nothing_to_reset() -> None:
    """A node that resets nothing sends on the very tree it was given."""
    message = came()
    assert reset(message).root is message.root


def test_read_as_another_domain() -> None:
    """The bytes are read by the new parser: BLOB to XMLNSC and back."""
    as_xml = reset(came(), **TO_XML)
    assert value(as_xml, "XMLNSC", "a", "b") == "1"
    as_bytes = reset(as_xml, resetMessageDomain=True, messageDomain="BLOB")
    assert value(as_bytes, "BLOB", "BLOB") == BODY
    assert value(as_bytes, "XMLNSC") is None


def test_a_changed_body_is_written_first() -> None:
    """What the flow has changed is what the new parser reads."""
    message = reset(came(), **TO_XML)
    root = copy(message.root)
    field = root.at("XMLNSC", "a", "b")
    assert field is not None
    field.value = "2"
    sent = reset(message.replaced(root=root), resetMessageDomain=True)
    assert value(sent, "BLOB", "BLOB") == b'<a x="1"><b>2</b></a>'


def test_lazily() -> None:
    """Nothing is parsed before someone looks, unless the node's timing asks for it."""
    broken = came(b"<a><b>")
    sent = reset(broken, **TO_XML)
    body = sent.root.last_child
    assert body is not None
    assert isinstance(body.source, Part)
    assert body.source.source is None
    with pytest.raises(BrokerError):
        _ = body.first_child


@pytest.mark.parametrize("timing", ["immediate", "complete"])
def test_timing(timing: str) -> None:
    """A body that must be parsed at once and cannot be is the node's own failure."""
    properties = TO_XML | {"validateTiming": timing}
    seen = carried("ResetContentDescriptor", came(b"<a"), "out", "failure", properties=properties)
    assert seen.terminals == ["failure"]
    assert exception_numbers(seen.message)[0] == 2230
    assert reset(came(), **properties).root.at("XMLNSC", "a") is not None


@pytest.mark.parametrize(
    ("timing", "terminal"), [("deferred", "out"), ("immediate", "failure"), ("complete", "failure")]
)
def test_timing_without_a_reset(timing: str, terminal: str) -> None:
    """The body is parsed when the node says so, also where it stays what it is."""
    message = came(b"<a", Template("XMLNSC"))
    seen = carried("ResetContentDescriptor", message, "out", "failure", properties={"validateTiming": timing})
    assert [terminal] == seen.terminals


def test_options_stay() -> None:
    """How XMLNSC is to read is what the input node has said, also after a reset."""
    message = came(b"<a>x<!--c--><b/></a>", Template("XMLNSC"), options=Options(retain_comments=True))
    sent = reset(message, messageType="t", resetMessageType=True)
    body = sent.root.last_child
    assert body is not None
    assert isinstance(body.source, Part)
    assert body.source.portion.options == Options(retain_comments=True)


def headed(mcd: str) -> tuple[Descriptor, bytes]:
    """A message with an MQRFH2, and with that mcd folder if there is to be one."""
    root = new_root()
    header = root.add("MQRFH2")
    header.add("Format", "MQSTR")
    usr = header.add("usr")
    usr.add("Colour", "red")
    if mcd:
        folder = header.add("mcd")
        for pair in mcd.split():
            name, _, text = pair.partition("=")
            folder.add(name, text)
    root.add("BLOB").add("BLOB", BODY)
    return write_message(root)


HEADERS: list[tuple[str, dict[str, object], dict[str, object]]] = [
    ("Msd=none Set=S Type=T Fmt=F", TO_XML, {"Msd": "xmlnsc", "Set": "S", "Type": "T", "Fmt": "F"}),
    ("Msd=none Set=S", TO_XML | {"resetMessageSet": True}, {"Msd": "xmlnsc", "Set": ""}),
    ("", TO_XML | {"messageSet": "N", "resetMessageSet": True}, {"Msd": "xmlnsc", "Set": "N"}),
    ("Msd=xmlnsc", {"resetMessageDomain": True}, {"Msd": "none"}),
]


@pytest.mark.parametrize(("mcd", "properties", "expected"), HEADERS, ids=[f"{m}{p}" for m, p, _ in HEADERS])
def test_headers(mcd: str, properties: dict[str, object], expected: dict[str, object]) -> None:
    """An MQRFH2 says what the body is now; the message reads so at its next queue as well, with the same bytes."""
    descriptor, data = headed(mcd)
    sent = reset(came(data, Template("BLOB"), descriptor=descriptor), **properties)
    folder = sent.root.at("MQRFH2", "mcd")
    assert folder is not None
    assert expected == {field.name: field.value for field in folder}
    assert value(sent, "MQRFH2", "usr", "Colour") == "red"
    descriptor, data = write_message(sent.root)
    assert data.endswith(BODY)
    again = Received(descriptor, data)
    assert again.parts[-1].parser.name == described(sent)[0]
    assert again.parts[-1].portion.bytes == BODY


def test_a_message_without_a_body() -> None:
    """Where there is no body, there is an empty one of the new domain."""
    root = new_root()
    root.add("MQMD").add("Priority", 3)
    sent = reset(Message(read_only(root)), resetMessageDomain=True)
    assert value(sent, "BLOB", "BLOB") == b""
    assert value(sent, "MQMD", "Priority") == 3


def test_a_header_that_is_a_body() -> None:
    """A header that stands alone is a body, and can be read as one."""
    root = new_root()
    root.add("MQPCF").add("Command", 1)
    _, data = write_message(root)
    sent = reset(came(data, descriptor=Descriptor(format="MQADMIN")), resetMessageDomain=True)
    assert value(sent, "MQPCF") is None
    assert value(sent, "BLOB", "BLOB") == data


def test_an_unwritable_body() -> None:
    """A body that its present parser cannot write is the node's own failure."""
    root = new_root()
    root.add("BLOB").add("BLOB", 7)
    seen = carried("ResetContentDescriptor", Message(read_only(root)), "out", "failure", properties=TO_XML)
    assert seen.terminals == ["failure"]
    assert exception_numbers(seen.message) == [2230, 5010]


def test_an_unknown_domain() -> None:
    """A domain that no parser reads is refused at deploy; one that is not to be set does not matter."""
    with pytest.raises(BrokerError, match=r"no parser called XMLNSS; did you mean XMLNS\?"):
        build(node_catalog.find("ResetContentDescriptor"), {"messageDomain": "XMLNSS", "resetMessageDomain": True})
    assert build(node_catalog.find("ResetContentDescriptor"), {"messageDomain": "XMLNSS"})
