"""A broker under load for a while, with kills of all that it is made of and deployments in between.

Four flows in three groups hand messages on, two of them by way of tables of PostgreSQL: one is coordinated with the
queues, the other is not. `PENSTOCK_SOAK_SECONDS` is how long it takes; `pytest -m soak` takes ten minutes.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path
from statistics import linear_regression, median

import pytest

from engine.descriptor import PERSISTENT, Descriptor
from engine.errors import BrokerError
from tests.broker.running import Running, end, flow, until
from tests.databases.server import Server, running

pytestmark = [pytest.mark.crash, pytest.mark.database, pytest.mark.slow]

SHORT = float(os.environ.get("PENSTOCK_SOAK_SECONDS", "60"))
LONG = 600.0
QUIET = 0.3  # of the time nothing is killed, so that processes live for long enough to be measured
GROWTH = 4.0  # MiB of all processes together from the first message of the quiet time to its last
FILE = """\
broker: SOAK
queues: {{A: {{}}, B: {{}}, C: {{}}, D: {{}}, OUT: {{MAXDEPTH: 999999}}}}
dataSources: {{DB: {{url: '{url}'}}}}
executionGroups:
  One: [{{flow: {0}, additionalInstances: 1}}]
  Two: [{1}, {2}]
  Three: [{{flow: {3}, additionalInstances: 1}}]
"""
TABLED = """\
flow: {name}
properties: {{coordinatedTransaction: {coordinated}}}
nodes:
  In: {{type: MQInput, queueName: {reads}, messageDomainProperty: XMLNSC}}
  Work:
    type: Compute
    dataSource: DB
    computeExpression: >-
      INSERT INTO Database.{table}(n) VALUES (CAST(InputRoot.XMLNSC.a.n AS INTEGER)); SET OutputRoot = InputRoot;
  Out: {{type: MQOutput, queueName: {writes}}}
wires: [In.out -> Work, Work.out -> Out]
"""


class Putting(threading.Thread):
    """Puts numbered messages; `sure` are those whose commits returned, `unsure` those whose commits failed."""

    def __init__(self, made: Running) -> None:
        super().__init__()
        self.made = made
        self.ends = threading.Event()
        self.sure: list[int] = []
        self.unsure: list[int] = []

    def run(self) -> None:
        number = 0
        while not self.ends.is_set():
            reached = self.made.queues()
            work = reached.work()
            try:
                while not self.ends.is_set():
                    number += 1
                    work.put("A", Descriptor(persistence=PERSISTENT), b"<a><n>%d</n></a>" % number)
                    try:
                        work.commit()
                    except BrokerError:
                        self.unsure.append(number)
                        raise
                    self.sure.append(number)
                    time.sleep(0.01)
            except BrokerError:
                continue
            finally:
                reached.close()


class Taking(threading.Thread):
    """Takes what comes out, so that queues stay short; what a commit that failed may have taken is `unsure`."""

    def __init__(self, made: Running) -> None:
        super().__init__()
        self.made = made
        self.ends = threading.Event()
        self.found: list[int] = []
        self.unsure: list[int] = []

    def run(self) -> None:
        while not self.ends.is_set():
            reached = self.made.queues()
            work = reached.work()
            try:
                while not self.ends.is_set():
                    arrival = work.get("OUT", wait=0.5)
                    if arrival is None:
                        continue
                    number = int(arrival.body[6:-8])
                    try:
                        work.commit()
                    except BrokerError:
                        self.unsure.append(number)
                        raise
                    self.found.append(number)
            except BrokerError:
                continue
            finally:
                reached.close()


@pytest.mark.parametrize("seconds", [SHORT, pytest.param(LONG, marks=pytest.mark.soak)])
def test_nothing_is_lost_or_doubled(tmp_path: Path, seconds: float) -> None:
    """Kills of all kinds of processes and deployments: each message comes out once, and memory does not grow."""
    with running() as server:
        server.execute("CREATE DATABASE soak")
        for table in ("once", "again"):
            server.execute(f"CREATE TABLE {table} (n INTEGER NOT NULL)", "soak")
        made = broker_of(tmp_path, server)
        putting, taking = Putting(made), Taking(made)
        made.start()
        try:
            putting.start()
            taking.start()
            kills = disturb(made, tmp_path, seconds * (1 - QUIET))
            grown = growth(made, seconds * QUIET)
            putting.ends.set()
            putting.join()
            until(lambda: set(putting.sure) <= {*taking.found, *taking.unsure}, 120)
            until(lambda: not server.execute("SELECT gid FROM pg_prepared_xacts"), 60)
            time.sleep(2)
            taking.ends.set()
            taking.join()
            check(made, server, putting, taking)
        finally:
            putting.ends.set()
            taking.ends.set()
            end(made)
            server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'soak'")
    print(f"{len(putting.sure)} messages, {kills} kills, {grown:+.1f} MiB in the quiet time")
    assert kills > seconds * (1 - QUIET) / 10
    assert grown < GROWTH


def broker_of(folder: Path, server: Server) -> Running:
    """The broker, made and not started."""
    made = Running(folder / "soak")
    made.folder.mkdir()
    plain = [
        flow(folder, name, *queues, "SET OutputRoot = InputRoot;")
        for name, *queues in (("F1", "A", "B"), ("F2", "B", "C"))
    ]
    tabled = []
    for name, reads, writes, table, coordinated in (
        ("F3", "C", "D", "once", "true"),
        ("F4", "D", "OUT", "again", "false"),
    ):
        file = folder / f"{name}.yaml"
        values = {"name": name, "reads": reads, "writes": writes, "table": table, "coordinated": coordinated}
        file.write_text(TABLED.format(**values), encoding="utf-8")
        tabled.append(file)
    (made.folder / "broker.yaml").write_text(FILE.format(*plain, *tabled, url=server.url("soak")), encoding="utf-8")
    made.run("broker", "create", str(made.folder))
    return made


def disturb(made: Running, folder: Path, seconds: float) -> int:
    """Kill processes and deploy by chance; returns how many were killed."""
    chance = random.Random(7)  # noqa: S311
    began, kills = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        time.sleep(chance.uniform(0.3, 1.5))
        what = chance.choice(["worker", "worker", "group", "queue manager", "supervisor", "deploy"])
        if what == "deploy":
            text = "SET OutputRoot = InputRoot;" + " " * chance.randrange(100)
            made.run("deploy", str(made.folder), str(flow(folder, "F2", "B", "C", text)), "-e", "Two")
            continue
        group = chance.choice(["One", "Two", "Three"])
        pid = made.working(group) if what == "worker" else made.process(group if what == "group" else what)
        os.kill(pid, signal.SIGKILL)
        kills += 1
        if what == "supervisor":
            made.start()
    return kills


def growth(made: Running, seconds: float) -> float:
    """Returns by how many MiB the broker's processes grow in a time without kills, by a line through what is measured.

    The first third of the time is theirs to fill caches and pools; what was measured before the last of them had
    started again, as one does that was killed at the end of the other time, says nothing of growth.
    """
    began = time.monotonic()
    time.sleep(seconds / 3)
    points: list[tuple[float, dict[int, float]]] = []
    while time.monotonic() - began < seconds:
        points.append((time.monotonic(), memory(made)))
        time.sleep(max(0.2, seconds / 100))
    last = points[-1][1].keys()
    times, sizes = zip(*((when, sum(held.values())) for when, held in points if held.keys() == last), strict=True)
    assert len(times) > 10
    assert median(sizes) > 1
    return linear_regression(times, sizes).slope * (times[-1] - times[0])


def memory(made: Running) -> dict[int, float]:
    """The MiB of memory that each process of the broker holds, mapped files left out."""
    status = made.status()
    workers = [worker["process"] for one in status["processes"] for worker in one["workers"]]
    every = [status["process"], *(one["process"] for one in status["processes"]), *workers]
    return {process: own_memory(process) for process in every}


def own_memory(pid: int) -> float:
    """The MiB of anonymous pages that a process holds: a page that it shared with its parent until now adds nothing."""
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) / 1024


def check(made: Running, server: Server, putting: Putting, taking: Taking) -> None:
    """Compare what was put with what came out and with what stands in the tables."""
    found = sorted(taking.found)
    assert len(found) == len(set(found))
    assert set(putting.sure) <= {*found, *taking.unsure}
    assert set(found) <= {*putting.sure, *putting.unsure}
    assert [] == made.get("SYSTEM.DEAD.LETTER.QUEUE", 1, seconds=0.2)
    once, again = numbers_in(server, "once"), numbers_in(server, "again")
    assert len(once) == len(set(once))
    assert set(found) <= set(once) <= {*putting.sure, *putting.unsure}
    assert set(again) == set(once)


def numbers_in(server: Server, table: str) -> list[int]:
    """The numbers that stand in a table."""
    return [int(str(row[0])) for row in server.execute(f"SELECT n FROM {table} ORDER BY n", "soak")]  # noqa: S608
