"""MQInput: what each of its properties does."""

from __future__ import annotations

from struct import pack
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.message.received import Received
from engine.message.writer import write_message
from engine.node import build, node_catalog
from engine.runtime import deployment
from engine.tree.element import Element
from tests.nodes.input_flows import BODY, LETTER, Case, catalog, dead_letter, input_flow, looked, queues_for, turns


@pytest.fixture(autouse=True)
def _nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime knows MQInput, MQOutput and the nodes of this file."""
    monkeypatch.setattr(deployment, "node_catalog", catalog)


XML = b"<a><!--c-->m<?p q?>n<b/></a>"
RETENTION = {
    "nothing": ({}, {"b"}),
    "comments": ({"parserXmlnscCommentsRetainMode": "all"}, {"b", "comment"}),
    "instructions": ({"parserXmlnscProcessingInstructionsRetainMode": "all"}, {"b", "instruction"}),
    "text": ({"parserXmlnscMixedContentRetainMode": "all"}, {"b", "text"}),
}


def kinds(element: Element) -> set[str]:
    """What there is inside an element, by what its values are."""
    names = {"c": "comment", "q": "instruction", "mn": "text"}
    return {names.get(str(child.value), child.name) for child in element}


@pytest.mark.parametrize(("properties", "expected"), RETENTION.values(), ids=RETENTION.keys())
def test_retention(properties: dict[str, str], expected: set[str]) -> None:
    """XMLNSC keeps what the properties ask it to keep beside elements."""
    message = looked(LETTER._replace(format=""), XML, messageDomainProperty="XMLNSC", **properties)
    top = message.root.at("XMLNSC", "a")
    assert top is not None
    assert expected == kinds(top)


MCD = b"<mcd><Msd>xmlns</Msd></mcd> "
HEADED = pack("<4s4i8s3i", b"RFH ", 2, 40 + len(MCD), 546, 1208, b" " * 8, 0, 1208, len(MCD)) + MCD + XML


@pytest.mark.parametrize(("domain", "format_", "body"), [("XMLNS", "", XML), ("BLOB", "MQHRF2", HEADED)])
def test_xmlnsc_for_xmlns(domain: str, format_: str, body: bytes) -> None:
    """Bodies of the XMLNS domain are read by XMLNSC where that is wanted, whoever says that they are of XMLNS."""
    for wanted, expected in (("false", "XMLNS"), ("true", "XMLNSC")):
        given = {"messageDomainProperty": domain, "parserXmlnscUseForXmlnsDomain": wanted}
        root = looked(LETTER._replace(format=format_), body, **given).root
        assert root.at(expected, "a", "b") is not None


def test_domain() -> None:
    """A body whose domain no property names is a BLOB; the set, type and format are in Properties."""
    message = looked(LETTER, BODY)
    assert message.root.last_child is not None
    assert message.root.last_child.name == "BLOB"
    given = {"messageSetProperty": "S", "messageTypeProperty": "T", "messageFormatProperty": "W"}
    properties = looked(LETTER, BODY, **given).root.at("Properties")
    assert properties is not None
    fields = {child.name: child.value for child in properties}
    assert [fields[name] for name in ("MessageSet", "MessageType", "MessageFormat")] == ["S", "T", "W"]


def test_topic() -> None:
    """Properties shows the topic that the node names, and the message is written as it came."""
    message = looked(LETTER, BODY, topicProperty="orders/new")
    topic = message.root.at("Properties", "Topic")
    assert topic is not None
    assert topic.value == "orders/new"
    assert write_message(message.root) == (LETTER, BODY)


@pytest.mark.parametrize("timing", ["deferred", "complete"])
def test_topic_of_a_message_that_cannot_be_read(timing: str) -> None:
    """A message whose headers are broken is put away like any other, also where its topic is to be shown."""
    queues = queues_for(Case("", ""))
    work = queues.work()
    work.put("IN", LETTER._replace(format="MQDEAD"), b"DLH short")
    work.commit()
    assert turns(input_flow("O", topicProperty="t", validateTiming=timing), queues) == []
    assert ([queues.depth("IN"), queues.depth("DLQ")], queues.browse("NOTES")) == ([0, 1], [])


MATCHES = [
    ({}, [b"1", b"2", b"3"]),
    ({"matchMessageId": "6d" * 24}, [b"1"]),
    ({"matchCorrelId": "63" * 24}, [b"1", b"2"]),
    ({"matchCorrelId": "78"}, [b"3"]),
    ({"matchMessageId": "6e" * 24, "matchCorrelId": "63" * 24}, [b"2"]),
    ({"matchMessageId": "6d" * 24, "matchCorrelId": "78"}, []),
]


@pytest.mark.parametrize(("properties", "expected"), MATCHES)
def test_matching_ids(properties: dict[str, str], expected: list[bytes]) -> None:
    """Only messages with the ids that the node names are got; a short one is filled up with zeros, as MQ has them."""
    queues = queues_for(Case("", ""))
    work = queues.work()
    ids = [(b"m" * 24, b"c" * 24), (b"n" * 24, b"c" * 24), (b"o" * 24, b"x".ljust(24, b"\0"))]
    for number, (msg_id, correl_id) in enumerate(ids, 1):
        work.put("IN", Descriptor(msg_id=msg_id, correl_id=correl_id), b"%d" % number)
    work.commit()
    node_type = node_catalog.find("MQInput")
    entrance: Any = build(node_type, {"queueName": "IN", **properties})
    found = []
    while (message := entrance.receive(work)) is not None:
        found.append(message.root.source.body)
    assert found == expected


def test_browsed_messages_stay() -> None:
    """With browse each message goes through once and stays where it is, also one that fails."""
    queues = queues_for(Case("", "", threshold=3))
    work = queues.work()
    for body in (b"1", b"2"):
        work.put("IN", LETTER._replace(msg_id=body * 24), body)
    work.commit()
    deployed = input_flow("O!", browse="true")
    assert [turns(deployed, queues), queues.depth("IN"), queues.depth("DLQ")] == [[3001, 3001], 2, 0]
    assert [arrival.descriptor.backout_count for arrival in queues.browse("IN")] == [0, 0]
    caught = input_flow("O!CF", browse="true")
    assert [turns(caught, queues), queues.depth("IN")] == [[], 2]


def test_a_browsed_message_that_cannot_be_parsed_stays() -> None:
    """What is only looked at is not put away."""
    queues = queues_for(Case("", ""))
    work = queues.work()
    work.put("IN", LETTER, b"<x", syncpoint=False)
    deployed = input_flow("O", browse="true", validateTiming="complete", messageDomainProperty="XMLNSC")
    (number,) = turns(deployed, queues)
    assert (number != 2630, queues.depth("IN"), queues.depth("DLQ")) == (True, 1, 0)


EBCDIC = LETTER._replace(coded_char_set_id=500, encoding=273)
CONVERSIONS = [
    (EBCDIC, "Grüße".encode("cp500"), {}, "Grüße".encode(), 1208, 546),
    (EBCDIC, "A".encode("cp500"), {"convertCodedCharSetId": "1200"}, b"A\0", 1200, 546),
    (EBCDIC, b"\xc1\x15\x25", {"convertCodedCharSetId": "819"}, b"A\n\n", 819, 546),
    (EBCDIC, b"\xc1\x15\x25", {"convertCodedCharSetId": "37"}, b"\xc1\x15\x25", 37, 546),
    (EBCDIC, "A".encode("cp500"), {"convertCodedCharSetId": "1200", "convertEncoding": "273"}, b"\0A", 1200, 273),
    (LETTER, b"as it is", {}, b"as it is", 1208, 546),
    (LETTER._replace(format=""), b"\x00\xff", {}, b"\x00\xff", 1208, 546),
    (EBCDIC._replace(format=""), b"", {}, b"", 1208, 546),
]


@pytest.mark.parametrize(("given", "body", "properties", "expected", "ccsid", "encoding"), CONVERSIONS)
def test_convert(
    given: Descriptor, body: bytes, properties: dict[str, str], expected: bytes, ccsid: int, encoding: int
) -> None:
    """Text comes in the CCSID and encoding that the node names, and the MQMD says so."""
    message = looked(given, body, convert="true", **properties)
    descriptor, out = write_message(message.root)
    assert (out, descriptor.coded_char_set_id, descriptor.encoding) == (expected, ccsid, encoding)
    assert descriptor._replace(coded_char_set_id=0, encoding=0) == given._replace(coded_char_set_id=0, encoding=0)


def test_convert_a_header() -> None:
    """Headers are converted with the text that follows them."""
    given = dead_letter(EBCDIC, "Grüße".encode("cp500"))
    message = looked(given.descriptor, given.body, convert="true")
    body = message.root.last_child
    queue = message.root.at("MQDLH", "DestQName")
    assert queue is not None
    assert str(queue.value).strip() == "IN"
    assert body is not None
    assert write_message(message.root)[1].endswith("Grüße".encode())


def test_what_cannot_be_converted() -> None:
    """A message whose format is not known to be text goes to failure as it came, or is put away with the reason."""
    queues = queues_for(Case("", ""))
    work = queues.work()
    work.put("IN", EBCDIC._replace(format="MINE"), BODY, syncpoint=False)
    assert turns(input_flow("O", convert="true"), queues) == []
    put = Received(*queues.browse("DLQ")[0])
    reason = put.root().at("MQDLH", "Reason")
    assert reason is not None
    assert (reason.value, put.body[172:]) == (2119, BODY)


REFUSED = [
    ({"orderMode": "byname"}, "orderMode is one of default, byUserID, byQueueOrder, not 'byname'"),
    ({"matchMessageId": "xyz"}, "matchMessageId is text that is up to 48 hex digits, two for each byte, not 'xyz'"),
    ({"matchCorrelId": "abc"}, "matchCorrelId is text that is up to 48 hex digits, two for each byte, not 'abc'"),
    ({"connection": "Client"}, "connection is one of Local, not 'Client'"),
    ({"additionalInstances": "2"}, "additionalInstances of a node count where componentLevel is node"),
    ({"commitByMessageGroup": "true", "logicalOrder": "false"}, "commitByMessageGroup needs logicalOrder"),
    ({"commitByMessageGroup": "true", "transactionMode": "no"}, "commitByMessageGroup needs a transactionMode"),
    ({"resetBrowseTimeout": "10"}, "resetBrowseTimeout is for browsing"),
    ({"convertEncoding": "-1"}, "convertEncoding is a whole number from 0 to"),
]


@pytest.mark.parametrize(("properties", "text"), REFUSED)
def test_refused_properties(properties: dict[str, str], text: str) -> None:
    """What cannot be, or would have no effect, is refused with what to do."""
    with pytest.raises(BrokerError) as caught:
        build(node_catalog.find("MQInput"), {"queueName": "IN", **properties})
    assert text in caught.value.text
