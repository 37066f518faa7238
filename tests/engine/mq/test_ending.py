"""The end of a queue manager, as threads meet it that still work on it."""

from __future__ import annotations

import os
import resource
import shutil
import time
from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager
from engine.mq.store.environment import Environment
from engine.mq.store_changes import Record


@pytest.mark.parametrize("commits_then", [False, True])
@pytest.mark.parametrize("persistence", [0, 1])
@pytest.mark.parametrize("step", ["put", "get"])
def test_a_unit_that_was_backed_out_cannot_be_committed(
    tmp_path: Path, step: str, persistence: int, *, commits_then: bool
) -> None:
    """A unit in which there is something when its queue manager ends is backed out, and its commit is refused."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "Q", {})
        own, told = Descriptor(persistence=persistence), list[object]()
        queues.work().put("Q", own, b"there", syncpoint=False)
        work, idle = queues.work(), queues.work()
        if step == "put":
            work.put("Q", own, b"lost")
        else:
            work.get("Q")
    if commits_then:
        work.commit_then(told.append)
        assert [2003] == [error.reason for error in told if isinstance(error, MessageException)]
    else:
        with pytest.raises(MessageException, match="backed out as queue manager QM has ended"):
            work.commit()
    work.back_out()
    idle.commit()  # nothing of it is lost
    with pytest.raises(MessageException, match="has ended"):
        work.put("Q", own, b"later")
    with QueueManager.open(tmp_path / "QM") as queues:
        assert [b"there"] == [found.body for found in queues.browse("Q")]


def test_a_unit_that_is_backed_out_while_its_queue_manager_ends(tmp_path: Path) -> None:
    """What a unit puts back while its backout counts are on their way to the disk is there after an end in order."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "Q", {})
        work = queues.work()
        for persistence in (0, 1):
            work.put("Q", Descriptor(persistence=persistence), b"there", syncpoint=False)
        while work.get("Q") is not None:
            pass
        assert queues.store is not None
        queues.store.store.journal.transactions.watch = lambda _: time.sleep(0.2)
        work.back_out_then(lambda _: None)
    with QueueManager.open(tmp_path / "QM") as queues:
        assert {0, 1} == {found.descriptor.persistence for found in queues.browse("Q")}


def test_a_commit_that_comes_too_late_is_refused(tmp_path: Path) -> None:
    """A unit that comes to the store once that is closed is refused as the queue manager's end, and not as a fault."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        pass
    assert queues.store is not None
    with pytest.raises(MessageException, match="has ended") as refused:
        queues.store.store.journal.commit(Record(decided=(b"late",)))
    assert refused.value.reason == 2162


def test_a_full_disk_can_be_emptied(tmp_path: Path) -> None:
    """Messages are refused while the disk has still room to remove them, one by one, also after a start."""
    QueueManager.create(tmp_path / "QM")
    limit, refused = resource.getrlimit(resource.RLIMIT_FSIZE), list[str]()
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limit[1]))
    try:
        with QueueManager.open(tmp_path / "QM") as queues:
            queues.define("QLOCAL", "Q", {})
            work = queues.work()
            while not refused:
                work.put("Q", Descriptor(persistence=1, correl_id=os.urandom(24)), bytes(1_000))
                try:
                    work.commit()
                except MessageException as error:
                    refused.append(error.text)
            put = queues.depth("Q")
        with QueueManager.open(tmp_path / "QM") as queues:
            work, got = queues.work(), 0
            while work.get("Q") is not None:
                work.commit()
                got += 1
            work.put("Q", Descriptor(persistence=1), b"room again")
            work.commit()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert "store is full" in refused[0]
    assert put == got > 100


def test_a_start_gives_back_the_room_of_what_overflowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start closes the file of what memory had no room for before it removes it, so that a full disk has room."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM"):
        pass
    done, close, remove = list[tuple[str, Path]](), Environment.close, shutil.rmtree

    def closed(environment: Environment) -> None:
        done.append(("closed", environment.path))
        close(environment)

    def removed(path: Path) -> None:
        done.append(("removed", path))
        remove(path)

    with monkeypatch.context() as patches:
        patches.setattr(Environment, "close", closed)
        patches.setattr("engine.mq.store.store.shutil.rmtree", removed)
        queues = QueueManager.open(tmp_path / "QM")
        assert [(step, tmp_path / "QM" / "overflow") for step in ("closed", "removed")] == done
    queues.close()
