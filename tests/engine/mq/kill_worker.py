"""A workload whose every step is said before and after it is done, and what a queue manager must hold when it ends.

A line is a letter and a number: `p` and `g` before a message is put or got, `P` and `G` after the commit of either, and
`s` before one is put where it is copied.
Run as a program, with a folder, a log and a file for its step, it works with several threads until it is killed.
"""

from __future__ import annotations

import mmap
import os
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import NamedTuple

from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.mq.unit import Work
from engine.work import Selection

QUEUES = ("A", "B", "C")
STREAMED, COPIES = "D", "E"  # each message that is put on the one is copied to the other, and stays there
THREADS = 4
STEPS = {"idle": 0, "written": 1, "synced": 2}
_SIZES = (10, 10, 900, 2_500, 9_000)


def work_on(queues: QueueManager, say: Callable[[str], None], turns: int, seed: int, first: int) -> None:
    """Put, move, get and back out messages, and say so."""
    chosen, work, number = random.Random(seed), queues.work(), first  # noqa: S311
    for _ in range(turns):
        act = chosen.randrange(10)
        if act < 4:
            numbers = list(range(number, number + chosen.randrange(1, 4)))
            number = numbers[-1] + 1
            for one in numbers:
                queue = chosen.choice((*QUEUES, STREAMED))
                say(f"p{one}\ns{one}" if queue == STREAMED else f"p{one}")
                own = Descriptor(persistence=1, priority=chosen.randrange(3), correl_id=one.to_bytes(24))
                work.put(queue, own, b"%d " % one + bytes(chosen.choice(_SIZES)))
            work.commit()
            say("".join(f"P{one}\n" for one in numbers).rstrip())
        elif act < 7:
            _move(work, chosen)
        elif act < 8:
            work.get(chosen.choice((*QUEUES, STREAMED)))
            work.back_out()
        else:
            _take(work, chosen, say)


def _move(work: Work, chosen: random.Random) -> None:
    arrival = work.get(chosen.choice(QUEUES))
    if arrival is not None:
        work.put(chosen.choice(QUEUES), arrival.descriptor, arrival.body)
        work.commit()


def _take(work: Work, chosen: random.Random, say: Callable[[str], None]) -> None:
    wanted = Selection(selector="JMSPriority = 1") if chosen.randrange(4) == 0 else None
    arrival = work.get(chosen.choice((*QUEUES, STREAMED)), wanted)
    if arrival is None:
        return
    one = int(arrival.body.split()[0])
    say(f"g{one}")
    work.commit()
    say(f"G{one}")


class Held(NamedTuple):
    """The messages that were found, and the copies."""

    found: list[int]
    copies: list[int]


def problems(said: list[str], held: Held) -> list[str]:
    """Returns which promises the messages that are found break; `said` are the lines of the workload."""
    counts = Counter(held.found)
    told = {letter: {int(line[1:]) for line in said if line[:1] == letter} for letter in "pPgGs"}
    wrong = [f"message {one} is there {many} times" for one, many in counts.items() if many > 1]
    wrong += [f"message {one} was lost" for one in told["P"] - told["g"] if not counts[one]]
    wrong += [f"message {one} was got, and is there again" for one in told["G"] if counts[one]]
    wrong += [f"message {one} was never put" for one in counts if one not in told["p"]]
    copies, there = Counter(held.copies), {one for one in counts if one in told["s"]} | (told["G"] & told["s"])
    wrong += [f"message {one} has {many} copies" for one, many in copies.items() if many > 1]
    wrong += [f"message {one} has no copy" for one in there if not copies[one]]
    return wrong + [f"message {one} has a copy, and is not there" for one in copies if one not in there | told["g"]]


def defined(queues: QueueManager) -> None:
    """Define the queues of the workload."""
    for queue in (*QUEUES, COPIES):
        queues.define("QLOCAL", queue, {})
    queues.define("QLOCAL", STREAMED, {"STREAMQ": COPIES})


def held(folder: Path) -> Held:
    """Returns the messages of a folder, and takes them off, so that none is stuck."""
    with QueueManager.open(folder, wait=5) as queues:
        work, found = queues.work(), Held([], [])
        for queue in (*QUEUES, STREAMED, COPIES):
            while (arrival := work.get(queue)) is not None:
                found[queue == COPIES].append(int(arrival.body.split()[0]))
            assert queues.depth(queue) == 0
        work.commit()
    return found


def main(folder: str, log: str, step: str) -> None:
    """Work until killed."""
    with open(step, "r+b") as file:
        steps = mmap.mmap(file.fileno(), 1)
    lines = os.open(log, os.O_WRONLY | os.O_APPEND)
    queues = QueueManager.open(folder, wait=5)
    assert queues.store is not None

    def note(name: str) -> None:
        steps[0] = STEPS[name]

    queues.store.store.journal.watch = note
    numbers = count(int.from_bytes(os.urandom(5)) << 20, 1 << 20)

    def say(line: str) -> None:
        os.write(lines, (line + "\n").encode())

    def run() -> None:
        while True:
            work_on(queues, say, 50, random.randrange(1 << 30), next(numbers))  # noqa: S311

    for _ in range(THREADS - 1):
        threading.Thread(target=run, daemon=True).start()
    say("ready")
    run()


if __name__ == "__main__":
    main(*sys.argv[1:])
