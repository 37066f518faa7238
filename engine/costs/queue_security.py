"""The benchmarks of security: what checks of authorities cost, what users take of memory, what a reused key saves."""

from __future__ import annotations

import tempfile
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.costs.measuring import Measured, Program, cost_beside, cpu, figure
from engine.costs.queue_programs import BODY, MQSTR, committing, passing, row
from engine.mq import QueueManager
from engine.mq.protection.policies import policy_of
from engine.mq.unit import Work

if TYPE_CHECKING:
    from engine.mq.protection.keys import KeyStore

USERS: Final = 50_000
_MEASURED: Final = 2_000  # users whose memory is counted
_RESOURCES: Final = 50
_REUSES: Final = (10, 32, 64)
_PER_USER: Final = 4_772.0  # bytes: 4.66 KB
_PER_RESOURCE: Final = 405.0
_CLERKS: Final = "QUEUE GROUP PublicGroup {}"


def benchmarks() -> Iterator[Measured]:
    """All of them; keys only where what makes them is installed."""
    manager = granted("Q")  # who was checked before, beside the owner, who is not
    own = passing(manager, user="ann")
    yield cost_beside(row("put and get, checked beside unchecked", 1.1), passing(manager), own)
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


def many_users() -> Measured:
    """A check that was made before, of one of 50,000 users, beside the only one."""
    alone, crowd = granted("Q"), granted("Q")
    for number in range(USERS):
        crowd.security.rights(f"user{number}").check("Q", 8)
    few, many = alone.security.rights("ann"), crowd.security.rights(f"user{USERS // 2}")
    few.check("Q", 8)
    name = f"check of one of {USERS:,} users beside one"
    return cost_beside(row(name, 1.1), partial(few.check, "Q", 8), partial(many.check, "Q", 8))


def cold() -> Iterator[Measured]:
    """Measures the second open of queues by users beside the first, which looks up their rights."""
    for users, queues in ((1_000, 1), (1_000, 10), (USERS, 1)):
        manager = granted(*(f"Q{number}" for number in range(queues)))
        works = [manager.work(f"user{number}", "costs", held=True) for number in range(users)]
        first, second = (cpu(partial(_open, works, queues)) / users / queues for _ in range(2))
        many = f"{queues} queues" if queues > 1 else "a queue"
        name = f"second open of {many} by {users:,} users, beside the first"
        yield figure(row(name, 0.9), [second / first], first * 1e6)


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
    return figure(row("check after time-out beside cold", 0.9), ratios)


def memory() -> Iterator[Measured]:
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
    yield figure(row("memory of a user with one queue", _PER_USER, "bytes"), [(one - before) / _MEASURED])
    yield figure(row("memory of each further queue", _PER_RESOURCE, "bytes"), [(more - one) / _MEASURED / _RESOURCES])


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
        yield cost_beside(row(name, 1 / reuses + 0.1), each, sealing(**hidden, KEYREUSE=str(reuses)))
    privacy = sealing(**hidden, SIGNALG="SHA256")
    for name, own in (("confidentiality", each), ("integrity", sealing(SIGNALG="SHA256"))):
        yield cost_beside(row(f"{name} beside privacy", 1.0), privacy, own)
    sealed, passed = sealing(**hidden, KEYREUSE="UNLIMITED"), committing(QueueManager("Q").work(), "Q", "Q")
    plain = passing(QueueManager("Q"))
    name = "put and get with a key for all messages, beside none"
    yield cost_beside(row(name, 2.0), plain, lambda: (sealed(), passed()))


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
