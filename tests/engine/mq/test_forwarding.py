"""Publications forwarded to other queue managers, and those that other ones have published."""

from __future__ import annotations

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.message.topics import address
from engine.mq import QueueManager
from engine.mq.properties import join, with_folders
from engine.mq.topics.forwarding import TRANSMIT, Forwarded, packed, unpacked


def waiting(manager: QueueManager) -> list[Forwarded]:
    """What waits for other queue managers."""
    return [unpacked(*arrival) for arrival in manager.browse(TRANSMIT)]


def joined(*definitions: str) -> QueueManager:
    """A queue manager that forwards, with definitions in MQSC."""
    manager = QueueManager("Q", "R", TRANSMIT)
    for text in ("DEFINE SUB(S) TOPICSTR('a/#') DEST(Q)", *definitions):
        assert manager.mqsc(text)[0].code in {"AMQ8094I", "AMQ8690I", "AMQ8006I", "AMQ8008I"}, text
    return manager


def test_a_publication_is_forwarded_once() -> None:
    """One that is made here waits once for other queue managers, with all that it says, in the publisher's unit."""
    manager = joined("DEFINE SUB(T) TOPICSTR('a/#') DEST(R)")
    work = manager.work()
    descriptor, body = join({"colour": "red"}, Descriptor(format="MQSTR", persistence=1, expiry=600), b"body")
    work.publish("a/b", descriptor, body, retain=True, point="")
    assert [] == waiting(manager)
    work.commit()
    (found,) = waiting(manager)
    assert ("a/b", "", True, "publish", body) == (*found[:3], found.what, found.body)
    assert ("MQHRF2", 1) == (found.descriptor.format, found.descriptor.persistence)
    assert 0 < found.descriptor.expiry <= 600
    assert (1, 1) == (manager.depth("Q"), manager.depth("R"))


def test_a_unit_that_is_backed_out_forwards_nothing() -> None:
    """What is forwarded is part of the unit."""
    manager = joined()
    work = manager.work()
    work.publish("a/b", Descriptor(), b"x")
    work.back_out()
    assert [] == waiting(manager)


STAY = (
    ("$SYS/a", "", ()),
    ("a/b", "local", ()),
    ("a/b", "remote", ()),
    ("a/b", "", ("DEFINE TOPIC(A) TOPICSTR('a') PUBSCOPE(QMGR)",)),
    ("a/b", "", (f"ALTER QLOCAL({TRANSMIT}) PUT(DISABLED)",)),
)


@pytest.mark.parametrize(("topic", "scope", "more"), STAY)
def test_some_stay_here(topic: str, scope: str, more: tuple[str, ...]) -> None:
    """Topics of the system, publications for here alone, and what came from elsewhere go to subscribers here only."""
    manager = joined("DEFINE SUB(SYS) TOPICSTR('$SYS/#') DEST(R)", *more)
    work = manager.work()
    work.put(address(topic, scope=scope, at=5), Descriptor(), b"x")
    work.commit()
    assert [] == waiting(manager)
    assert 1 == manager.depth("Q") + manager.depth("R")


DEAF = ("DEFINE SUB(L) TOPICSTR('a/#') DEST(R) SUBSCOPE(QMGR)", "DEFINE SUB(L) TOPICSTR('l/#') DEST(R)")


@pytest.mark.parametrize("subscription", DEAF)
def test_subscriptions_may_hear_only_what_is_published_here(subscription: str) -> None:
    """SUBSCOPE(QMGR), of a subscription or its topic, keeps out what other queue managers publish."""
    manager = joined("DEFINE TOPIC(L) TOPICSTR('l') SUBSCOPE(QMGR)", subscription)
    topic = "a/b" if "'a/" in subscription else "l/b"
    work = manager.work()
    for scope in ("remote", ""):
        work.put(address(topic, scope=scope, at=1), Descriptor(), scope.encode())
    work.commit()
    assert [b""] == [arrival.body for arrival in manager.browse("R")]


def test_what_is_retained_is_the_latest() -> None:
    """An older retained publication from elsewhere is delivered, and does not replace what is retained here."""
    manager = joined()
    work = manager.work()
    for at, body in ((20, b"new"), (10, b"old"), (30, b"newest")):
        work.put(address("a/b", retain=True, scope="remote", at=at), Descriptor(), body)
        work.commit()
        manager.define("SUB", body.decode(), {"TOPICSTR": "a/b", "DEST": "R"})
        manager.delete("SUB", body.decode())
    assert [b"new", b"old", b"newest"] == [arrival.body for arrival in manager.browse("Q")]
    assert [b"new", b"new", b"newest"] == [arrival.body for arrival in manager.browse("R")]


def command(folder: str) -> tuple[Descriptor, bytes]:
    """A command as a message."""
    return with_folders([f"<psc>{folder}</psc>"], Descriptor(format=""), b"")


@pytest.mark.parametrize(("option", "expected"), [("", ["forget"]), ("<DelOpt>Local</DelOpt>", [])])
def test_deletions_of_what_is_retained_are_forwarded(option: str, expected: list[str]) -> None:
    """DeletePub is for all queue managers, unless it says Local."""
    manager = joined()
    manager.publish("a/b", Descriptor(), b"x", retain=True)
    manager.purge(TRANSMIT)
    work = manager.work()
    text = f"<Command>DeletePub</Command><Topic>a/b</Topic>{option}"
    work.put("SYSTEM.BROKER.CONTROL.QUEUE", *command(text))
    work.commit()
    manager.topics.drain()
    assert expected == [found.what for found in waiting(manager)]


BROKEN = (
    (Descriptor(), b"text"),
    (packed(Forwarded("a", "", False, 0, Descriptor(), b""))[0], b""),
    (packed(Forwarded("a", "", False, 0, Descriptor(), b""))[0], b"\0\0\0\x02{}"),
    (packed(Forwarded("a", "", False, 0, Descriptor(), b""))[0], b"\xff\xff\xff\xff[]"),
)


@pytest.mark.parametrize(("descriptor", "body"), BROKEN)
def test_what_is_no_publication_is_refused(descriptor: Descriptor, body: bytes) -> None:
    """A message of another form is refused with 2110."""
    with pytest.raises(MessageException) as caught:
        unpacked(descriptor, body)
    assert 2110 == caught.value.reason
