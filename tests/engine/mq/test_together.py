"""Units of work that commit together, more of them than one transaction takes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from engine.descriptor import PERSISTENT, Descriptor
from engine.mq.manager import QueueManager
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
        journal._last = {1, 2, 3}
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
