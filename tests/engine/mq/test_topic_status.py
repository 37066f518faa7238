"""The status of topics, of subscriptions and of publish/subscribe, as DISPLAY shows it."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager
from engine.mq.topics.objects import Objects
from engine.mq.topics.subscription import Subscription
from tests.engine.mq.test_publishing import bodies, manager

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


def test_traffic_on_many_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is published on a topic counts also once more topics have been published on than routes are remembered."""
    monkeypatch.setattr("engine.mq.topics.publishing._MOST_ROUTES", 10)
    queues = manager("DEFINE SUB(S) TOPICSTR('n') DEST(A)")
    for number in range(100):
        queues.publish("n", Descriptor(), b"")
        queues.publish(f"other/{number}", Descriptor(), b"")
    counted = queues.topics.counted()
    assert (100, 100) == (counted.published["n", ""].messages, counted.sent["S"].messages)


def test_traffic_that_is_refused() -> None:
    """A publication that fails as one of its queues is full is none."""
    queues = manager(
        "DEFINE TOPIC(N) TOPICSTR('n') NPMSGDLV(ALL) USEDLQ(NO)",
        "ALTER QLOCAL(A) MAXDEPTH(1)",
        "DEFINE SUB(S) TOPICSTR('n') DEST(A)",
        "DEFINE SUB(T) TOPICSTR('n') DEST(B)",
    )
    queues.publish("n", Descriptor(), b"")
    with pytest.raises(MessageException):
        queues.publish("n", Descriptor(), b"")
    counted = queues.topics.counted()
    assert [1, 1, 1] == [counted.published["n", ""].messages, *(counted.sent[name].messages for name in "ST")]


def test_traffic_of_several_threads() -> None:
    """What several threads publish is counted once, also while others look at the counts and define topics."""
    queues = manager("DEFINE SUB(S) TOPICSTR('#') DEST(A)", "ALTER QLOCAL(A) MAXDEPTH(999999999)")
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(5) as pool:
            publishing = [pool.submit(_publish, queues) for _ in range(3)]
            for number in range(20):
                queues.mqsc(f"DEFINE TOPIC(T{number}) TOPICSTR('t{number}')")
                pool.submit(queues.topics.counted).result()
            for one in publishing:
                one.result()
    finally:
        sys.setswitchinterval(before)
    counted = queues.topics.counted()
    assert 3_000 == queues.depth("A") == counted.sent["S"].messages
    assert 3_000 == sum(count.messages for count in counted.published.values())


def _publish(queues: QueueManager) -> None:
    for number in range(1_000):
        queues.publish(f"n/{number % 7}", Descriptor(), b"")


def test_a_route_that_is_found_while_somebody_subscribes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who subscribes while another thread looks where publications on a topic go gets the next of them."""
    queues = manager()
    fitting = Objects.fitting

    def slow(objects: Objects, topic: str, point: str) -> list[Subscription]:
        found = fitting(objects, topic, point)
        monkeypatch.setattr(Objects, "fitting", fitting)
        queues.mqsc("DEFINE SUB(S) TOPICSTR('n') DEST(A)")
        queues.publish("other", Descriptor(), b"")
        return found

    monkeypatch.setattr(Objects, "fitting", slow)
    for body in (b"1", b"2"):
        queues.publish("n", Descriptor(), body)
    assert [[b"2"]] == bodies(queues, "A")


def test_publishers() -> None:
    """The status of a topic's publishers has the connection that DISPLAY CONN shows."""
    queues = manager()
    work = queues.work()
    work.publish("n", Descriptor(), b"")
    work.commit()
    (answer,) = queues.mqsc("DISPLAY TPSTATUS('n') TYPE(PUB) ACTCONN")
    whole = str(dict(answer.objects[0])["ACTCONN"])
    assert (48, True) == (
        len(whole),
        (whole[:32], whole[32:]) in [(c["EXTCONN"], c["CONN"]) for c in queues.display("CONN")],
    )
