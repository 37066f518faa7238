"""The expiry task of a durable queue manager: late messages in memory, in the store, and in units of work."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.mq.store.checking import check


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A queue manager with a queue."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "Q", {})
    return tmp_path / "QM"


def test_the_expiry_task_runs_by_itself(folder: Path) -> None:
    """Every EXPRYINT seconds late messages are removed, in memory or not; a changed interval is a run at once."""
    now = [1_000.0]
    with QueueManager.open(folder, clock=lambda: now[0]) as queues:
        work = queues.work()
        for number in range(3_000):
            work.put("Q", Descriptor(persistence=number % 2, expiry=10 if number % 3 else -1), b"")
        work.commit()
        now[0] += 2
        queues.alter("QMGR", "", {"EXPRYINT": 60})
        end = time.monotonic() + 20
        while queues.depth("Q") > 1_000 and time.monotonic() < end:
            time.sleep(0.01)
        assert 1_000 == queues.depth("Q")
    assert [] == check(folder)


def test_refreshed(folder: Path) -> None:
    """REFRESH QMGR TYPE(EXPIRY) has all late messages removed before it answers."""
    now = [1_000.0]
    with QueueManager.open(folder, clock=lambda: now[0]) as queues:
        queues.mqsc("ALTER QMGR EXPRYINT(0)")
        work = queues.work()
        for number in range(3_000):
            work.put("Q", Descriptor(persistence=number % 2, expiry=10 if number % 3 else -1), b"")
        work.commit()
        now[0] += 2
        assert ["AMQ8005I"] == [answer.code for answer in queues.mqsc("REFRESH QMGR TYPE(EXPIRY)")]
        assert 1_000 == queues.display("QLOCAL", "Q")[0]["CURDEPTH"]


@pytest.mark.parametrize("persistence", [0, 1])
def test_units_that_hold_late_messages_do_not_hold_up_others(folder: Path, persistence: int) -> None:
    """Late messages that nobody has are removed behind any number that units of work have, which expire later."""
    now = [1_000.0]
    with QueueManager.open(folder, clock=lambda: now[0]) as queues:
        queues.define("QLOCAL", "OTHER", {})
        work = queues.work()
        for number in range(305):
            own = Descriptor(persistence=persistence, expiry=10 if number < 300 else 11)
            work.put("Q" if number < 300 else "OTHER", own, b"")
        work.commit()
    with QueueManager.open(folder, clock=lambda: now[0]) as queues:
        work = queues.work()
        taken = [work.get("Q") for _ in range(300)]
        assert None not in taken
        now[0] += 2
        assert (5, 0) == (queues.expire(100), queues.depth("OTHER"))
        assert 0 == queues.expire(100)
        work.back_out()
        assert [100, 100, 100, 0] == [queues.expire(100) for _ in range(4)]
    assert [] == check(folder)
