"""MQGet: what an MQGMO says, conversion, warnings, browsing, and what IBM's samples do with it."""

from __future__ import annotations

import time

import pytest

from engine.descriptor import NO_ID, Descriptor
from engine.message.writer import write_message
from tests.nodes.bench import carried, message_of
from tests.nodes.got import (
    ASKED,
    BOTH,
    ENVIRONMENT,
    GMO,
    MESSAGE,
    XML,
    at,
    given,
    got,
    queue_manager,
    with_gmo,
)

OVERRIDES: list[tuple[dict[str, object], dict[str, object], int | None]] = [
    ({}, {"MatchOptions": 1}, 1),
    ({}, {"MatchOptions": 2}, 2),
    ({"getWithMsgID": True}, {"MatchOptions": 0}, 0),
    ({"getWithMsgID": True}, {}, 1),
    ({"inputMQParmsLocation": "InputLocalEnvironment.Mine"}, {"MatchOptions": 1}, 0),
]


@pytest.mark.parametrize(("properties", "fields", "expected"), OVERRIDES)
def test_match_options(properties: dict[str, object], fields: dict[str, object], expected: int) -> None:
    """An MQGMO at the place that the node names says which ids count; one elsewhere says nothing."""
    queues = queue_manager(
        Descriptor(msg_id=b"0" * 24), Descriptor(msg_id=b"M" * 24), Descriptor(msg_id=b"2" * 24, correl_id=b"C" * 24)
    )
    before = [arrival.descriptor for arrival in queues.browse("IN")]
    got(queues, MESSAGE | properties, with_gmo(given(), **fields))
    after = [arrival.descriptor for arrival in queues.browse("IN")]
    assert [d for d in before if d not in after] == [before[expected]]


def test_what_was_asked_for_is_said() -> None:
    """Where the input has an MQGMO or an MQMD for the get, the output says what was used."""
    message = with_gmo(given(), mqmd=True, MatchOptions=1, Options=GMO["NO_SYNCPOINT"])
    sent = got(queue_manager(Descriptor(msg_id=b"M" * 24)), BOTH | {"copyLocalEnv": "none"}, message).message
    expected = {"CC": 0, "RC": 0, "MQGMO.Options": 4, "MQGMO.WaitInterval": 0, "MQGMO.MatchOptions": 1}
    assert expected == {name: at(sent.local_environment, f"MQ.GET.{name}") for name in expected}
    assert [at(sent.local_environment, f"MQ.GET.MQMD.{name}") for name in ("MsgId", "CorrelId")] == [b"M" * 24, NO_ID]


@pytest.mark.parametrize(("options", "gone"), [("SYNCPOINT", 0), ("NO_SYNCPOINT", 1)])
def test_options_stand_for_all(options: str, gone: int) -> None:
    """Options of an MQGMO override transactionMode and waitInterval."""
    queues = queue_manager(Descriptor())
    work = queues.work()
    properties = MESSAGE | {"transactionMode": "no" if options == "SYNCPOINT" else "yes", "waitInterval": -1}
    carried("MQGet", with_gmo(given(), Options=GMO[options]), "out", properties=properties, work=work)
    work.back_out()
    assert 1 - gone == queues.depth("IN")
    start = time.monotonic()
    empty = with_gmo(given(), Options=GMO["WAIT"] | 4, WaitInterval=30)
    assert got(queue_manager(), properties, empty).terminals == ["noMessage"]
    assert 0.03 <= time.monotonic() - start < 5


def test_logical_order() -> None:
    """MQGMO_LOGICAL_ORDER gets the messages of a group one after the other."""
    group = {"group_id": b"G" * 24, "msg_flags": 8}
    queues = queue_manager(Descriptor(msg_seq_number=2, **group), Descriptor(msg_seq_number=1, **group))  # type: ignore[arg-type]
    work = queues.work()
    message = with_gmo(given(), Options=GMO["LOGICAL"])
    numbers = [
        at(carried("MQGet", message, "out", properties=MESSAGE, work=work).message.root, "MQMD.MsgSeqNumber")
        for _ in range(2)
    ]
    assert numbers == [1, 2]


EBCDIC = Descriptor(format="MQSTR", coded_char_set_id=500, encoding=785)
TEXT = "<r><s>ü</s></r>"
CONVERSIONS: list[tuple[dict[str, object], dict[str, object], object]] = [
    ({"convert": True}, {}, 1208),
    ({"convert": True, "convertCodedCharSetId": 819}, {}, 819),
    ({}, {"Options": GMO["CONVERT"]}, 1208),
    ({"convert": True, "useCompleteInputMQMD": True, "inputMQMDLocation": "InputRoot.MQMD"}, {"MatchOptions": 0}, 850),
    ({}, {}, 500),
]


@pytest.mark.parametrize(("properties", "fields", "ccsid"), CONVERSIONS)
def test_conversion(properties: dict[str, object], fields: dict[str, object], ccsid: int) -> None:
    """A message is converted if the node or an MQGMO says so, to what the node or a complete MQMD names."""
    message = message_of(**ASKED, coded_char_set_id=850).replaced(local_environment=given().local_environment)
    message = with_gmo(message, **fields) if fields else message
    seen = got(queue_manager(EBCDIC, body=TEXT.encode("cp500")), MESSAGE | properties, message)
    descriptor, body = write_message(seen.message.root)
    assert (descriptor.coded_char_set_id, seen.terminals) == (ccsid, ["out"])
    assert body.decode({1208: "utf-8", 819: "latin-1", 850: "cp850", 500: "cp500"}[ccsid]) == TEXT


@pytest.mark.parametrize("encoding", [273, 546])
def test_encoding_to_convert_to(encoding: int) -> None:
    """Text of two bytes a character comes in the byte order that the node names."""
    properties = MESSAGE | {"convert": True, "convertCodedCharSetId": 1200, "convertEncoding": encoding}
    seen = got(queue_manager(EBCDIC, body="A".encode("cp500")), properties | {"messageDomainProperty": "BLOB"})
    assert write_message(seen.message.root)[1] == (b"\0A" if encoding == 273 else b"A\0")


WARNINGS: list[tuple[str, dict[str, object], dict[str, object], bytes, int, bytes]] = [
    ("not converted", {"convert": True}, {}, b"\xff\xfe", 2119, b"\xff\xfe"),
    ("cut", {"minimumGetBufferSize": 1}, {"Options": GMO["TRUNCATED"]}, b"x" * 1025, 2079, b"x" * 1024),
]


@pytest.mark.parametrize(
    ("properties", "fields", "body", "reason", "left"), [w[1:] for w in WARNINGS], ids=[w[0] for w in WARNINGS]
)
def test_warnings(
    properties: dict[str, object], fields: dict[str, object], body: bytes, reason: int, left: bytes
) -> None:
    """A message with a warning goes to warning as a BLOB, whole to warningDataLocation; else the flow ends."""
    message = with_gmo(given(), **fields) if fields else given()
    descriptor = Descriptor(format="MINE", coded_char_set_id=500)
    seen = got(queue_manager(descriptor, body=body), BOTH | properties, message)
    assert (seen.terminals, at(seen.message.root, "BLOB.BLOB")) == (["warning"], left)
    assert [at(seen.message.local_environment, f"MQ.GET.{name}") for name in ("CC", "RC")] == [1, reason]
    assert at(seen.message.root, "MQMD.Format") == "MINE    "
    elsewhere = BOTH | properties | {"warningDataLocation": "OutputLocalEnvironment.Warned"}
    seen = got(queue_manager(descriptor, body=body), elsewhere, message)
    assert at(seen.message.local_environment, "Warned.BLOB.BLOB") == left
    queues = queue_manager(descriptor, body=body)
    assert ([], None) == got(queues, BOTH | properties, message, "out", "noMessage")
    assert queues.depth("IN") == 0


def test_what_fits_the_buffer_is_not_cut() -> None:
    """A message that fits is no warning, and without the option of an MQGMO none is cut."""
    big = MESSAGE | {"minimumGetBufferSize": 1, "messageDomainProperty": "BLOB"}
    fits = got(queue_manager(Descriptor(), body=b"x" * 1024), big, with_gmo(given(), Options=GMO["TRUNCATED"]))
    whole = got(queue_manager(Descriptor(), body=b"x" * 1025), big)
    assert [fits.terminals, whole.terminals] == [["out"], ["out"]]
    assert len(write_message(whole.message.root)[1]) == 1025


def test_browse() -> None:
    """Messages that are browsed stay; each is seen once, until nothing was there for resetBrowseTimeout."""
    queues = queue_manager(Descriptor(msg_id=b"1" * 24), Descriptor(msg_id=b"2" * 24))
    work = queues.work()

    def browsed(**properties: object) -> list[object]:
        seen = [
            carried("MQGet", given(), "out", properties=MESSAGE | {"browse": True} | properties, work=work)
            for _ in "123"
        ]
        return [at(one.message.root, "MQMD.MsgId") for one in seen if one.sent]

    assert [browsed(), browsed(), queues.depth("IN")] == [[b"1" * 24, b"2" * 24], [], 2]
    assert browsed(resetBrowseTimeout=0) == [b"1" * 24, b"1" * 24, b"1" * 24]


def test_parser_options() -> None:
    """XMLNSC keeps beside elements what the node asks for."""
    for name, path in {
        "parserXmlnscMixedContentRetainMode": "text",
        "parserXmlnscCommentsRetainMode": "c",
        "parserXmlnscProcessingInstructionsRetainMode": "q",
    }.items():
        for wanted in ("none", "all"):
            seen = got(queue_manager(Descriptor(), body=b"<r>text<!--c--><?p q?><s/></r>"), MESSAGE | {name: wanted})
            top = seen.message.root.at("XMLNSC", "r")
            assert top is not None
            assert ([child.value for child in top if child.value == path] == [path]) == (wanted == "all")


def test_xmlnsc_for_xmlns() -> None:
    """A body of the XMLNS domain is read by XMLNSC where that is wanted."""
    for wanted, expected in ((False, "XMLNS"), (True, "XMLNSC")):
        given = {"messageDomainProperty": "XMLNS", "parserXmlnscUseForXmlnsDomain": wanted}
        seen = got(queue_manager(Descriptor(), body=b"<r/>"), MESSAGE | given)
        assert seen.message.root.at(expected, "r") is not None


def test_the_whole_message_below_a_local_environment() -> None:
    """As IBM's samples have it: the whole result is put right into OutputLocalEnvironment."""
    properties = ENVIRONMENT | {"outputDataLocation": "OutputLocalEnvironment", "copyMessage": "copyEntireMessage"}
    sent = got(queue_manager(Descriptor()), properties).message
    assert [at(sent.local_environment, path) for path in ("XMLNSC.r.s", "MQ.GET.CC")] == ["2", 0]


def test_a_header_kept_elsewhere_is_restored() -> None:
    """As IBM's samples have it: the MQMD of a stored message takes the place of that of the message at hand."""
    properties = XML | {"copyMessage": "copyEntireMessage", "outputDataLocation": "OutputRoot.MQMD"}
    stored = Descriptor(correl_id=b"C" * 24, reply_to_q="ASKER")
    sent = got(
        queue_manager(stored), properties | {"resultDataLocation": "ResultRoot.MQMD", "getWithCorrelID": True}
    ).message
    descriptor, body = write_message(sent.root)
    assert (descriptor.reply_to_q, body) == ("ASKER", b"<a><b>1</b></a>")
