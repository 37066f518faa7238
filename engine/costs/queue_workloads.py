"""The workloads of MQ's performance reports on queues in memory, which the processor decides."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from engine.costs.measuring import (
    Measured,
    Program,
    Row,
    cost_beside,
    cpu,
    divided,
    figure,
    in_turn,
    rate_beside,
    rates_beside,
)
from engine.costs.queue_programs import (
    BODY,
    MQSTR,
    TOLERANCE,
    committing,
    filled,
    in_order,
    passing,
    put_and_got,
    put_together,
    round_trips,
)
from engine.mq import QueueManager
from engine.mq.properties import join
from engine.mq.statistics import ACCOUNTING, STATISTICS
from engine.mq.unit import Work
from engine.mq.waiting_gets import get_or_wait, register
from engine.work import Selection

_OTHERS: Final = 1_000
_COPIES: Final = 6
_INQUIRED: Final = 4
_GETS: Final = 10  # by selectors, in turn
_LATE: Final = 20_000


def benchmarks() -> Iterator[Measured]:
    """All of them, by the capabilities of the reports."""
    yield from request_and_reply()
    yield from selectors()
    yield from expiry()
    yield puts_while_expiring()
    yield from accounting()
    yield from waiting()
    yield from streams_to_topics()
    yield other_subscriptions()
    yield from statistics_records()


def request_and_reply() -> Iterator[Measured]:
    """Requesters and repliers as threads of this process: many requesters, pairs of queues, units of work."""
    queues = QueueManager(*(f"Q{number}" for number in range(8)))
    rates = in_turn({str(count): partial(round_trips, queues, count) for count in (1, 4, 16, 64)})
    best = [max(each) for each in zip(*(rates[name] for name in ("1", "4", "16")), strict=True)]
    many = {"best": best, "64": rates["64"]}
    yield rates_beside(Row("request and reply by 64 requesters, beside the best of fewer", 0.9), many)
    one, four = (partial(round_trips, queues, 4, pairs) for pairs in (1, 4))
    yield rate_beside(Row("request and reply over 4 pairs of queues, beside 1", 1 / TOLERANCE), one, four)
    inside, outside = (_asked_and_answered(QueueManager("IN", "OUT"), syncpoint=unit) for unit in (True, False))
    yield cost_beside(Row("request and reply, replier in units of work beside none", 1 / 0.8), outside, inside)


def _asked_and_answered(queues: QueueManager, *, syncpoint: bool) -> Program:
    """Returns a program that asks and answers by turns; the answer is in a unit of work or is not."""
    asking, answering = queues.work(), queues.work()

    def run() -> None:
        sent = asking.put("IN", MQSTR, BODY, syncpoint=False)
        arrival = answering.get("IN", syncpoint=syncpoint)
        assert arrival is not None
        answering.put("OUT", MQSTR._replace(correl_id=arrival.descriptor.msg_id), arrival.body, syncpoint=syncpoint)
        if syncpoint:
            answering.commit()
        asking.get("OUT", Selection(correl_id=sent.msg_id), syncpoint=False)

    return run


def selectors() -> Iterator[Measured]:
    """A selector that is an id, a scan that goes on where it stood, properties at a put, and several getters."""
    wanted = b"\2" * 24
    by_id, text = Selection(correl_id=wanted), f"JMSCorrelationID = 'ID:{wanted.hex()}'"
    plainly, selecting = _got(1_000, by_id), _got(1_000, Selection(selector=text))
    yield cost_beside(
        Row("get by a selector of a correlation id, beside get by id", TOLERANCE / 0.8), plainly, selecting
    )
    queues, never = QueueManager("Q"), Selection(selector="JMSPriority > 4")
    filled(queues, 1_000)
    again = queues.work()
    yield cost_beside(
        Row("second scan of 1,000 messages by a selector, beside the first", 0.05),
        lambda: queues.work().get("Q", never),
        lambda: again.get("Q", never),
    )
    properties: dict[str, Any] = {f"property{number}": f"value {number}" for number in range(15)}
    works = [QueueManager("Q").work() for _ in range(2)]
    plain = in_order(lambda: works[0].put("Q", MQSTR, BODY), works[0].back_out)
    rich = in_order(lambda: works[1].put("Q", *join(properties, MQSTR, BODY)), works[1].back_out)
    yield cost_beside(Row("put with 15 properties, beside none", 2.0), plain, rich)
    alone, crowded = _selecting(1), _selecting(10)
    yield cost_beside(Row("get by a property with 10 getters on the queue, beside 1", 10.0), alone, crowded)


def _got(among: int, selection: Selection) -> Program:
    """Returns a program that puts a message among others, and gets it."""
    queues = QueueManager("Q")
    filled(queues, among)
    return put_and_got(queues.work(), selection)


def _selecting(getters: int) -> Program:
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


def expiry() -> Iterator[Measured]:
    """Runs of the expiry task over large bodies, and over messages that do not expire."""
    now = [1_000.0]
    queues = QueueManager("Q", clock=lambda: now[0])
    count = 2_000

    def run(body: bytes, expires: int) -> float:
        filled(queues, count, MQSTR._replace(expiry=expires), body)
        now[0] += 1
        spent = cpu(lambda: queues.expire(count))
        queues.purge("Q")
        return spent

    kinds = {"small": (bytes(1_024), 1), "large": (bytes(65_536), 1), "idle": (b"", 10**6)}
    spent = in_turn({name: partial(run, *kind) for name, kind in kinds.items()})
    for name, kind, bound in (
        ("a message of 64 KiB that expires, beside one of 1 KiB", "large", 1.75),
        ("a run of the expiry task with nothing to expire, beside all", "idle", 0.01),
    ):
        beside = statistics.mean(spent["small"]) / count * 1e6
        yield figure(Row(name, bound), divided(spent[kind], spent["small"]), beside)


def puts_while_expiring() -> Measured:
    """The rate of a putter while the expiry task removes messages, beside its rate alone."""
    now = [1_000.0]
    queues = QueueManager("Q", "LATE", clock=lambda: now[0])

    def put(end: float) -> int:
        work, done = queues.work(), 0
        while not done or time.perf_counter() < end:
            work.put("Q", MQSTR, b"", syncpoint=False)
            done += 1
        return done

    def expire(end: float) -> int:
        while time.perf_counter() < end and queues.expire():
            pass
        return 0

    def putting(*beside: Callable[[float], int]) -> float:
        filled(queues, _LATE, MQSTR._replace(expiry=1), queue="LATE")
        now[0] += 1
        return put_together(queues, put, *beside)

    return rate_beside(Row("puts while messages expire, beside puts alone", 0.5), putting, partial(putting, expire))


def accounting() -> Iterator[Measured]:
    """Accounting at 1 s beside 4 s, and the end of a short task that is accounted for beside its ten calls."""
    managers = []
    for interval in ("0.04", "0.01"):
        queues = QueueManager("Q")
        queues.mqsc(f"ALTER QMGR ACCTIME({interval}) ACCTQ(ON)")
        queues.alter("QLOCAL", ACCOUNTING, {"MAXDEPTH": 999_999_999})  # to refuse records costs more than to take them
        managers.append(queues)
    seldom, often = (passing(queues) for queues in managers)
    yield cost_beside(Row("accounting at 1 s, beside 4 s", 1.01), seldom, often)
    both = {"plain": QueueManager("Q"), "counted": managers[0]}
    calls = {name: _calls(queues.work()) for name, queues in both.items()}
    spent = in_turn({name: partial(cpu, run, 200) for name, run in calls.items()}, 40)
    ends = in_turn({name: partial(cpu, partial(_ended, queues), 200) for name, queues in both.items()}, 40)
    gathering, ending = (
        [own - base for own, base in zip(each["counted"], each["plain"], strict=True)] for each in (spent, ends)
    )
    ratio = statistics.median(ending) / statistics.median(max(1e-9, each) for each in gathering)
    yield figure(Row("end of a task that is accounted for, beside counting its 10 calls", 1.0), [ratio])
    for queues in managers:
        queues.close()


def _calls(work: Work) -> Program:
    """Returns a program of ten calls."""
    put, get = partial(work.put, "Q", MQSTR, BODY, syncpoint=False), partial(work.get, "Q", syncpoint=False)
    return in_order(*(put, get) * 5)


def _ended(queues: QueueManager) -> None:
    """Begin a task of one call, and end it."""
    work = queues.work()
    work.get("Q", syncpoint=False)
    work.close()


def waiting() -> Iterator[Measured]:
    """A put to a getter that waits, as the queue manager's process has them, beside one that finds the message."""
    yield cost_beside(Row("put to a getter that waits, beside one that comes later", 1.0), _waited(0), _waited(1))
    yield cost_beside(Row("put to one of 16 getters that wait by id, beside 1", 1.2), _waited(1), _waited(16))


def _waited(waiters: int) -> Program:
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


def streams_to_topics() -> Iterator[Measured]:
    """A put with six copies by an alias of a topic, beside one without, and beside a publication to as many."""
    queues, commands = QueueManager("Q", "BASE"), list[str]()
    for name, topic, letter in (("TA", "six", "S"), ("TB", "seven", "P")):
        commands += [
            f"DEFINE TOPIC({name}) TOPICSTR('{topic}')",
            f"DEFINE QALIAS({name}) TARGET({name}) TARGTYPE(TOPIC)",
        ]
        for heir in [f"{letter}{number}" for number in range(_COPIES)] + ["LAST"] * (topic == "seven"):
            commands += [f"DEFINE QLOCAL({heir})", f"DEFINE SUB({heir}) TOPICSTR('{topic}') DEST({heir})"]
    for answer in queues.mqsc("\n".join([*commands, "ALTER QLOCAL(BASE) STREAMQ(TA)"])):
        assert not answer.failed, answer
    work = queues.work()

    heirs = [f"S{number}" for number in range(_COPIES)]
    streamed = committing(work, "BASE", "BASE", *heirs)
    yield cost_beside(
        Row("6 copies by a topic beside no copy", TOLERANCE / 0.189), committing(work, "Q", "Q"), streamed
    )
    published = committing(work, "TB", "LAST", *(f"P{number}" for number in range(_COPIES)))
    yield cost_beside(Row("6 copies by a topic beside a publication to 7", TOLERANCE / 1.02), published, streamed)


def other_subscriptions() -> Measured:
    """A publication where 1,000 other topics and subscriptions are defined, beside one where none are."""
    alone, among = _published(0), _published(_OTHERS)
    return cost_beside(Row(f"publication among {_OTHERS:,} other topics, beside none", 1 / 0.95), alone, among)


def _published(others: int) -> Program:
    queues = QueueManager("S", "OTHER")
    queues.define("SUB", "S", {"TOPICSTR": "costs/#", "DEST": "S"})
    for number in range(others):
        queues.define("TOPIC", f"T{number}", {"TOPICSTR": f"other/{number}"})
        queues.define("SUB", f"T{number}", {"TOPICSTR": f"other/{number}", "DEST": "OTHER"})
    return committing(queues.work(), "", "S", topic="costs/one")


def statistics_records() -> Iterator[Measured]:
    """The records of an interval over some queues, beside asking for the attributes of as many, or of one."""
    for count, asked, bound in ((_INQUIRED, _INQUIRED, 1.0), (1_000, 1, 100.0)):
        later = [0.0]
        queues = QueueManager(*(f"Q{number}" for number in range(count)), clock=partial(_clock, later))
        queues.mqsc("ALTER QMGR STATIME(1.00) STATQ(ON)")
        name = f"statistics of {count:,} queues, beside {asked} {'inquiries' if asked > 1 else 'inquiry'}"
        yield cost_beside(
            Row(name, bound),
            in_order(*(partial(queues.display, "QLOCAL", f"Q{number}") for number in range(asked))),
            partial(_record, queues, queues.work(), later),
        )
        queues.close()


def _clock(later: list[float]) -> float:
    return time.time() + later[0]


def _record(queues: QueueManager, reading: Work, later: list[float]) -> None:
    """Let an interval end, and read its records."""
    later[0] += 60.0
    queues.monitoring.run()
    records = 0
    while reading.get(STATISTICS, syncpoint=False) is not None:
        records += 1
    assert records
