"""The workloads of MQ's performance reports on durable queues, which the disk has a part in."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import lmdb

from engine.costs.measuring import (
    Measured,
    Row,
    by_turns,
    divided,
    figure,
    in_turn,
    once_there,
    penstock,
    rate,
    rate_beside,
    rates_beside,
    rss_mib,
    time_beside,
)
from engine.costs.queue_programs import (
    BODY,
    KIB,
    LASTING,
    MQSTR,
    SECONDS,
    committing,
    filled,
    lasting,
    put_together,
    putter,
    rated,
    round_trips,
)
from engine.costs.queue_streams import COMPRESSIBLE, compressible, stored
from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.mq.client import Client
from engine.work import Selection

REUSE_SECONDS: Final = 10.0  # of request and reply on one file; the report's row takes 600
_TURNS: Final = 10  # of a file that has been used and of a new one
_NINE: Final = 9
_MANY: Final = 16
_SLOW: Final = 0.003  # seconds that a sync takes where it is slowed
_SIZES: Final = ((20, 6.5, 7.1), (200, 26.0, 11.8), (2_000, 17.0, 13.0))  # KiB, and bytes a second beside 2 KiB
_PER_SYNC: Final = 0.6
_WARM: Final = 50  # connections
_IDLE: Final = 400
_PER_CONNECTION: Final = 24_576.0  # bytes
_CLIENTS: Final = 200
_AGAIN: Final = 0.05  # seconds until a client that is not served tries again
_PAGE: Final = 4_295.0  # bytes of the file that a small message may take
_KINDS: Final = MappingProxyType({"non-persistent": MQSTR, "persistent": LASTING})


def benchmarks(folder: Path, depth: int, seconds: float) -> Iterator[Measured]:
    """All of them; deep queues have so many messages, and the space of a file is watched for so many seconds."""
    yield from committed(folder)
    yield index_size(folder)
    yield from restart(folder, depth)
    workloads = folder / "WORKLOADS"
    with lasting(workloads, *(f"Q{number}" for number in range(_MANY))) as queues:
        yield from request_and_reply(queues)
        yield from commits(queues, workloads)
        yield from implicit(queues)
        yield from one_by_one(queues)
        yield from sizes(queues)
        yield from compressed(queues)
    yield from reuse(folder / "REUSE", seconds)
    yield from space(folder / "SPACE")
    yield connections(workloads)
    yield reconnections(workloads)


def committed(folder: Path) -> Iterator[Measured]:
    """Persistent messages beside bare LMDB, by committers, and by units."""
    with (
        lasting(folder / "QM", *(f"Q{number}" for number in range(16))) as queues,
        lmdb.open(str(folder / "bare"), map_size=1 << 32) as environment,
    ):

        def putting(committers: int, unit: int) -> float:
            return put_together(queues, *(putter(queues, number, unit) for number in range(committers)))

        rates = in_turn(
            {
                "bare": partial(bare, environment, 1),
                "one": partial(putting, 1, 1),
                "nine": partial(putting, 9, 1),
                "units of ten": partial(putting, 1, 10),
                "outside": partial(putting, 1, 0),
            }
        )
    yield from rated(
        rates,
        ("persistent put and commit, beside bare LMDB", "one", "bare", 0.7),
        ("9 committers beside 1", "nine", "one", 4.0),
        ("units of 10 beside units of 1, messages", "units of ten", "one", 4.0),
        ("persistent put outside a unit beside one in it", "outside", "one", 0.95),
    )


def index_size(folder: Path) -> Measured:
    """The bytes of the indexes by order, message id, correlation id and expiry for each of 20,000 messages."""
    count = 20_000
    with lasting(folder / "sized", "Q") as queues:
        work = queues.work()
        for number in range(count):
            work.put("Q", LASTING._replace(expiry=36_000, correl_id=os.urandom(24)), bytes(100))
            if number % 1_000 == 999:
                work.commit()
    with QueueManager.open(folder / "sized") as queues:
        assert queues.store is not None
        return figure(Row("bytes of index a message", 272.0, "bytes"), [queues.store.store.index_size() / count])


def restart(folder: Path, deepest: int) -> Iterator[Measured]:
    """The first get after a kill, at a depth of 100,000, or more, beside 1,000, and what each message more takes."""
    for depth in (1_000, deepest):
        with lasting(folder / f"deep{depth}", "Q") as queues:
            filled(queues, depth, LASTING, bytes(100))

    def first_get(depth: int) -> float:
        begun = time.perf_counter()
        queues = QueueManager.open(folder / f"deep{depth}")
        queues.work().get("Q")
        taken = time.perf_counter() - begun
        assert queues.store is not None
        queues.store.close(in_order=False)
        return taken

    shallow, deep = in_turn({f"{depth}": partial(first_get, depth) for depth in (1_000, deepest)}, 10).values()
    name = f"first get after a kill, depth {deepest:,} beside 1,000"
    yield time_beside(Row(name, 1.5), deep, shallow, 1e6)
    each = [max(0.0, own - base) * 1e6 / deepest for own, base in zip(deep, shallow, strict=True)]
    yield figure(Row("first get after a kill, each message", 35.0, "µs"), each)


def request_and_reply(queues: QueueManager | Client, where: str = "") -> Iterator[Measured]:
    """Persistent request and reply by 16 requesters beside the same that is not persistent."""
    asked = (partial(round_trips, queues, _MANY, own=own, units=True) for own in _KINDS.values())
    yield rate_beside(Row(f"persistent request and reply by 16 requesters{where}, beside non-persistent", 0.29), *asked)


def commits(queues: QueueManager, folder: Path) -> Iterator[Measured]:
    """Measures the syncs that units of work share, also where a sync is slow, and beside bare LMDB that shares them."""
    assert queues.store is not None
    journal = queues.store.store.journal
    shared: list[float] = []

    def together(committers: int) -> float:
        before = journal.transactions.syncs
        found = put_together(queues, *(putter(queues, number) for number in range(committers)))
        if committers == _NINE:
            shared.append(found * SECONDS / max(1, journal.transactions.syncs - before))
        return found

    with lmdb.open(str(folder / "bare"), map_size=1 << 32) as environment:
        rates = in_turn({"bare": partial(bare, environment, _NINE), "nine": partial(together, _NINE)})
    yield figure(Row(f"units of work a sync, {_NINE} committers", _PER_SYNC * _NINE, at_least=True), shared)
    yield rates_beside(Row(f"{_NINE} committers, beside bare LMDB with {_NINE} messages a sync", 0.7), rates)
    journal.transactions.watch = lambda step: time.sleep(_SLOW) if step == "written" else None
    try:
        row = Row(f"{_NINE} committers beside 1, a sync of 3 ms more", 6.95)
        yield rate_beside(row, *(partial(together, count) for count in (1, _NINE)))
    finally:
        journal.transactions.watch = None


def bare(environment: lmdb.Environment, unit: int) -> float:
    """Returns how many messages of 2 KiB a second LMDB itself commits, so many a transaction."""

    def act() -> None:
        with environment.begin(write=True) as transaction:
            for _ in range(unit):
                transaction.put(os.urandom(8), BODY)

    return unit * rate(act, SECONDS)


def implicit(queues: QueueManager) -> Iterator[Measured]:
    """Persistent puts outside units of work beside those in units of one, by 16 putters, on 1, 4 and 16 queues."""
    for count in (1, 4, _MANY):
        putters = [[putter(queues, number % count, unit) for number in range(_MANY)] for unit in (1, 0)]
        name = f"persistent puts by {_MANY} to {count} queue{'s' * (count > 1)} outside units, beside units of one"
        yield rate_beside(Row(name, 0.95), *(partial(put_together, queues, *each) for each in putters))


def one_by_one(queues: QueueManager) -> Iterator[Measured]:
    """Persistent puts to one queue outside units by 16 putters: together, and one at a time as before MQ 9.0.5."""
    putters = [putter(queues, 0, 0, threading.Lock())] * _MANY, [putter(queues, 0, 0)], [putter(queues, 0, 0)] * _MANY
    each, one, together = (partial(put_together, queues, *some) for some in putters)
    name = f"persistent puts by {_MANY} to 1 queue"
    yield rate_beside(Row(f"{name}, together beside one at a time", 4.0), each, together)
    yield rate_beside(Row(f"{name}, one at a time beside 1 putter", 0.8), one, each)


def sizes(queues: QueueManager | Client, where: str = "") -> Iterator[Measured]:
    """The bytes a second of large messages beside those of 2 KiB, put and got in units of one."""
    work = queues.work()

    def passed(own: Descriptor, body: bytes) -> float:
        return rate(committing(work, "Q0", "Q0", own=own, body=body), SECONDS / 2) * len(body)

    for kind, own in _KINDS.items():
        bodies = {size: os.urandom(size * KIB) for size in (2, *(size for size, *_ in _SIZES))}
        rates = in_turn({str(size): partial(passed, own, body) for size, body in bodies.items()}, 3)
        for size, *bounds in _SIZES:
            name = f"bytes a second of {kind} messages of {size:,} KiB{where}, beside 2 KiB"
            yield figure(Row(name, bounds[own.persistence], at_least=True), divided(rates[str(size)], rates["2"]))


def compressed(queues: QueueManager) -> Iterator[Measured]:
    """Request and reply of bodies of 100 KiB and 1 MiB of which a part can be compressed, by RLE beside plain."""
    for size, part in product((100, KIB), COMPRESSIBLE):
        body = compressible(size * KIB, part, 1)

        def asked(codec: str, body: bytes = body) -> float:
            queues.alter("QMGR", "", {"COMPLOG": codec})
            return round_trips(queues, _MANY, own=LASTING, body=body, units=True)

        name = f"bodies of {size:,} KiB that are {part} % compressible, compressed beside plain"
        yield rate_beside(Row(name, 1.0 if part else 0.976), partial(asked, "NONE"), partial(asked, "RLE"))
    queues.alter("QMGR", "", {"COMPLOG": "NONE"})


def reuse(folder: Path, seconds: float) -> Iterator[Measured]:
    """Persistent request and reply on one file, a browse open half of the time: its size and cost beside a new one."""
    name, data = f"{seconds:,.0f} s of request and reply on one file with a browse", folder / "USED/store/data.mdb"
    with asking(folder / "USED") as used, asking(folder / "NEW") as new:
        used(seconds / 10)
        first = data.stat().st_blocks
        used(0.9 * seconds)
        grown = data.stat().st_blocks / first
        yield figure(Row(f"{name}: the file at the end beside the first tenth", 1.1), [grown])
        turn = min(seconds / 10, 1.0)
        new(turn)
        base, own = by_turns(partial(new, turn), partial(used, turn), _TURNS)
        yield time_beside(Row(f"{name}: its cost beside that of a new file, in turn", 1.06), own, base, 1e6)


@contextmanager
def asking(folder: Path) -> Iterator[Callable[[float], float]]:
    """Gives a program on a new store that asks and answers for so many seconds, and returns what a round costs."""
    with lasting(folder, "IN", "OUT", "READ") as queues:
        filled(queues, 100, LASTING, BODY, queue="READ")
        asked, answered = (committing(queues.work(), queue, queue, own=LASTING) for queue in ("IN", "OUT"))

        def run(seconds: float) -> float:
            browser, done = queues.work(), 0
            begun, spent = time.perf_counter(), time.process_time()
            while (now := time.perf_counter()) < begun + seconds:
                is_late = now > begun + seconds / 2
                if is_late and done % 10 == 0 and browser.get("READ", Selection(browse=True)) is None:
                    browser = queues.work()
                asked()
                answered()
                done += 1
            return (time.process_time() - spent) / done

        yield run


def space(folder: Path) -> Iterator[Measured]:
    """The bytes of the file that small messages take."""
    count = 10_000
    for size in (100, KIB):
        used = stored(folder.with_name(f"{folder.name}{size}"), "NONE", [bytes(size)] * count) / count
        yield figure(Row(f"bytes of the file a message of {size:,} bytes", _PAGE, "bytes"), [used])


def connections(folder: Path) -> Measured:
    """The memory of a queue manager's process that each idle connection takes."""
    with _serving(folder) as process, QueueManager.connect(folder) as client:
        works = [_idle(client.work()) for _ in range(_WARM)]
        before = rss_mib(process.pid)
        works += [_idle(client.work()) for _ in range(_IDLE)]
        taken = (rss_mib(process.pid) - before) * KIB**2 / _IDLE
        for work in works:
            work.close()
    return figure(Row("memory of an idle connection", _PER_CONNECTION, "bytes"), [taken])


@contextmanager
def _serving(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Gives a process that serves a folder and takes connections."""
    command = penstock("queue-manager", "start", str(folder))
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: S603
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process
        finally:
            process.terminate()


def reconnections(folder: Path) -> Measured:
    """The time from a kill until 200 clients have got from the process that follows, beside one client."""
    taken = in_turn({str(count): partial(_reconnection, folder, count) for count in (1, _CLIENTS)}, 3)
    one, many = taken.values()
    name = f"{_CLIENTS} clients back after a kill and a start, beside 1"
    return time_beside(Row(name, 5.0), many, one, 1e6)


def _reconnection(folder: Path, clients: int) -> float:
    """Returns the seconds from a kill until so many clients, connected before, have got from the next process."""
    with _serving(folder) as process:
        here = [QueueManager.connect(folder) for _ in range(clients)]
        works = [_idle(client.work()) for client in here]
        process.kill()
    begun = time.perf_counter()
    with ThreadPoolExecutor(clients) as threads:
        waiting = [threads.submit(_come_back, client) for client in here]
        with _serving(folder):
            for each in waiting:
                each.result()
            taken = time.perf_counter() - begun
            for closing in (*works, *here):
                closing.close()
    return taken


def _come_back(client: Client) -> None:
    """Get from the queue manager, again and again until that can be done."""
    once_there(lambda: _idle(client.work()).close(), _AGAIN)


def _idle(work: Any) -> Any:
    work.get("Q0")
    work.commit()
    return work
