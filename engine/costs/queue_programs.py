"""Programs on queues, the queue managers that they run on, and the table of those measured beside each other."""

from __future__ import annotations

import collections
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Final

from engine.costs.measuring import Measured, Pair, Program, Row, Worker, rate_of_all, rates_beside, repeated
from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.mq.properties import join
from engine.mq.unit import Work
from engine.mq.waiting_gets import get_or_wait, register
from engine.work import Selection

KIB: Final = 1_024
SECONDS: Final = 0.4  # of one run of a workload
TOLERANCE: Final = 1.06  # between runs, as the reports have it
MQSTR: Final = Descriptor(format="MQSTR")
LASTING: Final = Descriptor(format="MQSTR", persistence=1)
BODY: Final = bytes(2 * KIB)
ID: Final = b"\2" * 24
_REPLIERS: Final = 4

_AT_ONCE: Final = nullcontext()


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
    own = MQSTR._replace(correl_id=ID)

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


def putter(queues: QueueManager, number: int, unit: int = 1, turn: AbstractContextManager[Any] = _AT_ONCE) -> Worker:
    """Returns what puts persistent messages to a queue until it is told to end, so many a unit; 0 for outside units.

    Putters that share a `turn` put one at a time.
    """

    def run(end: float) -> int:
        work = queues.work()

        def put() -> None:
            with turn:
                for _ in range(unit or 1):
                    work.put(f"Q{number}", LASTING, BODY, syncpoint=unit > 0)
                work.commit()

        return repeated(put, unit or 1)(end)

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


def small(kind: str) -> Program:
    """Returns a program that puts and gets a message of 1 KiB by a queue manager, or bare: as simply as can be."""
    body = bytes(KIB)
    return bare_queue(body) if kind == "bare" else passing(QueueManager("Q"), body=body)


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


def handed_on(size: int) -> Program:
    """Returns a program that puts and gets a body of a size outside units of work: it is handed on, not copied."""
    return partial(_put_and_get, QueueManager("Q").work(), bytes(size))


def _put_and_get(work: Work, body: bytes) -> None:
    work.put("Q", MQSTR, body, syncpoint=False)
    work.get("Q", syncpoint=False)


def looked_at(kind: str) -> Program:
    """Returns a program that looks at 1,000 messages by a selector for the first time, or puts and gets as many."""
    if kind == "scanned":
        return scanned("first")
    work = QueueManager("Q").work()

    def run() -> None:
        for _ in range(1_000):
            _put_and_get(work, b"")

    return run


def scanned(kind: str) -> Program:
    """Returns a program that looks for a message by a selector among 1,000: for the first time, or again."""
    queues, wanted = QueueManager("Q"), Selection(selector="JMSPriority > 4")
    filled(queues, 1_000)
    work = queues.work()
    if kind == "again":
        return lambda: work.get("Q", wanted)
    return lambda: queues.work().get("Q", wanted)


def checked(user: str) -> Program:
    """Returns a program that puts and gets as a user whose rights were checked before, or as the owner."""
    return passing(granted("Q"), user=user)


def granted(*queues: str) -> QueueManager:
    """Returns a queue manager with queues that all users may use."""
    manager = QueueManager(*queues)
    for name in queues:
        manager.define("AUTHREC", _CLERKS.format(name), {"AUTHADD": "ALLMQI"})
    return manager


def one_of_users(count: int) -> Program:
    """Returns a check that was made before, of one of so many users."""
    manager = granted("Q")
    for number in range(count):
        manager.security.rights(f"user{number}").check("Q", 8)
    return partial(manager.security.rights(f"user{count // 2}").check, "Q", 8)


def answered(kind: str) -> Program:
    """Returns a program that asks and answers by turns; the answer is in a unit of work or is not."""
    queues, in_units = QueueManager("IN", "OUT"), kind == "in units"
    asking, answering = queues.work(), queues.work()

    def run() -> None:
        sent = asking.put("IN", MQSTR, BODY, syncpoint=False)
        arrival = answering.get("IN", syncpoint=in_units)
        assert arrival is not None
        answering.put("OUT", MQSTR._replace(correl_id=arrival.descriptor.msg_id), arrival.body, syncpoint=in_units)
        if in_units:
            answering.commit()
        asking.get("OUT", Selection(correl_id=sent.msg_id), syncpoint=False)

    return run


def found_among(selection: Selection) -> Program:
    """Returns a program that puts a message among 1,000 others, and gets it."""
    queues = QueueManager("Q")
    filled(queues, 1_000)
    return put_and_got(queues.work(), selection)


def with_properties(count: int) -> Program:
    """Returns a program that puts a message with so many properties, and undoes it."""
    work, properties = QueueManager("Q").work(), {f"property{number}": f"value {number}" for number in range(count)}
    if count:
        return in_order(lambda: work.put("Q", *join(properties, MQSTR, BODY)), work.back_out)
    return in_order(lambda: work.put("Q", MQSTR, BODY), work.back_out)


def selected(getters: int) -> Program:
    """Returns a program that puts a message for each of some getters, who get theirs by a property."""
    queues = QueueManager("Q")
    works = [queues.work() for _ in range(getters)] * (_GETS // getters)
    wanted = [Selection(selector=f"getter = {number % getters}") for number in range(_GETS)]
    messages = [join({"getter": number % getters}, MQSTR, BODY) for number in range(_GETS)]

    def run() -> None:
        for message in messages:
            works[0].put("Q", *message, syncpoint=False)
        for work, selection in zip(reversed(works), reversed(wanted), strict=True):
            assert work.get("Q", selection, syncpoint=False) is not None

    return run


def awaited(waiters: int) -> Program:
    """Returns a program that puts for one getter, which waits among others, or comes later."""
    queues = QueueManager("Q")
    putting, getting = queues.work(), queues.work()
    ids = [number.to_bytes(24) for number in range(1, max(waiters, 1) + 1)]
    own, wanted = MQSTR._replace(correl_id=ids[-1]), Selection(correl_id=ids[-1])
    for other in ids[:-1]:
        work, selection = queues.work(), Selection(correl_id=other)
        work.get("Q", selection)
        register(work, "Q", selection, lambda: None)

    def wait() -> None:
        _, waiter = get_or_wait(getting, "Q", wanted, lambda: None)
        putting.put("Q", own, BODY, syncpoint=False)
        assert waiter is not None
        assert waiter.taken(syncpoint=True) is not None
        getting.commit()

    def find() -> None:
        putting.put("Q", own, BODY, syncpoint=False)
        assert getting.get("Q", wanted) is not None
        getting.commit()

    return wait if waiters else find


def published_among(others: int) -> Program:
    """Returns a program that publishes to a subscriber, where so many other topics and subscriptions are defined."""
    queues = QueueManager("S", "OTHER")
    queues.define("SUB", "S", {"TOPICSTR": "costs/#", "DEST": "S"})
    for number in range(others):
        queues.define("TOPIC", f"T{number}", {"TOPICSTR": f"other/{number}"})
        queues.define("SUB", f"T{number}", {"TOPICSTR": f"other/{number}", "DEST": "OTHER"})
    return committing(queues.work(), "", "S", topic="costs/one")


USERS: Final = 50_000
_OTHERS: Final = 1_000  # topics
_CLERKS: Final = "QUEUE GROUP PublicGroup {}"
_GETS: Final = 10  # by selectors, in turn
_SELECTED: Final = Selection(selector=f"JMSCorrelationID = 'ID:{ID.hex()}'")

# Name, bound, workload, and what it is given: for the program beside which another is measured, and for that.
PAIRS: Final = (
    Pair("put, commit, get, commit, 1 KiB", 2.5, small, "bare", "ours"),
    Pair("put and get, 128 KiB beside 2 KiB", 8.0, handed_on, 2 * KIB, 128 * KIB),
    Pair("a message that a selector passes, beside put and get", 1.0, looked_at, "put and got", "scanned"),
    Pair("put and get, checked beside unchecked", 1.1, checked, "", "ann"),
    Pair(f"check of one of {USERS:,} users beside one", 1.1, one_of_users, 1, USERS),
    Pair("request and reply, replier in units of work beside none", 1 / 0.8, answered, "outside units", "in units"),
    Pair(
        "get by a selector of a correlation id, beside get by id",
        TOLERANCE / 0.8,
        found_among,
        Selection(correl_id=ID),
        _SELECTED,
    ),
    Pair("second scan of 1,000 messages by a selector, beside the first", 0.05, scanned, "first", "again"),
    Pair("put with 15 properties, beside none", 2.0, with_properties, 0, 15),
    Pair("get by a property with 10 getters on the queue, beside 1", 10.0, selected, 1, 10),
    Pair("put to a getter that waits, beside one that comes later", 1.0, awaited, 0, 1),
    Pair("put to one of 16 getters that wait by id, beside 1", 1.2, awaited, 1, 16),
    Pair(f"publication among {_OTHERS:,} other topics, beside none", 1 / 0.95, published_among, 0, _OTHERS),
)
