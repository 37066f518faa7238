"""The status of topics, of subscriptions and of publish/subscribe, as DISPLAY shows it."""

from __future__ import annotations

import pytest

from engine.descriptor import Descriptor
from tests.engine.mq.test_publishing import manager

STATUS: tuple[tuple[str, dict[str, object]], ...] = (
    ("a", {"ADMIN": "", "PUB": "ENABLED", "DEFPRTY": "0", "RETAINED": "NO", "SUBCOUNT": 0, "CAPEXPRY": "NOLIMIT"}),
    ("n", {"ADMIN": "N", "PUB": "DISABLED", "DEFPRTY": "4", "WILDCARD": "BLOCK", "CAPEXPRY": "50"}),
    ("n/m", {"ADMIN": "M", "PUB": "ENABLED", "DEFPRTY": "4", "WILDCARD": "PASSTHRU", "SUBCOUNT": 2}),
    ("n/m/x", {"ADMIN": "", "PUB": "ENABLED", "SUB": "DISABLED", "RETAINED": "YES", "SUBCOUNT": 0}),
    ("n/m/#", {}),
    ("+/q", {}),
    ("#", {}),
)
FITTING = {"n/m/#": ["n/m", "n/m/#", "n/m/x"], "+/q": [], "#": ["n", "n/m", "n/m/#", "n/m/x"]}


@pytest.mark.parametrize(("pattern", "expected"), STATUS)
def test_status(pattern: str, expected: dict[str, object]) -> None:
    """The status of a topic is what it has of its own and from above; a pattern shows the known topics that fit."""
    queues = manager(
        "DEFINE SUB(S1) TOPICSTR('n/m') DEST(A)",
        "DEFINE SUB(S2) TOPICSTR('n/m') DEST(B)",
        "DEFINE SUB(S3) TOPICSTR('n/m/#') DEST(B)",
        "DEFINE TOPIC(N) TOPICSTR('n') DEFPRTY(4) PUB(DISABLED) WILDCARD(BLOCK) CAPEXPRY(50)",
        "DEFINE TOPIC(M) TOPICSTR('n/m') PUB(ENABLED) SUB(DISABLED)",
    )
    queues.publish("n/m/x", Descriptor(), b"1", retain=True)
    (answer,) = queues.mqsc(f"DISPLAY TPSTATUS('{pattern}')")
    assert FITTING.get(pattern, [pattern]) == [dict(one)["TOPICSTR"] for one in answer.objects]
    assert all(expected.items() <= dict(one).items() for one in answer.objects)


TRAFFIC: tuple[tuple[str, str, list[dict[str, object]]], ...] = (
    (
        "SBSTATUS(ONE)",
        "AMQ8099I",
        [{"SUB": "ONE", "NUMMSGS": 5, "TOPICSTR": "n/#", "DURABLE": "YES", "SUBTYPE": "ADMIN"}],
    ),
    (
        "SBS(*) NUMMSGS",
        "AMQ8099I",
        [{"SUB": "ONE", "NUMMSGS": 5}, {"SUB": "SOME", "NUMMSGS": 2}, {"SUB": "Y", "NUMMSGS": 1}],
    ),
    ("SBSTATUS(*) DURABLE(NO)", "AMQ8147I", []),
    ("SBSTATUS(*) SUBTYPE(ADMIN) WHERE(NUMMSGS LT 2)", "AMQ8099I", [{"SUB": "Y", "NUMMSGS": 1}]),
    ("TPSTATUS('n/x') TYPE(PUB)", "AMQ8754I", [{"TOPICSTR": "n/x", "NUMPUBS": 4}]),
    (
        "TPSTATUS('#') TYPE(PUB) NUMPUBS",
        "AMQ8754I",
        [{"TOPICSTR": "n/x", "NUMPUBS": 4}, {"TOPICSTR": "n/y", "NUMPUBS": 1}],
    ),
    ("TPSTATUS('n/#') TYPE(SUB) NUMMSGS", "AMQ8754I", [{"NUMMSGS": 5}, {"NUMMSGS": 1}, {"NUMMSGS": 2}]),
    ("TPSTATUS('other') TYPE(SUB)", "AMQ8147I", []),
    ("PUBSUB", "AMQ8723I", [{"QMNAME": "QM1", "TYPE": "LOCAL", "STATUS": "ACTIVE", "SUBCOUNT": 3, "TPCOUNT": 5}]),
    ("PUBSUB TYPE(PARENT)", "AMQ8147I", []),
)


@pytest.mark.parametrize(("command", "code", "expected"), TRAFFIC)
def test_traffic(command: str, code: str, expected: list[dict[str, object]]) -> None:
    """DISPLAY says what was published on topics and sent to subscriptions that select, over definitions."""
    queues = manager(
        "DEFINE SUB(ONE) TOPICSTR('n/#') DEST(A)",
        "DEFINE SUB(SOME) TOPICSTR('n/x') DEST(B) SELECTOR('JMSPriority > 4')",
        "DEFINE QL(SHORT) MAXDEPTH(1)",
    )
    for priority in (1, 9):
        queues.publish("n/x", Descriptor(priority=priority), b"")
    queues.mqsc("DEFINE SUB(Y) TOPICSTR('n/+') DEST(SHORT)\nALTER QMGR DEADQ(' ')")
    for topic, priority in (("n/x", 1), ("n/x", 9), ("n/y", 0)):
        queues.publish(topic, Descriptor(priority=priority), b"")
    (answer,) = queues.mqsc(f"DISPLAY {command}")
    assert code == answer.code
    assert len(expected) == len(answer.objects)
    assert all(one.items() <= dict(shown).items() for one, shown in zip(expected, answer.objects, strict=True))
