"""The benchmarks of copies: streams and publications, their bodies compressed, what counts them; each beside none."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from engine.costs.measuring import (
    Measured,
    Row,
    by_turns,
    cost_beside,
    cpu,
    figure,
    in_turn,
    made_ready,
    rate_beside,
    rate_of_all,
    repeated,
    time_beside,
)
from engine.costs.queue_programs import (
    BODY,
    KIB,
    LASTING,
    MQSTR,
    SECONDS,
    TOLERANCE,
    committing,
    emptied,
    lasting,
    passing,
    put_together,
    rated,
)
from engine.mq import QueueManager

MANY: Final = 1_000
FEW: Final = ((2, 0.50, 0.52), (7, 0.19, 0.21))  # subscribers; the rates that are wanted beside a put to one queue
COMPRESSIBLE: Final = (0, 10, 50, 90)  # parts of bodies in a hundred
_PAIRS: Final = 40
_TIMES: Final = 5_000  # of one of forty pairs
_ORDERS: Final = "costs/orders"
PUTTERS: Final = (1, 4, 9)  # each with queues of its own
_GETTERS: Final = 2  # of each queue
_DEFINED: Final = """DEFINE QL(Q{0})
DEFINE QL(S{0})
DEFINE QL(BEST{0}) STREAMQ(S{0})
DEFINE QL(MUST{0}) STREAMQ(S{0}) STRMQOS(MUSTDUP)
DEFINE TOPIC(TWO{0}) TOPICSTR('costs/two/{0}')
DEFINE TOPIC(SIX{0}) TOPICSTR('costs/six/{0}')
DEFINE QALIAS(TWO{0}) TARGET(TWO{0}) TARGTYPE(TOPIC)
DEFINE QALIAS(SIX{0}) TARGET(SIX{0}) TARGTYPE(TOPIC)
DEFINE TOPIC(SEVEN{0}) TOPICSTR('costs/seven/{0}')
DEFINE QALIAS(SEVEN{0}) TARGET(SEVEN{0}) TARGTYPE(TOPIC)
DEFINE QL(MANY{0}) STREAMQ(SIX{0})
"""
_SUBSCRIBED: Final = "DEFINE QL({1}{0})\nDEFINE SUB({1}{0}) TOPICSTR('costs/{2}/{0}') DEST({1}{0})\n"
_SUBSCRIBERS: Final = {"two": ("A", "B"), "six": ("C", "D", "E", "F", "G", "H")}
_SEVEN: Final = {"seven": ("I", "J", "K", "L", "M", "N", "O")}
_VARIANTS: Final = {  # what is put to, the queues that messages come to, and how many are got a unit of work
    "none": ("Q", ("Q",), 1),
    "BESTEF": ("BEST", ("BEST", "S"), 1),
    "MUSTDUP": ("MUST", ("MUST", "S"), 1),
    "drained": ("BEST", ("BEST", "S"), 10),
    "published": ("TWO", _SUBSCRIBERS["two"], 1),
    "six": ("MANY", ("MANY", *_SUBSCRIBERS["six"]), 1),
}
_RATES: Final = (  # what is measured, beside what, and the rates that are wanted, non-persistent and persistent
    ("stream BESTEF beside none", "BESTEF", "none", (0.61, 0.63)),
    ("stream MUSTDUP beside BESTEF", "MUSTDUP", "BESTEF", (0.85, 0.90)),
    ("stream beside publication to 2 subscribers", "BESTEF", "published", (1.20, 1.20)),
    ("stream got 10 a unit, beside 1", "drained", "BESTEF", (0.0, 1.07)),  # which others do not gain by
    ("6 copies by a topic beside none", "six", "none", (0.189, 0.206)),
)


def benchmarks() -> Iterator[Measured]:
    """Publications, streams, and what counts messages, as far as the processor decides."""
    yield deliveries()
    for subscribers, rate_, _ in FEW:
        queues = QueueManager("Q")
        subscribed(queues, subscribers)
        published, put = (partial(_delivered, queues.work(), count) for count in (subscribers, 0))
        name = f"publication to {subscribers} subscribers, beside put and get"
        yield cost_beside(Row(name, TOLERANCE / rate_), put, published)
    yield from streams(QueueManager())
    yield from copies_by_topic()
    yield put_cost()
    yield counted("statistics at 1 s beside none", "ALTER QMGR STATIME(0.01) STATQ(ON)", 1 / 0.99)
    yield counted("accounting at 1 s beside none", "ALTER QMGR ACCTIME(0.01) ACCTQ(ON)", 1.11 * TOLERANCE)


def subscribed(queues: QueueManager, count: int) -> None:
    """Let so many queues subscribe, with as many subscriptions to other topics beside."""
    for number in range(count):
        queues.define("QLOCAL", f"S{number}", {}, replace=True)
        queues.define("SUB", f"S{number}", {"TOPICSTR": "costs/#", "DEST": f"S{number}"}, replace=True)
        queues.define("SUB", f"OTHER{number}", {"TOPICSTR": f"other/{number}", "DEST": f"S{number}"}, replace=True)


def deliveries() -> Measured:
    """Messages of 1 KiB to 1,000 subscribers, published and committed: how many a second of the processor."""
    queues, body = QueueManager(), bytes(KIB)
    subscribed(queues, MANY)
    publish = committing(queues.work(), "", topic=_ORDERS, body=body)

    def delivered() -> float:
        found = MANY / cpu(publish, 10)
        emptied(queues)
        return found

    found = in_turn({"own": delivered}, 10)["own"]
    return figure(Row(f"deliveries to {MANY:,} subscribers", 300_000.0, "/s", at_least=True), found)


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


def streams(queues: QueueManager) -> Iterator[Measured]:
    """Messages of putters and getters with copies and without: of persistent ones the highest rate of putters.

    Of others it is the highest beside the processor's time, which is all that limits them.
    """
    _define(queues, max(PUTTERS), _SUBSCRIBERS)
    lasts = queues.store is not None
    with made_ready():
        rates = in_turn({variant: partial(_peak, queues, variant, lasts=lasts) for variant in _VARIANTS})
    kind = "persistent " if lasts else ""
    yield from rated(rates, *((kind + name, own, base, by[lasts]) for name, own, base, by in _RATES if by[lasts]))


def _define(queues: QueueManager, count: int, subscribers: Mapping[str, tuple[str, ...]]) -> None:
    """Define the queues and topics of so many putters, and these subscribers of each."""
    for number in range(count):
        heirs = (_SUBSCRIBED.format(number, name, topic) for topic, names in subscribers.items() for name in names)
        for answer in queues.mqsc(_DEFINED.format(number) + "".join(heirs)):
            assert not answer.failed, answer


def copies_by_topic() -> Iterator[Measured]:
    """A put with six copies by an alias of a topic, beside one without, and beside a publication to seven."""
    queues = QueueManager()
    _define(queues, 1, _SUBSCRIBERS | _SEVEN)
    work, heirs = queues.work(), [f"{name}0" for name in _SUBSCRIBERS["six"]]
    streamed = committing(work, "MANY0", "MANY0", *heirs)
    published = committing(work, "SEVEN0", *(f"{name}0" for name in _SEVEN["seven"]))
    yield cost_beside(
        Row("6 copies by a topic beside no copy", TOLERANCE / 0.189), committing(work, "Q0", "Q0"), streamed
    )
    yield cost_beside(Row("6 copies by a topic beside a publication to 7", TOLERANCE / 1.02), published, streamed)


def _peak(queues: QueueManager, variant: str, *, lasts: bool) -> float:
    return max(fanned_out(queues, variant, putters, lasts=lasts) for putters in PUTTERS)


def fanned_out(queues: QueueManager, variant: str, putters: int, *, lasts: bool) -> float:
    """Returns the messages a second that putters put, one a unit, and of which getters get all that comes of them."""
    to, read, unit = _VARIANTS[variant]
    getting = [(queues.work(), f"{name}{own}") for own in range(putters) for name in read for _ in range(_GETTERS)]
    others = iter(range(putters - 1, -1, -1))  # how many still put when one has ended

    def put(own: int, end: float) -> int:
        run, done = committing(queues.work(), f"{to}{own}", own=LASTING if lasts else MQSTR), 0
        while not done or time.perf_counter() < end:
            run()
            done += 1
        if not next(others):
            for work, _ in getting:
                work.interrupt()
        return done

    def get(work: Any, queue: str, _: float) -> int:
        got = 0
        while work.get(queue, wait=10.0) is not None:
            got += 1
            if not got % unit:
                work.commit()
        work.commit()
        return 0

    workers = [partial(put, own) for own in range(putters)] + [partial(get, *one) for one in getting]
    return rate_of_all(workers, SECONDS, time.perf_counter if lasts else time.process_time)


def put_cost() -> Measured:
    """The processor's time of a put with a copy beside one without."""
    queues = QueueManager("Q", "S")
    queues.define("QLOCAL", "BEST", {"STREAMQ": "S"})

    def spent(to: str) -> float:
        found = cpu(committing(queues.work(), to), 1_000)
        emptied(queues)
        return found

    base, own = in_turn({to: partial(spent, to) for to in ("Q", "BEST")}, 20).values()
    return time_beside(Row("put with a copy beside one without", 2.1), own, base, 1e6)


def counted(name: str, command: str, bound: float) -> Measured:
    """Put, commit, get, commit while records are written, beside a queue manager that only counts; forty pairs."""
    with QueueManager("Q") as off, QueueManager("Q") as on:
        assert not on.mqsc(command)[0].failed
        base, own = by_turns(partial(cpu, passing(off), _TIMES), partial(cpu, passing(on), _TIMES), _PAIRS)
    return time_beside(Row(name, bound), own, base, 1e6)


def durable(folder: Path) -> Iterator[Measured]:
    """Persistent messages of 2 KiB with their copies on the disk; and bodies stored compressed."""
    with lasting(folder / "PUBLICATIONS", "Q") as queues:
        work = queues.work()
        for subscribers, _, least in FEW:
            subscribed(queues, subscribers)
            programs = [repeated(committing(work, "Q", topic=topic, own=LASTING)) for topic in ("", _ORDERS)]
            name = f"persistent publication to {subscribers} subscribers, beside a put"
            yield rate_beside(Row(name, least), *(partial(put_together, queues, run) for run in programs))
    with lasting(folder / "STREAMS") as queues:
        yield from streams(queues)
    for part, bound in ((50, 0.53), (90, 0.15)):
        bodies = [compressible(100 * KIB, part, seed) for seed in range(100)]
        plain, packed = (stored(folder / f"{codec}{part}", codec, bodies) for codec in ("NONE", "RLE"))
        yield figure(Row(f"stored bytes of bodies that are {part} % compressible", bound), [packed / plain])


def compressible(size: int, part: int, seed: int) -> bytes:
    """Returns a body of which so many of a hundred bytes are always the same.

    >>> len(compressible(1_000, 50, 1)), compressible(100, 90, 1).count(b"x") >= 90
    (1000, True)
    """
    chosen = random.Random(seed)  # noqa: S311
    return b"".join(chosen.randbytes(100 - part) + b"x" * part for _ in range(size // 100))


def stored(folder: Path, codec: str, bodies: list[bytes]) -> float:
    """Returns how many bytes the store of a new queue manager has more with bodies than without."""
    with lasting(folder, "Q") as queues:
        queues.alter("QMGR", "", {"COMPLOG": codec})
        assert queues.store is not None
        empty, work = queues.store.store.used(), queues.work()
        for number, body in enumerate(bodies, 1):
            work.put("Q", LASTING, body)
            if not number % 1_000:
                work.commit()
        work.commit()
        return queues.store.store.used() - empty
