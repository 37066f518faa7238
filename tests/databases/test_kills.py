"""Two-phase commit while processes, databases and connections are killed at random, at every stage."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from engine.databases.coordination import Coordinator
from engine.databases.sources import Sources
from engine.errors import BrokerError
from tests.databases.server import Server, running
from tests.databases.test_two_phases import ITEMS, STAGES, Queues, acting, killed, opened, tables, unit

pytestmark = [pytest.mark.database, pytest.mark.crash]

DATABASE = "numbers"
KINDS = ("process", "database", "connection")
_DROPPED = "SELECT pg_terminate_backend(pid{}) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()"


@dataclass
class Flow:
    """Units of work over a queue and two databases on servers of their own, in a process that goes on."""

    file: Path
    servers: list[Server]
    chance: random.Random
    outcomes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    urls: list[str] = field(init=False)
    sources: Sources = field(init=False)
    queues: Queues = field(init=False)
    coordinator: Coordinator = field(init=False)

    def __post_init__(self) -> None:
        self.urls = [server.url(DATABASE) for server in self.servers]
        self.sources, self.queues = opened(self.urls), Queues(self.file)
        self.coordinator = Coordinator(self.queues)

    def disturb(self, kind: str, stage: str, number: int) -> None:
        """Carry a unit of work to a stage at which something of this kind is killed; what died is started again."""
        if kind == "process":
            killed(self.file, stage, number, self.urls)
        else:
            server = self.chance.choice(self.servers)
            act = server.kill if kind == "database" else partial(self.drop, server)
            with acting(stage, act), suppress(BrokerError):
                unit(self.queues, self.sources, self.coordinator, number)
            if server.process is None:
                server.start()
        outcome = "there" if number in self.queues.state()["queue"] else "not there"
        self.outcomes[kind, stage, outcome] += 1

    def drop(self, server: Server) -> None:
        """Have a server end all connections of units, and wait for that, or not."""
        server.execute(_DROPPED.format(self.chance.choice((", 5000", "")), DATABASE))

    def check(self) -> None:
        """Resolve what is in doubt, and compare the queue with the tables."""
        self.coordinator.resolve(self.sources)
        found = self.queues.state()["queue"]
        assert tables(self.sources) == [sorted(found)] * 2
        assert self.coordinator.in_doubt(self.sources) == []


@pytest.fixture
def flow(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Flow]:
    """Units of work whose kills are drawn from a seed of the test's name."""
    with ExitStack() as stack:
        servers = [stack.enter_context(running()) for _ in range(2)]
        for server in servers:
            server.execute(f"CREATE DATABASE {DATABASE}")
            server.execute(ITEMS, DATABASE)
        made = Flow(tmp_path / "queues", servers, random.Random(request.node.name))  # noqa: S311 - kills, no keys
        yield made
        made.coordinator.close()
        made.sources.close()


def carried(flow: Flow, kinds: list[tuple[str, str]], every: int) -> None:
    """Disturb a unit by each, look at the queue and the tables now and then, and count what came of it."""
    for number, (kind, stage) in enumerate(kinds):
        flow.disturb(kind, stage, number)
        if number % every == 0:
            flow.check()
    flow.check()
    unit(flow.queues, flow.sources, flow.coordinator, len(kinds))
    flow.check()
    decided = STAGES[STAGES.index("after decision") :]
    for (kind, stage, outcome), count in sorted(flow.outcomes.items()):
        print(f"{count:4}  {kind} killed {stage}: {outcome}")
        if stage in decided or kind == "process":  # before that a unit may get on without what was killed
            assert outcome == ("there" if stage in decided else "not there"), (kind, stage)
    flow.coordinator.forget_done()
    assert not any(flow.queues.decisions().values())


def test_kills(flow: Flow) -> None:
    """Queue and tables agree behind a database that dies, and connections that drop, at each stage."""
    events = [(kind, stage) for kind in KINDS[1:] for stage in STAGES] * 2
    flow.chance.shuffle(events)
    carried(flow, events, 1)


@pytest.mark.slow
def test_hundreds_of_kills(flow: Flow) -> None:
    """Queue and tables agree behind 300 processes, 60 databases and 240 connections that die at random."""
    counts = {"process": 50, "database": 10, "connection": 40}
    events = [(kind, stage) for kind, count in counts.items() for stage in STAGES for _ in range(count)]
    flow.chance.shuffle(events)
    carried(flow, events, 7)
