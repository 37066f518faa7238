"""The queues' benchmarks: the table of programs beside each other, and figures that one program alone does not give."""

from __future__ import annotations

import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.costs import durable_queues, queue_streams
from engine.costs.measuring import (
    Measured,
    Pair,
    Program,
    Row,
    Worker,
    compared,
    cost_beside,
    cpu,
    figure,
    in_turn,
    rate_beside,
    rates_beside,
    repeated,
    time_beside,
)
from engine.costs.queue_programs import (
    BODY,
    ID,
    KIB,
    MQSTR,
    PAIRS,
    TOLERANCE,
    USERS,
    committing,
    emptied,
    filled,
    granted,
    in_order,
    on_disk,
    passing,
    put_and_got,
    put_together,
    round_trips,
)
from engine.costs.sockets import through_the_socket
from engine.mq import QueueManager
from engine.mq.protection.policies import policy_of
from engine.mq.statistics import ACCOUNTING, STATISTICS
from engine.mq.unit import Work
from engine.work import Selection

if TYPE_CHECKING:
    from engine.mq.protection.keys import KeyStore

DEPTH: Final = 100_000
_OPENED: Final = ((1_000, 1), (1_000, 10), (USERS, 1))  # users, and the queues that each of them opens
_MEASURED: Final = 2_000  # users whose memory is counted
_RESOURCES: Final = 50
_REUSES: Final = (10, 32, 64)
_PER_USER: Final = 4_772.0  # bytes: 4.66 KB
_PER_RESOURCE: Final = 405.0
_INQUIRED: Final = 4
_LATE: Final = 20_000
_TURNS: Final = 40
_TASKS: Final = 200


def benchmarks(messages: int = DEPTH, seconds: float = durable_queues.REUSE_SECONDS) -> Iterator[Measured]:
    """All of them: what is measured by CPU first, then what the disk has a part in, on a disk and not in memory.

    Deep queues have so many `messages`; the space of a file is watched for so many `seconds`.
    """
    yield from compared(PAIRS)
    yield from deep(messages)
    yield from expiry()
    yield from rights()
    if find_spec("cryptography") is not None:
        yield from protection()
    yield from queue_streams.benchmarks()
    yield from requesters()
    yield from accounting()
    yield from statistics_records()
    with on_disk() as folder:
        yield from durable_queues.benchmarks(folder, messages, seconds)
        yield from queue_streams.durable(folder)
        yield from through_the_socket(folder)


def deep(depth: int) -> Iterator[Measured]:
    """A put, and a get by an id, at a depth beside none."""
    put, get = (1.06, 1.2) if depth <= DEPTH else (1.1, 1.4)
    full, works = f"at depth {depth:,} beside 0", (_deep(1), _deep(depth))
    yield from compared(
        (Pair(f"put {full}", put, _put_one, *works), Pair(f"get by correlation id {full}", get, _get_one, *works))
    )


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
    return put_and_got(work, Selection(correl_id=ID), bytes(KIB))


def expiry() -> Iterator[Measured]:
    """Runs of the expiry task: beside puts, by the size of bodies, with nothing to do; and puts while it runs."""
    now = [1_000.0]
    queues = QueueManager("Q", "LATE", clock=lambda: now[0])

    def put(count: int, body: bytes = b"", expires: int = 1, queue: str = "Q") -> None:
        filled(queues, count, MQSTR._replace(expiry=expires), body, queue=queue)

    def expire(count: int) -> float:
        now[0] += 1
        return cpu(lambda: queues.expire(count))

    def run(size: int, expires: int) -> float:
        put(2_000, bytes(size), expires)
        spent = expire(2_000)
        queues.purge("Q")
        return spent

    spent = in_turn({"put": lambda: cpu(lambda: put(1_000)), "own": lambda: expire(1_000)}, 20)
    yield time_beside(Row("a message that expires, beside a put", 0.89), spent["own"], spent["put"], 1e6 / 1_000)
    kinds = {"small": (1_024, 1), "large": (65_536, 1), "idle": (0, 10**6)}
    spent = in_turn({name: partial(run, *kind) for name, kind in kinds.items()})
    for kind, bound, name in (
        ("large", 1.75, "a message of 64 KiB that expires, beside one of 1 KiB"),
        ("idle", 0.01, "a run of the expiry task with nothing to expire, beside all"),
    ):
        yield time_beside(Row(name, bound), spent[kind], spent["small"], 1e6 / 2_000)

    def putting(*beside: Worker) -> float:
        put(_LATE, queue="LATE")
        now[0] += 1
        own = repeated(partial(queues.work().put, "Q", MQSTR, b"", syncpoint=False))
        return put_together(queues, own, *beside)

    alongside = partial(putting, partial(_expire_on, queues))
    yield rate_beside(Row("puts while messages expire, beside puts alone", 0.5), putting, alongside)


def _expire_on(queues: QueueManager, end: float) -> int:
    while time.perf_counter() < end and queues.expire():
        pass
    return 0


def rights() -> Iterator[Measured]:
    """Checks of rights that were looked up before, beside those that were not; and the memory of what is known."""
    for users, queues in _OPENED:
        manager = granted(*(f"Q{number}" for number in range(queues)))
        works = [manager.work(f"user{number}", "costs", held=True) for number in range(users)]
        first, second = (cpu(partial(_open, works, queues)) / users / queues for _ in range(2))
        many = f"{queues} queues" if queues > 1 else "a queue"
        name = f"second open of {many} by {users:,} users, beside the first"
        yield figure(Row(name, 0.9), [second / first], first * 1e6)
    manager = granted("Q")
    ratios = []
    for attempt in range(7):
        check = partial(_check, manager, f"{attempt}user", 1_000, "Q")
        unseen = cpu(check)
        for _ in range(6):
            manager.security.forget_idle()
        ratios.append(cpu(check) / unseen)
    yield figure(Row("check after time-out beside cold", 0.9), ratios)
    yield from memory_of_users()


def _open(works: list[Work], queues: int) -> None:
    """Let each of some users put to each of some queues, and undo it."""
    for work in works:
        for number in range(queues):
            work.put(f"Q{number}", MQSTR, b"")
        work.back_out()


def _check(manager: QueueManager, prefix: str, users: int, *queues: str) -> None:
    for number in range(users):
        for queue in queues:
            manager.security.rights(f"{prefix}{number}").check(queue, 8)


def memory_of_users() -> Iterator[Measured]:
    """The bytes that a user with one queue takes, and those of each further queue."""
    first, *others = names = [f"Q{number}" for number in range(_RESOURCES + 1)]
    manager = granted(*names)

    def checked(*queues: str) -> int:
        _check(manager, "user", _MEASURED, *queues)
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


def requesters() -> Iterator[Measured]:
    """Requesters and repliers as threads of this process: many requesters, and pairs of queues."""
    queues = QueueManager(*(f"Q{number}" for number in range(8)))
    rates = in_turn({str(count): partial(round_trips, queues, count) for count in (1, 4, 16, 64)})
    best = [max(each) for each in zip(*(rates[name] for name in ("1", "4", "16")), strict=True)]
    many = {"best": best, "64": rates["64"]}
    yield rates_beside(Row("request and reply by 64 requesters, beside the best of fewer", 0.9), many)
    one, four = (partial(round_trips, queues, 4, pairs) for pairs in (1, 4))
    yield rate_beside(Row("request and reply over 4 pairs of queues, beside 1", 1 / TOLERANCE), one, four)


def accounting() -> Iterator[Measured]:
    """Accounting at 1 s beside 4 s, and beginning and end of short tasks beside counting the ten calls of each."""
    managers = []
    for interval in ("0.04", "0.01"):
        queues = QueueManager("Q")
        queues.mqsc(f"ALTER QMGR ACCTIME({interval}) ACCTQ(ON)")
        queues.alter("QLOCAL", ACCOUNTING, {"MAXDEPTH": 999_999_999})  # to refuse records costs more than to take them
        managers.append(queues)
    seldom, often = (passing(queues) for queues in managers)
    yield cost_beside(Row("accounting at 1 s, beside 4 s", 1.01), seldom, often)
    ratios = []
    for _ in range(_TURNS):
        (calls, ends), (plain_calls, plain_ends) = _short_tasks(managers[0]), _short_tasks(QueueManager("Q"))
        ratios.append((ends - plain_ends) / max(1e-9, calls - plain_calls))
    yield figure(Row("end of a task that is accounted for, beside counting its 10 calls", 1.0), ratios)
    for queues in managers:
        queues.close()


def _short_tasks(queues: QueueManager) -> tuple[float, float]:
    """Returns the processor time of the ten calls of tasks, and of their beginnings and ends, until all is written."""
    started = time.process_time()
    works = [queues.work() for _ in range(_TASKS)]
    begun = time.process_time()
    for work in works:
        for _ in range(5):
            work.put("Q", MQSTR, BODY, syncpoint=False)
            work.get("Q", syncpoint=False)
    called = time.process_time()
    while works:
        work = works.pop()
        work.close()
    del work  # as one that nobody has any more is written
    while ACCOUNTING in queues.names() and queues.depth(ACCOUNTING) < _TASKS:
        time.sleep(0.0005)
    ended = time.process_time()
    emptied(queues)
    return called - begun, ended - called + begun - started


def statistics_records() -> Iterator[Measured]:
    """The records of an interval over some queues, beside asking for the attributes of as many, or of one."""
    later = [0.0]
    for count, asked, bound in ((_INQUIRED, _INQUIRED, 1.0), (1_000, 1, 100.0)):
        queues = QueueManager(*(f"Q{number}" for number in range(count)), clock=lambda: time.time() + later[0])
        queues.mqsc("ALTER QMGR STATIME(1.00) STATQ(ON)")
        name = f"statistics of {count:,} queues, beside {asked} {'inquiries' if asked > 1 else 'inquiry'}"
        yield cost_beside(
            Row(name, bound),
            in_order(*(partial(queues.display, "QLOCAL", f"Q{number}") for number in range(asked))),
            partial(_record, queues, queues.work(), later),
        )
        queues.close()


def _record(queues: QueueManager, reading: Work, later: list[float]) -> None:
    """Let an interval end, and read its records."""
    later[0] += 60.0
    queues.monitoring.run()
    records = 0
    while reading.get(STATISTICS, syncpoint=False) is not None:
        records += 1
    assert records
