"""Expiry: CAPEXPRY, which queues, aliases and topics set to what is put to them, and of what is retained."""

from __future__ import annotations

import pytest

from engine.descriptor import Descriptor
from engine.mq import QueueManager

VALUES = [
    ("CAPEXPRY(50)", 50),
    ("CUSTOM('CAPEXPRY(50)')", 50),
    ("CUSTOM(' capexpry( 50 ) ')", 50),
    ("CAPEXPRY(NOLIMIT)", -1),
    ("CUSTOM('')", -1),
    ("CAPEXPRY(70) CUSTOM('CAPEXPRY(50)')", 50),
    ("CAPEXPRY(0)", None),
    ("CAPEXPRY(-1)", None),
    ("CAPEXPRY(1.5)", None),
    ("CAPEXPRY(1000000000)", None),
    ("CUSTOM('CAPEXPRY')", None),
    ("CUSTOM('CAPEXPRY(0)')", None),
    ("CUSTOM('OTHER(5)')", None),
]


@pytest.mark.parametrize(("attributes", "expiry"), VALUES)
def test_values(attributes: str, expiry: int | None) -> None:
    """A limit is tenths of a second, as an attribute or in CUSTOM; what is neither is refused."""
    queues = QueueManager("Q")
    (answer,) = queues.mqsc(f"ALTER QL(Q) {attributes}")
    assert (expiry is None) == answer.failed
    if expiry is not None:
        assert expiry == queues.work().put("Q", Descriptor(), b"").expiry


def test_refusals_say_what_may_be_written() -> None:
    """What is refused is told with what the attribute takes."""
    (of_attribute, of_custom) = QueueManager("Q").mqsc("ALTER QL(Q) CAPEXPRY(x)\nALTER QL(Q) CUSTOM('CAPEXPRY(0)')")
    assert "tenths of a second, 1 to 999999999, or NOLIMIT, not 'X'" in of_attribute.text
    assert "tenths of a second, 1 to 999999999, not '0'" in of_custom.text


@pytest.mark.parametrize(
    ("given", "queue", "alias", "expected"),
    [(-1, 50, 20, 20), (-1, 20, 50, 20), (10, 20, 50, 10), (30, 20, 0, 20), (-1, 0, 7, 7), (500, 0, 0, 500)],
)
def test_the_lowest(given: int, queue: int, alias: int, expected: int) -> None:
    """Of the message and the objects that its name leads over, the lowest limit counts."""
    now = [1_000.0]
    queues = QueueManager("Q", clock=lambda: now[0])
    queues.define("QALIAS", "A", {"TARGET": "Q", "CAPEXPRY": alias or "NOLIMIT"})
    queues.alter("QLOCAL", "Q", {"CUSTOM": f"CAPEXPRY({queue})" if queue else ""})
    work = queues.work()
    work.put("A", Descriptor(expiry=given), b"", syncpoint=False)
    assert [expected] == [arrival.descriptor.expiry for arrival in queues.browse("Q")]
    now[0] += expected / 10
    assert work.get("Q") is None


def test_a_change_counts_for_later_messages() -> None:
    """A limit is looked at when a message is put, and not again."""
    queues = QueueManager("Q")
    work = queues.work()
    for limit in ("NOLIMIT", 50, "NOLIMIT"):
        queues.alter("QLOCAL", "Q", {"CAPEXPRY": limit})
        work.put("Q", Descriptor(), b"", syncpoint=False)
    assert [-1, 50, -1] == [arrival.descriptor.expiry for arrival in queues.browse("Q")]


def test_streams() -> None:
    """A copy does not expire as its original does: CAPEXPRY of its own queue is all that counts."""
    queues = QueueManager("Q", "S")
    queues.alter("QLOCAL", "Q", {"STREAMQ": "S", "CAPEXPRY": 10})
    queues.alter("QLOCAL", "S", {"CAPEXPRY": 70})
    work = queues.work()
    for expiry in (-1, 5, 90):
        work.put("Q", Descriptor(expiry=expiry), b"", syncpoint=False)
    assert [[10, 5, 10], [70, 70, 70]] == [[one.descriptor.expiry for one in queues.browse(name)] for name in "QS"]


def test_topics() -> None:
    """A publication has the lowest limit of its topic, which those above give it, of its alias, and of each queue."""
    now = [1_000.0]
    queues = QueueManager("A", "B", clock=lambda: now[0])
    script = """DEFINE TOPIC(T) TOPICSTR(T) CAPEXPRY(90)
DEFINE TOPIC(U) TOPICSTR(T/U)
DEFINE TOPIC(N) TOPICSTR(T/N) CAPEXPRY(NOLIMIT)
DEFINE QA(X) TARGET(U) TARGTYPE(TOPIC) CUSTOM('CAPEXPRY(80)')
ALTER QL(B) CAPEXPRY(70)
DEFINE SUB(A) TOPICSTR('T/#') DEST(A)
DEFINE SUB(B) TOPICSTR('T/#') DEST(B)
"""
    assert not [answer for answer in queues.mqsc(script) if answer.failed]
    work = queues.work()
    work.publish("T/U", Descriptor(), b"")
    work.publish("T/N", Descriptor(), b"")
    work.put("X", Descriptor(), b"")
    work.put("X", Descriptor(expiry=5), b"")
    work.commit()
    assert [[90, -1, 80, 5], [70, 70, 70, 5]] == [
        [one.descriptor.expiry for one in queues.browse(name)] for name in "AB"
    ]
    now[0] += 7.5
    assert [3, 0] == [len(queues.browse("A")), len(queues.browse("B"))]


def test_what_is_retained_expires_in_its_time_while_it_is_replaced() -> None:
    """A new subscriber is sent what remains of its time, though a unit of work has it in hand."""
    now = [1_000.0]
    queues = QueueManager("A", clock=lambda: now[0])
    queues.publish("n", Descriptor(expiry=100), b"1", retain=True)
    work = queues.work()
    work.publish("n", Descriptor(), b"2", retain=True)
    now[0] += 6
    queues.define("SUB", "S", {"TOPICSTR": "n", "DEST": "A"})
    assert [40] == [descriptor.expiry for descriptor, _ in queues.cursor("A")]
