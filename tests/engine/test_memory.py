"""Queues in memory: what they promise beside order and rollbacks, which test_memory_units.py holds against a model."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from engine.descriptor import NO_ID, Descriptor
from engine.errors import ConfigurationException, MessageException
from engine.mq.definitions import QueueDefinition
from engine.transports.memory import DEAD_LETTER_QUEUE, MemoryQueues
from engine.work import QueueAttributes, Selection


def named(number: int) -> bytes:
    return number.to_bytes(24)


def filled(count: int, **fields: Any) -> MemoryQueues:
    """A queue manager whose queue IN holds numbered messages."""
    queues = MemoryQueues("IN")
    work = queues.work()
    for number in range(1, count + 1):
        work.put("IN", Descriptor(msg_id=named(number), **fields), b"%d" % number)
    work.commit()
    return queues


@contextmanager
def steps_counted() -> Iterator[list[int]]:
    """Count the bytecodes that run: a measure of work that a busy machine does not disturb."""
    counted = [0]

    def trace(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
        frame.f_trace_opcodes = True
        counted[0] += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield counted
    finally:
        sys.settrace(before)


def steps_of_gets(depth: int, **fields: Any) -> float:
    """What a get by id costs in the middle of a queue of this depth, as a mean over a tenth of the messages."""
    queues = filled(depth, **fields)
    work = queues.work()
    assert work.get("IN", Selection(msg_id=named(depth))) is not None  # the first get by id sorts the queue by ids
    wanted = range(depth // 2, depth // 2 + depth // 10)
    with steps_counted() as counted:
        for number in wanted:
            assert work.get("IN", Selection(msg_id=named(number))) is not None
    return counted[0] / len(wanted)


@pytest.mark.parametrize("fields", [{}, {"correl_id": named(7), "group_id": named(8)}], ids=["alone", "in a group"])
def test_get_by_id_is_flat(fields: dict[str, Any]) -> None:
    """A get by id does the same work at any depth, also where all messages share their other ids."""
    assert steps_of_gets(5_000, **fields) < 1.5 * steps_of_gets(100, **fields)


@pytest.mark.parametrize("by_id", [False, True])
@pytest.mark.parametrize("backed_out", [False, True])
@pytest.mark.parametrize("orphan", [False, True])
def test_memory_does_not_grow(by_id: bool, backed_out: bool, orphan: bool) -> None:
    """A queue that is used for ever holds what waits on it and little else, also behind a message no one takes."""
    queues = MemoryQueues("IN")
    work = queues.work()
    if orphan:
        work.put("IN", Descriptor(correl_id=named(7)), b"orphan")
    for number in range(1, 1001):
        work.put("IN", Descriptor(msg_id=named(number), correl_id=named(7), priority=4), b"x")
        work.commit()
        for _ in range(1 + backed_out):
            assert work.get("IN", Selection(msg_id=named(number)) if by_id else None) is not None
            work.back_out() if backed_out else work.commit()
        if backed_out:
            work.get("IN", Selection(msg_id=named(number)))
            work.commit()
    assert sum(held(queues.find("IN"))) < 300


def held(thing: object, seen: set[int] | None = None) -> Iterator[int]:
    """How many items the containers hold that an object keeps, one number for each container."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, dict | list):
        yield len(thing)
    inner = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list) else ()
    slots = [getattr(thing, name) for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    for each in (*inner, *slots):
        yield from held(each, seen)


THREADS = 8
EACH = 250


def fill(queues: MemoryQueues, thread: int) -> None:
    work = queues.work()
    for number in range(EACH):
        work.put("A", Descriptor(priority=number % 3, correl_id=named(thread + 1)), b"%d.%d" % (thread, number))
        if number % 7 == 0:
            work.commit()
    work.commit()


def move(queues: MemoryQueues, thread: int) -> None:
    """Move messages on until all are on C, half of them by id, with a unit backed out now and then."""
    work, turn = queues.work(), 0
    while queues.depth("C") < THREADS * EACH:
        for source, target in (("A", "B"), ("B", "C")):
            wanted = Selection(correl_id=named(turn // 4 % THREADS + 1)) if turn // 2 % 2 else None
            arrival = work.get(source, wanted)
            if arrival is not None:
                work.put(target, arrival.descriptor, arrival.body)
            turn += 1
            work.back_out() if turn % 7 == thread % 7 else work.commit()


IDS = {
    "first": (1, 1, 1),
    "other group": (1, 1, 2),
    "other correl id": (1, 2, 1),
    "other message": (2, 1, 1),
    "nothing alike": (2, 2, 2),
}
COMBINATIONS = [
    ((0, 0, 0), "first"),
    ((1, 0, 2), "other group"),
    ((1, 2, 0), "other correl id"),
    ((0, 1, 2), "other group"),
    ((0, 2, 1), "other correl id"),
    ((2, 1, 0), "other message"),
    ((2, 0, 2), "nothing alike"),
    ((0, 2, 2), "nothing alike"),
    ((1, 2, 2), None),
    ((3, 0, 0), None),
    ((0, 1, 3), None),
]


@pytest.mark.parametrize(("wanted", "expected"), COMBINATIONS)
def test_combinations_of_ids(wanted: tuple[int, int, int], expected: str | None) -> None:
    """The first message that has every id that is asked for is got; no id and an id of zeros ask for none."""
    for absent in (b"", NO_ID):
        work = MemoryQueues("IN").work()
        for name, numbers in IDS.items():
            ids = [named(number) for number in numbers]
            work.put("IN", Descriptor(msg_id=ids[0], correl_id=ids[1], group_id=ids[2]), name.encode())
        work.commit()
        arrival = work.get("IN", Selection(*(named(number) if number else absent for number in wanted)))
        assert expected == (None if arrival is None else arrival.body.decode())


def test_threads_lose_and_double_nothing() -> None:
    """Threads that move messages, and sometimes back out, leave each message on the last queue exactly once."""
    queues = MemoryQueues("A", "B", "C")
    with ThreadPoolExecutor(2 * THREADS) as pool:
        running = [pool.submit(part, queues, thread) for thread in range(THREADS) for part in (fill, move)]
    assert [None] * len(running) == [each.result() for each in running]
    expected = sorted(b"%d.%d" % (thread, number) for thread in range(THREADS) for number in range(EACH))
    assert expected == sorted(arrival.body for arrival in queues.browse("C"))
    assert [queues.depth("A"), queues.depth("B")] == [0, 0]
    assert len({arrival.descriptor.msg_id for arrival in queues.browse("C")}) == THREADS * EACH


def test_a_commit_is_seen_whole() -> None:
    """Who looks while others commit sees all that a unit put, or nothing of it."""
    queues, rounds, seen = MemoryQueues("OUT"), 300, set[int]()
    done = threading.Event()

    def write() -> None:
        work = queues.work()
        for _ in range(rounds):
            for _ in range(4):
                work.put("OUT", Descriptor(), b"")
            work.commit()
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        seen.add(len(queues.browse("OUT")) % 4)
    writer.join()
    assert seen <= {0}
    assert queues.depth("OUT") == 4 * rounds


def test_ids_are_unique() -> None:
    """No two messages and no two calls have the same id, whatever queue manager made it, and each is 24 bytes long."""
    made = []
    for _ in range(3):
        work = MemoryQueues("IN", name="ONE").work()
        for _ in range(500):
            made += [work.new_id(), work.put("IN", Descriptor(), b"").msg_id]
    assert len(made) == len(set(made))
    assert {len(each) for each in made} == {24}
    assert {each[:16] for each in made} == {b"AMQ ONE         "}


def test_ids_do_not_run_out() -> None:
    """The number in an id goes on from its highest value."""
    numbers = MemoryQueues("IN").admission.numbers
    assert len({numbers.identifier(n) for n in ((1 << 32) - 1, 1 << 32, (1 << 64) - 1, 0, 1)}) == 5


WHOLE = QueueAttributes(default_priority=6, default_persistence=1)
AS_PUT = [
    ({"priority": 3}, {"priority": 3}),
    ({"priority": -1}, {"priority": 6}),
    ({"priority": 12}, {"priority": 9}),
    ({"persistence": 0}, {"persistence": 0}),
    ({"persistence": 1}, {"persistence": 1}),
    ({"persistence": 2}, {"persistence": 1}),
    ({"backout_count": 4}, {"backout_count": 0}),
    ({"msg_id": named(5)}, {"msg_id": named(5)}),
    ({"correl_id": NO_ID}, {"correl_id": NO_ID}),
    ({"put_date": "20010203", "put_time": "04050607"}, {"put_date": "20010203", "put_time": "04050607"}),
]


@pytest.mark.parametrize(("given", "expected"), AS_PUT, ids=[str(given) for given, _ in AS_PUT])
def test_descriptor_as_it_stands_on_the_queue(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """What a descriptor leaves to the queue is as the queue has it, and the put answers what a get will give."""
    queues = MemoryQueues(QueueDefinition("IN", WHOLE))
    work = queues.work()
    put = work.put("IN", Descriptor(**given), b"")
    work.commit()
    arrival = work.get("IN")
    assert arrival is not None
    assert put == arrival.descriptor
    assert expected == {name: getattr(put, name) for name in expected}


def test_a_message_is_stamped() -> None:
    """A message without a date and an id gets both."""
    put = MemoryQueues("IN").work().put("IN", Descriptor(), b"")
    assert put.msg_id != NO_ID
    assert (len(put.put_date), len(put.put_time)) == (8, 8)
    assert (put.put_date + put.put_time).isdigit()


LIMITED = QueueDefinition("SMALL", max_depth=2, max_message_length=3)
REFUSALS = [
    ("NONE", b"", 2085, "there is no queue called 'NONE': define it"),
    ("", b"", 2085, "there is no queue called '': define it"),
    ("SMALL", b"1234", 2030, "a message of 4 bytes is longer than queue SMALL allows (3)"),
    ("SMALL", b"123", 2053, "queue SMALL is full: it may hold 2"),
]


@pytest.mark.parametrize(("queue", "body", "reason", "text"), REFUSALS)
@pytest.mark.parametrize("syncpoint", [False, True])
def test_refusals(queue: str, body: bytes, reason: int, text: str, syncpoint: bool) -> None:
    """A queue that is not there or cannot hold the message refuses it by MQ's reason and says what is wrong."""
    work = MemoryQueues(LIMITED).work()
    work.put("SMALL", Descriptor(), b"1")
    work.put("SMALL", Descriptor(), b"2")
    with pytest.raises(MessageException) as caught:
        work.put(queue, Descriptor(), body, syncpoint=syncpoint)
    assert (reason, text, (queue,)) == (
        caught.value.reason,
        caught.value.text,
        tuple(i.text for i in caught.value.inserts),
    )


def test_a_full_queue_has_room_again() -> None:
    """What was backed out or got makes room; what a back out returns has its place even where the queue is full."""
    queues = MemoryQueues(LIMITED)
    one, other = queues.work(), queues.work()
    one.put("SMALL", Descriptor(), b"1")
    one.put("SMALL", Descriptor(), b"2")
    one.back_out()
    one.put("SMALL", Descriptor(), b"3")
    one.commit()
    assert one.get("SMALL") is not None
    other.put("SMALL", Descriptor(), b"4")
    other.put("SMALL", Descriptor(), b"5")
    one.back_out()
    other.commit()
    assert [arrival.body for arrival in queues.browse("SMALL")] == [b"3", b"4", b"5"]


@pytest.mark.parametrize("open_", [False, True])
def test_queues_that_are_not_there(open_: bool) -> None:
    """An open queue manager makes a queue at the first put and looks into none that is not there; others refuse."""
    queues = MemoryQueues(open_=open_)
    work = queues.work()
    looks: list[Callable[[], object]] = [
        lambda: work.get("NEW"),
        lambda: work.get("NEW", Selection(msg_id=named(1))),
        lambda: queues.depth("NEW"),
        lambda: queues.browse("NEW"),
    ]
    for look in looks:
        if open_:
            assert not look()
        else:
            with pytest.raises(MessageException, match="NEW"):
                look()
    assert queues.names() == [DEAD_LETTER_QUEUE]
    assert queues.attributes("NEW") is None
    if open_:
        work.put("NEW", Descriptor(), b"")
        assert queues.names() == ["NEW", DEAD_LETTER_QUEUE]
        assert queues.attributes("NEW") == QueueAttributes()


@pytest.mark.parametrize(("name", "names"), [("DLQ", ["DLQ", "IN"]), ("", ["IN"])])
def test_the_dead_letter_queue_has_a_name_or_none(name: str, names: list[str]) -> None:
    """A queue manager can have a dead-letter queue of any name, or none."""
    queues = MemoryQueues("IN", dead_letter_queue=name)
    assert (names, name) == (queues.names(), queues.work().dead_letter_queue)


def test_two_definitions_of_one_name() -> None:
    """A queue is defined once."""
    with pytest.raises(ConfigurationException, match="two queues called IN"):
        MemoryQueues("IN", QueueDefinition("IN"))
