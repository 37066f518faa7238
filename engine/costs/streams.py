"""The benchmarks of streams, of statistics and accounting, and of compressed bodies, each on beside off."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from engine.costs.measuring import Measured, side_by_side
from engine.descriptor import Descriptor
from engine.mq import QueueManager

GROUP: Final = "queues"
ROUNDS: Final = 5
PAIRS: Final = 40
SECONDS: Final = 0.4  # of one run of a durable workload
TIMES: Final = 5_000  # of one of forty pairs
_TOLERANCE: Final = 1.06  # between runs, as the reports have it
_KIB: Final = 1_024
_MQSTR: Final = Descriptor(format="MQSTR")
_LASTING: Final = Descriptor(format="MQSTR", persistence=1)
COMPRESSIBLE: Final = (0, 10, 50, 90)  # parts of bodies in a hundred
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
Run = Callable[[], object]
_BODY: Final = bytes(2 * _KIB)
_RATES: Final = (  # what is measured, beside what, and the rates that are wanted, non-persistent and persistent
    ("stream BESTEF beside none", "BESTEF", "none", 0.61, 0.63),
    ("stream MUSTDUP beside BESTEF", "MUSTDUP", "BESTEF", 0.85, 0.90),
    ("stream beside publication to 2 subscribers", "BESTEF", "published", 1.20, 1.20),
)


def benchmarks() -> Iterator[Measured]:
    """Those that the processor decides."""
    yield from copies()
    yield put_cost()
    yield counted("statistics at 1 s beside none", "ALTER QMGR STATIME(0.01) STATQ(ON)", 1 / 0.99)
    yield counted("accounting at 1 s beside none", "ALTER QMGR ACCTIME(0.01) ACCTQ(ON)", 1.11 * _TOLERANCE)


def durable(folder: Path) -> Iterator[Measured]:
    """Those that the disk has a part in."""
    yield from lasting_copies(folder / "STREAMS")
    yield from compressed(folder / "COMPRESSED")


def _runs(queues: QueueManager, own: Descriptor, *, reads: bool) -> dict[str, Run]:
    """Returns programs that put a message as each workload does, and read it off its queues where that is wanted."""
    for answer in queues.mqsc(_DEFINED):
        assert not answer.failed, answer
    return {name: _run(queues, name, names if reads else (), own) for name, names in _READ.items()}


def _run(queues: QueueManager, name: str, read: tuple[str, ...], own: Descriptor) -> Run:
    work, queue = queues.work(), _READ[name][0]

    def run() -> None:
        if name == "published":
            work.publish(_TOPIC, own, _BODY)
        else:
            work.put(queue, own, _BODY)
        work.commit()
        for one in read:
            work.get(one)
            work.commit()

    return run


def copies() -> Iterator[Measured]:
    """Messages of 2 KiB that are put and got, each queue by a reader of its own, in memory."""
    runs = _runs(QueueManager(), _MQSTR, reads=True)
    for name, own, base, rate, _ in _RATES:
        yield _ratio(name, runs[base], runs[own], _TOLERANCE / rate)


def put_cost() -> Measured:
    """The processor's time of a put with a copy beside one without."""
    queues = QueueManager()
    runs = _runs(queues, _MQSTR, reads=False)
    spent: dict[str, list[float]] = {"none": [], "BESTEF": []}
    for _ in range(4 * ROUNDS):
        for name, taken in spent.items():
            begun = time.process_time()
            for _ in range(1_000):
                runs[name]()
            taken.append(time.process_time() - begun)
            for queue in _READ[name]:
                queues.purge(queue)
    ratios = [own / base for own, base in zip(spent["BESTEF"], spent["none"], strict=True)]
    return _measured("put with a copy beside one without", ratios, 2.1, statistics.median(spent["none"]) * 1e3)


def counted(name: str, command: str, bound: float) -> Measured:
    """Put, commit, get, commit while records are written, beside a queue manager that only counts; forty pairs."""
    with QueueManager("Q") as off, QueueManager("Q") as on:
        assert not on.mqsc(command)[0].failed
        rates: dict[str, list[float]] = {"off": [], "on": []}
        runs = {"off": _passed(off), "on": _passed(on)}
        for pair in range(PAIRS):
            for side in ("off", "on") if pair % 2 else ("on", "off"):
                rates[side].append(_spent(runs[side]))
    ratios = [own / base for own, base in zip(rates["on"], rates["off"], strict=True)]
    return _measured(name, ratios, bound, 1e6 * statistics.median(rates["off"]))


def _spent(run: Run) -> float:
    """Returns the processor's time that a program takes once, all threads together."""
    begun = time.process_time()
    for _ in range(TIMES):
        run()
    return (time.process_time() - begun) / TIMES


def _passed(queues: QueueManager) -> Run:
    work = queues.work()

    def run() -> None:
        work.put("Q", _MQSTR, _BODY)
        work.commit()
        work.get("Q")
        work.commit()

    return run


def lasting_copies(folder: Path) -> Iterator[Measured]:
    """Persistent messages of 2 KiB, each put a unit of work on the disk with its copies."""
    QueueManager.create(folder)
    rates: dict[str, list[float]] = {name: [] for name in _READ}
    with QueueManager.open(folder) as queues:
        runs = _runs(queues, _LASTING, reads=False)
        for _ in range(ROUNDS):
            for name, run in runs.items():
                rates[name].append(_rate(run, SECONDS))
                for queue in _READ[name]:
                    queues.purge(queue)
    for name, own, base, _, rate in _RATES:
        ratios = [ours / theirs for ours, theirs in zip(rates[own], rates[base], strict=True)]
        beside = 1e6 / statistics.median(rates[base])
        yield _measured(f"persistent {name}", ratios, rate, beside, at_least=True)


def compressed(folder: Path) -> Iterator[Measured]:
    """Bodies of 100 KiB in the store by ZLIBFAST beside plain ones, by the part of them that can be compressed."""
    sizes: dict[tuple[str, int], float] = {}
    for part in (50, 90):
        bodies = [compressible(100 * _KIB, part, seed) for seed in range(100)]
        for codec in ("NONE", "ZLIBFAST"):
            sizes[codec, part] = _stored(folder / f"{codec}{part}", codec, bodies)
    for part, bound in ((50, 0.53), (90, 0.15)):
        ratio = sizes["ZLIBFAST", part] / sizes["NONE", part]
        yield _measured(f"stored bytes of bodies that are {part} % compressible", [ratio] * 3, bound, None)


def compressible(size: int, part: int, seed: int) -> bytes:
    """Returns a body of which so many of a hundred bytes are always the same.

    >>> len(compressible(1_000, 50, 1)), compressible(100, 90, 1).count(b"x") >= 90
    (1000, True)
    """
    chosen = random.Random(seed)  # noqa: S311
    return b"".join(chosen.randbytes(100 - part) + b"x" * part for _ in range(size // 100))


def _stored(folder: Path, codec: str, bodies: list[bytes]) -> float:
    """Returns how many bytes the store of a new queue manager has more with bodies than without."""
    QueueManager.create(folder)
    with QueueManager.open(folder) as queues:
        queues.define("QLOCAL", "Q", {})
        queues.alter("QMGR", "", {"COMPLOG": codec})
        assert queues.store is not None
        empty, work = queues.store.store.used(), queues.work()
        for body in bodies:
            work.put("Q", _LASTING, body)
        work.commit()
        return queues.store.store.used() - empty


def _rate(run: Run, seconds: float) -> float:
    """Returns how often a second a program runs."""
    count, begun = 0, time.perf_counter()
    while time.perf_counter() < begun + seconds:
        run()
        count += 1
    return count / (time.perf_counter() - begun)


def _ratio(name: str, base: Run, own: Run, bound: float) -> Measured:
    seen = side_by_side({"base": base, "own": own})
    ratio, timing = seen.ratios["own"], seen.timings["own"]
    beside = seen.timings["base"].median
    return Measured(GROUP, name, timing.median, ratio.median, bound, "x", ratio.low, ratio.high, beside)


def _measured(
    name: str, ratios: list[float], bound: float, beside: float | None, *, at_least: bool = False
) -> Measured:
    low, middle, high = statistics.quantiles(ratios, n=4)
    return Measured(GROUP, name, None, middle, bound, "x", low, high, beside, at_least)
