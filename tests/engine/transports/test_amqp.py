"""Flows and units of work on real AMQP brokers: RabbitMQ, and ActiveMQ Artemis with its transactions."""

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError, MessageException
from engine.runtime.deployment import deploy
from engine.transports.amqp import AmqpQueues
from engine.transports.amqp.missing_features import refuse_flow
from engine.transports.memory import MemoryQueues
from engine.work import Selection
from flows.files import load_flow
from flows.programs import binder
from tests.engine.transports.amqp_brokers import Broker, artemis, rabbitmq

QUEUES = ("IN", "OUT", "OTHER", "SYSTEM.DEAD.LETTER.QUEUE")
OF_ONE_FLOW = tuple(f"ONE.{name}" for name in ("IN", "BACKOUT", "ITEMS", "TOTALS", "LARGE", "ANSWERS"))
WAIT = 10.0


@pytest.fixture(scope="module")
def rabbit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A RabbitMQ with the queues of these tests."""
    yield from running(rabbitmq(tmp_path_factory.mktemp("rabbit"), *QUEUES, *OF_ONE_FLOW))


@pytest.fixture(scope="module")
def transactional(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """An Artemis with the queues of these tests."""
    yield from running(artemis(tmp_path_factory.mktemp("artemis")))


def running(broker: Broker) -> Iterator[Broker]:
    try:
        broker.start()
        yield broker
    finally:
        broker.end()


@pytest.fixture(params=["rabbit", "transactional"])
def broker(request: pytest.FixtureRequest) -> Broker:
    """Each of the brokers, its queues empty."""
    found: Broker = request.getfixturevalue(request.param)
    work = AmqpQueues(found.url).work()
    for name in QUEUES:
        while work.get(name) is not None:
            pass
    work.commit()
    work.close()
    return found


def bodies(queues: AmqpQueues | MemoryQueues, queue: str, wait: float = 0.5) -> list[bytes]:
    """Everything that stands on a queue, in its order."""
    work, found = queues.work(), []
    while (arrival := work.get(queue, wait=wait)) is not None:
        found.append(arrival.body)
    work.commit()
    if isinstance(queues, AmqpQueues):
        work.close()  # it fetches in advance, also what later tests send
    return found


def test_a_unit_is_visible_at_commit_alone_and_its_gets_come_back_when_it_is_backed_out(broker: Broker) -> None:
    """Puts wait for commit; what is backed out comes again with its count one higher."""
    queues = AmqpQueues(broker.url)
    work = queues.work()
    put = work.put("IN", Descriptor(format="MQSTR", persistence=1, priority=3), b"one")
    assert work.get("IN") is None
    work.back_out()
    assert work.get("IN") is None
    put = work.put("IN", Descriptor(format="MQSTR", persistence=1, priority=3), b"two")
    work.commit()
    first = work.get("IN", wait=WAIT)
    assert first is not None
    assert (put, b"two") == (first.descriptor, first.body)
    work.back_out()
    again = work.get("IN", wait=WAIT)
    assert again is not None
    assert (1, b"two") == (again.descriptor.backout_count, again.body)
    work.commit()
    assert work.get("IN") is None
    work.close()


def test_order_stays(broker: Broker) -> None:
    """One reader gets the messages of one sender in their order."""
    queues = AmqpQueues(broker.url)
    work = queues.work()
    for number in range(50):
        work.put("IN", Descriptor(), b"%d" % number)
    work.commit()
    assert [b"%d" % number for number in range(50)] == bodies(queues, "IN")


def test_messages_that_expire_while_they_are_fetched_in_advance(broker: Broker) -> None:
    """A message that expires between its fetch and its get is discarded; another says what is left of its time."""
    work = AmqpQueues(broker.url).work()
    for expiry, body in ((600, b"first"), (10, b"gone"), (600, b"later"), (-1, b"last")):
        work.put("IN", Descriptor(expiry=expiry), body)
    work.commit()
    first = work.get("IN", wait=WAIT)
    time.sleep(1.5)
    found = [work.get("IN", wait=WAIT) for _ in range(2)]
    work.commit()
    work.close()
    assert first is not None
    told = [(one.body, one.descriptor.expiry) for one in found if one is not None]
    assert [(b"later", True), (b"last", False)] == [(body, 500 < expiry <= 590) for body, expiry in told]


def test_a_wait_without_end_ends_when_it_is_interrupted(broker: Broker) -> None:
    """A thread that waits for a message comes back soon after another interrupts it."""
    work = AmqpQueues(broker.url).work()
    threading.Timer(0.3, work.interrupt).start()
    assert work.get("IN", wait=-1) is None
    work.close()


def test_errors_name_the_broker_and_no_password(broker: Broker) -> None:
    """An unknown queue, a wrong password and a broker that is not there are errors without the password."""
    wrong = broker.url.replace("flows-only", "another-secret")
    for url, queue in ((wrong, "IN"), ("amqp://u:another-secret@127.0.0.1:1?timeout=1", "IN")):
        with pytest.raises(MessageException) as failed:
            AmqpQueues(url).work().get(queue)
        assert "127.0.0.1" in str(failed.value)
        assert "secret" not in str(failed.value)


def test_tls(rabbit: Broker) -> None:
    """A broker is reached by TLS where a file of certificates vouches for it by its name, and not otherwise."""
    authorities = f"?ca-file={rabbit.folder}/localhost.crt"
    work = AmqpQueues(rabbit.secure_url + authorities).work()
    work.put("OTHER", Descriptor(persistence=1), b"in secret")
    work.commit()
    assert [b"in secret"] == bodies(AmqpQueues(rabbit.secure_url + authorities), "OTHER")
    work.close()
    for url in (rabbit.secure_url, rabbit.secure_url.replace("localhost", "127.0.0.1") + authorities):
        with pytest.raises(MessageException) as failed:
            AmqpQueues(url).work().get("OTHER")
        assert 2009 == failed.value.number
        assert "secret" not in str(failed.value)


def test_many_messages_are_got_as_fast_as_they_come(broker: Broker) -> None:
    """What is fetched in advance is asked for again in time: an empty queue is known to be empty without a pause."""
    queues, begun = AmqpQueues(broker.url), time.monotonic()
    work = queues.work()
    for number in range(100):
        work.put("IN", Descriptor(), b"%d" % number)
    work.commit()
    assert [b"%d" % number for number in range(100)] == bodies(queues, "IN", 0.3)
    work.close()
    assert time.monotonic() - begun < queues.address.timeout


def test_an_unknown_queue_is_2085_and_the_unit_goes_on(rabbit: Broker) -> None:
    """A put to a queue that is not there fails by itself; the rest of the unit can be committed."""
    queues = AmqpQueues(rabbit.url)
    work = queues.work()
    work.put("OTHER", Descriptor(), b"stays")
    with pytest.raises(MessageException) as failed:
        work.put("NOT.THERE", Descriptor(), b"")
    assert 2085 == failed.value.number
    work.commit()
    assert [b"stays"] == bodies(queues, "OTHER")


def test_messages_are_got_by_their_ids_and_browsed_where_the_broker_selects(transactional: Broker) -> None:
    """Artemis gives messages by message and correlation id, and lets them be browsed."""
    queues = AmqpQueues(transactional.url)
    work = queues.work()
    put = [work.put("OTHER", Descriptor(correl_id=bytes([n]) * 24), b"%d" % n) for n in range(1, 5)]
    work.commit()
    browsed = [work.get("OTHER", Selection(browse=True), wait=WAIT) for _ in range(4)]
    assert [b"1", b"2", b"3", b"4"] == [one.body for one in browsed if one is not None]
    by_correlation = work.get("OTHER", Selection(correl_id=b"\3" * 24), wait=WAIT)
    by_id = work.get("OTHER", Selection(msg_id=put[1].msg_id), wait=WAIT)
    work.commit()
    assert (b"3", b"2") == (by_correlation and by_correlation.body, by_id and by_id.body)
    work.close()
    assert [b"1", b"4"] == bodies(queues, "OTHER")


def test_a_flow_that_needs_more_than_the_broker_has_is_refused(rabbit: Broker, tmp_path: Path) -> None:
    """A flow that browses is refused for RabbitMQ before it sees a message."""
    deployed = deployed_copy(tmp_path, "browse: true")
    peer = AmqpQueues(rabbit.url).introduce()
    with pytest.raises(BrokerError, match=r"Q.*browse needs browsing"):
        refuse_flow(((station.place, station.node) for station in deployed.stations.values()), peer)


def deployed_copy(folder: Path, more: str = "transactionMode: 'yes'"):
    """A flow from IN to OUT that changes its message, and fails for one whose body is `poison`."""
    (folder / "flow.yaml").write_text(
        f"flow: copy\nnodes:\n  Q: {{type: MQInput, queueName: IN, {more}}}\n"
        "  Change: {type: Compute, computeExpression: Change}\n"
        "  Out: {type: MQOutput, queueName: OUT}\n"
        "wires:\n  - Q.out -> Change\n  - Change.out -> Out\n"
    )
    (folder / "flow.esql").write_text(
        "CREATE COMPUTE MODULE Change CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n"
        "  IF InputRoot.BLOB.BLOB = CAST('poison' AS BLOB CCSID 1208) THEN\n"
        "    THROW USER EXCEPTION VALUES('poison');\n  END IF;\n"
        "  SET OutputRoot = InputRoot;\n"
        "  SET OutputRoot.BLOB.BLOB = InputRoot.BLOB.BLOB || CAST('!' AS BLOB CCSID 1208);\n"
        "  RETURN TRUE;\nEND; END MODULE;\n"
    )
    loaded = load_flow(str(folder / "flow.yaml"))
    return deploy(loaded, bind=binder(loaded))


def carry(queues: AmqpQueues | MemoryQueues, deployed, messages: int) -> None:
    """Runs a flow until it has seen so many messages, or none come any more."""
    (entrance,) = deployed.entrances
    work = queues.work()
    if isinstance(queues, AmqpQueues):
        work.patience = 2.0
    for _ in range(messages):
        if deployed.process(entrance, work) is None:
            break
    if isinstance(queues, AmqpQueues):
        work.close()


def test_a_flow_does_the_same_on_memory_queues_and_on_amqp(broker: Broker, tmp_path: Path) -> None:
    """The same messages end on the same queues, the poisoned one on the dead-letter queue."""
    given = [b"a", b"poison", b"b", b"c"]
    ends = {}
    for queues in (MemoryQueues(*QUEUES), AmqpQueues(f"{broker.url}?bothresh=1")):
        work = queues.work()
        for body in given:
            work.put("IN", Descriptor(), body)
        work.commit()
        carry(queues, deployed_copy(tmp_path), 5)
        ends[type(queues).__name__] = {name: Counter(body[-6:] for body in bodies(queues, name)) for name in QUEUES[1:]}
    assert ends["MemoryQueues"] == ends["AmqpQueues"]
    assert Counter([b"a!", b"b!", b"c!"]) == ends["AmqpQueues"]["OUT"]


@pytest.mark.crash
def test_nothing_is_lost_when_the_broker_dies_in_the_middle(broker: Broker, tmp_path: Path) -> None:
    """After a restart every message has gone through; twice only where the broker has no transactions."""
    queues = AmqpQueues(broker.url)
    work = queues.work()
    sent = [b"%d" % number for number in range(60)]
    for body in sent:
        work.put("IN", Descriptor(persistence=1), body)
    work.commit()
    work.close()
    deployed = deployed_copy(tmp_path)
    (entrance,) = deployed.entrances
    flow = queues.work()
    flow.patience = 2.0
    for number in range(30):
        deployed.process(entrance, flow)
        if number == 20:
            held = flow.get("IN", wait=WAIT)
            assert held is not None
            flow.put("OUT", held.descriptor, b"never committed")
            broker.restart()
            with pytest.raises(BrokerError):
                flow.commit()
            flow.back_out()
    flow.close()
    carry(queues, deployed, 100)
    arrived = Counter(bodies(queues, "OUT", 2.0))
    assert {body + b"!" for body in sent} == set(arrived) - {b"never committed"}
    assert queues.introduce().transactions is False or {1} == set(arrived.values())


def test_penstock_run_carries_messages_over_an_amqp_broker_until_sigterm(broker: Broker, tmp_path: Path) -> None:
    """`penstock run FLOW --amqp URL` says that it is ready, carries what comes, and ends with 0 when it is told to."""
    deployed_copy(tmp_path)
    url = broker.url.replace(":flows-only", "") + "?password-env=AMQP_PASSWORD"
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from engine.cli import main; main()",
            "run",
            str(tmp_path / "flow.yaml"),
            "--amqp",
            url,
        ],
        env=os.environ | {"AMQP_PASSWORD": "flows-only"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert "ready" in process.stdout.readline()
        queues = AmqpQueues(broker.url)
        work = queues.work()
        for number in range(5):
            work.put("IN", Descriptor(persistence=1), b"%d" % number)
        work.commit()
        work.close()
        assert [b"0!", b"1!", b"2!", b"3!", b"4!"] == bodies(queues, "OUT", 5.0)
        process.terminate()
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate(timeout=60)
    assert (0, True) == (process.returncode, "5 in, 0 failed" in out)
    assert ("at least once" in err) == ("RabbitMQ" in err)
    assert "flows-only" not in out + err
