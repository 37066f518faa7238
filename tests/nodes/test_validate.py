"""Validate and Check: which messages match, what is said of those that do not, and what is refused."""

from __future__ import annotations

import logging

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.message.received import Received, new_root
from engine.parser import Template
from engine.tree.sharing import read_only
from tests.nodes.bench import carried, exception_numbers
from tests.parsers.mrm.records import built, field, parser

ORDER = Message(read_only(Received(Descriptor(), b"<a/>", template=Template("XMLNSC", "SHOP", "order", "xml")).root()))
PLAIN = Message(read_only(Received(Descriptor(), b"x").root()))
EMPTY = Message(read_only(new_root()))
KIND = "the message is not of the kind that is expected: "

CHECKS: list[tuple[Message, dict[str, object], str]] = [
    (ORDER, {}, ""),
    (ORDER, {"domain": "MRM", "set": "x", "type": "y"}, ""),
    (ORDER, {"domain": "XMLNSC", "checkDomain": True}, ""),
    (ORDER, {"domain": "xmlnsc", "checkDomain": True}, f"{KIND}its domain is 'XMLNSC', not 'xmlnsc'"),
    (ORDER, {"checkDomain": True}, f"{KIND}its domain is 'XMLNSC', not ''"),
    (ORDER, {"set": "SHOP", "checkSet": True}, ""),
    (ORDER, {"set": "BANK", "checkSet": True}, f"{KIND}its message set is 'SHOP', not 'BANK'"),
    (ORDER, {"type": "order", "checkType": True}, ""),
    (ORDER, {"type": "bill", "checkType": True}, f"{KIND}its message type is 'order', not 'bill'"),
    (
        ORDER,
        {"domain": "BLOB", "checkDomain": True, "checkSet": True, "type": "order", "checkType": True},
        f"{KIND}its domain is 'XMLNSC', not 'BLOB', its message set is 'SHOP', not ''",
    ),
    (PLAIN, {"domain": "BLOB", "checkDomain": True, "checkSet": True, "checkType": True}, ""),
    (EMPTY, {"checkDomain": True, "checkSet": True, "checkType": True}, ""),
    (EMPTY, {"domain": "BLOB", "checkDomain": True}, f"{KIND}its domain is '', not 'BLOB'"),
]


@pytest.mark.parametrize(("message", "properties", "text"), CHECKS, ids=[f"{p}" for _, p, _ in CHECKS])
@pytest.mark.parametrize("kind", ["Validate", "Check"])
def test_checks(kind: str, message: Message, properties: dict[str, object], text: str) -> None:
    """What is checked must be the same text; a property whose check is off says nothing, whatever it is."""
    seen = carried(kind, message, "match", properties=properties)
    assert text == ("" if seen.error is None else seen.error.text)
    assert ([] if text else [("match", message)]) == seen.sent
    wired = carried(kind, message, "match", "failure", properties=properties)
    assert [("failure" if text else "match")] == wired.terminals
    assert wired.error is None
    assert bool(exception_numbers(wired.message)) == bool(text)
    assert wired.message.root is message.root


@pytest.mark.parametrize("kind", ["Validate", "Check"])
def test_a_failure_behind_match(kind: str) -> None:
    """What fails behind match goes up, not to failure."""
    error = BrokerError(2450, "below")
    seen = carried(kind, ORDER, "match", "failure", fails={"match": error})
    assert (["match"], error) == (seen.terminals, seen.error)


@pytest.mark.parametrize("how", ["none", "content", "contentAndValue", "inherit"])
def test_bodies_without_a_model(how: str) -> None:
    """A body of a domain that has no models, and a message without a body, are what they should be."""
    for message in (ORDER, PLAIN, EMPTY):
        assert ["match"] == carried(
            "Validate", message, "match", "failure", properties={"validateMaster": how}
        ).terminals


MRM = parser(field("a", "byte"), field("b", "string", {"length": 1}, min_occurs=0, max_occurs=2))


def wrong_twice() -> Message:
    """A message whose body lacks a field and has one too often."""
    root = new_root()
    root.add("Properties").add("MessageType", "M")
    root.append(built(MRM, b=["x", "y", "z"]))
    return Message(read_only(root))


ACTIONS = [
    ("none", "exception", "match", 0, []),
    ("content", "exception", "failure", 2, []),
    ("contentAndValue", "exception", "failure", 2, []),
    ("content", "exceptionList", "failure", 3, []),
    ("content", "userTrace", "match", 0, ["penstock.usertrace"] * 2),
    ("content", "localErrorLog", "match", 0, ["penstock.localerror"] * 2),
]


@pytest.mark.parametrize(("master", "action", "terminal", "inserts", "logs"), ACTIONS)
def test_what_becomes_of_a_body_that_is_not_valid(  # the columns of the table
    master: str, action: str, terminal: str, inserts: int, logs: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """It fails for the first reason or for all, or a log is told and the message goes on."""
    caplog.set_level(logging.INFO, "penstock")
    message = wrong_twice()
    properties = {"validateMaster": master, "validateFailureAction": action}
    seen = carried("Validate", message, "match", "failure", properties=properties)
    assert [terminal] == seen.terminals
    listed = seen.message.exceptions.at("RecoverableException", "ParserException")
    assert inserts == (0 if listed is None else sum(child.name == "Insert" for child in listed))
    assert logs == [record.name for record in caplog.records if "the message goes on" in record.getMessage()]
