"""A queue manager's process under load for a while: what it takes of memory and disk stays the same."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.mq.store.checking import check
from engine.work import Selection
from tests.engine.mq.test_socket_kills import is_served, until

SECONDS = float(os.environ.get("PENSTOCK_SOAK_SECONDS", "60"))
SLACK = 1 << 20  # bytes of either that come and go
DEPTH = 40  # messages that stay on each queue
TOPICS = 50
DEFINITIONS = """DEFINE QLOCAL(A) STREAMQ(COPIES)
DEFINE QLOCAL(COPIES)
DEFINE TOPIC(AIR) TOPICSTR('air')
DEFINE QALIAS(AIR) TARGET(AIR) TARGTYPE(TOPIC)
DEFINE QLOCAL(AIRED) STREAMQ(AIR)
DEFINE QLOCAL(LATE) CAPEXPRY(5)
DEFINE QLOCAL(S1)
DEFINE QLOCAL(S2)
DEFINE SUB(S1) TOPICSTR('#') DEST(S1)
DEFINE SUB(S2) TOPICSTR('soak/+') DEST(S2)
ALTER QMGR EXPRYINT(1) STATIME(0.01) STATQ(ON)
"""
STATISTICS = "SYSTEM.ADMIN.STATISTICS.QUEUE"

pytestmark = pytest.mark.slow


@contextmanager
def started(folder: Path) -> Iterator[int]:
    """Serve a folder by a process; gives its number."""
    command = [sys.executable, "-c", "from engine.cli import main; main()", "queue-manager", "start", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        until(lambda: is_served(folder))
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


class Load(threading.Thread):
    """A client that puts, publishes and gets, so that each queue stays at its depth; `done` are its rounds.

    What did not come as it should are its `faults`.
    """

    def __init__(self, folder: Path, ended: threading.Event) -> None:
        super().__init__()
        self.folder = folder
        self.ended = ended
        self.done = 0
        self.faults: list[str] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            with QueueManager.connect(self.folder) as queues:
                work = queues.work()
                while not self.ended.is_set():
                    self.turn(queues, work)
                    self.done += 1
        except BaseException as error:  # the test that has started the thread raises it
            self.error = error

    def turn(self, queues: Any, work: Any) -> None:
        """Put and publish in one unit; get as much in another, behind one that is backed out; subscribe and leave."""
        own = Descriptor(persistence=self.done % 2, correl_id=(self.done + 1).to_bytes(24))
        body = b"%d " % self.done + bytes((100, 2_000, 9_000)[self.done % 3])
        for queue in ("A", "AIRED", "LATE"):
            work.put(queue, own, body)
        work.publish(f"soak/{self.done % TOPICS}", own, body, retain=True)
        work.commit()
        if self.done % 50 == 0:
            work.get("A")
            work.back_out()
            queues.define("SUB", "SOAK", {"TOPICSTR": "soak/#", "DESTCLAS": "MANAGED"})
            if min(self.done, DEPTH) + 1 != len(list(queues.cursor("A", "JMSPriority < 5"))):
                self.faults.append(f"not all can be browsed in round {self.done}")
            queues.delete("SUB", "SOAK")
        if self.done < DEPTH:
            return
        wanted = Selection(correl_id=(self.done + 1 - DEPTH).to_bytes(24))
        if (arrival := work.get("A", wanted)) is None or int(arrival.body.split()[0]) != self.done - DEPTH:
            self.faults.append(f"message {self.done - DEPTH} is not there")
        for queue in ("COPIES", "AIRED", "S1", "S1", "S2"):
            if work.get(queue) is None:
                self.faults.append(f"{queue} has nothing in round {self.done}")
        work.get(STATISTICS)
        work.commit()


def taken(process: int, folder: Path) -> tuple[int, int]:
    """Returns the bytes of memory and of disk that a queue manager's process takes."""
    said = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    memory = next(int(line.split()[1]) for line in said.splitlines() if line.startswith("VmRSS"))
    files = (folder / place / "data.mdb" for place in ("store", "overflow"))
    return memory * 1024, sum(file.stat().st_blocks * 512 for file in files)


def browse(folder: Path, ended: threading.Event) -> None:
    """Keep a browse open half of the time, in the middle of a queue."""
    with QueueManager.connect(folder) as queues:
        while not ended.wait(1.0):
            cursor = queues.cursor("COPIES")
            next(cursor, None)
            ended.wait(1.0)


def test_memory_and_files_stay_as_they_are(tmp_path: Path) -> None:
    """Under streams, publications, what is retained, subscriptions that come and go, expiry, statistics and browsing,
    neither memory nor files grow once they are warm, and no message is missing.
    """
    folder = tmp_path / "QM"
    QueueManager.create(folder)
    with QueueManager.open(folder) as queues:
        assert not [answer for answer in queues.mqsc(DEFINITIONS) if answer.failed]
    seen: list[tuple[int, int]] = []
    with started(folder) as process:
        ended = threading.Event()
        load, browser = Load(folder, ended), threading.Thread(target=browse, args=(folder, ended))
        for client in (load, browser):
            client.start()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            time.sleep(SECONDS / 100)
            seen.append(taken(process, folder))
        ended.set()
        for client in (load, browser):
            client.join()
    assert (None, []) == (load.error, load.faults)
    fifth = len(seen) // 5
    fifths = [
        [statistics.median(row[at] for row in seen[begin : begin + fifth]) for at in (0, 1)]
        for begin in range(0, 5 * fifth, fifth)
    ]
    print(f"{load.done:,} rounds; memory and files by fifths of the time, in bytes:", *fifths)
    for warm, last in zip(fifths[1], fifths[4], strict=True):
        assert last <= 1.05 * warm + SLACK, fifths
    assert [] == check(folder)
