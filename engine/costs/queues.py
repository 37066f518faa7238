"""The queues' benchmarks: the queue manager in one process beside bare programs, and beside itself at other depths."""

from __future__ import annotations

import collections
import os
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import lmdb

from engine.costs import publications, queue_stores, queue_workloads, securing, streams
from engine.costs.measuring import Measured, side_by_side
from engine.costs.sockets import through_the_socket
from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.mq.unit import Work
from engine.work import Selection

GROUP: Final = "queues"
ROUNDS: Final = 5
SECONDS: Final = 0.4  # of one run of a durable workload
DEPTH: Final = 100_000
_KIB: Final = 1_024
_MQSTR: Final = Descriptor(format="MQSTR")
_LASTING: Final = Descriptor(format="MQSTR", persistence=1)
Run = Callable[[float], float]


def benchmarks(depth: int = DEPTH, seconds: float = queue_stores.REUSE_SECONDS) -> Iterator[Measured]:
    """All of them: what is measured by CPU first, then what the disk has a part in, on a disk and not in memory.

    Deep queues have `depth` messages; the space of a file is watched for so many `seconds`.
    """
    yield put_and_get()
    yield body_sizes()
    yield from depths(depth)
    yield selector()
    yield expiry()
    yield from publications.benchmarks()
    yield from securing.benchmarks()
    yield from streams.benchmarks()
    yield from queue_workloads.benchmarks()
    folder = Path(tempfile.mkdtemp(prefix="penstock-costs-", dir="/var/tmp"))  # /tmp may be memory
    try:
        yield from durable(folder, depth)
        yield from queue_stores.benchmarks(folder / "WORKLOADS", seconds)
        yield from publications.durable(folder / "PUBLISHING")
        yield from streams.durable(folder / "STREAMING")
        yield from through_the_socket(folder)
    finally:
        shutil.rmtree(folder)


def put_and_get() -> Measured:
    """Put, commit, get, commit of 1 KiB, beside a program of lists and a dict that promises nothing."""
    own, body = QueueManager("Q").work(), bytes(_KIB)

    def ours() -> None:
        own.put("Q", _MQSTR, body)
        own.commit()
        own.get("Q")
        own.commit()

    return _ratio("put, commit, get, commit, 1 KiB", bare_queue(body), ours, 2.5)


def bare_queue(body: bytes) -> Callable[[], None]:
    """Returns a program that puts and gets a message as simply as can be: by priority, found by id, its id made."""
    waiting: list[collections.deque[Any]] = [collections.deque() for _ in range(10)]
    by_id: dict[bytes, Any] = {}
    prefix, numbers = b"AMQ QM".ljust(16), iter(range(1, 1 << 60))
    puts: list[Any] = []
    gets: list[Any] = []

    def commit() -> None:
        for message in puts:
            waiting[message[1].priority].append(message)
            by_id[message[1].msg_id] = message
        puts.clear()
        gets.clear()

    def run() -> None:
        number = next(numbers)
        named = _MQSTR._replace(msg_id=prefix + number.to_bytes(8), put_date="20261119", put_time="06070000")
        puts.append((number, named, body))
        commit()
        for line in reversed(waiting):
            if line:
                message = line.popleft()
                del by_id[message[1].msg_id]
                gets.append(message)
                break
        commit()

    return run


def body_sizes() -> Measured:
    """Put and get of 128 KiB beside 2 KiB: a body is handed on, and not copied."""
    own, small, large = QueueManager("Q").work(), bytes(2 * _KIB), bytes(128 * _KIB)

    def passed(body: bytes) -> Callable[[], None]:
        def run() -> None:
            own.put("Q", _MQSTR, body, syncpoint=False)
            own.get("Q", syncpoint=False)

        return run

    return _ratio("put and get, 128 KiB beside 2 KiB", passed(small), passed(large), 8.0)


def depths(depth: int) -> Iterator[Measured]:
    """Put, and get by id, at a depth of 100,000, or more, beside an empty queue."""
    shallow, deep = _filled(1), _filled(depth)
    bounds = (1.06, 1.2) if depth <= DEPTH else (1.1, 1.4)
    for name, act, bound in zip(("put", "get by correlation id"), (_put_one, _get_one), bounds, strict=True):
        yield _ratio(f"{name} at depth {depth:,} beside 0", act(shallow), act(deep), bound)


def _filled(depth: int) -> Work:
    work = QueueManager("Q").work()
    for number in range(depth):
        work.put("Q", _MQSTR._replace(correl_id=number.to_bytes(24)), b"", syncpoint=False)
    work.get("Q", Selection(correl_id=bytes(23) + b"\1"))
    work.back_out()
    return work


def _put_one(work: Work) -> Callable[[], None]:
    """Returns a program that puts a message, and undoes it so that the depth stays."""
    own, body = _MQSTR._replace(correl_id=b"\1" * 24), bytes(_KIB)

    def run() -> None:
        work.put("Q", own, body)
        work.back_out()

    return run


def _get_one(work: Work) -> Callable[[], None]:
    """Returns a program that gets a message by its id, and puts another of that id."""
    own, body, wanted = _MQSTR._replace(correl_id=b"\2" * 24), bytes(_KIB), Selection(correl_id=b"\2" * 24)

    def run() -> None:
        work.put("Q", own, body, syncpoint=False)
        work.get("Q", wanted, syncpoint=False)

    return run


def selector() -> Measured:
    """A message that a selector passes over, beside a get: the first scan; later ones look at nothing twice."""
    queues = QueueManager("Q")
    putting, count = queues.work(), 1_000
    for _ in range(count):
        putting.put("Q", _MQSTR, b"", syncpoint=False)
    own, wanted = QueueManager("Q").work(), Selection(selector="JMSPriority > 4")

    def passed() -> None:
        queues.work().get("Q", wanted)

    def get() -> None:
        for _ in range(count):
            own.put("Q", _MQSTR, b"", syncpoint=False)
            own.get("Q", syncpoint=False)

    return _ratio("a message that a selector passes, beside put and get", get, passed, 1.0)


def expiry() -> Measured:
    """A message that the expiry task removes, beside a put."""
    now = [1_000.0]
    queues, count = QueueManager("Q", clock=lambda: now[0]), 1_000
    work = queues.work()

    def put(expires: int) -> None:
        own = _MQSTR._replace(expiry=expires)
        for _ in range(count):
            work.put("Q", own, b"", syncpoint=False)

    spent: dict[str, list[float]] = {"put": [], "expire": []}
    for _ in range(4 * ROUNDS):
        spent["put"].append(_cpu(lambda: put(1)))
        now[0] += 1
        spent["expire"].append(_cpu(lambda: queues.expire(count)))
    ratios = [own / base for own, base in zip(spent["expire"], spent["put"], strict=True)]
    beside = statistics.median(spent["put"]) / count * 1e6
    return _measured("a message that expires, beside a put", ratios, 0.89, beside)


def durable(folder: Path, depth: int) -> Iterator[Measured]:
    """Yields the figures of persistent messages: beside bare LMDB, by committers, by units, and after a kill."""
    QueueManager.create(folder / "QM")
    with QueueManager.open(folder / "QM") as queues:
        for number in range(16):
            queues.define("QLOCAL", f"Q{number}", {})
        bare = lmdb.open(str(folder / "bare"), map_size=1 << 32)
        runs: dict[str, Run] = {
            "bare": lambda seconds: _bare(bare, seconds),
            "one": lambda seconds: putting(queues, 1, 1, seconds),
            "nine": lambda seconds: putting(queues, 9, 1, seconds),
            "units of ten": lambda seconds: putting(queues, 1, 10, seconds),
            "outside": lambda seconds: putting(queues, 1, 0, seconds),
        }
        rates: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(ROUNDS):
            for name, run in runs.items():
                rates[name].append(run(SECONDS))
            for number in range(16):
                queues.purge(f"Q{number}")
        bare.close()
    for name, own, base, bound in (
        ("persistent put and commit, beside bare LMDB", "one", "bare", 0.7),
        ("9 committers beside 1", "nine", "one", 4.0),
        ("units of 10 beside units of 1, messages", "units of ten", "one", 4.0),
        ("persistent put outside a unit beside one in it", "outside", "one", 0.95),
    ):
        ratios = [ours / theirs for ours, theirs in zip(rates[own], rates[base], strict=True)]
        yield _measured(name, ratios, bound, 1e6 / statistics.median(rates[base]), at_least=True)
    yield index_size(folder)
    yield from restart(folder, depth)


def putting(queues: QueueManager, committers: int, unit: int, seconds: float) -> float:
    """Returns how many messages of 2 KiB a second so many threads commit, each to its queue; 0 a unit: outside one."""
    body, done, end = bytes(2 * _KIB), list[int](), time.perf_counter() + seconds

    def run(number: int) -> None:
        work, count = queues.work(), 0
        while time.perf_counter() < end:
            for _ in range(unit or 1):
                work.put(f"Q{number}", _LASTING, body, syncpoint=unit > 0)
                count += 1
            work.commit()
        done.append(count)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(committers)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - begun)


def _bare(environment: Any, seconds: float) -> float:
    """Returns how many messages of 2 KiB a second LMDB itself commits."""
    body, number, begun = bytes(2 * _KIB), 0, time.perf_counter()
    while time.perf_counter() < begun + seconds:
        with environment.begin(write=True) as transaction:
            transaction.put(os.urandom(8), body)
        number += 1
    return number / (time.perf_counter() - begun)


def index_size(folder: Path) -> Measured:
    """The bytes of the indexes by order, message id, correlation id and expiry for each of 20,000 messages."""
    count = 20_000
    _fill(folder / "sized", count, expiry=36_000, correl=True)
    with QueueManager.open(folder / "sized") as queues:
        assert queues.store is not None
        size = queues.store.store.index_size() / count
    return Measured(GROUP, "bytes of index a message", None, size, 272.0, "bytes", size, size)


def restart(folder: Path, deepest: int) -> Iterator[Measured]:
    """The first get after a kill, at a depth of 100,000, or more, beside 1,000, and what each message more takes."""
    depths = {1_000: list[float](), deepest: list[float]()}
    for depth in depths:
        _fill(folder / f"deep{depth}", depth)
    for _ in range(2 * ROUNDS):
        for depth, taken in depths.items():
            begun = time.perf_counter()
            queues = QueueManager.open(folder / f"deep{depth}")
            queues.work().get("Q")
            taken.append(time.perf_counter() - begun)
            assert queues.store is not None
            queues.store.close(in_order=False)
    ratios = [own / base for own, base in zip(depths[deepest], depths[1_000], strict=True)]
    beside = statistics.median(depths[1_000]) * 1e6
    yield _measured(f"first get after a kill, depth {deepest:,} beside 1,000", ratios, 1.5, beside)
    each = [max(0.0, own - base) * 1e6 / deepest for own, base in zip(depths[deepest], depths[1_000], strict=True)]
    low, middle, high = statistics.quantiles(each, n=4)
    yield Measured(GROUP, "first get after a kill, each message", None, middle, 35.0, "µs", low, high)


def _fill(folder: Path, depth: int, *, expiry: int = -1, correl: bool = False) -> None:
    QueueManager.create(folder)
    with QueueManager.open(folder) as queues:
        queues.define("QLOCAL", "Q", {})
        work = queues.work()
        for number in range(depth):
            own = _LASTING._replace(expiry=expiry, correl_id=os.urandom(24) if correl else bytes(24))
            work.put("Q", own, bytes(100))
            if number % 1_000 == 999:
                work.commit()
        work.commit()


def _cpu(run: Callable[[], object]) -> float:
    begun = time.process_time()
    run()
    return time.process_time() - begun


def _ratio(name: str, base: Callable[[], None], own: Callable[[], None], bound: float) -> Measured:
    seen = side_by_side({"base": base, "own": own})
    ratio, timing = seen.ratios["own"], seen.timings["own"]
    return Measured(
        GROUP, name, timing.median, ratio.median, bound, "x", ratio.low, ratio.high, seen.timings["base"].median
    )


def _measured(name: str, ratios: list[float], bound: float, beside: float, *, at_least: bool = False) -> Measured:
    low, middle, high = statistics.quantiles(ratios, n=4)
    return Measured(GROUP, name, None, middle, bound, "x", low, high, beside, at_least)
