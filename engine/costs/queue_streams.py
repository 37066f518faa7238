"""The benchmarks of copies: streams and publications, their bodies compressed, what counts them; each beside none."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from engine.costs.measuring import Measured, Program, cost_beside, cpu, divided, figure, in_turn, rate, rates_beside
from engine.costs.queue_programs import BODY, KIB, LASTING, MQSTR, SECONDS, TOLERANCE, committing, lasting, passing, row
from engine.descriptor import Descriptor
from engine.mq import QueueManager

MANY: Final = 1_000
FEW: Final = ((2, 0.50, 0.52), (7, 0.19, 0.21))  # subscribers; the rates that are wanted beside a put to one queue
COMPRESSIBLE: Final = (0, 10, 50, 90)  # parts of bodies in a hundred
_PAIRS: Final = 40
_TIMES: Final = 5_000  # of one of forty pairs
_ORDERS: Final = "costs/orders"
_TOPIC: Final = "costs/streams"
_DEFINED: Final = f"""DEFINE QL(Q)
DEFINE QL(S1)
DEFINE QL(S2)
DEFINE QL(A)
DEFINE QL(B)
DEFINE QL(BEST) STREAMQ(S1)
DEFINE QL(MUST) STREAMQ(S2) STRMQOS(MUSTDUP)
DEFINE SUB(A) TOPICSTR('{_TOPIC}') DEST(A)
DEFINE SUB(B) TOPICSTR('{_TOPIC}') DEST(B)
"""
_READ: Final[Mapping[str, tuple[str, ...]]] = {
    "none": ("Q",),
    "BESTEF": ("BEST", "S1"),
    "MUSTDUP": ("MUST", "S2"),
    "published": ("A", "B"),
}
_RATES: Final = (  # what is measured, beside what, and the rates that are wanted, non-persistent and persistent
    ("stream BESTEF beside none", "BESTEF", "none", 0.61, 0.63),
    ("stream MUSTDUP beside BESTEF", "MUSTDUP", "BESTEF", 0.85, 0.90),
    ("stream beside publication to 2 subscribers", "BESTEF", "published", 1.20, 1.20),
)


def publications() -> Iterator[Measured]:
    """Deliveries to many subscribers, and few of them beside a message that is put and got once; in memory."""
    yield deliveries()
    for subscribers, rate_, _ in FEW:
        queues = QueueManager("Q")
        subscribed(queues, subscribers)
        published, put = (partial(_delivered, queues.work(), count) for count in (subscribers, 0))
        name = f"publication to {subscribers} subscribers, beside put and get"
        yield cost_beside(row(name, TOLERANCE / rate_), put, published)


def subscribed(queues: QueueManager, count: int) -> None:
    """Let so many queues subscribe, with as many subscriptions to other topics beside."""
    for number in range(count):
        queues.define("QLOCAL", f"S{number}", {}, replace=True)
        queues.define("SUB", f"S{number}", {"TOPICSTR": "costs/#", "DEST": f"S{number}"}, replace=True)
        queues.define("SUB", f"OTHER{number}", {"TOPICSTR": f"other/{number}", "DEST": f"S{number}"}, replace=True)


def deliveries() -> Measured:
    """Messages of 1 KiB to 1,000 subscribers, published, committed and got: how many a second of the processor."""
    queues, body = QueueManager(), bytes(KIB)
    subscribed(queues, MANY)
    work = queues.work()

    def publish() -> None:
        work.publish(_ORDERS, MQSTR, body)
        work.commit()

    def delivered() -> float:
        found = MANY / cpu(publish, 10)
        for number in range(MANY):
            while work.get(f"S{number}") is not None:
                pass
        work.commit()
        return found

    found = in_turn({"own": delivered}, 10)["own"]
    return figure(row(f"deliveries to {MANY:,} subscribers", 300_000.0, "/s", at_least=True), found)


def _delivered(work: Any, subscribers: int) -> None:
    """Publish a message that each of some subscribers gets, or put it and get it."""
    if subscribers:
        work.publish(_ORDERS, MQSTR, BODY)
    else:
        work.put("Q", MQSTR, BODY)
    work.commit()
    for queue in [f"S{number}" for number in range(subscribers)] or ["Q"]:
        work.get(queue)
    work.commit()


def durable_publications(folder: Path) -> Iterator[Measured]:
    """Persistent publications of 2 KiB to some subscribers beside puts to one queue, each a unit of work."""
    with lasting(folder, "Q") as queues:
        work = queues.work()
        for subscribers, _, least in FEW:
            subscribed(queues, subscribers)
            names = ("Q", *(f"S{number}" for number in range(subscribers)))
            programs = {topic: committing(work, "Q", topic=topic, own=LASTING) for topic in ("", _ORDERS)}
            rates = in_turn({topic: partial(_rate, queues, run, names) for topic, run in programs.items()})
            name = f"persistent publication to {subscribers} subscribers, beside a put"
            yield rates_beside(row(name, least), rates)


def _rate(queues: QueueManager, run: Program, names: tuple[str, ...]) -> float:
    """Returns how often a second a program runs, after which its queues are empty."""
    found = rate(run, SECONDS)
    for name in names:
        queues.purge(name)
    return found


def benchmarks() -> Iterator[Measured]:
    """Streams, and what counts messages, as far as the processor decides."""
    runs = _runs(QueueManager(), MQSTR, reads=True)
    for name, own, base, rate_, _ in _RATES:
        yield cost_beside(row(name, TOLERANCE / rate_), runs[base], runs[own])
    yield put_cost()
    yield counted("statistics at 1 s beside none", "ALTER QMGR STATIME(0.01) STATQ(ON)", 1 / 0.99)
    yield counted("accounting at 1 s beside none", "ALTER QMGR ACCTIME(0.01) ACCTQ(ON)", 1.11 * TOLERANCE)


def _runs(queues: QueueManager, own: Descriptor, *, reads: bool) -> dict[str, Program]:
    """Returns programs that put a message as each workload does, and read it off its queues where that is wanted."""
    for answer in queues.mqsc(_DEFINED):
        assert not answer.failed, answer
    return {
        name: committing(
            queues.work(), names[0], *(names if reads else ()), topic=_TOPIC if name == "published" else "", own=own
        )
        for name, names in _READ.items()
    }


def put_cost() -> Measured:
    """The processor's time of a put with a copy beside one without."""
    queues = QueueManager()
    runs = _runs(queues, MQSTR, reads=False)

    def spent(name: str) -> float:
        found = cpu(runs[name], 1_000)
        for queue in _READ[name]:
            queues.purge(queue)
        return found

    base, own = in_turn({name: partial(spent, name) for name in ("none", "BESTEF")}, 20).values()
    return figure(row("put with a copy beside one without", 2.1), divided(own, base), statistics.median(base) * 1e6)


def counted(name: str, command: str, bound: float) -> Measured:
    """Put, commit, get, commit while records are written, beside a queue manager that only counts; forty pairs."""
    with QueueManager("Q") as off, QueueManager("Q") as on:
        assert not on.mqsc(command)[0].failed
        rates: dict[str, list[float]] = {"off": [], "on": []}
        runs = {"off": passing(off), "on": passing(on)}
        for pair in range(_PAIRS):
            for side in ("off", "on") if pair % 2 else ("on", "off"):
                rates[side].append(cpu(runs[side], _TIMES))
    return figure(row(name, bound), divided(rates["on"], rates["off"]), 1e6 * statistics.median(rates["off"]))


def durable(folder: Path) -> Iterator[Measured]:
    """Persistent messages of 2 KiB, each put a unit of work on the disk with its copies; and stored compressed."""
    with lasting(folder / "STREAMS") as queues:
        runs = _runs(queues, LASTING, reads=False)
        rates = in_turn({name: partial(_rate, queues, run, _READ[name]) for name, run in runs.items()})
    for name, own, base, _, least in _RATES:
        yield rates_beside(row(f"persistent {name}", least), {base: rates[base], own: rates[own]})
    for part, bound in ((50, 0.53), (90, 0.15)):
        bodies = [compressible(100 * KIB, part, seed) for seed in range(100)]
        plain, packed = (_stored(folder / f"{codec}{part}", codec, bodies) for codec in ("NONE", "ZLIBFAST"))
        yield figure(row(f"stored bytes of bodies that are {part} % compressible", bound), [packed / plain])


def compressible(size: int, part: int, seed: int) -> bytes:
    """Returns a body of which so many of a hundred bytes are always the same.

    >>> len(compressible(1_000, 50, 1)), compressible(100, 90, 1).count(b"x") >= 90
    (1000, True)
    """
    chosen = random.Random(seed)  # noqa: S311
    return b"".join(chosen.randbytes(100 - part) + b"x" * part for _ in range(size // 100))


def _stored(folder: Path, codec: str, bodies: list[bytes]) -> float:
    """Returns how many bytes the store of a new queue manager has more with bodies than without."""
    with lasting(folder, "Q") as queues:
        queues.alter("QMGR", "", {"COMPLOG": codec})
        assert queues.store is not None
        empty, work = queues.store.store.used(), queues.work()
        for body in bodies:
            work.put("Q", LASTING, body)
        work.commit()
        return queues.store.store.used() - empty
