"""Execution groups whose queues are those of a real AMQP broker, by the broker's file."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.broker.doctor import examined
from engine.broker.file_reader import definition_of
from engine.broker.file_writer import broker_text
from engine.broker.folder import Folder
from engine.descriptor import PERSISTENT, Descriptor
from engine.errors import ConfigurationException
from engine.transports.amqp import AmqpQueues
from tests.broker.running import Running, end, flow, until
from tests.broker.test_running import GREEDY
from tests.engine.transports.amqp_brokers import PASSWORD, USER, Broker, rabbitmq

FILE = """\
broker: A
amqp: {{Outside: {{url: {url}, user: {user}, password: {{env: AMQP_PASSWORD}}}}}}
queues: {{HERE: {{}}, THERE: {{}}}}
executionGroups: {{Outside: [outside.yaml], Inside: [inside.yaml]}}
"""


@pytest.fixture
def amqp(tmp_path: Path) -> Iterator[Broker]:
    """An AMQP broker with three queues."""
    folder = tmp_path / "amqp"
    folder.mkdir()
    made = rabbitmq(folder, "IN", "OUT", "DEAD")
    try:
        made.start()
        yield made
    finally:
        made.end()


def got(amqp: Broker, queue: str, count: int) -> list[bytes]:
    """Returns what comes on a queue of the AMQP broker, so many messages at most."""
    found: list[bytes] = []
    with closing(AmqpQueues(amqp.url).work()) as work:
        while len(found) < count and (arrival := work.get(queue, wait=20.0)) is not None:
            found.append(arrival.body)
        work.commit()
    return found


def put(amqp: Broker, queue: str, *bodies: bytes) -> None:
    with closing(AmqpQueues(amqp.url).work()) as work:
        for body in bodies:
            work.put(queue, Descriptor(persistence=PERSISTENT), body)
        work.commit()


@pytest.mark.crash
def test_a_group_on_an_amqp_broker(tmp_path: Path, amqp: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group's flows read and write the AMQP broker's queues, also behind its restart; other groups have their own."""
    monkeypatch.setenv("AMQP_PASSWORD", PASSWORD)
    made = Running(tmp_path / "A")
    flow(made.folder, "outside")
    flow(made.folder, "inside", reads="HERE", writes="THERE")
    text = FILE.format(url=f"amqp://127.0.0.1:{amqp.port}", user=USER)
    (made.folder / "broker.yaml").write_text(text, encoding="utf-8")
    made.run("broker", "create", str(made.folder))
    try:
        made.start()
        put(amqp, "IN", b"<a/>", b"<a><b/></a>")
        assert [b"<a><by>1</by></a>", b"<a><b/><by>1</by></a>"] == got(amqp, "OUT", 2)
        made.put("HERE", b"<a/>")
        assert [b"<a><by>1</by></a>"] == made.get("THERE", 1)
        amqp.restart()
        put(amqp, "IN", b"<c/>")
        assert b"<by>1</by>" in got(amqp, "OUT", 1)[0]
        os.kill(made.working("Outside"), signal.SIGKILL)
        put(amqp, "IN", b"<d/>")
        assert b"<by>1</by>" in got(amqp, "OUT", 1)[0]
        until(lambda: "at least once" in made.log())
        findings = examined(Folder(made.folder))
        assert any("Outside works on RabbitMQ" in one.what for one in findings if one.ok)
        assert PASSWORD not in made.log() + made.run("broker", "export", str(made.folder))
        deploys = ("deploy", str(made.folder), str(flow(made.folder, "outside", reads="NOT.THERE")), "-e", "Outside")
        assert "NOT.THERE" in made.run(*deploys, fails=True)
    finally:
        end(made)


LIMITED = """\
broker: A
amqp: {{Outside: {{url: "{url}?deadq=DEAD", user: {user}, password: {{env: AMQP_PASSWORD}}}}}}
executionGroups: {{Outside: {{limits: {{cpuSecondsPerMessage: 0.5}}, flows: [outside.yaml]}}}}
"""


@pytest.mark.crash
def test_a_message_that_takes_too_long(tmp_path: Path, amqp: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message of an AMQP broker that takes more processor time than its group allows fails by itself."""
    monkeypatch.setenv("AMQP_PASSWORD", PASSWORD)
    made = Running(tmp_path / "A")
    flow(made.folder, "outside", program=GREEDY)
    text = LIMITED.format(url=f"amqp://127.0.0.1:{amqp.port}", user=USER)
    (made.folder / "broker.yaml").write_text(text, encoding="utf-8")
    made.run("broker", "create", str(made.folder))
    try:
        made.start()
        worker = made.working("Outside")
        for _ in range(2):
            put(amqp, "IN", b"<loop/>", b"<a/>")
            assert ([b"<a/>"], 1) == (got(amqp, "OUT", 1), len(got(amqp, "DEAD", 1)))
        assert worker == made.working("Outside")
        assert 2 <= made.log().count("more than 0.5 s of processor time")
    finally:
        end(made)


WRONG = (
    ("{Nowhere: {url: 'amqp://h'}}", "no Nowhere"),
    ("{Outside: {}}", "has no url"),
    ("{Outside: {url: 'http://h'}}", "url begins with amqp"),
    ("{Outside: {url: 'amqp://ann:secret@h'}}", "holds no password"),
    ("{Outside: {url: 'amqp://h', pasword: x}}", "password"),
)


@pytest.mark.parametrize(("said", "problem"), WRONG)
def test_what_a_broker_file_may_say(said: str, problem: str, tmp_path: Path) -> None:
    """What is wrong with the AMQP broker of a group is told, and no password is."""
    file = tmp_path / "broker.yaml"
    file.write_text(f"broker: A\namqp: {said}\nexecutionGroups: {{Outside: []}}\n", encoding="utf-8")
    with pytest.raises(ConfigurationException) as failed:
        definition_of(str(file))
    told = " ".join([failed.value.text, *(one.text for one in failed.value.problems)])
    assert (True, False) == (problem in told, "secret" in told)


def test_a_broker_file_is_written_as_it_was_read(tmp_path: Path) -> None:
    """The AMQP brokers of groups are part of an export."""
    file = tmp_path / "broker.yaml"
    said = "{Outside: {url: amqp://h, user: ann, password: {env: P}}}"
    file.write_text(f"broker: A\namqp: {said}\nexecutionGroups: {{Outside: []}}\n", encoding="utf-8")
    read = definition_of(str(file))
    assert read is not None
    file.write_text(broker_text(read), encoding="utf-8")
    assert read == definition_of(str(file))
