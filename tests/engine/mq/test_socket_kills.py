"""Kills through the socket: a started queue manager and its clients are killed at random, and keep every promise."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.descriptor import NON_PERSISTENT, PERSISTENT
from engine.errors import MessageException
from engine.mq import QueueManager
from engine.mq.store.checking import check
from tests.engine.mq.kill_client import COMMITTING, DECIDING, EXCHANGING, GETTING, IDLE, OPEN, SYNCED
from tests.engine.mq.kill_worker import QUEUES, Held, defined, held, problems

KILLS = int(os.environ.get("PENSTOCK_SOCKET_KILLS", "8"))
_CLIENTS = 3
_BETWEEN = 10  # kills between two looks at what the queues hold
_PLACES = {
    IDLE: "idle",
    OPEN: "unit open",
    SYNCED: "answer not said",
    COMMITTING: "commit under way",
    EXCHANGING: "commit and get under way",
    DECIDING: "commit with a decision under way",
    GETTING: "get outside a unit under way",
}

pytestmark = pytest.mark.crash


@pytest.mark.parametrize(("persistence", "kills"), [(PERSISTENT, KILLS), (NON_PERSISTENT, KILLS // 2)])
def test_kills_of_a_started_queue_manager_and_its_clients(tmp_path: Path, persistence: int, kills: int) -> None:
    """Whoever is killed, nothing that was acknowledged is lost, nothing is there twice, and nothing is stuck.

    Messages that end with their queue manager are held to that where only clients are killed.
    """
    folder = tmp_path / "QM"
    QueueManager.create(folder)
    with QueueManager.open(folder) as queues:
        defined(queues)
    outcome, left = Counter[str](), kills
    while left:
        times = min(_BETWEEN, left)
        outcome += killed(folder, tmp_path, times, persistence)
        left -= times
    assert [] == check(folder)
    assert kills == sum(count for who, count in outcome.items() if who in {"queue manager", "client"})
    assert outcome["idle"] < kills
    print(f"{kills} kills: {dict(outcome)}")


def killed(folder: Path, place: Path, times: int, persistence: int) -> Counter[str]:
    """Kill so many processes, and look at the queues behind them; returns who was killed, and what was in flight."""
    outcome, log = Counter[str](), place / "log"
    chosen = random.Random()  # noqa: S311
    log.write_bytes(b"")
    with started(folder, place, log, persistence) as processes:
        for _ in range(times):
            time.sleep(chosen.random() * 0.08)
            number = 0 if persistence and chosen.randrange(2) else chosen.randrange(1, _CLIENTS + 1)
            before = [step_of(place, one) for one in range(1, _CLIENTS + 1)]
            end(processes[number])
            hit = before if number == 0 else [step_of(place, number)]
            outcome["queue manager" if number == 0 else "client"] += 1
            outcome[_PLACES[max(hit)]] += 1
            outcome["units in flight"] += sum(step not in {IDLE, SYNCED} for step in hit)
            said = log.stat().st_size
            processes[number] = start(folder, place, log, number, persistence)
            if number == 0:
                until(lambda: is_served(folder))
            until(lambda said=said: b"P" in log.read_bytes()[said:], "nothing goes on")
        for process in processes[1:]:
            assert process.poll() is None, "a client has ended by itself"
            end(process)
        found = drained(folder)
    assert Held([], []) == held(folder)
    assert [] == problems(log.read_text().splitlines(), found)
    return outcome


def drained(folder: Path) -> Held:
    """Returns what the queue manager still gives once its clients are gone, whose units it has backed out, and which
    branches are decided, which it then forgets.
    """
    with QueueManager.connect(folder) as queues:
        work, found = queues.work(), list[int]()
        for queue in QUEUES:
            while (arrival := work.get(queue, wait=0.1)) is not None:
                found.append(int(arrival.body.split()[0]))
                work.commit()  # there may be more than one unit may hold
        assert 0 == sum(queues.depth(queue) for queue in QUEUES)
        decided = queues.decisions()
        for branch in decided:
            queues.forget(branch)
    return Held(found, [], decided={int.from_bytes(branch): commits for branch, commits in decided.items()})


def step_of(place: Path, number: int) -> int:
    """Returns what a client has in flight."""
    return (place / f"step{number}").read_bytes()[0]


@contextmanager
def started(folder: Path, place: Path, log: Path, persistence: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start the queue manager and its clients; kills them all in the end."""
    processes: list[subprocess.Popen[bytes]] = []
    try:
        processes.append(start(folder, place, log, 0, persistence))
        until(lambda: is_served(folder))
        processes.extend(start(folder, place, log, number, persistence) for number in range(1, _CLIENTS + 1))
        until(lambda: log.read_bytes().count(b"ready") >= _CLIENTS)
        yield processes
    finally:
        for process in processes:
            end(process)


def start(folder: Path, place: Path, log: Path, number: int, persistence: int) -> subprocess.Popen[bytes]:
    """Start the queue manager, which is number 0, or a client."""
    command = ["-c", "from engine.cli import main; main()", "queue-manager", "start", str(folder)]
    if number:
        step = place / f"step{number}"
        step.write_bytes(b"\0")
        command = ["-m", "tests.engine.mq.kill_client", str(folder), str(log), str(step), str(persistence)]
    return subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process."""
    process.send_signal(signal.SIGKILL)
    process.wait(60)


def is_served(folder: Path) -> bool:
    """Returns True once a queue manager takes connections."""
    try:
        QueueManager.connect(folder).close()
    except MessageException:
        return False
    return True


def until(is_so: Callable[[], bool], otherwise: str = "a process did not start") -> None:
    """Wait until something is so."""
    limit = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < limit, otherwise
        time.sleep(0.005)
