"""The queues' benchmarks: the queue manager beside bare programs, itself at other depths, and with security."""

from __future__ import annotations

import collections
import os
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import lmdb

from engine.costs import durable_queues, queue_streams, queue_workloads
from engine.costs.measuring import (
    Measured,
    Program,
    Row,
    cost_beside,
    cpu,
    divided,
    figure,
    in_turn,
)
from engine.costs.queue_programs import (
    BODY,
    KIB,
    LASTING,
    MQSTR,
    committing,
    filled,
    in_order,
    lasting,
    on_disk,
    passing,
    put_and_got,
    put_together,
    putter,
    rated,
)
from engine.costs.sockets import through_the_socket
from engine.mq import QueueManager
from engine.mq.protection.policies import policy_of
from engine.mq.unit import Work
from engine.work import Selection

if TYPE_CHECKING:
    from engine.mq.protection.keys import KeyStore


DEPTH: Final = 100_000


def benchmarks(messages: int = DEPTH, seconds: float = durable_queues.REUSE_SECONDS) -> Iterator[Measured]:
    """All of them: what is measured by CPU first, then what the disk has a part in, on a disk and not in memory.

    Deep queues have so many `messages`; the space of a file is watched for so many `seconds`.
    """
    yield from passed(messages)
    yield expiry()
    yield from queue_streams.publications()
    yield from security()
    yield from queue_streams.benchmarks()
    yield from queue_workloads.benchmarks()
    with on_disk() as folder:
        yield from durable(folder, messages)
        yield from durable_queues.benchmarks(folder / "WORKLOADS", seconds)
        yield from queue_streams.durable_publications(folder / "PUBLISHING")
        yield from queue_streams.durable(folder / "STREAMING")
        yield from through_the_socket(folder)


def passed(depth: int) -> Iterator[Measured]:
    """Messages put and got: beside bare lists, by size, by depth, and passed over by a selector."""
    body = bytes(KIB)
    ours = passing(QueueManager("Q"), body=body)
    yield cost_beside(Row("put, commit, get, commit, 1 KiB", 2.5), bare_queue(body), ours)
    work = QueueManager("Q").work()
    small, large = (partial(_put_and_get, work, bytes(size * KIB)) for size in (2, 128))
    yield cost_beside(Row("put and get, 128 KiB beside 2 KiB", 8.0), small, large)  # a body is handed on, not copied
    shallow, deep = _deep(1), _deep(depth)
    bounds = (1.06, 1.2) if depth <= DEPTH else (1.1, 1.4)
    for name, act, bound in zip(("put", "get by correlation id"), (_put_one, _get_one), bounds, strict=True):
        yield cost_beside(Row(f"{name} at depth {depth:,} beside 0", bound), act(shallow), act(deep))
    queues, count, wanted = QueueManager("Q"), 1_000, Selection(selector="JMSPriority > 4")
    filled(queues, count)

    def put_and_get() -> None:
        for _ in range(count):
            _put_and_get(work, b"")

    scan = partial(_scan, queues, wanted)  # the first one: later ones look at nothing twice
    yield cost_beside(Row("a message that a selector passes, beside put and get", 1.0), put_and_get, scan)


def _put_and_get(work: Work, body: bytes) -> None:
    work.put("Q", MQSTR, body, syncpoint=False)
    work.get("Q", syncpoint=False)


def _scan(queues: QueueManager, wanted: Selection) -> None:
    queues.work().get("Q", wanted)


def bare_queue(body: bytes) -> Program:
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
        named = MQSTR._replace(msg_id=prefix + number.to_bytes(8), put_date="20261119", put_time="06070000")
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


def _deep(depth: int) -> Work:
    work = QueueManager("Q").work()
    for number in range(depth):
        work.put("Q", MQSTR._replace(correl_id=number.to_bytes(24)), b"", syncpoint=False)
    work.get("Q", Selection(correl_id=bytes(23) + b"\1"))
    work.back_out()
    return work


def _put_one(work: Work) -> Program:
    """Returns a program that puts a message, and undoes it so that the depth stays."""
    return in_order(partial(work.put, "Q", MQSTR._replace(correl_id=b"\1" * 24), bytes(KIB)), work.back_out)


def _get_one(work: Work) -> Program:
    """Returns a program that puts a message and gets it by its id."""
    return put_and_got(work, Selection(correl_id=b"\2" * 24), bytes(KIB))


def expiry() -> Measured:
    """A message that the expiry task removes, beside a put."""
    now, count = [1_000.0], 1_000
    queues = QueueManager("Q", clock=lambda: now[0])

    def expire() -> float:
        now[0] += 1
        return cpu(lambda: queues.expire(count))

    put = partial(filled, queues, count, MQSTR._replace(expiry=1))
    spent = in_turn({"put": lambda: cpu(put), "expire": expire}, 20)
    beside = statistics.median(spent["put"]) / count * 1e6
    return figure(Row("a message that expires, beside a put", 0.89), divided(spent["expire"], spent["put"]), beside)


def durable(folder: Path, depth: int) -> Iterator[Measured]:
    """Yields the figures of persistent messages: beside bare LMDB, by committers, by units, and after a kill."""
    with (
        lasting(folder / "QM", *(f"Q{number}" for number in range(16))) as queues,
        lmdb.open(str(folder / "bare"), map_size=1 << 32) as bare,
    ):

        def putting(committers: int, unit: int) -> float:
            return put_together(queues, *(putter(queues, number, unit) for number in range(committers)))

        rates = in_turn(
            {
                "bare": partial(durable_queues.bare, bare, 1),
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
    yield index_size(folder)
    yield from restart(folder, depth)


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
    yield figure(Row(name, 1.5), divided(deep, shallow), statistics.median(shallow) * 1e6)
    each = [max(0.0, own - base) * 1e6 / deepest for own, base in zip(deep, shallow, strict=True)]
    yield figure(Row("first get after a kill, each message", 35.0, "µs"), each)


USERS: Final = 50_000
_MEASURED: Final = 2_000  # users whose memory is counted
_RESOURCES: Final = 50
_REUSES: Final = (10, 32, 64)
_PER_USER: Final = 4_772.0  # bytes: 4.66 KB
_PER_RESOURCE: Final = 405.0
_CLERKS: Final = "QUEUE GROUP PublicGroup {}"


def security() -> Iterator[Measured]:
    """All of them; keys only where what makes them is installed."""
    manager = granted("Q")  # who was checked before, beside the owner, who is not
    own = passing(manager, user="ann")
    yield cost_beside(Row("put and get, checked beside unchecked", 1.1), passing(manager), own)
    yield many_users()
    yield from cold()
    yield after_time_out()
    yield from memory_of_users()
    if find_spec("cryptography") is not None:
        yield from protection()


def granted(*queues: str) -> QueueManager:
    """Returns a queue manager with queues that all users may use."""
    manager = QueueManager(*queues)
    for name in queues:
        manager.define("AUTHREC", _CLERKS.format(name), {"AUTHADD": "ALLMQI"})
    return manager


def many_users() -> Measured:
    """A check that was made before, of one of 50,000 users, beside the only one."""
    alone, crowd = granted("Q"), granted("Q")
    for number in range(USERS):
        crowd.security.rights(f"user{number}").check("Q", 8)
    few, many = alone.security.rights("ann"), crowd.security.rights(f"user{USERS // 2}")
    few.check("Q", 8)
    name = f"check of one of {USERS:,} users beside one"
    return cost_beside(Row(name, 1.1), partial(few.check, "Q", 8), partial(many.check, "Q", 8))


def cold() -> Iterator[Measured]:
    """Measures the second open of queues by users beside the first, which looks up their rights."""
    for users, queues in ((1_000, 1), (1_000, 10), (USERS, 1)):
        manager = granted(*(f"Q{number}" for number in range(queues)))
        works = [manager.work(f"user{number}", "costs", held=True) for number in range(users)]
        first, second = (cpu(partial(_open, works, queues)) / users / queues for _ in range(2))
        many = f"{queues} queues" if queues > 1 else "a queue"
        name = f"second open of {many} by {users:,} users, beside the first"
        yield figure(Row(name, 0.9), [second / first], first * 1e6)


def _open(works: list[Work], queues: int) -> None:
    """Let each of some users put to each of some queues, and undo it."""
    for work in works:
        for number in range(queues):
            work.put(f"Q{number}", MQSTR, b"")
        work.back_out()


def after_time_out() -> Measured:
    """The first check of users who were forgotten, beside users who were never seen."""
    manager = granted("Q", *(f"Q{number}" for number in range(10)))

    def check(attempt: int) -> None:
        for number in range(1_000):
            manager.security.rights(f"{attempt}user{number}").check("Q", 8)

    ratios = []
    for attempt in range(7):
        unseen = cpu(partial(check, attempt))
        for _ in range(6):
            manager.security.forget_idle()
        ratios.append(cpu(partial(check, attempt)) / unseen)
    return figure(Row("check after time-out beside cold", 0.9), ratios)


def memory_of_users() -> Iterator[Measured]:
    """The bytes that a user with one queue takes, and those of each further queue."""
    first, *others = names = [f"Q{number}" for number in range(_RESOURCES + 1)]
    manager = granted(*names)

    def checked(*queues: str) -> int:
        for number in range(_MEASURED):
            for queue in queues:
                manager.security.rights(f"user{number}").check(queue, 8)
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before, one, more = checked(), checked(first), checked(*others)
    finally:
        tracemalloc.stop()
    yield figure(Row("memory of a user with one queue", _PER_USER, "bytes"), [(one - before) / _MEASURED])
    yield figure(Row("memory of each further queue", _PER_RESOURCE, "bytes"), [(more - one) / _MEASURED / _RESOURCES])


def protection() -> Iterator[Measured]:
    """Messages of 2 KiB sealed and opened by the kinds of policies, beside each other, and put and got beside none."""
    from engine.mq.protection.envelope import Reader, Writer  # noqa: PLC0415 - a package that may be missing

    with tempfile.TemporaryDirectory(prefix="penstock-costs-") as folder:
        store = key_store(Path(folder))

    def sealing(**values: str) -> Program:
        policy, writer, reader = policy_of("Q", values), Writer(store), Reader(store)
        return lambda: reader.open(policy, writer.seal(policy, MQSTR, BODY))

    hidden = {"ENCALG": "AES256", "RECIP": "CN=costs"}
    each = sealing(**hidden)
    for reuses in _REUSES:
        name = f"confidentiality, a key for {reuses} messages beside one"
        yield cost_beside(Row(name, 1 / reuses + 0.1), each, sealing(**hidden, KEYREUSE=str(reuses)))
    privacy = sealing(**hidden, SIGNALG="SHA256")
    for name, own in (("confidentiality", each), ("integrity", sealing(SIGNALG="SHA256"))):
        yield cost_beside(Row(f"{name} beside privacy", 1.0), privacy, own)
    sealed, passed = sealing(**hidden, KEYREUSE="UNLIMITED"), committing(QueueManager("Q").work(), "Q", "Q")
    plain = passing(QueueManager("Q"))
    name = "put and get with a key for all messages, beside none"
    yield cost_beside(Row(name, 2.0), plain, lambda: (sealed(), passed()))


def key_store(folder: Path) -> KeyStore:
    """Returns a key store with one user's certificate and key, made anew."""
    from cryptography import x509  # noqa: PLC0415 - a package that may be missing
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat  # noqa: PLC0415

    from engine.mq.protection.keys import KeyStore  # noqa: PLC0415

    key = rsa.generate_private_key(65_537, 2_048)
    name, now = x509.Name.from_rfc4514_string("CN=costs"), datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    signed = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1)).sign(key, SHA256())
    (folder / "costs.crt").write_bytes(signed.public_bytes(Encoding.PEM))
    (folder / "costs.key").touch(0o600)
    (folder / "costs.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return KeyStore(folder)
