"""One flow with the same cases on queues in memory, durable ones, behind a socket, and of real AMQP brokers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from engine.mq import QueueManager
from engine.mq.definitions import QueueDefinition
from engine.mq.server import Server
from engine.testing.case import Case
from engine.testing.reading import read_file
from engine.testing.running import Flows, Happened, Queues, Transport, in_memory, run
from engine.testing.verdict import judge
from engine.transports.amqp import AmqpQueues
from engine.work import Arrival
from tests.engine.transports.amqp_brokers import Broker
from tests.engine.transports.test_amqp import rabbit, transactional

__all__ = ["rabbit", "transactional"]

FILE = Path(__file__).parent / "one_flow" / "cases.yaml"
BROKEN = 2009
BROKERS = ("rabbit", "transactional")


def cases() -> list[Case]:
    reading = read_file(str(FILE))
    assert () == reading.problems
    return list(reading.cases)


@contextmanager
def durable(folder: Path, definitions: Sequence[QueueDefinition]) -> Iterator[QueueManager]:
    """Gives a durable queue manager with these queues."""
    QueueManager.create(folder)
    with QueueManager.open(folder) as manager:
        for one in definitions:
            said = {"BOTHRESH": one.attributes.backout_threshold, "BOQNAME": one.attributes.backout_requeue_queue}
            manager.define("QLOCAL", one.name, said)
        yield manager


@contextmanager
def behind_a_socket(folder: Path, definitions: Sequence[QueueDefinition]) -> Iterator[Any]:
    """Gives a client of a queue manager that a thread serves."""
    with durable(folder, definitions) as manager:
        server = Server(manager, folder)
        thread = Thread(target=server.serve)
        thread.start()
        client = QueueManager.connect(folder)
        try:
            yield client
        finally:
            client.close()
            server.stop()
            thread.join()


def in_folders(folder: Path, make: Callable[..., AbstractContextManager[Any]]) -> Transport:
    """Returns a transport that has a new folder for each case."""

    def transport(definitions: Sequence[QueueDefinition], _: Iterable[object]) -> AbstractContextManager[Queues]:
        return make(folder / f"QM{len(list(folder.iterdir()))}", definitions)

    return transport


class OnBroker:
    """The queues of a broker, which each case leaves empty; it is restarted in the middle where a test says so."""

    def __init__(self, broker: Broker, names: list[str], restart_at: int = 0) -> None:
        self._broker = broker
        self._names = names
        self._queues = AmqpQueues(f"{broker.url}?bothresh=1&boqname=ONE.BACKOUT")
        self._restart_at = restart_at
        self._works: list[Any] = []

    @contextmanager
    def __call__(self, _: Sequence[QueueDefinition], __: Iterable[object]) -> Iterator[Queues]:
        try:
            yield self
        finally:
            self._close()

    def _close(self) -> None:
        while self._works:
            self._works.pop().close()

    def work(self) -> Any:
        work = self._queues.work()
        self._works.append(work)
        work.patience = 1.0 if self._restart_at else 0.2
        return Restarting(work, self._broker, self._restart_at) if self._restart_at else work

    def names(self) -> list[str]:
        self._close()  # what is fetched in advance goes back
        return self._names

    def browse(self, queue: str, /) -> list[Arrival]:
        work, found = self._works[0] if self._works else self._queues.work(), list[Arrival]()
        self._works = [work]
        while (arrival := work.get(queue, wait=0.3)) is not None:
            found.append(arrival)
        work.commit()
        return found


class Restarting:
    """A unit of work whose broker is restarted before one of its commits."""

    def __init__(self, work: Any, broker: Broker, at: int) -> None:
        self._work, self._broker, self._left = work, broker, at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)

    def commit(self) -> None:
        self._left -= 1
        if not self._left:
            self._broker.restart()
        self._work.commit()


@pytest.fixture(scope="module")
def expected() -> dict[str, Happened]:
    """Returns what happens in memory, by the names of the cases."""
    return {case.name: run(case, Flows(), in_memory) for case in cases()}


def queue_names(case: Case) -> list[str]:
    return [queue.name for queue in case.queues] + ["SYSTEM.DEAD.LETTER.QUEUE"]


def bodies(happened: Happened) -> dict[str, list[bytes]]:
    """Returns the bodies on each queue."""
    return {name: [arrival.body for arrival in found] for name, found in happened.queues.items()}


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
@pytest.mark.parametrize("transport", ["memory", "durable", "socket", *BROKERS])
def test_the_same_on_each_transport(
    transport: str, case: Case, expected: dict[str, Happened], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Each case shows what it expects, and leaves on queues what it leaves in memory."""
    makers = {"durable": durable, "socket": behind_a_socket}
    on: Transport = in_memory
    if transport in makers:
        on = in_folders(tmp_path, makers[transport])
    elif transport in BROKERS:
        on = OnBroker(request.getfixturevalue(transport), queue_names(case))
    happened = run(case, Flows(), on)
    assert [] == [(failure.subject, failure.lines) for failure in judge(case, happened)]
    assert bodies(expected[case.name]) == bodies(happened)


@pytest.mark.crash
@pytest.mark.parametrize("broker", BROKERS)
def test_the_same_when_the_broker_is_restarted_in_the_middle(
    broker: str, expected: dict[str, Happened], request: pytest.FixtureRequest
) -> None:
    """Where a broker is restarted before a commit, nothing is lost; messages come twice without transactions only."""
    (case,) = (case for case in cases() if case.name == "orders keep their order")
    reached: Broker = request.getfixturevalue(broker)
    happened = run(case, Flows(), OnBroker(reached, queue_names(case), restart_at=4))
    assert {BROKEN} == {error.number for error in happened.errors}
    wanted, found = bodies(expected[case.name]), bodies(happened)
    assert {name: set(one) for name, one in wanted.items()} == {name: set(one) for name, one in found.items()}
    again = 1 if AmqpQueues(reached.url).introduce().transactions else 2
    for name, one in found.items():
        assert all(times <= again for times in Counter(one).values()), name
