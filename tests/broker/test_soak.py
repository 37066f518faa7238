"""A broker under load for a while, with kills of all that it is made of and deployments in between."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from engine.descriptor import PERSISTENT, Descriptor
from engine.errors import BrokerError
from tests.broker.running import Running, end, flow, until

pytestmark = [pytest.mark.crash, pytest.mark.slow]

SECONDS = float(os.environ.get("PENSTOCK_SOAK_SECONDS", "60"))
FILE = """\
broker: SOAK
queues: {{A: {{}}, B: {{}}, C: {{}}, D: {{}}, OUT: {{MAXDEPTH: 999999}}}}
executionGroups:
  One: [{{flow: {0}, additionalInstances: 1}}]
  Two: [{1}, {2}]
  Three: [{{flow: {3}, additionalInstances: 1}}]
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
                    time.sleep(0.004)
            except BrokerError:
                continue
            finally:
                reached.close()


def test_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    """Four flows in three groups, kills of all kinds of processes, deployments: each message comes out once."""
    made = Running(tmp_path / "soak")
    hops = [("F1", "A", "B"), ("F2", "B", "C"), ("F3", "C", "D"), ("F4", "D", "OUT")]
    files = [flow(tmp_path, name, reads, writes, "SET OutputRoot = InputRoot;") for name, reads, writes in hops]
    made.folder.mkdir()
    (made.folder / "broker.yaml").write_text(FILE.format(*files), encoding="utf-8")
    made.run("broker", "create", str(made.folder))
    made.start()
    putting = Putting(made)
    putting.start()
    try:
        kills, sizes = disturb(made, tmp_path)
        putting.ends.set()
        putting.join()
        found = sorted(int(body[6:-8]) for body in made.get("OUT", len(putting.sure), seconds=60))
        found += sorted(int(body[6:-8]) for body in made.get("OUT", len(putting.unsure), seconds=3))
        assert [] == made.get("SYSTEM.DEAD.LETTER.QUEUE", 1, seconds=0.2)
        assert len(found) == len(set(found))
        assert set(putting.sure) <= set(found) <= {*putting.sure, *putting.unsure}
        assert kills > SECONDS / 6
        assert not sizes or max(sizes) < 200 << 20
    finally:
        putting.ends.set()
        until(lambda: not putting.is_alive(), 30)
        end(made)


def disturb(made: Running, folder: Path) -> tuple[int, list[int]]:
    """Kill processes and deploy by chance; returns how many were killed, and what the queue manager held in memory."""
    chance = random.Random(7)  # noqa: S311
    began, kills, sizes = time.monotonic(), 0, []
    while time.monotonic() - began < SECONDS:
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
            sizes.append(_rss(made.process("queue manager")))
    return kills, sizes


def _rss(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
