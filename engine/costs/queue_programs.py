"""Programs on queues that several of the queues' benchmarks run, and the queue managers that they run on."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from engine.costs.measuring import Program, Row
from engine.descriptor import Descriptor
from engine.mq import QueueManager

KIB: Final = 1_024
SECONDS: Final = 0.4  # of one run of a workload
TOLERANCE: Final = 1.06  # between runs, as the reports have it
MQSTR: Final = Descriptor(format="MQSTR")
LASTING: Final = Descriptor(format="MQSTR", persistence=1)
BODY: Final = bytes(2 * KIB)
row: Final = partial(Row, "queues")


def passing(manager: QueueManager, *, user: str = "", body: bytes = BODY, own: Descriptor = MQSTR) -> Program:
    """Returns a program that puts a message and gets it, in two units, as a user who is checked, or the owner."""
    return committing(manager.work(user, "costs", held=bool(user)), "Q", "Q", body=body, own=own)


def committing(
    work: Any, to: str, *reads: str, topic: str = "", body: bytes = BODY, own: Descriptor = MQSTR
) -> Program:
    """Returns a program that puts or publishes a message and gets what came on queues, each step a unit of work."""

    def run() -> None:
        if topic:
            work.publish(topic, own, body)
        else:
            work.put(to, own, body)
        work.commit()
        for queue in reads:
            work.get(queue)
            work.commit()

    return run


def putter(queues: QueueManager, number: int, unit: int = 1) -> Callable[[float], int]:
    """Returns what puts persistent messages to a queue until it is told to end, so many a unit; 0 for outside units."""

    def run(end: float) -> int:
        work, done = queues.work(), 0
        while time.perf_counter() < end:
            for _ in range(unit or 1):
                work.put(f"Q{number}", LASTING, BODY, syncpoint=unit > 0)
                done += 1
            work.commit()
        return done

    return run


def emptied(queues: QueueManager) -> None:
    """Purge all queues."""
    for name in queues.names():
        queues.purge(name)


@contextmanager
def lasting(folder: Path, *names: str) -> Iterator[QueueManager]:
    """Opens a new queue manager in a folder, with these queues."""
    QueueManager.create(folder)
    with QueueManager.open(folder) as queues:
        for name in names:
            queues.define("QLOCAL", name, {})
        yield queues


@contextmanager
def on_disk() -> Iterator[Path]:
    """Gives a folder that is on a disk, where /tmp may be memory; it is removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="penstock-costs-", dir="/var/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def filled(queues: QueueManager, count: int, own: Descriptor = MQSTR, body: bytes = b"", *, queue: str = "Q") -> None:
    """Put so many messages, outside units of work where they do not last."""
    work = queues.work()
    for number in range(count):
        work.put(queue, own, body, syncpoint=own.persistence > 0)
        if number % 1_000 == 999:
            work.commit()
    work.commit()
