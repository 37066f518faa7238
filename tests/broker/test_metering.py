"""Statistics of nodes: what is read of a thread's clock for some messages counts for all."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from engine.broker.statistics import metering, slots
from engine.broker.statistics.metering import NodeMeter, shapes_of
from engine.broker.statistics.slots import opened
from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.runtime import deploy
from flows.files import load_flow
from flows.programs import binder
from tests.broker.running import flow

FEW, MANY = 64, 64 + 16 * 20


@pytest.mark.parametrize("count", [1, FEW, MANY])
def test_processor_time_of_nodes(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node's time is that of each message, or of one in 16 counted for all, and its messages are all counted."""
    looks = itertools.count(step=10)
    monkeypatch.setattr(metering, "thread_time_ns", lambda: next(looks))
    loaded = load_flow(str(flow(tmp_path, "F", program="SET OutputRoot = InputRoot;")))
    deployed = deploy(loaded, bind=binder(loaded))
    slot = opened(tmp_path / "1.slot", shapes_of(deployed))
    NodeMeter(slot, deployed)
    manager = QueueManager("IN", "OUT")
    work = manager.work()
    for _ in range(count):
        work.put("IN", Descriptor(), b"<a/>")
    work.commit()
    for _ in range(count):
        deployed.process(deployed.entrances[0], work)
    place = slot.places["Work"]
    assert (count, count) == (slot.words[place + slots.COUNT], slot.words[slot.places["Out"] + slots.COUNT])
    assert 20 * count == slot.words[place + slots.NODE_CPU]  # two stretches: before its yield, and behind it
    assert 20 == slot.words[place + slots.NODE_EXTREMES + 2]  # the most of one message
    assert next(looks) // 10 < 12 * (count if count <= FEW else FEW + (count - FEW) / 16 + 1) + 1
