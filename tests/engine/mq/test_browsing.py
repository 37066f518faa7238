"""Browsing while others put and get: what stays is seen once and in order, and the store is held against its count."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.mq import memory as memories
from engine.mq.store import stored_queue
from engine.mq.store.checking import check
from engine.work import Selection

_STAYING, _SECONDS = 200, 1.0
_STAYS, _PASSES = b"s" * 24, b"p" * 24


def mostly_stored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> QueueManager:
    """Returns a queue manager with a queue Q of 200 messages, of which few are in memory."""
    monkeypatch.setattr(memories, "WINDOW", (8, 8_000))
    monkeypatch.setattr(stored_queue, "WINDOW", (4, 4_000))
    monkeypatch.setattr(stored_queue, "OVERFLOWN", (4, 4_000))
    QueueManager.create(folder)
    queues = QueueManager.open(folder)
    queues.define("QLOCAL", "Q", {})
    work = queues.work()
    for number in range(_STAYING):
        work.put("Q", Descriptor(persistence=1, priority=number % 3, correl_id=_STAYS), b"%d" % number)
    work.commit()
    return queues


@pytest.mark.parametrize("wanted", [Selection(browse=True), Selection(browse=True, selector="JMSPriority >= 0")])
def test_browsing_while_others_put_and_get(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: Selection) -> None:
    """Of a queue that is mostly in the store, each browse sees all that stays, and finds no damage in what passes."""
    with mostly_stored(tmp_path / "QM", monkeypatch) as queues, ThreadPoolExecutor(4) as pool:
        ended = threading.Event()
        expected = [arrival.body for arrival in queues.browse("Q")]

        def pass_through(persistence: int) -> int:
            own, passed = queues.work(), 0
            while not ended.is_set():
                for priority in range(4):
                    own.put("Q", Descriptor(persistence=persistence, priority=priority, correl_id=_PASSES), b"passes")
                own.commit()
                while own.get("Q", Selection(correl_id=_PASSES)) is not None:
                    passed += 1
                own.commit() if passed % 3 else own.back_out()
            return passed

        passing = [pool.submit(pass_through, persistence) for persistence in (1, 1, 0)]
        end, browses = time.monotonic() + _SECONDS, 0
        while browses < 3 or time.monotonic() < end:
            reader, seen = queues.work(), list[bytes]()
            while (arrival := reader.get("Q", wanted)) is not None:
                if arrival.descriptor.correl_id == _STAYS:
                    seen.append(arrival.body)
            assert expected == seen
            browses += 1
        ended.set()
        assert all(each.result() for each in passing)
    assert [] == check(tmp_path / "QM")
