"""Two brokers of one repository that share publish/subscribe through a real AMQP broker."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from engine.broker.collective import collective_of
from engine.broker.collective_link import _REMEMBERED as REMEMBERED
from engine.broker.collective_link import Member, Queues, Remembered, Sending
from engine.broker.doctor import examined
from engine.broker.folder import Folder
from engine.descriptor import PERSISTENT, Descriptor
from engine.errors import BrokerError
from engine.mq import QueueManager
from engine.mq.topics.forwarding import TRANSMIT, Forwarded, packed
from tests.broker.running import ROOT, Running, end, until
from tests.engine.transports.amqp_brokers import PASSWORD, USER, Broker, artemis, rabbitmq

FILE = """\
broker: {name}
repository: sqlite:///{repository}
queues: {{NEWS: {{MAXDEPTH: 99999}}, LOCAL: {{}}}}
subscriptions: {{S: {{TOPICSTR: news/#, DEST: NEWS}}, L: {{TOPICSTR: news/#, DEST: LOCAL, SUBSCOPE: QMGR}}}}
collective: {{name: NEWS, url: {url}, user: {user}, password: {{env: NEWS_PASSWORD}}}}
executionGroups: {{}}
"""


@pytest.fixture(params=["rabbitmq", pytest.param("artemis", marks=pytest.mark.slow)])
def amqp(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Broker]:
    """An AMQP broker with the queues of three members."""
    folder = tmp_path / "amqp"
    folder.mkdir()
    made = artemis(folder) if request.param == "artemis" else rabbitmq(folder, "NEWS.A", "NEWS.B", "NEWS.C")
    made.start()
    try:
        yield made
    finally:
        made.end()


def member(folder: Path, name: str, amqp: Broker) -> Running:
    """A broker of the collective, running."""
    made = Running(folder / name)
    made.folder.mkdir()
    values = {"name": name, "repository": folder / "repository.sqlite", "url": f"amqp://127.0.0.1:{amqp.port}"}
    (made.folder / "broker.yaml").write_text(FILE.format(**values, user=USER), encoding="utf-8")
    made.run("broker", "create", str(made.folder))
    made.start()
    return made


def publish(made: Running, topic: str, *bodies: bytes, retain: bool = False) -> None:
    """Publish messages, each in a unit of its own."""
    with closing(made.queues()) as manager, closing(manager.work()) as work:
        for body in bodies:
            work.publish(topic, Descriptor(format="MQSTR", persistence=PERSISTENT), body, retain=retain)
            work.commit()


def state(made: Running) -> str:
    """What the supervisor says of the link."""
    return str(next(one["state"] for one in made.status()["processes"] if one["name"] == "collective link"))


@pytest.mark.crash
def test_each_subscriber_is_sent_each_publication_once(
    tmp_path: Path, amqp: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two brokers publish while a broker, a link, a queue manager and the AMQP broker are killed: all comes once."""
    monkeypatch.setenv("NEWS_PASSWORD", PASSWORD)
    a, b = member(tmp_path, "A", amqp), member(tmp_path, "B", amqp)
    try:
        publish(a, "news/1", b"first")
        assert [b"first"] == b.get("NEWS", 1) == a.get("NEWS", 1)
        shown = a.json("broker", "show", str(a.folder))["collective"]
        assert (["A", "B"], "NEWS.A", 0) == (shown["members"], shown["queue"], shown["waiting"])
        sent = {"A": [b"A%d" % n for n in range(100)], "B": [b"B%d" % n for n in range(100)]}
        for at in range(0, 100, 10):
            publish(a, "news/a", *sent["A"][at : at + 10])
            publish(b, "news/b", *sent["B"][at : at + 10])
            disturb(at, a, b, amqp)
        every = sorted(sent["A"] + sent["B"])
        for made in (a, b):
            assert every == sorted(made.get("NEWS", 200, seconds=60))
        time.sleep(1)
        for made, own in ((a, [b"first", *sent["A"]]), (b, sent["B"])):
            assert [] == made.get("NEWS", 1, seconds=0.5) == made.get("SYSTEM.DEAD.LETTER.QUEUE", 1, seconds=0.2)
            assert own == made.get("LOCAL", len(own), seconds=30)
        assert PASSWORD not in a.log() + b.log() + a.run("broker", "export", str(a.folder))
    finally:
        end(a)
        end(b)


def disturb(at: int, a: Running, b: Running, amqp: Broker) -> None:
    """Kill something, another part at each stage."""
    if at == 20:
        amqp.restart()
    if at == 40:
        os.kill(b.process("supervisor"), signal.SIGKILL)
        b.start()
    if at in {50, 80}:
        os.kill(a.process("collective link"), signal.SIGKILL)
        os.kill(b.process("collective link"), signal.SIGKILL)
    if at == 60:
        os.kill(a.process("queue manager"), signal.SIGKILL)


@pytest.mark.crash
def test_what_is_retained_is_the_same_everywhere(tmp_path: Path, amqp: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last retained publication of a topic is retained by all members, also after an outage, and by new ones."""
    monkeypatch.setenv("NEWS_PASSWORD", PASSWORD)
    made = [member(tmp_path, name, amqp) for name in "AB"]
    try:
        publish(made[0], "news/weather", b"sun", retain=True)
        until(lambda: b"sun" in kept(made[1]), 20)
        amqp.stop()
        publish(made[0], "news/weather", b"rain", retain=True)
        publish(made[1], "news/weather", b"snow", retain=True)
        until(lambda: "waiting" in state(made[0]))
        findings = examined(Folder(made[0].folder))
        assert any("the queue NEWS.B is not reached" in one.what for one in findings if not one.ok)
        amqp.start()
        until(lambda: [b"snow"] == kept(made[0]) == kept(made[1]), 40)
        until(lambda: "running" == state(made[0]) == state(made[1]))
        made.append(member(tmp_path, "C", amqp))
        until(lambda: [b"snow"] == kept(made[2]), 30)
        assert [b"snow"] == made[2].get("NEWS", 2, seconds=1)
        publish(made[2], "news/sport", b"1:0")
        assert b"1:0" in made[0].get("NEWS", 4)
        assert "ok" in made[2].run("broker", "doctor", str(made[2].folder))
        leave(made[2])
    finally:
        for one in made:
            end(one)


def kept(made: Running) -> list[bytes]:
    """What is retained on the topic, by a subscription that asks."""
    with closing(made.queues()) as manager:
        manager.define("SUB", "LOOK", {"TOPICSTR": "news/weather", "DESTCLAS": "MANAGED", "DURABLE": "NO"})
        try:
            return [arrival.body for arrival in manager.browse(str(manager.display("SUB", "LOOK")[0]["DEST"]))]
        finally:
            manager.delete("SUB", "LOOK")


def leave(made: Running) -> None:
    """A broker whose file names no collective any more sends nothing, and has no link."""
    file = made.folder / "broker.yaml"
    lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("collective")]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    made.run("deploy", str(made.folder), str(file))
    until(lambda: all(one["name"] != "collective link" for one in made.status()["processes"]))
    publish(made, "news/own", b"mine")
    with closing(made.queues()) as manager:
        assert 0 == manager.depth("SYSTEM.COLLECTIVE.TRANSMIT.QUEUE")


WRONG = (
    ("{name: NEWS}", "has no url"),
    ("{name: 'a b', url: amqp://h}", "letters, digits"),
    ("{name: N, url: http://h}", "begins with amqp://"),
    ("{name: N, url: 'amqp://u:secret@h'}", "holds no password"),
    ("{name: N, url: amqp://h, password: secret}", "never the password"),
    ("{name: N, url: amqp://h, pasword: {env: A}}", "did you mean password"),
    ("{name: N, url: {environment: A}}", "never the url"),
)


@pytest.mark.parametrize(("text", "expected"), WRONG)
def test_wrong_collectives(tmp_path: Path, text: str, expected: str) -> None:
    """A broker file with a collective that cannot be is refused with the reason, and without its secrets."""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "broker.yaml").write_text(f"broker: X\ncollective: {text}\n", encoding="utf-8")
    said = Running(tmp_path / "x").run("broker", "create", str(tmp_path / "x"), fails=True)
    assert expected in said
    assert "secret" not in said
    shutil.rmtree(tmp_path / "x")


def test_ids_are_forgotten_when_they_cannot_come_again() -> None:
    """Ids are remembered by units; the oldest unit is forgotten when enough came behind it."""
    remembered = Remembered()
    units = [b"".join((at * 100 + n).to_bytes(16) for n in range(100)) for at in range(REMEMBERED // 100 + 1)]
    for unit in units[:-1]:
        remembered.add(unit)
    assert remembered.excess() is None
    remembered.add(units[-1])
    assert units[0] == remembered.excess()
    remembered.forget()
    assert (REMEMBERED, None) == (len(remembered.ids), remembered.excess())


class Links:
    """The queues that messages were sent to."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def put(self, queue: str, descriptor: Descriptor, body: bytes) -> Descriptor:
        """Note the queue."""
        self.sent.append(queue)
        return descriptor

    def commit(self) -> None:
        """Nothing is to be done."""


def test_who_has_just_joined_is_sent_to() -> None:
    """A broker that joins right behind a publication is sent the next one."""
    collective = collective_of({"name": "N", "url": "amqp://h"})
    assert collective is not None
    names, links = ["A", "B"], Links()
    sending = Sending(Member("A", "0d2f8a52-9c5e-4ce1-8f0f-6c5b1f3a7f10", collective, lambda: names))
    manager = QueueManager()
    manager.define("QLOCAL", TRANSMIT, {})
    with closing(manager), closing(manager.work()) as work:
        for _ in range(2):
            work.put(TRANSMIT, *packed(Forwarded("a", "", False, 0, Descriptor(), b"")))
            work.commit()
            sending.step(work, cast("Queues", links))
            names.append("C")
    assert ["N.B", "N.B", "N.C"] == links.sent


# A link that is told to end while the thread that waits for that has the lock of what it waits for.
TOLD_AS_IT_WAITS = """
import os, signal, sys, threading
from pathlib import Path
from engine.broker.channel import Channel
from engine.broker.collective import collective_of
from engine.broker.collective_link import Link, Member
from engine.broker.folder import Folder

events = []

def enter(frame, event, _):
    waits = frame.f_code is threading.Event.wait.__code__
    return within if waits and frame.f_back.f_code is Link.run.__code__ else None

def within(frame, event, _):
    events.append(event)
    if events.count("line") == 2:
        os.kill(os.getpid(), signal.SIGTERM)
    return within

own, theirs = Channel.pair()
threading.Timer(2, os.kill, (os.getpid(), signal.SIGTERM)).start()
sys.settrace(enter)
collective = collective_of({"name": "N", "url": "amqp://127.0.0.1:1"})
Link(Folder(Path(sys.argv[1])), Member("A", "0d2f8a52-9c5e-4ce1-8f0f-6c5b1f3a7f10", collective, list), theirs).run()
"""


def test_a_link_that_is_told_to_end_as_it_begins(tmp_path: Path) -> None:
    """It ends at once, at whatever moment of its wait for a signal that comes."""
    command = [sys.executable, "-c", TOLD_AS_IT_WAITS, str(tmp_path)]
    assert 0 == subprocess.run(command, cwd=ROOT, timeout=20, check=False).returncode


def test_errors_of_brokers_are_told() -> None:
    """What a collective needs and is not there is an error of a broker."""
    made = collective_of({"name": "N", "url": {"env": "PENSTOCK_NO_SUCH_URL"}})
    assert made is not None
    with pytest.raises(BrokerError, match="PENSTOCK_NO_SUCH_URL"):
        made.address()
