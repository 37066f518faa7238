"""Publish/subscribe on a durable queue manager: what lasts over an end, in order or not, and over the socket."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager
from engine.mq.properties import opened, with_folders
from engine.mq.server import Server
from engine.mq.store.checking import check
from engine.mq.topics.commands import CONTROL
from engine.work import Selection
from tests.engine.mq.served import eventually
from tests.engine.mq.test_durable import filled

LASTING = Descriptor(persistence=1, format="MQSTR")
SETUP = """
DEFINE QLOCAL(A)
DEFINE QLOCAL(B)
DEFINE TOPIC(N) TOPICSTR('n') DEFPRTY(3)
DEFINE SUB(ONE) TOPICSTR('n/#') DEST(A)
DEFINE SUB(TWO) TOPICSTR('n/+') DESTCLAS(MANAGED) SELECTOR('JMSPriority = 3')
"""


def bodies(manager: QueueManager, queue: str) -> list[bytes]:
    return [arrival.body for arrival in manager.browse(queue)]


def test_over_an_end(tmp_path: Path) -> None:
    """Topics, subscriptions, their messages and what is retained are there again when it is opened again."""
    folder = tmp_path / "QM"
    QueueManager.create(folder)
    with QueueManager.open(folder) as manager:
        assert [False] * 5 == [answer.failed for answer in manager.mqsc(SETUP)]
        manager.publish("n/x", LASTING._replace(priority=-1), b"1", retain=True)
        work = manager.work()
        work.publish("n/x", LASTING, b"never", retain=True)
        work.back_out()
    with QueueManager.open(folder) as manager:
        assert ["ONE", "TWO"] == [sub["SUB"] for sub in manager.display("SUB")]
        manager.publish("n/y", LASTING._replace(priority=-1), b"2")
        managed = str(manager.display("SUB", "TWO")[0]["DEST"])
        assert ([b"1", b"2"], [b"1", b"2"]) == (bodies(manager, "A"), bodies(manager, managed))
        assert 3 == manager.browse("A")[0].descriptor.priority
        assert not manager.mqsc("DEFINE SUB(LATE) TOPICSTR('#') DEST(B)\nDELETE SUB(TWO)")[0].failed
        assert [b"1"] == bodies(manager, "B")
    with QueueManager.open(folder) as manager:
        assert (["LATE", "ONE"], False) == ([s["SUB"] for s in manager.display("SUB")], managed in manager.names())


CALLED_ALIKE = (
    ("DEFINE TOPIC(Q) TOPICSTR('n')", "DELETE TOPIC(Q)"),
    ("DEFINE SUB(Q) TOPICSTR('n') DEST(Q)", "DELETE SUB(Q)"),
    ("SET POLICY(Q) SIGNALG(SHA256) SIGNER('CN=ann')", "DELETE POLICY(Q)"),
)


@pytest.mark.parametrize(("made", "ended"), CALLED_ALIKE)
def test_what_is_called_like_a_queue(tmp_path: Path, made: str, ended: str) -> None:
    """The end of a topic, a subscription or a policy leaves the queue of its name as it is, also in the store."""
    QueueManager.create(tmp_path / "QM1")
    with QueueManager.open(tmp_path / "QM1") as queues:
        queues.mqsc("DEFINE QLOCAL(Q)")
        put(queues, b"1")
        assert not any(answer.failed for answer in queues.mqsc(f"{made}\n{ended}"))
    assert [] == check(tmp_path / "QM1")
    with QueueManager.open(tmp_path / "QM1") as queues:
        put(queues, b"2")
        assert ([b"1", b"2"], 2) == ([one.body for one in queues.browse("Q")], queues.depth("Q"))


def put(queues: QueueManager, body: bytes) -> None:
    work = queues.work()
    work.put("Q", Descriptor(persistence=1), body)
    work.commit()


def test_the_root_of_topics(tmp_path: Path) -> None:
    """What SYSTEM.BASE.TOPIC says holds for every topic that nothing nearer says otherwise of, over an end."""
    folder = tmp_path / "QM"
    QueueManager.create(folder)
    with QueueManager.open(folder) as manager:
        manager.mqsc(SETUP)
        assert not manager.mqsc("ALTER TOPIC(SYSTEM.BASE.TOPIC) DEFPRTY(7) PUB(DISABLED)")[0].failed
        assert not manager.mqsc("ALTER TOPIC(N) PUB(ENABLED)")[0].failed
    with QueueManager.open(folder) as manager:
        found = [manager.display("TPSTATUS", topic)[0] for topic in ("m", "n/x")]
        assert [("DISABLED", "7"), ("ENABLED", "3")] == [(one["PUB"], one["DEFPRTY"]) for one in found]
        with pytest.raises(MessageException, match="2051"):
            manager.publish("m", LASTING, b"1")


def test_topics_that_objects_name(tmp_path: Path) -> None:
    """A subscription by a topic object keeps its topic string, though the object is deleted, over an end."""
    folder = tmp_path / "QM"
    QueueManager.create(folder)
    with QueueManager.open(folder) as manager:
        manager.mqsc(SETUP)
        commands = "DEFINE SUB(BY) TOPICOBJ(N) TOPICSTR('m') DEST(B)\nDEFINE SUB(AT) TOPICOBJ(N) DEST(B) USERDATA('a')"
        assert [False, False] == [answer.failed for answer in manager.mqsc(commands)]
        assert [False, False] == [answer.failed for answer in manager.mqsc(commands.replace("DEST", "REPLACE DEST"))]
    with QueueManager.open(folder) as manager:
        assert not manager.mqsc("DELETE TOPIC(N)")[0].failed
    with QueueManager.open(folder) as manager:
        found = {one["SUB"]: (one["TOPICSTR"], one["TOPICOBJ"]) for one in manager.display("SUB")}
        assert {"ONE": ("n/#", ""), "TWO": ("n/+", ""), "BY": ("n/m", "N"), "AT": ("n", "N")} == found
        for topic in ("n", "n/m", "m"):
            manager.publish(topic, LASTING, topic.encode())
        assert [b"n", b"n/m"] == bodies(manager, "B")
        assert not manager.mqsc("ALTER SUB(AT) USERDATA('b')")[0].failed


@pytest.mark.crash
def test_over_a_kill(tmp_path: Path) -> None:
    """What a publication was answered for is on every queue after a kill, and what is retained is that."""
    folder = tmp_path / "QM"
    QueueManager.create(folder)
    with QueueManager.open(folder) as manager:
        manager.mqsc(SETUP)
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(60)
            manager = QueueManager.open(folder)
            for number in range(20):
                manager.publish("n/x", LASTING, b"%d" % number, retain=True)
            manager.work().publish("n/x", LASTING, b"never", retain=True)
            os._exit(0)
        finally:  # a child does not go back into its parent's program
            os._exit(1)
    assert 0 == os.waitpid(child, 0)[1]
    with QueueManager.open(folder) as manager:
        assert [b"%d" % number for number in range(20)] == bodies(manager, "A")
        manager.mqsc("DEFINE SUB(LATE) TOPICSTR('n/x') DEST(B)")
        assert [b"19"] == bodies(manager, "B")


def test_commands_before_an_end(tmp_path: Path) -> None:
    """A command that was put is carried out before the queue manager ends in order."""
    folder = tmp_path / "QM"
    QueueManager.create(folder)
    with QueueManager.open(folder) as manager:
        manager.mqsc("DEFINE QLOCAL(A)")
        psc = "<psc><Command>RegSub</Command><Topic>n</Topic><QName>A</QName></psc>"
        work = manager.work()
        work.put(CONTROL, *with_folders([psc], LASTING._replace(msg_type=1, reply_to_q="A"), b""))
        work.commit()
    with QueueManager.open(folder) as manager:
        assert [("pscr.Completion", "ok")] == opened(*manager.browse("A")[0])[0]
        manager.publish("n", LASTING, b"1")
        assert 2 == manager.depth("A")


def test_over_the_socket(tmp_path: Path) -> None:
    """A client publishes, subscribes and gets as one in the process does."""
    folder = tmp_path / "QM"
    QueueManager.create(folder)
    with QueueManager.open(folder) as manager:
        server = Server(manager, folder)
        thread = threading.Thread(target=server.serve)
        thread.start()
        try:
            client = QueueManager.connect(folder)
            assert [False] * 5 == [answer.failed for answer in client.mqsc(SETUP)]
            client.publish("n/x", LASTING, b"1", retain=True)
            work = client.work()
            work.publish("n/x", LASTING, b"2")
            work.put("topic://n/y", LASTING, b"3")
            work.commit()
            found = [work.get("A", wait=5) for _ in range(3)]
            work.commit()
            assert [b"1", b"2", b"3"] == [arrival.body for arrival in found if arrival is not None]
            assert (True, False) == (client.forget_retained("n/x"), client.forget_retained("n/x"))
            client.delete("SUB", "TWO")
            client.close()
        finally:
            server.stop()
            thread.join()
        assert ["ONE"] == [sub["SUB"] for sub in manager.display("SUB")]


def test_what_does_not_last(tmp_path: Path) -> None:
    """A subscription that is not durable ends with the queue manager, and leaves nothing behind."""
    folder = tmp_path / "QM"
    QueueManager.create(folder)
    with QueueManager.open(folder) as manager:
        before = manager.names()
        manager.define("SUB", "S", {"TOPICSTR": "n", "DESTCLAS": "MANAGED", "DURABLE": "NO"})
        queue = str(manager.display("SUB", "S")[0]["DEST"])
        manager.publish("n", LASTING, b"1")
        work = manager.work()
        arrival = work.get(queue)
        assert arrival is not None
        assert (0, b"1") == (arrival.descriptor.persistence, arrival.body)
        work.back_out()
    with QueueManager.open(folder) as manager:
        assert ([], before) == (manager.display("SUB"), manager.names())


def test_the_queue_of_a_subscription() -> None:
    """The queue that is made for a subscription is its user's to get from and to browse, and nobody else's."""
    queues = QueueManager()
    for kind, name, granted in (("TOPIC", "topic://news", "SUB"), ("QUEUE", "Q", "PUT")):
        queues.define("AUTHREC", f"{kind} PRINCIPAL ann {name}", {"AUTHADD": granted})
    face = queues.acting_for("ann")
    face.define("SUB", "S", {"TOPICSTR": "news/#", "DESTCLAS": "MANAGED"})
    queue = str(queues.display("SUB", "S")[0]["DEST"])
    queues.publish("news/x", Descriptor(), b"1")
    ann, bob = face.work(), queues.acting_for("bob").work()
    for refused in (lambda: bob.get(queue), lambda: ann.put(queue, Descriptor(), b"no")):
        with pytest.raises(MessageException, match="2035"):
            refused()
    with pytest.raises(MessageException, match="2533"):
        face.alter("SUB", "S", {"DEST": "Q"})
    assert [b"1", b"1"] == [(ann.get(queue, one) or ("", b""))[1] for one in (Selection(browse=True), None)]
    ann.commit()
    face.delete("SUB", "S")
    assert queue not in queues.names()


def test_commands_wait_for_room(tmp_path: Path) -> None:
    """Commands that find the store full are carried out by themselves, each once, when there is room again."""
    QueueManager.create(tmp_path / "QM", max_size=1 << 20)
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.mqsc(f"DEFINE QL(Q)\nDEFINE QL(S)\nDEFINE QL({CONTROL})\nALTER QL({CONTROL}) GET(DISABLED)")
        queues.mqsc("DEFINE QL(DLQ)\nALTER QMGR DEADQ(DLQ)\nDEFINE SUB(S) TOPICSTR('n') DEST(S)")
        work = queues.work()
        for number in range(3):
            folder = "<psc><Command>Publish</Command><Topic>n</Topic></psc>"
            work.put(CONTROL, *with_folders([folder], LASTING, bytes([number]) * 40_000))
        work.commit()
        assert filled(queues) > 0
        queues.mqsc(f"ALTER QL({CONTROL}) GET(ENABLED)")
        time.sleep(0.5)
        queues.topics.drain()
        assert (3, 0) == (queues.depth(CONTROL), queues.depth("S"))
        queues.purge("Q")
        eventually(lambda: queues.depth("S") == 3)
        eventually(lambda: queues.depth(CONTROL) == 0)
        assert [bytes([number]) for number in range(3)] == [body[:1] for body in bodies(queues, "S")]
        assert 0 == queues.depth("DLQ")
