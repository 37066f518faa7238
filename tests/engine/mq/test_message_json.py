"""A message as JSON: what is printed, what is read, and what is refused by the name of its field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.descriptor import NO_ID, Descriptor
from engine.errors import ConfigurationException, MessageException
from engine.mq.message_json import from_line, from_object, to_line, to_object
from engine.mq.properties import join

EXPECTED = {
    "msg_id": "01" + "00" * 23,
    "correl_id": "00" * 24,
    "group_id": "00" * 24,
    "priority": 4,
    "persistence": 1,
    "expiry": 50,
    "format": "MQSTR",
    "coded_char_set_id": 1208,
    "encoding": 546,
    "msg_type": 8,
    "feedback": 0,
    "report": 0,
    "backout_count": 2,
    "reply_to_q": "R",
    "reply_to_q_mgr": "QM",
    "user_identifier": "ada",
    "put_appl_name": "app",
    "put_date": "20260102",
    "put_time": "03040506",
    "msg_seq_number": 1,
    "msg_flags": 0,
    "offset": 0,
    "properties": {
        "colour": "red",
        "n": 5,
        "x": 1.5,
        "t": True,
        "none": None,
        "raw": {"hex": "0afc"},
        "mcd.Msd": "xml",
    },
    "body": "größe",
}
DESCRIPTOR = Descriptor(
    msg_id=b"\x01" + bytes(23),
    priority=4,
    persistence=1,
    expiry=50,
    format="MQSTR",
    backout_count=2,
    reply_to_q="R",
    reply_to_q_mgr="QM",
    user_identifier="ada",
    put_appl_name="app",
    put_date="20260102",
    put_time="03040506",
)
PROPERTIES: dict[str, Any] = {**EXPECTED["properties"], "raw": b"\x0a\xfc"}  # type: ignore[dict-item]


def test_printed() -> None:
    """A message is an object with these names; properties stand beside the body and not in it."""
    found = to_object(*join(PROPERTIES, DESCRIPTOR, "größe".encode()))
    assert EXPECTED == found
    assert list(EXPECTED) == list(found)


def test_bytes() -> None:
    """A body that is no text in UTF-8 is base64."""
    found = to_object(Descriptor(), b"\xff\x00")
    assert ("/wA=", False) == (found["body64"], "body" in found)


def test_read_again() -> None:
    """What is printed is read as the same message; only the backout count is not taken over."""
    descriptor, body = join(PROPERTIES, DESCRIPTOR, b"body")
    assert (descriptor._replace(backout_count=0), body) == from_line(to_line(descriptor, body))


def test_left_to_the_queue() -> None:
    """What is not set is left to the queue's defaults."""
    descriptor, body = from_object({"body": "x"})
    assert (Descriptor(priority=-1, persistence=2), b"x") == (descriptor, body)


def test_short_ids() -> None:
    """An id that is shorter than 24 bytes is filled up with zeros."""
    assert b"\xab" + bytes(23) == from_object({"body": "", "correl_id": "AB"})[0].correl_id


REFUSED = (
    ("", "no JSON"),
    ("[1]", "no object"),
    ('{"body": "x", "prority": 1}', "did you mean priority?"),
    ("{}", "body"),
    ('{"body": "x", "body64": ""}', "body64"),
    ('{"body": 5}', "body must be a text"),
    ('{"body64": "?"}', "body64 is no base64"),
    ('{"body": "x", "priority": "4"}', "priority must be a whole number"),
    ('{"body": "x", "priority": true}', "priority must be a whole number"),
    ('{"body": "x", "expiry": 2147483648}', "expiry must be a whole number"),
    ('{"body": "x", "expiry": NaN}', "NaN"),
    ('{"body": "x", "msg_id": "0"}', "msg_id must be hexadecimal"),
    ('{"body": "x", "msg_id": "zz"}', "msg_id must be hexadecimal"),
    ('{"body": "x", "msg_id": 5}', "msg_id must be a text"),
    (json.dumps({"body": "x", "msg_id": "00" * 25}), "msg_id has at most 48 digits"),
    ('{"body": "x", "format": "TOOLONGFORMAT"}', "format has at most 8"),
    ('{"body": "x", "properties": 5}', "properties must be an object"),
    ('{"body": "x", "properties": {"a": [1]}}', "properties.a must be"),
    ('{"body": "x", "properties": {"a": {"hex": "0"}}}', "properties.a must be"),
    ('{"body": "x", "properties": {"a": 1e400}}', "properties.a is a number that 64 bits cannot hold"),
    (r'{"body": "\ud800"}', "surrogates"),
    ("[" * 100_000, "no JSON"),
)


@pytest.mark.parametrize(("line", "text"), REFUSED)
def test_refused(line: str, text: str) -> None:
    """What is wrong with a line is said with the name of the field."""
    with pytest.raises(ConfigurationException) as caught:
        from_line(line)
    assert text in str(caught.value)


NAMES = (
    *((word, 2442) for word in ("NULL", "true", "False", "NOT", "and", "Or", "BETWEEN", "like", "In", "IS", "escape")),
    *((f"usr.{word}", 2442) for word in ("NOT", "null", "JMSType", "JMSPriority", "1a")),
    *((name, 2442) for name in ("JMSPriority", "JMSXUserID", "JMSXAppID", "JMS_IBM_Format", "JMSanything", "JMS")),
    *((name, 2442) for name in ("Body.a", "Root.XML.a", "Root.MQMD.Priority", "Body", "mq.a.b", "MQ.a.b", "mqps.a.b")),
    *((name, 2442) for name in ("", ".a", "a.", "a..b", "1a", "-a", "a b", "a=b", "a<", "a'b", "a,b", "\U0001d51e")),
    *((name, 2442) for name in ("a-b", "usr.a-b", "shop.x-y", "a²", "a.1", "a$b", "a:b", "a\tb", "a\0b")),
    ("a" * 4096, 2513),
    *((name, 0) for name in ("JMSType", "JMSCorrelationID", "JMSReplyTo", "JMSXGroupID", "JMSXGroupSeq", "jms", "usr")),
    *(
        (name, 0)
        for name in ("NOTE", "a.NOT", "inner", "Rooted", "bodyText", "mq.a", "mq_usr.a.b", "größe", "_a1", "a" * 4095)
    ),
)


@pytest.mark.parametrize(("name", "reason"), NAMES)
def test_names_of_properties(name: str, reason: int) -> None:
    """Names that MQ keeps for itself, for JMS and for selectors are refused by its reason; others come back."""
    if not reason:
        message = from_object({"body": "x", "properties": {name: 5}})
        assert ({name: 5}, "x") == (to_object(*message)["properties"], to_object(*message)["body"])
        return
    with pytest.raises(MessageException) as caught:
        from_object({"body": "x", "properties": {name: 5}})
    assert reason == caught.value.reason


@pytest.mark.parametrize("name", ["JMSPriority", "content-type"])
def test_a_header_with_names_that_nobody_can_put_stays_in_front_of_its_body(name: str) -> None:
    """What is printed can be put again as it was."""
    descriptor, body = join({name: 5, "colour": "red"}, Descriptor(format="MQSTR"), b"body")
    found = to_object(descriptor, body)
    assert ({}, "MQHRF2") == (found["properties"], found["format"])
    assert (descriptor, body) == from_object(found)


IDS = st.binary(min_size=24, max_size=24)


@given(
    st.fixed_dictionaries(
        {
            "msg_id": IDS,
            "correl_id": IDS | st.just(NO_ID),
            "group_id": IDS,
            "priority": st.integers(-1, 9),
            "persistence": st.integers(0, 2),
            "expiry": st.integers(-1, 2**31 - 1),
            "put_appl_type": st.integers(0, 30),
            "appl_identity_data": st.sampled_from(["", "id"]),
            "accounting_token": st.binary(min_size=32, max_size=32),
            "original_length": st.integers(-1, 10),
        }
    ),
    st.binary() | st.text(st.characters(exclude_categories=["Cs"])).map(str.encode),
)
def test_any_message(fields: dict[str, Any], body: bytes) -> None:
    """A line holds every field of a descriptor and every body."""
    descriptor = Descriptor(**fields)
    line = to_line(descriptor, body)
    assert "\n" not in line
    assert (descriptor, body) == from_line(line)
