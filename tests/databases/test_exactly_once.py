"""Databases on Spark, each effect exactly once: what tasks prepare, and what the driver or `spark resolve` decides."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from engine.databases.definitions import Definition
from engine.databases.errors import DatabaseException
from engine.databases.session import Access, Connection, Session
from engine.databases.sources import Sources
from engine.databases.statements import Passthru
from engine.errors import BrokerError, ConfigurationException
from spark_exec.deployment import EXACTLY_ONCE, deployment_of, with_sources
from spark_exec.plan import Plan, plan
from spark_exec.prepared_transactions import Attempt, Branch, Decisions, Ended, Round, resolve
from tests.cli.command_line import ROOT
from tests.databases.programs import define, rows
from tests.databases.server import Server, running
from tests.spark.cluster import SPECULATION, STRAGGLING, cluster, events_in, kill_an_executor, logged, program

pytestmark = pytest.mark.database

FLOW = """
flow: Effects
nodes:
  In: {type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}
  Insert: {type: Compute, computeExpression: "INSERT", dataSource: DB}
  Out: {type: MQOutput, queueName: OUT}
wires:
  - In.out -> Insert
  - Insert.out -> Out
"""
INSERT = (
    "SET OutputRoot = InputRoot; INSERT INTO Database.EFFECTS(ID) VALUES(CAST(InputBody.m.id AS INTEGER));"
    " IF InputBody.m.id = '7' THEN THROW USER EXCEPTION VALUES('unlucky'); END IF;"
)
EFFECTS = "CREATE TABLE effects (id INTEGER)"
ALL = "SELECT id FROM effects ORDER BY id"

# A module of nodes that every worker process loads: the first two workers die, one before and one behind its prepare.
DYING = """
import os
from pathlib import Path
from pyspark import TaskContext
from spark_exec.prepared_transactions import Attempt
from engine.node import node
from dataclasses import dataclass

prepare = Attempt.prepare

def dying(self, session):
    task = TaskContext.get()
    if (task.partitionId(), task.attemptNumber()) == (0, 0):
        os._exit(1)
    gids = prepare(self, session)
    if (task.partitionId(), task.attemptNumber()) == (1, 0):
        Path("PLACE").write_text("\\n".join(gids.values()))
        os._exit(1)
    return gids

Attempt.prepare = dying

@node("Dying", outputs=("out",))
@dataclass(frozen=True, slots=True)
class Dying:
    \"\"\"Send messages on.\"\"\"

    def evaluate(self, message, work):
        yield "out", message
"""
# A second node: the first try of a task's second partition is slow, and nobody ends it.
SLOW = """

@node("Slower", outputs=("out",))
@dataclass(frozen=True, slots=True)
class Slower:
    \"\"\"Send messages on, slowly in the second partition where nobody has tried before.\"\"\"

    def evaluate(self, message, work):
        task = TaskContext.get()
        if task.partitionId() == 1 and task.attemptNumber() == 0:
            time.sleep(1)
        yield "out", message
"""
# The driver, which dies as it begins to commit what it has decided.
KILLED = """
import os, signal
from spark_exec.prepared_transactions import Decisions
Decisions._commit = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
from engine.cli import main
main()
"""
PROGRAM = "from engine.cli import main; main()"


@pytest.fixture
def url(server: Server, numbers: Iterator[int]) -> str:
    """The URL of a database with an empty table."""
    name = f"test{next(numbers)}"
    server.execute(f"CREATE DATABASE {name}")
    server.execute(EFFECTS, name)
    return server.url(name)


def write_flow(folder: Path, text: str = FLOW) -> None:
    (folder / "effects.yaml").write_text(text.replace("INSERT", INSERT), "utf-8")


def planned_in(folder: Path, url: str, instances: int = 2) -> Plan:
    write_flow(folder)
    return plan(with_sources(deployment_of(str(folder / "effects.yaml")), [f"DB={url}"], EXACTLY_ONCE)).scaled(
        instances
    )


def insert(session: Session, number: int) -> None:
    Connection(Access(), session).execute(Passthru(), (), ("INSERT INTO effects VALUES(?)", number))


def prepared(sources: Sources, decisions: Decisions, number: int) -> str:
    """The gid under which a task has prepared that it inserts a number."""
    session = Session(sources, held=True)
    insert(session, number)
    session.commit()
    gids = session.prepare(lambda _: Branch(decisions.run, 0, 0, number, 1, 0).gid)
    session.close()
    return gids["DB"]


def test_units_of_a_task(sources: Sources) -> None:
    """A unit that is backed out takes nothing of those before it along; nothing is to be seen before the commit."""
    session = Session(sources, held=True)
    for number, ends in ((1, session.commit), (2, session.back_out), (3, session.commit)):
        insert(session, number)
        with pytest.raises(DatabaseException):
            Connection(Access(), session).execute(Passthru(), (), ("SELECT 1/0",))
        insert(session, number + 10)
        ends()
    gid = session.prepare(lambda name: f"penstock-spark:{name}")["DB"]
    session.close()
    assert [] == rows(sources, "SELECT id FROM effects")
    assert sources.find("DB").end_prepared(gid, commits=True)
    assert [(1,), (3,), (11,), (13,)] == rows(sources, ALL)


def test_a_lost_connection_fails_the_task(sources: Sources) -> None:
    """What earlier units have written goes with the connection, so that no later unit and no prepare succeeds."""
    session = Session(sources, held=True)
    insert(session, 1)
    session.commit()
    define(sources, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'")
    for number in (2, 3):
        with pytest.raises(DatabaseException):
            insert(session, number)
        session.back_out()
        with pytest.raises(DatabaseException, match="connection was lost"):
            session.check_kept()
    with pytest.raises(DatabaseException, match="connection was lost"):
        session.prepare(lambda _: "penstock-spark:x")
    session.close()
    assert [] == rows(sources, ALL)


def test_a_later_attempt_rolls_earlier_ones_back(sources: Sources) -> None:
    """An attempt ends what earlier ones at its own partition have prepared, and nothing of others."""
    source = sources.find("DB")
    for branch in (Branch("r", 0, 0, 0, 1, 0), Branch("r", 0, 0, 1, 5, 0), Branch("r", 1, 0, 0, 5, 0)):
        session = Session(sources, held=True)
        insert(session, branch.partition)
        session.commit()
        session.prepare(partial(str.format, branch.gid))
        session.close()
    attempt = Attempt(Round("r", 0), sources)
    attempt._number = 2
    attempt.end_earlier()
    left = source.prepared("penstock-spark:r:")
    assert ["penstock-spark:r:0:0:1:5:0", "penstock-spark:r:1:0:0:5:0"] == left
    for gid in left:
        source.end_prepared(gid, commits=False)


def test_decisions(tmp_path: Path, url: str, sources: Sources) -> None:
    """What counts is committed, and else rolled back; where a gid is missing nothing is committed."""
    decisions = Decisions(planned_in(tmp_path, url), str(tmp_path / "out"))
    decisions.begin()
    counts, other = prepared(sources, decisions, 1), prepared(sources, decisions, 2)
    assert counts != other
    decisions.end(0, {"DB": [counts]})
    assert [(1,)] == rows(sources, ALL)
    assert json.loads((tmp_path / "out" / "_decision.round=0.json").read_text()) == {
        "round": 0,
        "gids": {"DB": [counts]},
    }
    counts = prepared(sources, decisions, 3)
    with pytest.raises(BrokerError, match="nothing of it is committed"):
        decisions.end(1, {"DB": [counts, other]})
    decisions.give_up()
    assert ([(1,)], []) == (rows(sources, ALL), sources.find("DB").prepared("penstock-spark:"))
    assert not (tmp_path / "out" / "_decision.round=1.json").exists()
    with pytest.raises(ConfigurationException, match=f"process {os.getpid()} drives it: end that first"):
        list(resolve(tmp_path / "out", sources))
    decisions.close()


def test_an_attempt_that_starts_while_the_driver_decides(tmp_path: Path, url: str, sources: Sources) -> None:
    """It cannot roll back what the driver has found prepared and is about to commit."""
    decisions = Decisions(planned_in(tmp_path, url), str(tmp_path / "out"))
    decisions.begin()
    gid = prepared(sources, decisions, 1)  # attempt 1 at partition 1
    attempt = Attempt(decisions.round(0, 0), sources)
    attempt._partition, attempt._number = 1, 2
    late = threading.Thread(target=attempt.end_earlier)
    commit = decisions._commit

    def committed(number: int, counted: Mapping[str, list[str]]) -> None:
        late.start()
        wait_until_locked(sources)
        assert [gid] == sources.find("DB").prepared("penstock-spark:")
        commit(number, counted)

    decisions._commit = committed  # type: ignore[method-assign,assignment]
    decisions.end(0, {"DB": [gid]})
    late.join()
    assert ([(1,)], []) == (rows(sources, ALL), sources.find("DB").prepared("penstock-spark:"))
    decisions.close()


def wait_until_locked(sources: Sources) -> None:
    """Wait until someone waits for an advisory lock."""
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    ends = time.monotonic() + 30
    while rows(sources, waiting) != [(1,)]:
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_more_tasks_than_can_be_prepared(tmp_path: Path, url: str) -> None:
    """A plan with more partitions than max_prepared_transactions leaves free is refused before anything is written."""
    wanted = "can prepare 64 more units of work, and there are 65 tasks"
    decisions = Decisions(planned_in(tmp_path, url, 65), str(tmp_path / "out"))
    with closing(decisions), pytest.raises(ConfigurationException, match=wanted):
        decisions.begin()
    assert not (tmp_path / "out").exists()


def test_a_server_that_prepares_nothing(tmp_path: Path) -> None:
    """PostgreSQL as it is installed prepares nothing, and is refused."""
    with running(max_prepared_transactions="0") as server:
        decisions = Decisions(planned_in(tmp_path, server.url()), str(tmp_path / "out"))
        with closing(decisions), pytest.raises(ConfigurationException, match="can prepare 0 more units of work"):
            decisions.begin()


def spark_run(folder: Path, url: str, program: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A run of 40 messages in a process of its own, with two tasks that may be tried four times."""
    (folder / "in").mkdir()
    for number in range(40):
        (folder / "in" / f"{number:02}.xml").write_text(f"<m><id>{number}</id></m>", "utf-8")
    arguments = ["spark", "run", str(folder / "effects.yaml"), "--messages", str(folder / "in"), "--kind", "files"]
    arguments += ["--output", str(folder / "out"), "--master", "local[2,4]", "--instances", "2", *options]
    command = [sys.executable, "-c", program, *arguments, "--data-source", f"DB={url}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.spark
@pytest.mark.slow
def test_tasks_that_are_tried_again(tmp_path: Path, url: str, sources: Sources) -> None:
    """Workers die before and behind their prepare: each effect happens once, and that of a failed message never."""
    (tmp_path / "dying.py").write_text(DYING.replace("PLACE", str(tmp_path / "died")), "utf-8")
    write_flow(
        tmp_path, FLOW.replace("  Out:", "  Die: {type: Dying}\n  Out:").replace("-> Out", "-> Die\n  - Die.out -> Out")
    )
    found = spark_run(tmp_path, url, PROGRAM, "--nodes", str(tmp_path / "dying.py"))
    assert found.returncode == 1, found.stderr  # as one message has failed
    assert "Traceback" not in found.stderr
    assert (tmp_path / "died").exists(), found.stdout
    assert [(number,) for number in range(40) if number != 7] == rows(sources, ALL)
    assert [] == sources.find("DB").prepared("penstock-spark:")


@pytest.mark.spark
@pytest.mark.crash
@pytest.mark.slow
def test_a_cluster_with_executors_killed_and_tasks_speculated(tmp_path: Path, url: str, sources: Sources) -> None:
    """On a real cluster a task whose executor dies, and one that is tried twice at a time, have their effects once."""
    for name in ("in", "places"):
        (tmp_path / name).mkdir()
    for number in range(60):
        (tmp_path / "in" / f"{number:02}.xml").write_text(f"<m><id>{number}</id></m>", "utf-8")
    (tmp_path / "straggling.py").write_text(STRAGGLING + SLOW, "utf-8")
    place = tmp_path / "places"
    nodes = f"  Slow: {{type: Straggling, place: {place}}}\n  Slower: {{type: Slower}}\n  Out:"
    wires = "-> Slow\n  - Slow.out -> Slower\n  - Slower.out -> Out"
    write_flow(tmp_path, FLOW.replace("  Out:", nodes).replace("-> Out", wires))
    stop, killed = threading.Event(), list[int]()
    killer = threading.Thread(target=kill_an_executor, args=(place, stop, killed))
    with cluster(tmp_path, 2) as master:
        command = ["-c", PROGRAM, "spark", "run", str(tmp_path / "effects.yaml"), "--messages", str(tmp_path / "in")]
        command += ["--kind", "files", "--output", str(tmp_path / "out"), "--master", master, "--instances", "3"]
        command += ["--nodes", str(tmp_path / "straggling.py"), "--data-source", f"DB={url}"]
        settings = ("spark.executor.memory=512m", *SPECULATION, *logged(tmp_path / "events"))
        killer.start()
        try:
            said = program(*command, *(word for one in settings for word in ("--conf", one)), code=1)
        finally:
            stop.set()
            killer.join()
    assert "1 failure" in said  # that of the unlucky message
    tasks = [event for event in events_in(tmp_path / "events") if event["Event"] == "SparkListenerTaskEnd"]
    assert len(killed) == 1
    assert "ExecutorLostFailure" in {task["Task End Reason"]["Reason"] for task in tasks}
    assert any(task["Task Info"]["Speculative"] for task in tasks)
    assert [(number,) for number in range(60) if number != 7] == rows(sources, ALL)
    assert [] == sources.find("DB").prepared("penstock-spark:")


@pytest.mark.spark
@pytest.mark.crash
@pytest.mark.slow
def test_a_driver_that_dies(tmp_path: Path, url: str, sources: Sources) -> None:
    """A driver killed between decision and commit leaves what `spark resolve` commits, and once only."""
    write_flow(tmp_path)
    found = spark_run(tmp_path, url, KILLED)
    assert -signal.SIGKILL == found.returncode, found.stderr
    assert [] == rows(sources, ALL)
    decided = sources.find("DB").prepared("penstock-spark:")
    assert len(decided) == 2
    command = [sys.executable, "-c", PROGRAM, "spark", "resolve", str(tmp_path / "out"), "--data-source", f"DB={url}"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert (0, "") == (ended.returncode, ended.stderr)
    assert sorted(f"DB  committed  {gid}" for gid in decided) == sorted(ended.stdout.splitlines())
    assert [(number,) for number in range(40) if number != 7] == rows(sources, ALL)
    assert [] == list(resolve(tmp_path / "out", sources))


def test_resolving_what_is_not_decided(tmp_path: Path, url: str, sources: Sources) -> None:
    """What no decision lists is rolled back; a data source that is not given is asked for."""
    decisions = Decisions(planned_in(tmp_path, url), str(tmp_path / "out"))
    decisions.begin()
    gid = prepared(sources, decisions, 1)
    said = json.loads((tmp_path / "out" / "_databases.json").read_text())
    (tmp_path / "out" / "_databases.json").write_text(json.dumps(said | {"process": "1.1"}))
    with pytest.raises(ConfigurationException, match="the run wrote to DB: give --data-source DB=URL too"):
        list(resolve(tmp_path / "out", Sources([Definition("OTHER", url)])))
    assert [Ended("DB", gid, "rolled back")] == list(resolve(tmp_path / "out", sources))
    assert [] == rows(sources, ALL)
    with pytest.raises(ConfigurationException, match=r"has no _databases\.json"):
        list(resolve(tmp_path, sources))
    decisions.close()
