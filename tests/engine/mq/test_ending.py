"""The end of a queue manager, as threads meet it that still work on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager
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


def test_a_commit_that_comes_too_late_is_refused(tmp_path: Path) -> None:
    """A unit that comes to the store once that is closed is refused as the queue manager's end, and not as a fault."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        pass
    assert queues.store is not None
    with pytest.raises(MessageException, match="has ended") as refused:
        queues.store.store.journal.commit(Record(decided=(b"late",)))
    assert refused.value.reason == 2162
