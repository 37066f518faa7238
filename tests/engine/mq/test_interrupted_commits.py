"""Commits that Ctrl-C interrupts: behind any call, others go on to commit, and what was waiting is written."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from engine.mq import QueueManager, waiters
from engine.mq.store import committers, transactions
from engine.mq.store import journal as journals
from engine.mq.store.checking import check
from engine.mq.store.job import Job
from engine.mq.store.journal import Journal
from engine.mq.store_changes import Record
from tests.engine.mq.interrupts import Interrupts


def is_interrupted(journal: Journal, place: int) -> bool:
    """Commit with an interrupt at a place; returns False where there are not so many."""
    before, interrupts = sys.gettrace(), Interrupts(place, journals, transactions)
    sys.settrace(interrupts)
    try:
        journal.commit(Record(decided=(b"%d" % place,)))
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return interrupts.left <= 0


@pytest.mark.parametrize("expected", [set[int](), {1, 2, 3}], ids=["alone", "waits for others"])
def test_a_commit_that_is_interrupted_anywhere_keeps_no_other_from_it(tmp_path: Path, expected: set[int]) -> None:
    """Wherever Ctrl-C comes, another thread commits, and the queue manager ends in order."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        assert queues.store is not None
        journal, place, told = queues.store.store.journal, 1, list[int]()

        def later() -> None:
            journal.commit(Record(decided=(b"later",)))
            told.append(place)

        def is_interrupted_again() -> bool:
            journal._committers.note(set(expected))
            journal._skips = 0
            return is_interrupted(journal, place)

        while is_interrupted_again():
            thread = threading.Thread(target=later, daemon=True)
            thread.start()
            thread.join(10)
            assert [place] == told[-1:]
            place += 1
        assert place > 20
        assert b"%d" % place in queues.store.store.decisions()
    assert [] == check(tmp_path / "QM")


def test_the_end_waits_for_no_thread_that_was_started_twice(tmp_path: Path) -> None:
    """Where Ctrl-C comes as the thread that writes is started, and another is started for it, both end."""
    QueueManager.create(tmp_path / "QM")
    queues = QueueManager.open(tmp_path / "QM")
    assert queues.store is not None
    journal = queues.store.store.journal
    for _ in range(2):
        journal._thread = None
        journal.submit(Record(), lambda _: None)
    ends = threading.Thread(target=queues.close, daemon=True)
    ends.start()
    ends.join(10)
    assert not ends.is_alive()


def test_a_wait_that_is_interrupted_anywhere_wakes_the_next(tmp_path: Path) -> None:
    """Wherever Ctrl-C comes to a thread that waits for a message, those are woken who are to be woken behind it."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        assert queues.store is not None
        journal, place, is_left = queues.store.store.journal, 1, True
        while is_left:
            absence = journal.absence()
            job = Job(Record(), lambda _: None, awaited=True)
            journal._done.extend([absence, job])
            before, interrupts = sys.gettrace(), Interrupts(place, journals, committers, waiters)
            waker = threading.Thread(target=journal._wake_next)
            sys.settrace(interrupts)
            try:
                waker.start()
                absence.wait(10)
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(before)
            waker.join(10)
            assert job.turn.acquire(timeout=10), f"place {place}"
            is_left, place = interrupts.left <= 0, place + 1
        assert place > 10
