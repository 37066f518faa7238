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
from tests.engine.mq.kill_worker import Held, Worker, defined, held, problems, publishing_flow
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


SOUND = Held([1], [], {"P.1": [2], "P.2": [2], "F.1": [], "F.2": []}, {0: [2]})
SAID = "u1.2 p1 t2 r0.2 P1 T2 R0.2"
BROKEN = (
    (SAID, SOUND, ""),
    (SAID, SOUND._replace(found=[]), "message 1 was lost"),
    (SAID, SOUND._replace(found=[1, 1]), "message 1 is there 2 times"),
    (SAID, SOUND._replace(found=[1, 3]), "message 3 was never put"),
    (SAID, SOUND._replace(topics={"P.1": [2]}), "message 2 has no copy (P.2)"),
    (SAID, SOUND._replace(topics={"P.1": [2], "P.2": [2, 2]}), "message 2 has 2 copies (P.2)"),
    (SAID, SOUND._replace(topics={"P.1": [2, 3], "P.2": [2, 3]}), "message 3 was never published"),
    (SAID, SOUND._replace(retained={}), "topic 0 retains nothing"),
    (SAID, SOUND._replace(retained={0: [1]}), "topic 0 retains [1], and not one of [2]"),
    (f"{SAID} t3 r0.3", SOUND._replace(retained={0: [3]}), "3 is retained, and has not been delivered"),
    (f"{SAID} k2 K2", SOUND, "message 2 has a copy, and is not there (P.2)"),
    (f"{SAID} g1 G1", SOUND, "message 1 was got, and is there again"),
    (f"{SAID} f1 F1", SOUND, "message 1 was published by a flow, and is still on a queue"),
    ("u1.2 p1 p2", Held([1], []), "of the unit 1.2 a part is there"),
    ("p1 s1 P1", Held([1], []), "message 1 has no copy (queue)"),
    ("p1 s1", Held([], [1]), "message 1 has a copy, and is not there (queue)"),
    ("p1 h1 P1", Held([1], [], {"F.1": [1]}), "message 1 has no copy (F.2)"),
    ("p1 d1 D1 P1", Held([1], [], decided={1: True}), ""),
    ("p1 d1 D1 P1", Held([1], []), "message 1 is kept, and its branch is decided as None"),
    ("p1 d1", Held([], [], decided={1: True}), "message 1 is not kept, and its branch is decided as True"),
    ("p1 d1 n1 N1", Held([], [], decided={1: False}), ""),
    ("p1 d1 n1 N1", Held([], []), "branch 1 was refused, and is decided as None"),
    ("p1 d1 n1 N1", Held([1], [], decided={1: False}), "message 1 was kept, and its branch refused"),
    ("p1", Held([1], [], decided={2: True}), "branch 2 was never to be decided"),
    ("p1 P1 f1", Held([1], [], {"P.1": [1], "P.2": [1]}), "message 1 is there 2 times"),
)


@pytest.mark.parametrize(("said", "held", "problem"), BROKEN)
def test_broken_promises_are_seen(said: str, held: Held, problem: str) -> None:
    """Of each promise that the workload holds a queue manager to, a broken one is named."""
    found = problems(said.split(), held)
    assert problem in found if problem else [] == found


def test_kills_of_started_processes(folder: Path, tmp_path: Path) -> None:
    """Processes killed at random with units in flight lose nothing that was committed, double nothing, and leave
    nothing stuck.
    """
    outcome = killed(folder, tmp_path, KILLS)
    assert KILLS == sum(outcome.values())
    assert len(outcome) > 1
    print(f"{KILLS} kills of started processes: {dict(outcome)}")


def killed(folder: Path, place: Path, times: int) -> Counter[str]:
    """Kill so many processes, and look at the queues after each; returns at which steps they were killed."""
    steps, log, outcome = place / "step", place / "log", Counter[str]()
    chosen = random.Random()  # noqa: S311
    log.write_bytes(b"")
    for turn in range(times):
        steps.write_bytes(b"\0")
        command = [sys.executable, "-m", "tests.engine.mq.kill_worker", str(folder), str(log), str(steps)]
        process = subprocess.Popen(command)
        end = time.monotonic() + 30
        while steps.read_bytes() == b"\0":  # units are in flight from then on
            assert time.monotonic() < end, "the process did not start"
            assert process.poll() is None
            time.sleep(0.005)
        time.sleep(chosen.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        outcome[("before the write", "between write and sync", "between sync and answer")[steps.read_bytes()[0]]] += 1
        if turn % 10 == 9 or turn == times - 1:
            assert [] == problems(log.read_text().splitlines(), held(folder))
            log.write_bytes(b"")
    assert [] == check(folder)
    return outcome


def counted(folder: Path, place: Path, seed: int, point: int) -> tuple[int, str]:
    """Kill a process at a write or sync of a workload; returns how many it came to, and where in a unit that was."""
    here, log, flow = place / "counted", place / "said", publishing_flow()
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
            Worker(queues, lambda line: os.write(lines, (line + "\n").encode()), flow, seed, 1).run(12)

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
    print(f"{POINTS} kills at counted writes: {dict(outcome)}")


def test_power_failures(folder: Path, tmp_path: Path) -> None:
    """Whatever of the writes since the last sync is on the disk, in whole or in part, every promise is kept."""
    chosen, cuts, flow = random.Random(7), 0, publishing_flow()  # noqa: S311
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
                Worker(queues, lambda line: os.write(lines, (line + "\n").encode()), flow, seed, 1).run(15)

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
