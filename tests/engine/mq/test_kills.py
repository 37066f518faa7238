"""Kills: processes that put, get and commit are ended at counted writes and at random, and power fails."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from engine.mq import QueueManager
from engine.mq.store.checking import check
from tests.engine.mq.kill_worker import defined, held, problems, work_on
from tests.engine.mq.system_calls import Call, traced

KILLS = int(os.environ.get("PENSTOCK_KILLS", "15"))
POINTS = int(os.environ.get("PENSTOCK_COUNTED_KILLS", "60"))
STEP = 1 if POINTS > 1_000 else 7  # writes between two kills
CUTS = int(os.environ.get("PENSTOCK_CUTS", "20"))

pytestmark = pytest.mark.crash


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A queue manager with messages to move about."""
    made = tmp_path / "QM"
    QueueManager.create(made)
    with QueueManager.open(made) as queues:
        defined(queues)
    return made


def test_kills_of_started_processes(folder: Path, tmp_path: Path) -> None:
    """Processes killed at random with units in flight lose nothing that was committed, double nothing, and leave
    nothing stuck.
    """
    outcome = killed(folder, tmp_path, KILLS)
    assert KILLS == sum(outcome.values())


def killed(folder: Path, place: Path, times: int) -> Counter[str]:
    """Kill so many processes, and look at the queues after each; returns at which steps they were killed."""
    steps, log, outcome = place / "step", place / "log", Counter[str]()
    chosen = random.Random()  # noqa: S311
    log.write_bytes(b"")
    for turn in range(times):
        steps.write_bytes(b"\0")
        before = log.stat().st_size
        command = [sys.executable, "-m", "tests.engine.mq.kill_worker", str(folder), str(log), str(steps)]
        process = subprocess.Popen(command)  # noqa: S603
        end = time.monotonic() + 30
        while b"ready" not in log.read_bytes()[before:]:
            assert time.monotonic() < end, "the process did not start"
            assert process.poll() is None
            time.sleep(0.005)
        time.sleep(chosen.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        outcome[("before the write", "between write and sync", "between sync and answer")[steps.read_bytes()[0]]] += 1
        if turn % 10 == 9 or turn == times - 1:
            assert [] == problems(log.read_text().splitlines(), held(folder))
            log.write_bytes(b"")
    assert [] == check(folder)
    return outcome


def counted(folder: Path, place: Path, seed: int, point: int) -> tuple[int, str]:
    """Kill a process at a write or sync of a workload; returns how many it came to, and where in a unit that was."""
    here, log = place / "counted", place / "said"
    shutil.rmtree(here, ignore_errors=True)
    shutil.copytree(folder, here)
    log.write_bytes(b"")
    seen: list[Call] = []

    def note(call: Call) -> bool:
        if call.path.startswith(str(place)):
            seen.append(call)
        return len(seen) <= point or not seen[-1].path.startswith(str(place))

    def run() -> None:
        lines = os.open(log, os.O_WRONLY | os.O_APPEND)
        with QueueManager.open(here) as queues:
            work_on(queues, lambda line: os.write(lines, (line + "\n").encode()), 12, seed, 1)

    traced(run, note)
    assert [] == problems(log.read_text().splitlines(), held(here)), f"seed {seed}, write {point}"
    return len(seen), where(seen)


def where(seen: list[Call]) -> str:
    """Returns where in a unit a process was that was about to make the last of these calls."""
    store = [call for call in seen if "/store/data.mdb" in call.path]
    last = seen[-1]
    if "/store/data.mdb" not in last.path:
        return "between sync and answer" if store and store[-1].synced else "before the write"
    before = store[-2] if len(store) > 1 else None
    return "before the write" if before is None or before.synced else "between write and sync"


def test_kills_at_counted_writes(folder: Path, tmp_path: Path) -> None:
    """A process killed before any of its writes and syncs keeps every promise, whichever it is."""
    outcome, done, seed = Counter[str](), 0, 0
    while done < POINTS:
        seed, point, reached = seed + 1, 0, 1
        while point < reached and done < POINTS:
            reached, place = counted(folder, tmp_path, seed, point)
            outcome[place] += 1
            done, point, reached = done + 1, point + STEP, reached + STEP * (reached > point)
    assert POINTS == sum(outcome.values())
    assert {"before the write", "between write and sync", "between sync and answer"} == set(outcome)


def test_power_failures(folder: Path, tmp_path: Path) -> None:
    """Whatever of the writes since the last sync is on the disk, in whole or in part, every promise is kept."""
    chosen, cuts = random.Random(7), 0  # noqa: S311
    for seed in range(1, CUTS):
        said, calls = tmp_path / "said", list[Call]()
        said.write_bytes(b"")
        here = tmp_path / "QM2"
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(folder, here)
        first = (here / "store" / "data.mdb").read_bytes()

        def run(here: Path = here, said: Path = said, seed: int = seed) -> None:
            lines = os.open(said, os.O_WRONLY | os.O_APPEND)
            with QueueManager.open(here) as queues:
                work_on(queues, lambda line: os.write(lines, (line + "\n").encode()), 15, seed, 1)

        def note(call: Call, calls: list[Call] = calls) -> bool:
            calls.append(call)
            return True

        assert traced(run, note) == 0
        for _ in range(min(20, CUTS - cuts)):
            cut = chosen.randrange(len(calls))
            image, lines = image_of(first, calls[:cut], said, chosen)
            shutil.rmtree(here)
            shutil.copytree(folder, here)
            (here / "store" / "data.mdb").write_bytes(image)
            assert [] == check(here), f"seed {seed}, cut {cut}" if cuts % 10 == 0 else ""
            assert [] == problems(lines, held(here)), f"seed {seed}, cut {cut}"
            cuts += 1
        if cuts >= CUTS:
            return


def image_of(first: bytes, calls: list[Call], said: Path, chosen: random.Random) -> tuple[bytes, list[str]]:
    """Returns a file as power failing behind these calls may leave it, and what had been said until then."""
    image, unsynced, lines = bytearray(first), list[Call](), list[str]()
    for call in calls:
        if call.path == str(said):
            lines += call.data.decode().splitlines()
        elif not call.path.endswith("/store/data.mdb"):
            continue
        elif call.kind == "sync":
            for one in unsynced:
                write(image, one.offset, one.data)
            unsynced = []
        elif call.synced:
            write(image, call.offset, call.data)
        else:
            unsynced.append(call)
    chosen.shuffle(unsynced)
    for one in unsynced:
        kept = chosen.choice((0, 1, len(one.data) // 512 // 2, len(one.data) // 512)) * 512
        write(image, one.offset, one.data[:kept])
    return bytes(image), lines


def write(image: bytearray, offset: int, data: bytes) -> None:
    if len(image) < offset + len(data):
        image.extend(bytes(offset + len(data) - len(image)))
    image[offset : offset + len(data)] = data
