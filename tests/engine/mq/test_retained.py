"""Retained publications for those who subscribe while units of work replace them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.message.topics import TopicAddress
from engine.mq import QueueManager
from engine.mq.addresses import owner_name
from engine.mq.properties import split
from engine.mq.topics import retained as retained_publications
from engine.mq.topics.retained import RETAINED
from engine.mq.topics.subscription import Subscription
from tests.engine.mq.test_publishing import bodies, manager


@pytest.mark.parametrize("ends_first", [True, False])
@pytest.mark.parametrize(("end", "expected"), [("commit", [b"2"]), ("back_out", [b"1"]), ("", [b"1", b"2"])])
def test_retained_while_units_end(
    monkeypatch: pytest.MonkeyPatch, end: str, expected: list[bytes], ends_first: bool
) -> None:
    """A new subscriber misses nothing where units of work end each time that it reads what is retained."""
    queues, read = manager(), retained_publications._kept
    queues.publish("n", Descriptor(), b"1", retain=True)
    work = queues.work()
    work.publish("n", Descriptor(), b"2", retain=True)

    def ending() -> None:
        queues.publish("other", Descriptor(), b"", retain=True)
        if end:
            getattr(work, end)()

    def kept(manager: QueueManager, subscription: Subscription) -> Iterator[tuple[Descriptor, bytes]]:
        if ends_first:
            ending()
        yield from read(manager, subscription)
        if not ends_first:
            ending()

    monkeypatch.setattr(retained_publications, "_kept", kept)
    queues.define("SUB", "S", {"TOPICSTR": "n/#", "DEST": "A"})
    work.commit()
    assert [expected] == bodies(queues, "A")


def test_what_another_unit_retains_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a unit finds retained only as it takes it is what new subscribers are sent while the unit goes on."""
    queues, look = manager(), retained_publications._on
    queues.publish("n", Descriptor(), b"1", retain=True)

    def on(manager: QueueManager, topic: str, point: str) -> Iterator[tuple[Descriptor, bytes]]:
        yield from list(look(manager, topic, point))
        monkeypatch.setattr(retained_publications, "_on", look)
        queues.publish("n", Descriptor(), b"2", retain=True)

    work = queues.work()
    monkeypatch.setattr(retained_publications, "_on", on)
    work.publish("n", Descriptor(), b"3", retain=True)
    queues.define("SUB", "S", {"TOPICSTR": "n", "DEST": "A"})
    work.back_out()
    assert [[b"2"]] == bodies(queues, "A")


def test_of_users() -> None:
    """Who may publish on a topic may retain there and remove that, without a right to the queue where it is kept."""
    queues = QueueManager("Q")
    queues.mqsc("SET AUTHREC PROFILE('topic://n') OBJTYPE(TOPIC) PRINCIPAL('ann') AUTHADD(PUB)")
    ann = queues.acting_for("ann")
    for body in (b"1", b"2"):
        ann.publish("n/a", Descriptor(), body, retain=True)
    queues.define("SUB", "LATE", {"TOPICSTR": "n/#", "DEST": "Q"})
    assert [(b"2", owner_name())] == [(one.body, one.descriptor.user_identifier) for one in queues.browse("Q")]
    assert ["ann"] == [one.descriptor.user_identifier for one in queues.browse(RETAINED)]
    queues.publish("m/a", Descriptor(), b"3", retain=True)
    work = ann.work()
    for wider in ("+/a", "m/a"):
        with pytest.raises(MessageException) as caught:
            work.put(TopicAddress(wider, forgets=True).name, Descriptor(), b"")
        assert 2035 == caught.value.reason
    work.put(TopicAddress("n/+", forgets=True).name, Descriptor(), b"")
    work.commit()
    assert [b"3"] == [split(*one)[2] for one in queues.browse("SYSTEM.RETAINED.PUB.QUEUE")]


@pytest.mark.parametrize("lasts", [False, True])
@pytest.mark.parametrize("inhibits", ["PUT(DISABLED)", "MAXMSGL(200)"])
def test_what_cannot_be_retained(tmp_path: Path, lasts: bool, inhibits: str) -> None:
    """A publication that cannot be retained goes to nobody, and the one before stays in its place."""
    QueueManager.create(tmp_path / "QM", name="QM1")
    made = QueueManager.open(tmp_path / "QM") if lasts else QueueManager(name="QM1")
    with made as queues:
        queues.mqsc("DEFINE QL(A)\nDEFINE QL(B)\nDEFINE QL(C)\nDEFINE SUB(S) TOPICSTR('n') DEST(A)")
        for body in (b"0", b"1"):
            queues.publish("n", Descriptor(persistence=1), body, retain=True)
        queues.mqsc(f"ALTER QL({RETAINED}) {inhibits}")
        work = queues.work()
        work.put("B", Descriptor(persistence=1), b"other")
        with pytest.raises(MessageException) as caught:
            work.publish("n", Descriptor(persistence=1), b"2" * 200, retain=True)
        work.commit()
        assert (2479, [[b"0", b"1"], [b"other"]]) == (caught.value.reason, bodies(queues, "A", "B"))
        queues.mqsc(f"ALTER QL({RETAINED}) PUT(ENABLED) MAXMSGL(1000)")
        queues.mqsc("DEFINE SUB(LATE) TOPICSTR('#') DEST(C)")
        queues.publish("n", Descriptor(persistence=1), b"3", retain=True)
        assert ([[b"1", b"3"]], 1) == (bodies(queues, "C"), queues.depth(RETAINED))


@pytest.mark.parametrize("destination", ["DEST(D)", "DESTCLAS(MANAGED)"])
def test_what_is_retained_and_cannot_be_sent(destination: str) -> None:
    """Who cannot be sent what is retained, all of it, does not subscribe, and gets none."""
    queues = manager("DEFINE TOPIC(N) TOPICSTR('n') USEDLQ(NO)", "DEFINE QL(D) MAXDEPTH(1)")
    for topic in ("n/1", "n/2"):
        queues.publish(topic, Descriptor(persistence=1), b"x" * 200, retain=True)
    if destination != "DEST(D)":
        queues.publish("n/3", Descriptor(persistence=1), b"x" * 4_194_305, retain=True)  # longer than its queue allows
    names = queues.names()
    (answer,) = queues.mqsc(f"DEFINE SUB(S) TOPICSTR('n/#') {destination}")
    assert (True, True) == (answer.failed, "2526" in answer.text), answer
    assert ([], names, 0) == (queues.display("SUB", "*"), queues.names(), queues.depth("D"))
    queues.mqsc("ALTER TOPIC(N) PMSGDLV(ALLAVAIL)")
    assert not queues.mqsc(f"DEFINE SUB(S) TOPICSTR('n/#') {destination}")[0].failed
