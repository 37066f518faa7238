"""Turns at the lock of a queue manager: taken by others for a while, and interrupted by Ctrl-C anywhere."""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.mq import QueueManager, admission, message_numbers, turns, unit, waiting_gets
from engine.mq.topics import copies
from engine.work import Selection
from tests.engine.mq.interrupts import Interrupts
from tests.engine.mq.test_browsing import mostly_stored

SCRIPT = """DEFINE QLOCAL(COPIES)
DEFINE QLOCAL(Q) STREAMQ(COPIES)
DEFINE QLOCAL(HEARD)
DEFINE SUB(HEARD) TOPICSTR('news') DEST(HEARD)
"""


def manager() -> QueueManager:
    """Returns a queue manager that has looked its queues up."""
    queues = QueueManager()
    assert not any(answer.failed for answer in queues.mqsc(SCRIPT))
    for _ in range(2):  # the first publication has names looked up again
        pass_messages(queues)
    for name in ("Q", "COPIES", "HEARD"):
        queues.purge(name)
    return queues


def pass_messages(queues: QueueManager) -> None:
    """Put, publish, commit, and get, also what is not there yet."""
    work = queues.work()
    work.put("Q", Descriptor(), b"own")
    work.publish("news", Descriptor(), b"own")
    work.commit()
    for queue in ("Q", "COPIES", "HEARD"):
        assert work.get(queue, wait=0.001) is not None
    work.get("Q", wait=0.001)
    work.back_out()


def held_for(queues: QueueManager, seconds: float) -> threading.Thread:
    """Returns a thread that has the lock of a queue manager for so long."""
    has_it = threading.Event()

    def hold() -> None:
        with queues.lock:
            has_it.set()
            time.sleep(seconds)

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    assert has_it.wait(10)
    return thread


def is_free(queues: QueueManager) -> bool:
    """Returns True where another thread can put."""
    thread = threading.Thread(target=lambda: queues.work().put("Q", Descriptor(), b"", syncpoint=False), daemon=True)
    thread.start()
    thread.join(10)
    return not thread.is_alive()


@pytest.mark.parametrize("seconds", [0.0, 0.002], ids=["free", "taken"])
def test_who_is_interrupted_anywhere_leaves_the_lock_to_others(seconds: float) -> None:
    """Wherever Ctrl-C comes, also while the lock is waited for, another thread can put."""
    place, interrupted, before = 1, True, sys.gettrace()
    while interrupted:
        queues = manager()
        holder = held_for(queues, seconds) if seconds else None
        interrupts = Interrupts(place, admission, copies, message_numbers, unit, waiting_gets, turns)
        sys.settrace(interrupts)
        try:
            pass_messages(queues)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        if holder is not None:
            holder.join(10)
        assert is_free(queues), place
        interrupted, place = interrupts.left <= 0, place + 1
    assert place > 60


def test_who_finds_the_lock_taken_goes_on_when_it_is_released() -> None:
    """Puts and gets wait for a lock that another thread has, and do their work then."""
    queues = manager()
    begun = time.monotonic()
    holder = held_for(queues, 0.05)
    pass_messages(queues)
    assert time.monotonic() - begun >= 0.04
    holder.join(10)
    assert [1, 1, 1] == [queues.depth(name) for name in ("Q", "COPIES", "HEARD")]


_CYCLES, _SECONDS = 30, 20.0


def test_no_thread_goes_without_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that commit to the disk get on beside one that never waits, and one that browses the store."""
    with mostly_stored(tmp_path / "QM", monkeypatch) as queues, ThreadPoolExecutor(3) as pool:
        ended = threading.Event()

        def pass_through(persistence: int, cycles: int) -> int:
            own, passed, mine = queues.work(), 0, Selection(correl_id=b"%d" % persistence * 24)
            while passed < cycles and not ended.is_set():
                own.put("Q", Descriptor(persistence=persistence, correl_id=mine.correl_id), b"passes")
                own.commit()
                own.get("Q", mine)
                own.commit()
                passed += 1
            return passed

        def browse() -> int:
            browses = 0
            while not ended.is_set():
                reader = queues.work()
                while reader.get("Q", Selection(browse=True)) is not None:
                    pass
                browses += 1
            return browses

        others = [pool.submit(pass_through, 0, 10**9), pool.submit(browse)]
        lasting = pool.submit(pass_through, 1, _CYCLES)
        try:
            assert lasting.result(_SECONDS) == _CYCLES
        finally:
            ended.set()
        assert all(each.result() for each in others)
