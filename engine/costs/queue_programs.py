"""Programs on queues that several of the queues' benchmarks run, and the queue managers that they run on."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from engine.costs.measuring import Measured, Program, Row, rate_of_all, rates_beside
from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.work import Selection

KIB: Final = 1_024
SECONDS: Final = 0.4  # of one run of a workload
TOLERANCE: Final = 1.06  # between runs, as the reports have it
MQSTR: Final = Descriptor(format="MQSTR")
LASTING: Final = Descriptor(format="MQSTR", persistence=1)
BODY: Final = bytes(2 * KIB)
_REPLIERS: Final = 4

Worker: TypeAlias = Callable[[float], int]  # told when to end, by time.perf_counter; returns how much it did


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


def put_and_got(work: Any, selection: Selection, body: bytes = BODY) -> Program:
    """Returns a program that puts a message and gets what is selected, by its correlation id; outside units of work."""
    own = MQSTR._replace(correl_id=b"\2" * 24)

    def run() -> None:
        work.put("Q", own, body, syncpoint=False)
        assert work.get("Q", selection, syncpoint=False) is not None

    return run


def in_order(*calls: Program) -> Program:
    """Returns a program that makes some calls one after the other."""

    def run() -> None:
        for call in calls:
            call()

    return run


def putter(queues: QueueManager, number: int, unit: int = 1) -> Worker:
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


def put_together(queues: QueueManager, *workers: Worker) -> float:
    """Returns how many messages a second workers put together, after which all queues are empty."""
    found = rate_of_all(workers, SECONDS)
    emptied(queues)
    return found


def rated(rates: Mapping[str, list[float]], *rows: tuple[str, str, str, float]) -> Iterator[Measured]:
    """Yields a figure for each name: the rates of one program beside those of another, and the bound."""
    for name, own, base, bound in rows:
        yield rates_beside(Row(name, bound), {base: rates[base], own: rates[own]})


def round_trips(
    queues: Any, requesters: int, pairs: int = 1, *, own: Descriptor = MQSTR, body: bytes = BODY, units: bool = False
) -> float:
    """Returns the round trips a second of requesters with four repliers, over pairs of queues: Q0 and Q1, Q2 and Q3 ….

    Each step is a unit of work, or none is.
    """
    asking = iter(range(requesters - 1, -1, -1))  # how many still ask when one has ended
    repliers = [queues.work() for _ in range(_REPLIERS)]

    def put(work: Any, *message: Any) -> Descriptor:
        sent: Descriptor = work.put(*message, syncpoint=units)
        if units:
            work.commit()
        return sent

    def request(number: int, end: float) -> int:
        pair, work, done = number % pairs * 2, queues.work(), 0
        while time.perf_counter() < end:
            sent = put(work, f"Q{pair}", own, body)
            work.get(f"Q{pair + 1}", Selection(correl_id=sent.msg_id), syncpoint=units, wait=10.0)
            if units:
                work.commit()
            done += 1
        if not next(asking):
            for replier in repliers:
                replier.interrupt()
        return done

    def reply(number: int, _: float) -> int:
        pair, work = number % pairs * 2, repliers[number]
        while (asked := work.get(f"Q{pair}", syncpoint=units, wait=10.0)) is not None:
            put(work, f"Q{pair + 1}", own._replace(correl_id=asked.descriptor.msg_id), asked.body)
        return 0

    replying = [partial(reply, number) for number in range(_REPLIERS)]
    return rate_of_all([*replying, *(partial(request, number) for number in range(requesters))], SECONDS)


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
