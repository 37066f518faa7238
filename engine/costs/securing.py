"""The benchmarks of security: what checks of authorities cost, what users take of memory, what a reused key saves."""

from __future__ import annotations

import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.costs.measuring import Measured, side_by_side
from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.mq.protection.policies import policy_of
from engine.mq.unit import Work

if TYPE_CHECKING:
    from engine.mq.protection.keys import KeyStore

GROUP: Final = "queues"
USERS: Final = 50_000
MEASURED: Final = 2_000  # users whose memory is counted
RESOURCES: Final = 50
_REUSES: Final = (10, 32, 64)
_PER_USER: Final = 4_772.0  # bytes: 4.66 KB
_PER_RESOURCE: Final = 405.0
_MQSTR: Final = Descriptor(format="MQSTR")
_BODY: Final = bytes(2_048)
_CLERKS: Final = "QUEUE GROUP PublicGroup {}"


def benchmarks() -> Iterator[Measured]:
    """All of them; keys only where what makes them is installed."""
    yield warm()
    yield many_users()
    yield from cold()
    yield after_time_out()
    yield from memory()
    if find_spec("cryptography") is not None:
        yield from protection()


def granted(*queues: str) -> QueueManager:
    """Returns a queue manager with queues that all users may use."""
    manager = QueueManager(*queues)
    for name in queues:
        manager.define("AUTHREC", _CLERKS.format(name), {"AUTHADD": "ALLMQI"})
    return manager


def passing(manager: QueueManager, user: str = "") -> Callable[[], None]:
    """Returns a program that puts a message and gets it, in two units, as a user who is checked, or the owner."""
    work = manager.work(user, "costs", held=bool(user))

    def run() -> None:
        work.put("Q", _MQSTR, _BODY)
        work.commit()
        work.get("Q")
        work.commit()

    return run


def warm() -> Measured:
    """Put and get by a user who was checked before, beside the owner, who is not."""
    manager = granted("Q")
    return _ratio("put and get, checked beside unchecked", passing(manager), passing(manager, "ann"), 1.1)


def many_users() -> Measured:
    """A check that was made before, of one of 50,000 users, beside the only one."""
    alone, crowd = granted("Q"), granted("Q")
    for number in range(USERS):
        crowd.security.rights(f"user{number}").check("Q", 8)
    few, many = alone.security.rights("ann"), crowd.security.rights(f"user{USERS // 2}")
    few.check("Q", 8)
    return _ratio(
        f"check of one of {USERS:,} users beside one", lambda: few.check("Q", 8), lambda: many.check("Q", 8), 1.1
    )


def cold() -> Iterator[Measured]:
    """Measures the second open of queues by users beside the first, which looks up their rights."""
    for users, queues in ((1_000, 1), (1_000, 10), (USERS, 1)):
        manager = granted(*(f"Q{number}" for number in range(queues)))
        works = [manager.work(f"user{number}", "costs", held=True) for number in range(users)]
        first, second = (_opened(works, queues) for _ in range(2))
        many = f"{queues} queues" if queues > 1 else "a queue"
        name = f"second open of {many} by {users:,} users, beside the first"
        yield Measured(GROUP, name, None, second / first, 0.9, "x", second / first, second / first, first * 1e6)


def _opened(works: list[Work], queues: int) -> float:
    """Returns the processor time of each put that is undone, of each of some users to each of some queues."""
    begun = time.process_time()
    for work in works:
        for number in range(queues):
            work.put(f"Q{number}", _MQSTR, b"")
        work.back_out()
    return (time.process_time() - begun) / len(works) / queues


def after_time_out() -> Measured:
    """The first check of users who were forgotten, beside users who were never seen."""
    manager = granted("Q", *(f"Q{number}" for number in range(10)))
    names = [f"user{number}" for number in range(1_000)]
    ratios = []
    for attempt in range(7):
        begun = time.process_time()
        for name in names:
            manager.security.rights(f"{attempt}{name}").check("Q", 8)
        cold = time.process_time() - begun
        for _ in range(6):
            manager.security.forget_idle()
        begun = time.process_time()
        for name in names:
            manager.security.rights(f"{attempt}{name}").check("Q", 8)
        ratios.append((time.process_time() - begun) / cold)
    low, middle, high = sorted(ratios)[1], sorted(ratios)[3], sorted(ratios)[5]
    return Measured(GROUP, "check after time-out beside cold", None, middle, 0.9, "x", low, high)


def memory() -> Iterator[Measured]:
    """The bytes that a user with one queue takes, and those of each further queue."""
    manager = granted(*(f"Q{number}" for number in range(RESOURCES + 1)))
    names = [f"Q{number}" for number in range(RESOURCES + 1)]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(MEASURED):
            manager.security.rights(f"user{number}").check(names[0], 8)
        one = tracemalloc.get_traced_memory()[0]
        for number in range(MEASURED):
            for name in names[1:]:
                manager.security.rights(f"user{number}").check(name, 8)
        more = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    for name, taken, bound in (
        ("memory of a user with one queue", (one - before) / MEASURED, _PER_USER),
        ("memory of each further queue", (more - one) / MEASURED / RESOURCES, _PER_RESOURCE),
    ):
        yield Measured(GROUP, name, None, taken, bound, "bytes", taken, taken)


def protection() -> Iterator[Measured]:
    """Messages of 2 KiB sealed and opened by the kinds of policies, beside each other, and put and got beside none."""
    from engine.mq.protection.envelope import Reader, Writer  # noqa: PLC0415 - a package that may be missing

    with tempfile.TemporaryDirectory(prefix="penstock-costs-") as folder:
        store = key_store(Path(folder))

    def passing_by(**values: str) -> Callable[[], None]:
        policy, writer, reader = policy_of("Q", values), Writer(store), Reader(store)
        return lambda: _discard(reader.open(policy, writer.seal(policy, _MQSTR, _BODY)))

    hidden = {"ENCALG": "AES256", "RECIP": "CN=costs"}
    each = passing_by(**hidden)
    for reuses in _REUSES:
        name, bound = f"confidentiality, a key for {reuses} messages beside one", 1 / reuses + 0.1
        yield _ratio(name, each, passing_by(**hidden, KEYREUSE=str(reuses)), bound)
    privacy = passing_by(**hidden, SIGNALG="SHA256")
    for name, own in (("confidentiality", each), ("integrity", passing_by(SIGNALG="SHA256"))):
        yield _ratio(f"{name} beside privacy", privacy, own, 1.0)
    sealed, plain, work = (
        passing_by(**hidden, KEYREUSE="UNLIMITED"),
        passing(QueueManager("Q")),
        QueueManager("Q").work(),
    )

    def protected() -> None:
        sealed()
        work.put("Q", _MQSTR, _BODY)
        work.commit()
        work.get("Q")
        work.commit()

    yield _ratio("put and get with a key for all messages, beside none", plain, protected, 2.0)


def _discard(_: object) -> None:
    """Do nothing with what was opened."""


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


def _ratio(name: str, base: Callable[[], None], own: Callable[[], None], bound: float) -> Measured:
    seen = side_by_side({"base": base, "own": own})
    ratio, timing = seen.ratios["own"], seen.timings["own"]
    return Measured(
        GROUP, name, timing.median, ratio.median, bound, "x", ratio.low, ratio.high, seen.timings["base"].median
    )
