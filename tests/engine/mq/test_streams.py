"""Streaming queues: which copies are made, what is the same in them, and what becomes of a message without its copy."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.descriptor import NO_ID, Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager
from engine.mq.properties import join
from engine.work import Selection
from tests.engine.mq.served import serving

BESTEF, MUSTDUP = "BESTEF", "MUSTDUP"


@pytest.fixture(params=["memory", "durable"])
def queues(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[QueueManager]:
    """A queue manager, with a store and without."""
    if request.param == "memory":
        yield QueueManager(name="QM1")
        return
    QueueManager.create(tmp_path / "QM", name="QM1")
    with QueueManager.open(tmp_path / "QM") as made:
        yield made


def carried_out(queues: QueueManager, *commands: str) -> None:
    for answer in queues.mqsc("\n".join(commands)):
        assert not answer.failed, answer


def bodies(queues: QueueManager, *names: str) -> list[list[bytes]]:
    return [[arrival.body for arrival in queues.browse(name)] for name in names]


@pytest.mark.parametrize("persistence", [0, 1])
@pytest.mark.parametrize("syncpoint", [True, False])
@pytest.mark.parametrize("service", [BESTEF, MUSTDUP])
def test_copies(queues: QueueManager, service: str, syncpoint: bool, persistence: int) -> None:
    """A copy is the message itself, without its reports and its expiry, and comes and goes with the unit of the put."""
    carried_out(queues, f"DEFINE QL(S) DEFPRTY(7) DEFPSIST(YES)\nDEFINE QL(Q) STREAMQ(S) STRMQOS({service})")
    work = queues.work(user="ada", application="orders")
    head = (0x100 + 0x800 + 0x200000 + 0x1000000 + 0x40 + 1, 8, 3_000, 0, 273, 850, "MQSTR", 4, persistence)
    given = Descriptor(*head, reply_to_q="R", correl_id=b"\1" * 24, group_id=b"\2" * 24, msg_seq_number=3, msg_flags=8)
    own = work.put("Q", *join({"colour": "red"}, given, b"body"), syncpoint=syncpoint)
    assert ([] if syncpoint else [1]) == [len(queues.browse("S"))] * (not syncpoint)
    work.commit()
    (base,), (copy,) = queues.browse("Q"), queues.browse("S")
    assert own.msg_id != NO_ID
    assert base.descriptor._replace(expiry=-1, report=0x41) == copy.descriptor
    assert (own.report, "ada", "orders") == (
        given.report,
        copy.descriptor.user_identifier,
        copy.descriptor.put_appl_name,
    )
    assert base.body == copy.body
    work.put("Q", given, b"undone")
    work.back_out()
    assert [1, 1] == [queues.depth("Q"), queues.depth("S")]


def test_what_is_there_is_not_copied(queues: QueueManager) -> None:
    """Messages from before STREAMQ was set have no copy, and a get, a browse or a clear of either queue is its own."""
    carried_out(queues, "DEFINE QL(S)\nDEFINE QL(Q)")
    work = queues.work()
    work.put("Q", Descriptor(), b"before", syncpoint=False)
    carried_out(queues, "ALTER QL(Q) STREAMQ(S)")
    for body in (b"1", b"2"):
        work.put("Q", Descriptor(), body, syncpoint=False)
    work.get("Q", syncpoint=False)
    work.get("S", Selection(browse=True))
    assert [[b"1", b"2"], [b"1", b"2"]] == bodies(queues, "Q", "S")
    carried_out(queues, "CLEAR QL(Q)\nALTER QL(Q) STREAMQ('')")
    work.put("Q", Descriptor(), b"after", syncpoint=False)
    assert [[b"after"], [b"1", b"2"]] == bodies(queues, "Q", "S")


REFUSALS = {
    "full": ("ALTER QL(S) MAXDEPTH(0)", 2053),
    "inhibited": ("ALTER QL(S) PUT(DISABLED)", 2051),
    "too long": ("ALTER QL(S) MAXMSGL(3)", 2030),
    "unknown": ("DELETE QL(S)", 2085),
    "unknown behind an alias": ("ALTER QL(Q) STREAMQ(NOWHERE)", 2082),
}


@pytest.mark.parametrize("why", REFUSALS)
@pytest.mark.parametrize("persistence", [0, 1])
@pytest.mark.parametrize("syncpoint", [True, False])
def test_best_effort(
    queues: QueueManager, caplog: pytest.LogCaptureFixture, why: str, syncpoint: bool, persistence: int
) -> None:
    """A message whose copy cannot be made is put all the same, and the log says why, once."""
    command, reason = REFUSALS[why]
    carried_out(queues, "DEFINE QA(NOWHERE) TARGET(ABSENT)\nDEFINE QL(S)\nDEFINE QL(Q) STREAMQ(S)", command)
    work = queues.work()
    with caplog.at_level(logging.WARNING):
        for body in (b"first", b"second"):
            work.put("Q", Descriptor(persistence=persistence), body, syncpoint=syncpoint)
    work.commit()
    assert [[b"first", b"second"]] == bodies(queues, "Q")
    said = [record.getMessage() for record in caplog.records]
    assert [True] == [f"reason {reason}" in text and "queue Q" in text for text in said]


@pytest.mark.parametrize("why", REFUSALS)
@pytest.mark.parametrize("syncpoint", [True, False])
def test_must_duplicate(queues: QueueManager, why: str, syncpoint: bool) -> None:
    """A message that must have a copy and cannot is refused with the copy's reason; the rest of the unit stays."""
    command, reason = REFUSALS[why]
    carried_out(
        queues,
        "DEFINE QA(NOWHERE) TARGET(ABSENT)\nDEFINE QL(S)\nDEFINE QL(P)\nDEFINE QL(Q) STREAMQ(S) STRMQOS(MUSTDUP)",
    )
    carried_out(queues, command)
    work = queues.work()
    work.put("P", Descriptor(), b"other")
    with pytest.raises(MessageException) as refused:
        work.put("Q", Descriptor(persistence=1), b"body", syncpoint=syncpoint)
    assert reason == refused.value.reason
    work.commit()
    assert ([b"other"], 0, 0) == (
        bodies(queues, "P")[0],
        queues.depth("Q"),
        queues.display("QLOCAL", "Q")[0]["CURDEPTH"],
    )


@pytest.mark.parametrize("service", [BESTEF, MUSTDUP])
def test_original_refused(queues: QueueManager, service: str) -> None:
    """A message that its own queue refuses has no copy."""
    carried_out(queues, f"DEFINE QL(S)\nDEFINE QL(Q) MAXDEPTH(1) STREAMQ(S) STRMQOS({service})")
    work = queues.work()
    work.put("Q", Descriptor(), b"1")
    with pytest.raises(MessageException, match="full"):
        work.put("Q", Descriptor(), b"2")
    work.commit()
    assert [[b"1"], [b"1"]] == bodies(queues, "Q", "S")
    assert 1 == queues.display("QLOCAL", "S")[0]["CURDEPTH"]


def test_copies_do_not_count(queues: QueueManager) -> None:
    """MAXUMSGS counts messages and not their copies, in every unit."""
    carried_out(queues, "DEFINE QL(S)\nDEFINE QL(Q) STREAMQ(S) STRMQOS(MUSTDUP)\nALTER QMGR MAXUMSGS(2)")
    work = queues.work()
    for _ in range(2):
        work.put("Q", Descriptor(), b"1")
        work.put("Q", Descriptor(), b"2")
        with pytest.raises(MessageException) as refused:
            work.put("Q", Descriptor(), b"3")
        assert 2024 == refused.value.reason
        work.commit()
    assert [4, 4] == [queues.depth("Q"), queues.depth("S")]


def test_through_aliases(queues: QueueManager) -> None:
    """A put by an alias of the base is copied; a copy goes by an alias to its queue, or by a topic's to subscribers."""
    carried_out(
        queues,
        "DEFINE QL(S)\nDEFINE QL(A)\nDEFINE QL(B)\nDEFINE QA(TO.S) TARGET(S)",
        "DEFINE QL(Q) STREAMQ(TO.S)\nDEFINE QA(TO.Q) TARGET(Q)",
        "DEFINE TOPIC(T) TOPICSTR(orders)\nDEFINE QA(TO.T) TARGET(T) TARGTYPE(TOPIC)",
        "DEFINE QL(P) STREAMQ(TO.T) STRMQOS(MUSTDUP)",
    )
    work = queues.work()
    work.put("TO.Q", Descriptor(), b"1")
    own = work.put("P", Descriptor(), b"unheard")
    carried_out(queues, "DEFINE SUB(A) TOPICOBJ(T) DEST(A) DESTCORL('01')\nDEFINE SUB(B) TOPICOBJ(T) DEST(B)")
    own = work.put("P", Descriptor(report=0x100, reply_to_q="R", expiry=50), b"2")
    work.commit()
    assert [[b"1"], [b"1"], [b"unheard", b"2"], [b"2"], [b"2"]] == bodies(queues, "Q", "S", "P", "A", "B")
    (one,), (two,) = queues.browse("A"), queues.browse("B")
    assert 3 == len({own.msg_id, one.descriptor.msg_id, two.descriptor.msg_id})
    assert (b"\1" + bytes(23), 0, -1) == (one.descriptor.correl_id, one.descriptor.report, one.descriptor.expiry)


def test_one_body(queues: QueueManager) -> None:
    """A message and its copy share their body in memory."""
    carried_out(queues, "DEFINE QL(S)\nDEFINE QL(Q) STREAMQ(S)")
    queues.work().put("Q", Descriptor(), bytes(100_000), syncpoint=False)
    (base,), (copy,) = queues.browse("Q"), queues.browse("S")
    assert base.body is copy.body


def test_a_store_that_is_full(tmp_path: Path) -> None:
    """Where a store has room for a message and not for its copy, best effort keeps the message, alone or in a unit."""
    QueueManager.create(tmp_path / "QM", max_size=1 << 21)
    with QueueManager.open(tmp_path / "QM") as queues:
        carried_out(queues, "DEFINE QL(S)\nDEFINE QL(Q)\nDEFINE QL(M)\nDEFINE QL(F)")
        work = queues.work()
        with contextlib.suppress(MessageException):  # once it is full
            while True:
                work.put("F", Descriptor(persistence=1), bytes(1_500), syncpoint=False)
        carried_out(queues, "ALTER QL(Q) STREAMQ(S)\nALTER QL(M) STREAMQ(S) STRMQOS(MUSTDUP)")

        def put(queue: str) -> None:
            for _ in range(40):
                work.put(queue, Descriptor(persistence=1), bytes(1_500))
            work.commit()

        while not queues.depth("Q"):  # until there is room for the messages, one by one
            work.get("F", syncpoint=False)
            with contextlib.suppress(MessageException):
                put("Q")
        with pytest.raises(MessageException) as refused:
            put("M")
        assert 2192 == refused.value.reason
        assert [40, 0, 0] == [queues.depth(name) for name in ("Q", "S", "M")]
        assert [0] == [one["CURDEPTH"] for one in queues.display("QLOCAL", "S")]


def test_over_the_socket(tmp_path: Path) -> None:
    """A client's put is copied, and its put that must be copied and cannot is refused at once, also behind others."""
    with serving(QueueManager(name="QM1"), tmp_path) as client:
        for answer in client.mqsc("DEFINE QL(S) MAXDEPTH(3)\nDEFINE QL(Q) STREAMQ(S) STRMQOS(MUSTDUP)"):
            assert not answer.failed
        work = client.work()
        for body in (b"1", b"2", b"3"):
            work.put("Q", Descriptor(), body)
        with pytest.raises(MessageException) as refused:
            work.put("Q", Descriptor(), b"4")
        assert 2053 == refused.value.reason
        work.commit()
        assert [3, 3] == [client.depth("Q"), client.depth("S")]


DEFINED = """DEFINE QL(A)
DEFINE QL(B)
DEFINE QL(C)
DEFINE QA(TO.B) TARGET(B)
DEFINE QA(TO.A) TARGET(A)
DEFINE QL(D)
DEFINE TOPIC(T) TOPICSTR(t)
DEFINE QA(TO.T) TARGET(T) TARGTYPE(TOPIC)
DEFINE SUB(S) TOPICSTR(t) DEST(D)
"""
RULES = [  # commands, and the reason of the last of them; 0 where it is carried out
    (("ALTER QL(A) STREAMQ(B)",), 0),
    (("ALTER QL(A) STREAMQ(NOT.THERE) STRMQOS(MUSTDUP)",), 0),
    (("ALTER QL(A) STREAMQ(A)",), 3385),
    (("DEFINE QL(X) STREAMQ(X)",), 3385),
    (("ALTER QL(A) STREAMQ(TO.A)",), 3385),
    (("ALTER QL(B) STREAMQ(C)", "ALTER QL(A) STREAMQ(B)"), 3385),
    (("ALTER QL(B) STREAMQ(C)", "ALTER QL(A) STREAMQ(TO.B)"), 3385),
    (("ALTER QL(B) STREAMQ(C)", "DEFINE QL(X) STREAMQ(TO.B)"), 3385),
    (("ALTER QL(A) STREAMQ(B)", "ALTER QL(B) STREAMQ(C)"), 3387),
    (("ALTER QL(A) STREAMQ(TO.B)", "ALTER QL(B) STREAMQ(C)"), 3387),
    (("ALTER QL(A) STREAMQ(B)", "ALTER QL(B) STREAMQ(A)"), 3385),
    (("ALTER QL(A) STREAMQ(TO.B)", "ALTER QL(B) STREAMQ(TO.A)"), 3385),
    (("ALTER QL(A) STREAMQ(X)", "DEFINE QL(X) STREAMQ(C)"), 3387),
    (("ALTER QL(A) STREAMQ(X)", "DEFINE QL(X)"), 0),
    (("ALTER QL(A) STREAMQ(C)", "ALTER QL(B) STREAMQ(C)"), 0),
    (("ALTER QL(A) STREAMQ(TO.B)", "ALTER QL(C) STREAMQ(D)", "ALTER QA(TO.B) TARGET(A)"), 3385),
    (("ALTER QL(A) STREAMQ(TO.B)", "ALTER QL(C) STREAMQ(B)", "ALTER QA(TO.B) TARGET(C)"), 3385),
    (("ALTER QL(A) STREAMQ(X)", "DEFINE QA(X) TARGET(A)"), 3385),
    (("ALTER QL(A) STREAMQ(TO.B)", "ALTER QA(TO.B) TARGET(SYSTEM.DEAD.LETTER.QUEUE)"), 3384),
    (("ALTER QL(A) STREAMQ(TO.T)",), 0),
    (("ALTER QL(A) STREAMQ(SYSTEM.DEAD.LETTER.QUEUE)",), 3384),
    (("ALTER QL(A) STREAMQ(SYSTEM.DEFAULT.LOCAL.QUEUE)",), 0),
    (("ALTER QL(SYSTEM.DEAD.LETTER.QUEUE) STREAMQ(A)",), 3386),
    (("DEFINE QL(SYSTEM.DEFAULT.LOCAL.QUEUE) STREAMQ(A)",), 0),
    (("DEFINE QL(SYSTEM.ADMIN.QMGR.EVENT) STREAMQ(A)",), 0),
    (("DEFINE QL(SYSTEM.ADMIN.COMMAND.QUEUE) STREAMQ(A)",), 3386),
    (("ALTER QL(D) STREAMQ(A)",), 3386),
    (("ALTER QL(A) STREAMQ(B)", "DEFINE SUB(N) TOPICSTR(t) DEST(A)"), 3386),
    (("ALTER QL(A) STREAMQ(B) PUT(DISABLED)", "DEFINE SUB(N) TOPICSTR(t) DEST(TO.A)"), 3386),
    (("DEFINE SUB(N) TOPICSTR(t) DEST(TO.A)", "ALTER QL(A) STREAMQ(B)"), 3386),
    (("DEFINE SUB(N) TOPICSTR(t) DEST(TO.A)", "ALTER QL(B) STREAMQ(C)", "ALTER QA(TO.A) TARGET(B)"), 3386),
    (("ALTER QL(A) STRMQOS(SOMETIMES)",), 4005),
    (("ALTER QL(A) STREAMQ('NO NAME')",), 2152),
    (("ALTER QA(TO.A) STREAMQ(B)",), 2067),
]


@pytest.mark.parametrize(("commands", "reason"), RULES)
def test_rules(commands: tuple[str, ...], reason: int) -> None:
    """No definition lets a message be copied twice, or from or to a queue of the system, whatever comes first."""
    queues = QueueManager(name="QM1")
    carried_out(queues, DEFINED, *commands[:-1])
    (answer,) = queues.mqsc(commands[-1])
    assert bool(reason) == answer.failed, answer
    assert not reason or f"({reason})" in answer.text
