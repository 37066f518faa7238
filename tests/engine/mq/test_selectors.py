"""Selectors: what is selected, what is unknown, and what is refused."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.descriptor import MSG_IN_GROUP, Descriptor
from engine.errors import MessageException
from engine.mq.selectors import compile_selector

ID = bytes.fromhex("414d5120514d2020202020202020202001020304aabbccdd")
MESSAGE = Descriptor(
    msg_id=ID,
    correl_id=ID[::-1],
    priority=4,
    persistence=1,
    put_date="20260102",
    put_time="03040506",
    reply_to_q="R",
    reply_to_q_mgr="QM1",
    user_identifier="ada",
    group_id=ID,
    msg_seq_number=3,
    msg_flags=MSG_IN_GROUP,
    format="MQSTR",
)
PROPERTIES: Mapping[str, object] = {
    "colour": "red",
    "weight": 2500,
    "price": 9.5,
    "paid": True,
    "open": False,
    "raw": b"\x0a\xfc\x23",
    "quote": "it's",
    "pct": "50%_\\",
    "big": (1 << 63) - 1,
    "shop.town": "Ulm",
    "mcd.Msd": "jms_text",
    "mcd.Type": "order",
    "_x$1": 1,
    "größe": "M",
}

SELECTED: tuple[tuple[str, bool | None], ...] = (
    ("", True),
    ("  \t\n", True),
    ("TRUE", True),
    ("not false", True),
    ("paid", True),
    ("NOT open", True),
    ("missing", None),
    ("NOT missing", None),
    ("colour", None),
    ("colour = 'red'", True),
    ("'red' = colour", True),
    ("colour = 'Red'", False),
    ("Colour = 'red'", None),
    ("colour <> 'red'", False),
    ("colour <> 'blue'", True),
    ("quote = 'it''s'", True),
    ("colour = 5", False),
    ("NOT (colour = 5)", True),
    ("colour <> 5", False),
    ("colour > 5", False),
    ("weight = '2500'", False),
    ("weight <> '2500'", False),
    ("paid = 1", False),
    ("paid = TRUE", True),
    ("paid <> open", True),
    ("weight = 2500", True),
    ("weight = 2500.0", True),
    ("weight = +2.5E3", True),
    ("weight = 2500L and weight = 0x9C4 AND weight = 04704", True),
    ("price = 9.5d AND price > 9 AND price < 10f", True),
    ("price = .95E1", True),
    ("price >= 9.5 AND price <= 9.5 AND NOT price > 9.5", True),
    ("weight * 2 + 1 = 5001", True),
    ("weight - 2 * 1000 = 500", True),
    ("(weight - 2) * 1000 = 2498000", True),
    ("weight / 1000 = 2", True),
    ("-weight / 1000 = -2", True),
    ("weight / 1000.0 = 2.5", True),
    ("weight / 0 = 1", None),
    ("weight / 0.0 = 1", None),
    ("big + 1 > 0", None),
    ("big * big > 0", None),
    ("-(-big - 1) > 0", None),
    ("big = 9223372036854775807", True),
    ("-big - 1 = -9223372036854775808", True),
    ("big + 1.0 > 0", True),
    ("colour + 1 = 2", None),
    ("paid + 1 = 2", None),
    ("missing + 1 = 2", None),
    ("-missing = 2", None),
    ("10 - 5 - 2 = 3", True),
    ("100 / 10 / 5 = 2", True),
    ("weight BETWEEN 2500 AND 3000", True),
    ("weight NOT BETWEEN 2500 AND 3000", False),
    ("weight BETWEEN 1 AND 2 + 3", False),
    ("missing BETWEEN 1 AND 2", None),
    ("weight BETWEEN missing AND 2", False),
    ("weight BETWEEN missing AND 3000", None),
    ("weight NOT BETWEEN missing AND 3000", None),
    ("colour BETWEEN 1 AND 2", False),
    ("colour NOT BETWEEN 1 AND 2", False),
    ("colour IN ('red', 'blue')", True),
    ("colour in ('green')", False),
    ("colour NOT IN ('green')", True),
    ("missing IN ('green')", None),
    ("missing NOT IN ('green')", None),
    ("weight IN ('2500')", False),
    ("colour LIKE 'r%'", True),
    ("colour LIKE 'r_d'", True),
    ("colour LIKE 'r_'", False),
    ("colour LIKE '%'", True),
    ("colour LIKE ''", False),
    ("colour LIKE '%e%'", True),
    ("colour LIKE 'red%red'", False),
    ("colour NOT LIKE 'b%'", True),
    ("missing LIKE 'b%'", None),
    ("weight LIKE '25%'", False),
    ("pct LIKE '50\\%\\_\\\\' ESCAPE '\\'", True),
    ("pct LIKE '50!%!_%' ESCAPE '!'", True),
    ("pct LIKE '50!_%' ESCAPE '!'", False),
    ("missing IS NULL", True),
    ("missing IS NOT NULL", False),
    ("colour IS NULL", False),
    ("colour IS NOT NULL", True),
    ("missing = 1 OR paid", True),
    ("missing = 1 AND paid", None),
    ("missing = 1 AND open", False),
    ("missing = 1 OR open", None),
    ("open OR paid AND open", False),
    ("(open OR paid) AND paid", True),
    ("NOT open AND open", False),
    ("(colour = 'red') = TRUE", True),
    ('raw = "0x0AFC23"', True),
    ('raw = "0X0afc2300"', False),
    ('raw <> "0x00"', True),
    ("raw = '0AFC23'", False),
    ("shop.town = 'Ulm'", True),
    ("usr.colour = 'red'", True),
    ("_x$1 = 1", True),
    ("größe = 'M'", True),
    ("JMSPriority = 4 AND JMSPriority > 3.5", True),
    ("JMSDeliveryMode = 'PERSISTENT'", True),
    ("JMSDeliveryMode = 'NON_PERSISTENT'", False),
    (f"JMSMessageID = 'ID:{ID.hex()}'", True),
    (f"JMSMessageID = 'ID:{ID.hex().upper()}'", True),
    (f"'ID:{ID.hex().upper()}' = JMSMessageID", True),
    (f"JMSMessageID <> 'ID:{ID.hex().upper()}'", False),
    (f"JMSMessageID IN ('x', 'ID:{ID.hex().upper()}')", True),
    ("JMSMessageID LIKE 'ID:414D%'", True),
    (f"JMSCorrelationID = 'ID:{ID[::-1].hex()}'", True),
    ("JMSTimestamp = 1767323045060", True),
    ("JMSType = 'order'", True),
    ("JMSReplyTo = 'queue://QM1/R'", True),
    ("JMSRedelivered", False),
    ("JMSExpiration = 0", True),
    ("JMSDestination IS NULL", True),
    (f"JMSXGroupID = 'ID:{ID.hex()}'", True),
    ("JMSXGroupSeq = 3", True),
    ("JMSXUserID = 'ada' AND JMSXDeliveryCount = 1 AND JMSXAppID IS NULL", True),
    ("JMS_IBM_Format = 'MQSTR' AND JMS_IBM_MsgType = 8", True),
    ("Root.MQMD.Priority = 4 AND Root.MQMD.ReplyToQ = 'R'", True),
    (f'Root.MQMD.MsgId = "0x{ID.hex()}"', True),
)

REFUSED: tuple[tuple[str, int, str], ...] = (
    ("colour", 0, ""),
    ("colour = ", 10, "a property, a value"),
    ("colour = 'red", 10, "no closing quote"),
    ('colour = "red"', 10, "byte strings only"),
    ("colour = 'red' 'blue'", 16, "should end here"),
    ("5", 1, "a condition is wanted"),
    ("'text'", 1, "a condition is wanted"),
    ("a + 1", 1, "a condition is wanted"),
    ("a AND 5", 7, "a condition is wanted"),
    ("NOT 'x'", 5, "a condition is wanted"),
    ("a = 1 OR", 9, "a property, a value"),
    ("a == 1", 4, "a property, a value"),
    ("a != 1", 3, "no meaning"),
    ("a > 'x'", 3, "numbers only"),
    ("TRUE < FALSE", 6, "numbers only"),
    ("a + 'x' = 1", 5, "numbers only"),
    ("a BETWEEN 'a' AND 'z'", 11, "numbers only"),
    ("a BETWEEN 1", 12, "BETWEEN low AND high"),
    ("a IN ()", 7, "strings in single quotes"),
    ("a IN (1, 2)", 7, "strings in single quotes"),
    ("a IN 'x'", 6, "in parentheses"),
    ("a IN ('x'", 10, "close the list"),
    ("'a' IN ('x')", 1, "name of a property"),
    ("1 IS NULL", 1, "name of a property"),
    ("a IS 1", 6, "IS NULL or IS NOT NULL"),
    ("a LIKE 5", 8, "strings in single quotes"),
    ("a LIKE b", 8, "strings in single quotes"),
    ("'a' LIKE 'a'", 1, "name of a property"),
    ("a LIKE 'x' ESCAPE 'ab'", 19, "one character"),
    ("a LIKE 'x' ESCAPE '%'", 19, "one character"),
    ("a LIKE 'x!' ESCAPE '!'", 20, "write it twice"),
    ("a NOT = 1", 7, "BETWEEN, IN or LIKE"),
    ("a = 09", 5, "octal"),
    ("a = 9223372036854775808", 5, "64 bits"),
    (f"a = {'9' * 5000}", 5, "64 bits"),
    ("a = 1e999", 5, "64 bits"),
    ("a = 12ab", 7, "cannot follow a number"),
    ('a = "0xAFC"', 5, "pairs"),
    ('a = "0x"', 5, "pairs"),
    ("NULL = a", 1, "a property, a value"),
    ("between = 1", 1, "a property, a value"),
    ("abs(a) = 1", 4, "no functions"),
    ("(a = 1", 7, "close the parenthesis"),
    ("a = 1)", 6, "should end here"),
    ("a = b = c", 7, "should end here"),
    ("Root.MQMD.Colour = 1", 1, "no name"),
    ("Root.XMLNSC.a = 1", 1, "no name"),
    ("a; b", 2, "no meaning"),
    ("(" * 51 + "a" + ")" * 51, 52, "nested"),
    ("NOT " * 51 + "a", 205, "nested"),
    ("a = " + "-" * 51 + "b", 56, "nested"),
    ("a = 1 OR " * 2000 + "b", 10241, "at most"),
)


@pytest.mark.parametrize(("text", "expected"), SELECTED)
def test_selected(text: str, expected: bool | None) -> None:
    """A selector is true, false or unknown of a message, as JMS and MQ have it."""
    assert expected is compile_selector(text)(MESSAGE, lambda: PROPERTIES)


@pytest.mark.parametrize(("text", "column", "problem"), REFUSED[1:])
def test_refused(text: str, column: int, problem: str) -> None:
    """A text that is no selector is reason 2459, with the column and what to do."""
    with pytest.raises(MessageException, match=re.escape(problem)) as caught:
        compile_selector(text)
    assert caught.value.reason == 2459
    assert f"column {column}:" in caught.value.text


IDS = (
    (f"JMSCorrelationID = 'ID:{ID.hex()}'", (b"", ID, b"")),
    (f"'ID:{ID.hex().upper()}' = JMSMessageID", (ID, b"", b"")),
    (f"JMSCorrelationID = 'ID:{ID.hex()}' AND a = 1 AND JMSMessageID = 'ID:{ID.hex()}'", (ID, ID, b"")),
    (f'Root.MQMD.GroupId = "0x{ID.hex()}"', (b"", b"", ID)),
    (f"JMSCorrelationID = 'ID:{ID.hex()}' OR a = 1", (b"", b"", b"")),
    (f"NOT JMSCorrelationID = 'ID:{ID.hex()}'", (b"", b"", b"")),
    (f"JMSCorrelationID <> 'ID:{ID.hex()}'", (b"", b"", b"")),
    ("JMSCorrelationID = 'mine'", (b"", b"", b"")),
    (f"JMSMessageID = 'ID:{'00' * 24}'", (b"", b"", b"")),
)


@pytest.mark.parametrize(("text", "expected"), IDS)
def test_ids(text: str, expected: tuple[bytes, bytes, bytes]) -> None:
    """A selector names the ids that all its messages have, so that an index can find them."""
    selector = compile_selector(text)
    assert expected == (selector.msg_id, selector.correl_id, selector.group_id)


def test_overridden() -> None:
    """A correlation id that a JMS client set as a text stands in front of that of the MQMD."""
    selector = compile_selector("JMSCorrelationID = 'mine'")
    assert (True, False) == (selector(MESSAGE, lambda: {"jms.Cid": "mine"}), selector(MESSAGE, dict))


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("JMSType = 'bill'", "JMSType", "bill"),
        ("JMSCorrelationID = 'mine'", "JMSCorrelationID", "mine"),
        ("JMSReplyTo = 'queue:///R'", "JMSReplyTo", "queue:///R"),
        ("JMSXGroupID = 'orders' ", "JMSXGroupID", "orders"),
        ("JMSXGroupSeq > 4", "JMSXGroupSeq", 5),
    ],
)
def test_properties_of_jms_that_programs_of_mq_set(text: str, name: str, value: object) -> None:
    """They stand in front of what the descriptor and the folders of JMS say."""
    selector = compile_selector(text)
    said = {"mcd.Type": "other", "jms.Gid": "other", "jms.Cid": "other"}
    assert selector(MESSAGE, lambda: said) is not True
    assert selector(MESSAGE, lambda: said | {name: value}) is True


def test_long_patterns_take_no_longer() -> None:
    """A pattern that makes backtracking matchers take for ever is answered at once."""
    selector = compile_selector(f"a LIKE '{'%a' * 200}%b'")
    begun = time.perf_counter()
    assert selector(MESSAGE, lambda: {"a": "a" * 100_000}) is False
    assert time.perf_counter() - begun < 1


def test_long_chains() -> None:
    """A chain of conditions as long as a selector may be is no deeper than a short one."""
    assert compile_selector("a = 1 AND " * 1000 + "TRUE")(MESSAGE, lambda: {"a": 1}) is True
    assert compile_selector("+".join("1" * 5000) + " = 5000")(MESSAGE, dict) is True


@given(st.text("abc =<>'()%_!0123.eE+-*/NOTANDORISNULLBETWEENLIKEIN\"x,", max_size=40))
@settings(max_examples=600, deadline=None)
def test_any_text(text: str) -> None:
    """Any text is a selector or is refused with 2459; nothing else happens."""
    reason = 2459
    try:
        compile_selector(text)(MESSAGE, lambda: PROPERTIES)
    except MessageException as error:
        reason = error.reason
    assert reason == 2459
