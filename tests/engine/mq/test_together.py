"""Units of work that commit together, more of them than one transaction takes."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from engine.descriptor import PERSISTENT, Descriptor
from engine.errors import BrokerError
from engine.mq.manager import QueueManager
from engine.mq.store.checking import check
from engine.mq.store.job import Job
from engine.mq.store.journal import Journal
from engine.mq.store_changes import Record

TOGETHER = 1_000  # units in one transaction


@pytest.mark.parametrize("ahead", [TOGETHER - 1, TOGETHER, TOGETHER + TOGETHER // 2, 2 * TOGETHER])
def test_a_commit_behind_many_others_is_written_when_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    """A commit that finds nobody writing, and more units ahead of it than fit, returns when its own is on the disk."""
    QueueManager.create(tmp_path / "QM")
    queues = QueueManager.open(tmp_path / "QM")
    queues.define("QLOCAL", "Q", {})
    assert queues.store is not None
    store, told = queues.store.store, list[object]()
    with monkeypatch.context() as patches:
        patches.setattr(store.journal, "_thread", threading.current_thread())  # that which writes has not come yet
        for number in range(ahead):
            store.journal.submit(Record(refused=(b"%d" % number,)), told.append)
        store.journal.commit(Record(decided=(b"mine",)))
        assert store.decisions()[b"mine"]
        put = "Q", Descriptor(persistence=PERSISTENT), b"later"
        later = threading.Thread(target=queues.work().put, args=put, kwargs={"syncpoint": False}, daemon=True)
        later.start()
        later.join(10)
        assert not later.is_alive()
    assert [None] * ahead == told
    queues.close()


def test_of_those_who_are_waited_for_the_last_writes_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where fewer units go into a transaction than commit at once, each commit returns when its own is on the disk."""
    QueueManager.create(tmp_path / "QM")
    monkeypatch.setattr("engine.mq.store.journal._TOGETHER", 2)
    queues = QueueManager.open(tmp_path / "QM")
    assert queues.store is not None
    store, unwritten = queues.store.store, list[bytes]()

    def commit(name: int) -> None:
        for turn in range(20):
            branch = b"%d.%d" % (name, turn)
            store.journal.commit(Record(decided=(branch,)))
            if not store.decisions().get(branch):
                unwritten.append(branch)

    threads = [threading.Thread(target=commit, args=(name,), daemon=True) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert ([], 0) == (unwritten, sum(thread.is_alive() for thread in threads))
    queues.close()


def test_who_is_interrupted_lets_others_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while a commit waits for others ends that wait alone: others commit, and the queue manager ends."""

    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        assert queues.store is not None
        journal, told = queues.store.store.journal, list[bool]()
        journal._committers.note({1, 2, 3})
        with monkeypatch.context() as patches:
            patches.setattr(Journal, "_waits_in_vain", interrupted)
            with pytest.raises(KeyboardInterrupt):
                journal.commit(Record(decided=(b"interrupted",)))

        def later() -> None:
            journal.commit(Record(decided=(b"later",)))
            told.append(True)

        thread = threading.Thread(target=later, daemon=True)
        thread.start()
        thread.join(10)
        assert told == [True]
    with QueueManager.open(tmp_path / "QM") as queues:
        assert queues.store is not None
        assert {b"interrupted", b"later"} == set(queues.store.store.decisions())


@pytest.mark.parametrize("where", ["begun", "written", "committed", "synced", "told"])
def test_who_is_interrupted_while_it_writes_leaves_nothing_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Ctrl-C in who writes for all: another thread goes on, and each unit is kept, told and made available once."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "Q", {})
        assert queues.store is not None
        journal, told, seen = queues.store.store.journal, list[int](), list[str]()

        def interrupt(step: str) -> None:
            seen.append(step)
            if seen.count(where) == 1 == (step == where):
                raise KeyboardInterrupt

        def tell(number: int, _: object) -> None:
            told.append(number)
            interrupt("told")

        jobs = [Job(Record(decided=(b"%d" % n,)), partial(tell, n), awaited=True) for n in range(3)]
        transactions = journal.transactions
        monkeypatch.setattr(transactions, "_environment", Watched(transactions._environment, interrupt))
        journal.transactions.watch = interrupt
        work = queues.work()
        work.put("Q", Descriptor(persistence=PERSISTENT), b"mine")
        journal._pending.extend(jobs)
        with pytest.raises(KeyboardInterrupt):
            work.commit()
        assert [True] * 3 == [job.turn.acquire(timeout=10) for job in jobs]
        journal.commit(Record(decided=(b"later",)))
        assert [0, 1, 2] == told
        assert (1, 0) == (queues.depth("Q"), queues.directory.queues["Q"].reserved)
        assert {b"0", b"1", b"2", b"later"} == set(queues.store.store.decisions())
    assert [] == check(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        assert queues.depth("Q") == 1


class Watched:
    """The environment of a journal, or a transaction in it, which tells when one begins and when it is committed."""

    def __init__(self, watched: Any, tell: Callable[[str], None]) -> None:
        self._watched = watched
        self._tell = tell

    def __getattr__(self, name: str) -> Any:
        return getattr(self._watched, name)

    def begin(self) -> Any:
        self._tell("begun")
        return Watched(self._watched.begin(), self._tell)

    def commit(self) -> None:
        self._watched.commit()
        self._tell("committed")


def test_what_follows_a_unit_and_fails_is_for_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where what follows one unit of a transaction fails, the others are told; its owner, or else the log, has why."""

    def fails(_: BrokerError | None) -> None:
        raise LookupError("nobody is there")

    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        assert queues.store is not None
        journal, told = queues.store.store.journal, list[object]()
        with monkeypatch.context() as patches:
            patches.setattr(journal, "_thread", threading.current_thread())  # that which writes has not come yet
            journal.submit(Record(decided=(b"first",)), fails)
            journal.submit(Record(decided=(b"second",)), told.append)
            with pytest.raises(LookupError):
                journal.commit(Record(decided=(b"mine",)), fails)
        journal.commit(Record(decided=(b"later",)), told.append)
        assert [None, None] == told
        assert {b"first", b"second", b"mine", b"later"} == set(queues.store.store.decisions())
    assert "nobody is there" in caplog.text


class Costly(list[Any]):
    """Messages for which memory does not suffice."""

    def __iter__(self) -> Iterator[Any]:
        raise MemoryError


@pytest.mark.parametrize("codec", ["NONE", "ANY"])
def test_a_unit_that_fails_as_nobody_foresaw_is_refused_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codec: str
) -> None:
    """Where memory does not suffice to pack or to write a unit, it is refused, and others are kept."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        assert queues.store is not None
        journal, told, last = queues.store.store.journal, list[object](), threading.Event()
        journal.transactions.codec = codec
        with monkeypatch.context() as patches:
            patches.setattr(journal, "_thread", threading.current_thread())  # that which writes has not come yet
            journal.submit(Record(Costly([1, 2])), told.append)
            journal.submit(Record(decided=(b"first",)), told.append)
            journal.commit(Record(decided=(b"mine",)))
            with pytest.raises(BrokerError, match="MemoryError"):
                journal.commit(Record(Costly([1, 2])), told.append)
        journal.submit(Record(Costly([1, 2])), told.append)
        journal.submit(Record(decided=(b"last",)), lambda _: last.set())  # by the thread, which goes on
        assert last.wait(10)
        assert [True, False, True, True] == [isinstance(one, BrokerError) for one in told]
        assert {b"first", b"mine", b"last"} == set(queues.store.store.decisions())


def test_who_leaves_as_it_is_to_write_does_not_keep_others_from_it(tmp_path: Path) -> None:
    """Ctrl-C in a commit just as another thread gives it the right to write leaves that right to others."""
    QueueManager.create(tmp_path / "QM")
    queues = QueueManager.open(tmp_path / "QM")
    assert queues.store is not None
    journal, told = queues.store.store.journal, list[object]()
    job: Any = Job(Record(decided=(b"interrupted",)), told.append, awaited=True)

    class Turn:
        lock = job.turn
        acquire = lock.acquire

        def release(self) -> None:
            leaves.start()
            self.lock.release()

    leaves = threading.Thread(target=lambda: journal._leave(job))
    writer = Job(Record(), told.append, awaited=True)
    job.turn = Turn()
    journal._pending.append(job)
    assert journal._is_to_write(writer)
    journal._pass_on(writer)
    leaves.join(10)
    thread = threading.Thread(target=journal.commit, args=(Record(decided=(b"later",)), told.append), daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert [None, None] == told
    assert {b"interrupted", b"later"} == set(queues.store.store.decisions())
    queues.close()


def test_who_is_given_the_right_to_write_before_it_asks_writes_alone(tmp_path: Path) -> None:
    """Of those who commit while it writes none writes beside it: each unit is written once, and counted once."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "Q", {})
        assert queues.store is not None
        journal, writer = queues.store.store.journal, Job(Record(), lambda _: None, awaited=True)

        def put() -> None:
            queues.work().put("Q", Descriptor(persistence=PERSISTENT), b"", syncpoint=False)

        others = [threading.Thread(target=put, daemon=True) for _ in range(3)]

        class Pending(deque[Job]):
            def append(self, job: Job) -> None:
                super().append(job)
                if journal._writer is writer:
                    journal._pass_on(writer)

        def watch(step: str) -> None:
            if step == "written" and others[0].ident is None:
                for other in others:
                    other.start()
                while len(journal._pending) < len(others):
                    time.sleep(0.001)
                time.sleep(0.1)  # in which the last of them would begin to write

        journal._pending, journal.transactions.watch = Pending(), watch
        journal._committers.note({1, 2})  # for whom it waits as well
        assert journal._is_to_write(writer)
        put()
        for other in others:
            other.join(10)
        assert (4, 0) == (queues.depth("Q"), sum(other.is_alive() for other in others))
    assert [] == list(check(tmp_path / "QM"))


def test_who_comes_first_waits_for_others_behind_several_that_waited_in_vain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wait of several units that nobody joins says nothing of the next one, which waits for others again."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        assert queues.store is not None
        journal, waited = queues.store.store.journal, list[int]()

        def waits_in_vain(_: Job) -> bool:
            waited.append(len(journal._pending))
            return journal._ends_gathering(journal._pending[-1])

        with monkeypatch.context() as patches:
            patches.setattr(Journal, "_waits_in_vain", lambda self, job: waits_in_vain(job))
            for units in (3, 1, 1, 1):
                journal._committers.note({1, 2, 3, 4})
                for number in range(units - 1):
                    journal._pending.append(Job(Record(decided=(b"%d" % number,)), lambda _: None, awaited=False))
                journal.commit(Record(decided=(b"mine",)))
    assert [3, 1, 1] == waited  # and where one waited alone in vain, the next does not
