"""Threads that wait in a journal: whom a writer waits for, and who wakes whom."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Queue
from types import FrameType
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.mq.manager import QueueManager
from engine.mq.store.committers import Absence, Committers
from engine.mq.store.job import Job
from engine.mq.store.journal import Journal
from engine.mq.store_changes import Record
from engine.mq.waiters import Sleep


def test_who_leaves_as_it_is_woken_does_not_keep_others_asleep(tmp_path: Path) -> None:
    """Of those whose units are done each wakes the next; one that Ctrl-C takes away just then leaves none asleep."""
    QueueManager.create(tmp_path / "QM")
    queues = QueueManager.open(tmp_path / "QM")
    assert queues.store is not None
    journal = queues.store.store.journal
    jobs: list[Any] = [Job(Record(), lambda _: None, awaited=True) for _ in range(4)]
    for job in jobs:
        job.owner = 0  # another thread

    class Turn:
        def __init__(self, job: Any) -> None:
            self.job, self.lock = job, job.turn
            self.acquire, self.locked = self.lock.acquire, self.lock.locked

        def release(self) -> None:
            leaves.start()
            self.lock.release()

    leaves = threading.Thread(target=lambda: journal._leave(jobs[1]))
    jobs[1].turn = Turn(jobs[1])
    journal._done.extend(jobs)
    journal._wake_next()
    assert [True, False] == [job.turn.acquire(blocking=False) for job in (jobs[0], jobs[2])]
    journal._wake_next()  # as who is woken first does
    assert jobs[2].turn.acquire(timeout=10)
    queues.close()


@pytest.mark.parametrize("first", ["get", "commit"])
def test_nobody_waits_for_the_unit_of_a_thread_that_waits_for_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Who commits waits for those who did before, but not for one who waits for a message, or goes to meanwhile."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "Q", {})
        assert queues.store is not None
        journal, steps = queues.store.store.journal, {name: threading.Event() for name in ("get", "commit", "go")}

        def tell(step: str, then: Callable[..., Any]) -> Callable[..., Any]:
            return lambda *given: (steps[step].set(), then(*given))[1]

        def get() -> None:
            steps["go"].wait(10)
            queues.work().get("Q", wait=30.0)

        monkeypatch.setattr(Absence, "wait", tell("get", Absence.wait))
        monkeypatch.setattr(Journal, "_waits_in_vain", tell("commit", Journal._waits_in_vain))
        monkeypatch.setattr("engine.mq.store.journal._PATIENCE", 60.0)
        journal._took = 60.0  # seconds that others are given
        getter = threading.Thread(target=get, daemon=True)
        committer = threading.Thread(target=journal.commit, args=(Record(decided=(b"one",)),), daemon=True)
        getter.start()
        journal._committers.note({number for number in (getter.ident, 1) if number})
        journal._committers.leave(1)
        for thread in (getter, committer) if first == "get" else (committer, getter):
            if thread is committer:
                committer.start()
            else:
                steps["go"].set()
            assert steps[first].wait(10)
        committer.join(10)
        assert not committer.is_alive()
        assert steps["commit"].is_set() == (first == "commit")
        queues.work().put("Q", Descriptor(), b"", syncpoint=False)
        getter.join(10)
        assert not getter.is_alive()
        assert journal._committers.expected() == 2  # the getter has its message, and is about to commit


def test_who_writes_leaves_none_asleep_that_came_behind_it(tmp_path: Path) -> None:
    """A thread that writes its own unit between those of others has each of them return."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        assert queues.store is not None
        journal = queues.store.store.journal
        jobs = [Job(Record(decided=(b"%d" % number,)), lambda _: None, awaited=True) for number in range(3)]
        for job in (jobs[0], jobs[2]):
            job.owner = 0  # another thread
        journal._pending.extend(jobs)
        assert journal._is_to_write(jobs[1])
        journal._write_some()
        woken = [jobs[0].turn.acquire(timeout=10)]
        threading.Thread(target=journal._wake_next).start()  # as its owner does then
        woken.append(jobs[2].turn.acquire(timeout=10))
        journal._pass_on(jobs[1])
    assert [True, True] == woken


def test_who_comes_back_for_nothing_and_leaves_again_is_not_waited_for() -> None:
    """A thread that is woken, finds that another has its message, and waits again, commits nothing meanwhile."""
    committers = Committers()
    committers.note({1, 2})
    committers.leave(1)
    committers.note({2})
    committers.note({2})
    committers.come_back(1)
    assert committers.expected() == 2
    committers.leave(1)
    assert committers.expected() == 1


def test_threads_that_a_commit_wakes_are_woken_in_turn(tmp_path: Path) -> None:
    """Of those who wait for messages of a commit each wakes the next; one that did not begin to wait holds none up."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        assert queues.store is not None
        journal, begun = queues.store.store.journal, Queue[Absence]()

        def wait() -> None:
            absence = journal.absence()
            begun.put(absence)
            absence.wait(None)

        threads = [threading.Thread(target=wait, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        asleep = [begun.get(timeout=10) for _ in threads]
        ended, woken_at_once = [asleep[0], journal.absence(), *asleep[1:]], list[bool]()

        def end_all(_: BrokerError | None) -> None:
            for absence in ended:
                absence.end()
            woken_at_once.extend(not absence._lock.locked() for absence in ended)

        journal.commit(Record(decided=(b"one",)), end_all)
        for thread in threads:
            thread.join(10)
        assert [False] * len(ended) == woken_at_once
        assert not any(thread.is_alive() for thread in threads)
        asleep[0].end()  # outside a commit it is at once
        asleep[0].wait(10)


def test_two_may_end_a_sleep_at_once() -> None:
    """Wherever in that the other ends it as well, it is over, and neither hears of it."""
    for place in range(20):
        sleep, left = Sleep(), [place]

        def end_as_well(frame: FrameType, event: str, _: Any, sleep: Sleep = sleep, left: list[int] = left) -> Any:
            frame.f_trace_opcodes = frame.f_code is Sleep.end.__code__
            if event == "opcode":
                if not left[0]:
                    sleep.end()
                left[0] -= 1
            return end_as_well

        before = sys.gettrace()
        sys.settrace(end_as_well)
        try:
            sleep.end()
        finally:
            sys.settrace(before)
        sleep.wait(None)
