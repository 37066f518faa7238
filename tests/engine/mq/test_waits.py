"""Waits: which of several who wait a message wakes, and what else ends a wait, on queues in memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.errors import MessageException
from engine.mq import QueueManager
from engine.mq.queue import Queue as MessageQueue
from engine.mq.store.committers import Absence
from engine.mq.unit import Work
from engine.mq.waiters import Sleep
from engine.mq.works import Works
from engine.work import Order, Selection
from tests.engine.mq.served import put


def waiting(work: Work, queue: str, selection: Selection | None, wait: float, found: list[object]) -> threading.Thread:
    def get() -> None:
        try:
            arrival = work.get(queue, selection, wait=wait)
            found.append(None if arrival is None else arrival.body)
            work.commit()
        except MessageException as error:
            found.append(error.reason)

    thread = threading.Thread(target=get)
    thread.start()
    return thread


def settled(queues: QueueManager, queue: str, count: int) -> None:
    """Wait until so many wait."""
    found = queues.find(queue)
    assert found is not None
    end = time.monotonic() + 10
    while found.waiters.count != count and time.monotonic() < end:
        time.sleep(0.001)
    assert count == found.waiters.count


def test_a_wait_ends_at_once_with_its_own_message() -> None:
    """Of several who wait, a message wakes one that wants it, and the others go on waiting."""
    queues = QueueManager("Q")
    found: dict[str, list[object]] = {"a": [], "b": [], "selector": [], "any": []}
    threads = [
        waiting(queues.work(), "Q", Selection(correl_id=b"a" * 24), 60, found["a"]),
        waiting(queues.work(), "Q", Selection(correl_id=b"b" * 24), -1, found["b"]),
        waiting(queues.work(), "Q", Selection(selector="JMSPriority = 7"), 60, found["selector"]),
    ]
    settled(queues, "Q", 3)
    put(queues, "Q", b"for b", correl_id=b"b" * 24)
    threads[1].join(10)
    put(queues, "Q", b"for selector", priority=7)
    threads[2].join(10)
    assert (1, [b"for b"], [b"for selector"], []) == (
        queues.find("Q").waiters.count, found["b"], found["selector"], found["a"]
    )  # fmt: skip
    threads.append(waiting(queues.work(), "Q", None, 60, found["any"]))
    settled(queues, "Q", 2)
    put(queues, "Q", b"1")
    put(queues, "Q", b"for a", correl_id=b"a" * 24)
    for thread in threads:
        thread.join(10)
    assert ([b"for a"], [b"1"], 0) == (found["a"], found["any"], queues.depth("Q"))


def test_units_of_work_begin_while_others_are_listed() -> None:
    """Who looks at the units of work of a queue manager sees those that there were, whatever other threads begin."""
    queues, works = QueueManager("Q"), Works[Work]()
    held = [queues.work() for _ in range(53)]
    for work in held[:3]:
        works.add(work)
    found = iter(works)
    first = next(found)
    for work in held[3:]:
        works.add(work)
    assert set(held[:3]) == {first, *found}


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(Selection(logical=True), id="its first is not there"),
        pytest.param(Selection(whole_groups=True), id="it is not whole"),
        pytest.param(Selection(logical=True, order=Order("byUserID")), id="logical, by user"),
        pytest.param(Selection(order=Order("byUserID")), id="another has the user in hand"),
    ],
)
def test_a_message_that_is_not_in_turn_for_who_waits_first_wakes_who_waits_behind(wanted: Selection) -> None:
    """A message of a group wakes nobody who may not have it yet in place of one who may."""
    queues = QueueManager("Q")
    put(queues, "Q", b"in hand", user_identifier="ada")
    holder, first, found = queues.work(), list[object](), list[object]()
    assert holder.get("Q", Selection(order=Order("byUserID"))) is not None
    threads = [waiting(queues.work(), "Q", wanted, 20, first)]
    settled(queues, "Q", 1)
    threads.append(waiting(queues.work(), "Q", None, 20, found))
    settled(queues, "Q", 2)
    put(queues, "Q", b"x", user_identifier="ada", group_id=b"G" * 24, msg_seq_number=2, msg_flags=8)
    threads[1].join(10)
    assert ([b"x"], []) == (found, first)
    put(queues, "Q", b"alone", user_identifier="bob")
    threads[0].join(10)
    assert [b"alone"] == first


@pytest.mark.parametrize("logical", [True, False])
def test_the_message_that_makes_a_group_whole_wakes_who_waits_for_that(*, logical: bool) -> None:
    """It need not be the group's first, which the wait ends with."""
    queues = QueueManager("Q")
    found: list[object] = []
    thread = waiting(queues.work(), "Q", Selection(logical=logical, whole_groups=True), 20, found)
    settled(queues, "Q", 1)
    put(queues, "Q", b"1", group_id=b"G" * 24, msg_seq_number=1, msg_flags=8)
    put(queues, "Q", b"2", group_id=b"G" * 24, msg_seq_number=2, msg_flags=24)
    thread.join(10)
    assert [b"1"] == found


def test_a_wait_that_finds_nothing_takes_its_time() -> None:
    """A get gives up when its time is over, not before and not long after."""
    queues = QueueManager("Q")
    begun = time.monotonic()
    assert queues.work().get("Q", wait=0.05) is None
    assert 0.05 <= time.monotonic() - begun < 5


@pytest.mark.parametrize("wait", [1e300, float("inf"), float("nan"), -1.0])
def test_a_wait_without_measure_takes_no_time_of_the_processor(wait: float) -> None:
    """A get that waits for seconds beyond counting sleeps until its message comes."""
    queues, found = QueueManager("Q"), list[object]()

    def get() -> None:
        assert queues.work().get("Q", wait=wait) is not None
        found.append(time.thread_time() < 0.1)

    thread = threading.Thread(target=get, daemon=True)
    thread.start()
    time.sleep(0.3)
    put(queues, "Q", b"late")
    thread.join(10)
    assert [True] == found


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda queues: queues.alter("QLOCAL", "Q", {"GET": "DISABLED"}), 2016),
        (lambda queues: queues.delete("QLOCAL", "Q"), 2085),
        (lambda queues: queues.close(), 2162),
    ],
)
def test_a_wait_ends_when_the_queue_is_no_longer_to_be_read(act: Callable[[QueueManager], object], reason: int) -> None:
    """Who waits is told when gets are inhibited, the queue is deleted, or the queue manager ends."""
    queues, found = QueueManager("Q"), list[object]()
    thread = waiting(queues.work(), "Q", None, 60, found)
    settled(queues, "Q", 1)
    act(queues)
    thread.join(10)
    assert [reason] == found


@pytest.mark.parametrize("is_stored", [False, True], ids=["in memory", "stored"])
@pytest.mark.parametrize("taken_at", ["sleep", "lock"])
def test_who_is_interrupted_as_it_is_woken_wakes_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken_at: str, *, is_stored: bool
) -> None:
    """A message that wakes a get which Ctrl-C ends before it has taken it goes to who waits behind."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") if is_stored else QueueManager() as queues:
        queues.define("QLOCAL", "Q", {})
        first, found = threading.Thread(target=lambda: interrupted(queues.work())), list[object]()
        slept = list[bool]()

        def interrupted(work: Work) -> None:
            with pytest.raises(KeyboardInterrupt):
                work.get("Q", wait=60)

        def sleep(kind: type[Sleep]) -> Callable[[Sleep, float | None], None]:
            wait = kind.wait

            def waited(self: Sleep, seconds: float | None) -> None:
                wait(self, seconds)
                if threading.current_thread() is first:
                    slept.append(True)
                    if taken_at == "sleep":
                        raise KeyboardInterrupt

            return waited

        def take(queue: MessageQueue, *given: Any) -> Any:
            if threading.current_thread() is first and slept:
                raise KeyboardInterrupt
            return taken(queue, *given)

        taken = MessageQueue.take
        monkeypatch.setattr(MessageQueue, "take", take)
        for kind in (Absence,) if is_stored else (Sleep,):
            monkeypatch.setattr(kind, "wait", sleep(kind))
        first.start()
        settled(queues, "Q", 1)
        second = waiting(queues.work(), "Q", None, 60, found)
        settled(queues, "Q", 2)
        put(queues, "Q", b"woke the first")
        for thread in (first, second):
            thread.join(10)
        assert [b"woke the first"] == found
