"""Two-phase commit: queues and tables agree, whatever dies and whenever."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from engine.databases import coordination
from engine.databases.coordination import Branch, Coordinator, identity_of, is_alive, process_name
from engine.databases.definitions import Definition
from engine.databases.link import Link
from engine.databases.session import Access, Session
from engine.databases.sources import Sources
from engine.databases.statements import Insert
from engine.databases.work import DatabaseWork
from engine.descriptor import Descriptor
from engine.errors import BrokerError, MessageException
from engine.mq import QueueManager
from tests.cli.command_line import penstock
from tests.databases.programs import define, rows
from tests.databases.server import Server, running

pytestmark = [pytest.mark.database]

ITEMS = "CREATE TABLE items (id INTEGER PRIMARY KEY)"
INSERT = Insert(("ID",), ("ITEMS",))
STAGES = ("before prepare", "between", "before decision", "after decision", "after the first commit", "at the end")


class Queues:
    """Decisions and what is on a queue, kept in a file that is replaced whole: the store of a queue manager."""

    name = "QM"

    def __init__(self, file: Path) -> None:
        self.file = file
        self.puts: list[int] = []

    def state(self) -> dict[str, Any]:
        return dict(json.loads(self.file.read_text())) if self.file.exists() else {"queue": [], "decided": {}}

    def keep(self, state: dict[str, Any]) -> None:
        beside = self.file.with_suffix(".new")
        beside.write_text(json.dumps(state))
        beside.replace(self.file)

    def decisions(self) -> dict[bytes, bool]:
        return {gid.encode(): commits for gid, commits in self.state()["decided"].items()}

    def forget(self, branch: bytes) -> None:
        state = self.state()
        state["decided"].pop(branch.decode(), None)
        self.keep(state)

    def refuse(self, branch: bytes) -> bool:
        state = self.state()
        kept = state["decided"].setdefault(branch.decode(), False)
        self.keep(state)
        return not kept

    def commit(self, decision: tuple[bytes, ...] = ()) -> None:
        state, gids = self.state(), [gid.decode() for gid in decision]
        if any(state["decided"].get(gid) is False for gid in gids):
            raise MessageException(2003, "it was refused before", reason=2003)
        state["queue"] += self.puts
        state["decided"] |= dict.fromkeys(gids, True)
        self.keep(state)

    def back_out(self) -> None:
        self.puts = []

    get = put = attributes = new_id = None


def unit(queues: Any, sources: Sources, coordinator: Coordinator, number: int) -> None:
    """A unit of work that puts a number on a queue and in a table of each data source."""
    work = DatabaseWork(queues, Session(sources, coordinated=True), coordinator)
    queues.puts = [number]
    try:
        for definition in sources.definitions:
            connection = Access(definition.name).connection(work)
            assert connection is not None
            connection.execute(INSERT, ("ITEMS",), (number,))
        work.commit()
    except BrokerError:
        work.back_out()
        raise


@contextmanager
def acting(stage: str, act: Callable[[], object]) -> Iterator[None]:
    """Have something done once, where the first unit of work in this process comes to a stage."""
    owner, name, is_behind = {
        "before prepare": (Link, "prepare", False),
        "between": (Link, "prepare", True),
        "before decision": (Queues, "commit", False),
        "after decision": (Queues, "commit", True),
        "after the first commit": (Link, "end_prepared", True),
        "at the end": (Coordinator, "commit", True),
    }[stage]
    own, calls = getattr(owner, name), []

    def called(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        if not is_behind and len(calls) == 1:
            act()
        result = own(*arguments, **options)
        if is_behind and len(calls) == 1:
            act()
        return result

    setattr(owner, name, called)
    try:
        yield
    finally:
        setattr(owner, name, own)


CHILD = """
import os, signal, sys
from pathlib import Path
from tests.databases.test_two_phases import Coordinator, Queues, acting, opened, unit
file, stage, number, *urls = sys.argv[1:]
queues = Queues(Path(file))
with acting(stage, lambda: os.kill(os.getpid(), signal.SIGKILL)):
    unit(queues, opened(urls), Coordinator(queues), int(number))
"""


@pytest.fixture
def urls(server: Server, numbers: Iterator[int]) -> list[str]:
    names = [f"two{next(numbers)}" for _ in range(2)]
    for name in names:
        server.execute(f"CREATE DATABASE {name}")
        server.execute(ITEMS, name)
    return [server.url(name) for name in names]


def opened(urls: list[str]) -> Sources:
    return Sources([Definition(f"S{place}", url) for place, url in enumerate(urls)])


def killed(file: Path, stage: str, number: int, urls: list[str]) -> None:
    """Run a unit in a process of its own that dies at a stage."""
    command = [sys.executable, "-c", CHILD, str(file), stage, str(number), *urls]
    ended = subprocess.run(command, check=False, capture_output=True, timeout=60)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()


def tables(sources: Sources) -> list[list[int]]:
    asked = "SELECT id FROM items ORDER BY id"
    return [[row[0] for row in rows(sources, asked, definition.name)] for definition in sources.definitions]


@pytest.mark.crash
@pytest.mark.parametrize("stage", STAGES)
def test_a_process_that_dies(tmp_path: Path, urls: list[str], stage: str) -> None:
    """What is resolved behind a process that died is in all tables and on the queue, or in none and not on it."""
    file = tmp_path / "queues"
    killed(file, stage, 1, urls)
    sources, queues = opened(urls), Queues(file)
    coordinator = Coordinator(queues)
    coordinator.resolve(sources)
    expected = [1] if STAGES.index(stage) >= STAGES.index("after decision") else []
    assert queues.state()["queue"] == expected
    assert tables(sources) == [expected, expected]
    assert coordinator.in_doubt(sources) == []
    assert coordinator.resolve(sources) == []
    assert queues.state()["decided"] == {}
    sources.close()


def test_a_late_commit_is_refused(tmp_path: Path, urls: list[str]) -> None:
    """Who resolves a unit of a process that seems dead records the refusal first: a commit that comes late fails."""
    sources, queues = opened(urls), Queues(tmp_path / "queues")
    coordinator = Coordinator(queues)
    own = queues.commit

    def resolved_meanwhile(decision: tuple[bytes, ...]) -> None:
        stranger = Coordinator(Queues(queues.file))
        stranger._lives = lambda branch: False  # type: ignore[method-assign]  # it cannot see the process
        assert [doubt.state for doubt in stranger.resolve(sources)] == ["rolled back", "rolled back"]
        own(decision)

    queues.commit = resolved_meanwhile  # type: ignore[method-assign]
    with pytest.raises(MessageException, match="refused before"):
        unit(queues, sources, coordinator, 1)
    assert tables(sources) == [[], []]
    assert queues.state()["queue"] == []
    sources.close()


def test_what_is_alive_is_left(tmp_path: Path, urls: list[str]) -> None:
    """A unit in the hands of a process that lives is not touched, nor are those of other queue managers."""
    sources, queues = opened(urls), Queues(tmp_path / "queues")
    coordinator = Coordinator(queues)
    seen: list[list[str]] = []
    own = queues.commit

    def looked_at(decision: tuple[bytes, ...]) -> None:
        seen.append([doubt.state for doubt in Coordinator(queues).in_doubt(sources)])
        assert Coordinator(queues).resolve(sources) == []
        assert Coordinator(queues, "elsewhere").in_doubt(sources) == []
        own(decision)

    queues.commit = looked_at  # type: ignore[method-assign]
    unit(queues, sources, coordinator, 1)
    assert seen == [["alive", "alive"]]
    assert tables(sources) == [[1], [1]]
    coordinator.close()
    assert queues.state()["decided"] == {}
    sources.close()


def test_a_failure_before_the_decision(tmp_path: Path, urls: list[str]) -> None:
    """A data source that cannot prepare, or a queue manager that refuses, takes all others with it."""
    sources, queues = opened(urls), Queues(tmp_path / "queues")
    coordinator = Coordinator(queues)
    define(sources, "ALTER TABLE items ADD CONSTRAINT few CHECK (id < 10)", source="S1")
    with pytest.raises(BrokerError):
        unit(queues, sources, coordinator, 11)
    work = queues.commit

    def broken(decision: tuple[bytes, ...]) -> None:
        raise MessageException(2009, "the connection is gone", reason=2009)

    queues.commit = broken  # type: ignore[method-assign]
    with pytest.raises(MessageException):
        unit(queues, sources, coordinator, 1)
    queues.commit = work  # type: ignore[method-assign]
    unit(queues, sources, coordinator, 2)
    assert tables(sources) == [[2], [2]]
    assert queues.state()["queue"] == [2]
    assert coordinator.in_doubt(sources) == []
    sources.close()


def test_the_last_resource(tmp_path: Path, urls: list[str]) -> None:
    """SQLite is committed between the first phase and the decision: alone, it may be ahead of the queues."""
    sources = Sources([Definition("S0", urls[0]), Definition("L", f"sqlite:///{tmp_path}/last.db")])
    define(sources, ITEMS, source="L")
    queues = Queues(tmp_path / "queues")
    coordinator = Coordinator(queues)
    unit(queues, sources, coordinator, 1)
    define(sources, "CREATE TRIGGER few BEFORE INSERT ON items WHEN NEW.id > 9 BEGIN SELECT RAISE(ABORT, 'no'); END",
           source="L")  # fmt: skip
    with pytest.raises(BrokerError):
        unit(queues, sources, coordinator, 10)
    assert tables(sources) == [[1], [1]]
    sources.close()


@pytest.mark.crash
def test_a_database_that_dies(tmp_path: Path) -> None:
    """A database that is gone between the decision and its commit is told when it is back."""
    with running() as server:
        server.execute(ITEMS)
        sources, queues = Sources([Definition("S0", server.url())]), Queues(tmp_path / "queues")
        coordinator = Coordinator(queues)
        own = queues.commit

        def gone_behind(decision: tuple[bytes, ...]) -> None:
            own(decision)
            server.stop()

        queues.commit = gone_behind  # type: ignore[method-assign]
        unit(queues, sources, coordinator, 1)
        queues.commit = own  # type: ignore[method-assign]
        with pytest.raises(BrokerError):
            unit(queues, sources, coordinator, 2)
        server.start()
        assert [doubt.state for doubt in coordinator.resolve(sources)] == ["committed"]
        unit(queues, sources, coordinator, 3)
        assert (tables(sources), queues.state()["queue"]) == ([[1, 3]], [1, 3])
        sources.close()


DURABLE = """
import os, signal, sys
from engine.databases import link
from engine.mq import QueueManager
from engine.mq.unit import Work
from engine.descriptor import Descriptor
from tests.databases.test_two_phases import Definition, Sources, durable_unit
folder, stage, number, *urls = sys.argv[1:]
def dies(owner, name, after=False):
    own = getattr(owner, name)
    def called(*arguments, **options):
        if after: own(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(owner, name, called)
{
    "before prepare": lambda: dies(link.Link, "prepare"),
    "between": lambda: dies(link.Link, "prepare", after=True),
    "before decision": lambda: dies(Work, "commit"),
    "after decision": lambda: dies(Work, "commit", after=True),
    "after the first commit": lambda: dies(link.Link, "end_prepared", after=True),
}[stage]()
sources = Sources([Definition(f"S{p}", u) for p, u in enumerate(urls)])
durable_unit(QueueManager.open(folder), folder, sources, int(number))
"""


def durable_unit(manager: Any, folder: str, sources: Sources, number: int) -> None:
    """A unit of work over a queue of a durable queue manager and a table of each data source."""
    coordinator = Coordinator(manager, identity_of(Path(folder)))
    work = DatabaseWork(manager.work(), Session(sources, coordinated=True), coordinator)
    work.put("Q", Descriptor(persistence=1), str(number).encode())
    for definition in sources.definitions:
        connection = Access(definition.name).connection(work)
        assert connection is not None
        connection.execute(INSERT, ("ITEMS",), (number,))
    work.commit()


def on_queue(folder: Path) -> list[int]:
    manager = QueueManager.open(folder)
    found = [int(arrival.body) for arrival in manager.cursor("Q")]
    manager.close()
    return found


@pytest.mark.crash
@pytest.mark.parametrize("stage", STAGES[:-1])
def test_a_process_with_a_queue_manager(
    tmp_path: Path,
    urls: list[str],
    stage: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Behind a kill at each stage the commands list what is in doubt and end it; queue and tables agree."""
    folder = tmp_path / "qm"
    QueueManager.create(folder)
    manager = QueueManager.open(folder)
    manager.define("QLOCAL", "Q", {})
    manager.close()
    command = [sys.executable, "-c", DURABLE, str(folder), stage, "1", *urls]
    ended = subprocess.run(command, check=False, capture_output=True, timeout=60)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    options = ("--queue-manager", str(folder), *(o for p, u in enumerate(urls) for o in ("--data-source", f"S{p}={u}")))
    listed = penstock(capsys, "transactions", "list", *options, "--json")
    states = [json.loads(line)["state"] for line in listed.out.splitlines()]
    place = STAGES.index(stage)
    assert states == [[], ["undecided"], ["undecided"] * 2, ["committed"] * 2, ["committed"]][place]
    resolved = penstock(capsys, "transactions", "resolve", *options)
    assert (resolved.code, len(resolved.out.splitlines())) == (0, len(states))
    monkeypatch.setenv("PENSTOCK_QUEUE_MANAGER", str(folder))
    assert (0, "", "") == penstock(capsys, "transactions", "list", *options[2:], "--json")
    sources = opened(urls)
    expected = [1] if place >= 3 else []
    assert (tables(sources), on_queue(folder)) == ([expected, expected], expected)
    sources.close()


def test_names() -> None:
    """A gid says all of a branch, and a process is known by its number and its beginning."""
    branch = Branch("Q:M", "7.8.9", 3, "a:b")
    assert Branch.of(branch.gid) == branch
    assert Branch.of("somebody's own") is None
    assert is_alive(process_name())
    assert not is_alive(f"{os.getpid()}.1")


def test_an_end_does_not_wait_for_a_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Looking for what is in doubt ends while a database, which has answered first, does not answer."""
    monkeypatch.setattr(coordination, "_EVERY", 0.01)
    monkeypatch.setattr(coordination, "_LEAVING", 0.1)
    answers, looks = threading.Event(), iter((True, True))

    class Silent:
        definitions = (Definition("DB", "sqlite://"),)

        def find(self, _: str) -> Silent:
            return self

        def prepared(self, _: str) -> tuple[str, ...]:
            if not next(looks, False):
                answers.wait(60)
            return ()

    made = Coordinator(Queues(tmp_path / "queues"))
    made.watch(cast("Sources", Silent()))
    time.sleep(0.2)
    ends = threading.Thread(target=made.close, daemon=True)
    ends.start()
    ends.join(20)
    assert not ends.is_alive()
    answers.set()
