"""Statistics of flows and nodes: what is read of a thread's clock for some messages counts for all."""

from __future__ import annotations

import errno
import itertools
import mmap
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.broker.statistics import metering, node_metering, slots
from engine.broker.statistics.metering import FlowMeter, Pool
from engine.broker.statistics.node_metering import NodeMeter, shapes_of
from engine.broker.statistics.slots import Slot, opened
from engine.broker.statistics.totals import totals_of
from engine.descriptor import Descriptor
from engine.errors import BrokerError
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
    monkeypatch.setattr(node_metering, "thread_time_ns", lambda: next(looks))
    loaded = load_flow(str(flow(tmp_path, "F", program="SET OutputRoot = InputRoot;")))
    deployed = deploy(loaded, bind=binder(loaded))
    slot = opened(tmp_path / "1.slot", shapes_of(deployed))
    entrance = deployed.entrances[0]
    meter = FlowMeter(slot, entrance, None, NodeMeter(slot, deployed, entrance))
    manager = QueueManager("IN", "OUT")
    work = manager.work()
    for _ in range(count):
        work.put("IN", Descriptor(), b"<a/>")
    work.commit()
    for _ in range(count):
        meter.done(deployed.process(entrance, work))
    meter.done(None)
    place = slot.places["Work"]
    assert (count, count) == (slot.words[place + slots.COUNT], slot.words[slot.places["Out"] + slots.COUNT])
    assert 20 * count == slot.words[place + slots.NODE_CPU]  # two stretches: before its yield, and behind it
    assert 20 == slot.words[place + slots.NODE_EXTREMES + 2]  # the most of one message
    assert next(looks) // 10 < 12 * (count if count <= FEW else FEW + (count - FEW) / 16 + 1) + 1


WAYS = """\
flow: Ways
nodes:
  In: {type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}
  Try: {type: TryCatch}
  Work:
    type: Compute
    computeExpression: |
      IF InputRoot.XMLNSC.a.fails IS NOT NULL THEN THROW USER EXCEPTION VALUES('no'); END IF;
      SET OutputRoot = InputRoot;
      PROPAGATE TO TERMINAL 'out1' DELETE NONE;
      PROPAGATE TO TERMINAL 'out2' DELETE NONE;
      PROPAGATE TO LABEL 'Here' DELETE NONE;
  Here: {type: Label, labelName: Here}
  One: {type: MQOutput, queueName: OUT}
  Two: {type: MQOutput, queueName: OUT}
  Caught: {type: MQOutput, queueName: OUT}
wires: [In.out -> Try, Try.try -> Work, Try.catch -> Caught, Work.out1 -> One, Work.out1 -> Two, Here.out -> Two]
"""


def test_invocations_of_nodes_and_terminals(tmp_path: Path) -> None:
    """Each message is counted once for a terminal on however many wires, on none too, and for each node it comes to."""
    file = tmp_path / "Ways.yaml"
    file.write_text(WAYS, encoding="utf-8")
    loaded = load_flow(str(file))
    deployed = deploy(loaded, bind=binder(loaded))
    entrance, slot = deployed.entrances[0], opened(tmp_path / "1.slot", shapes_of(deployed))
    meter = FlowMeter(slot, entrance, None, NodeMeter(slot, deployed, entrance))
    work = QueueManager("IN", "OUT").work()
    for body in (b"<a/>", b"<a><fails/></a>", b"<a/>"):
        work.put("IN", Descriptor(), body)
    work.commit()
    for _ in range(4):
        meter.done(deployed.process(entrance, work))
    found = totals_of(slot).nodes
    sent = {label: {name: count for name, count in node.outputs.items() if count} for label, node in found.items()}
    invoked = {"In": 3, "Try": 3, "Work": 3, "Here": 2, "One": 2, "Two": 4, "Caught": 1}
    assert invoked == {label: node.count for label, node in found.items()}
    assert {"In": {"out": 3}, "Try": {"try": 3, "catch": 1}, "Here": {"out": 2}} == {
        label: sent[label] for label in ("In", "Try", "Here")
    }
    assert {"out": 2, "out1": 2, "out2": 2} == sent["Work"]
    assert [{"out": 2}, {"out": 4}, {"out": 1}] == [sent[label] for label in ("One", "Two", "Caught")]
    elapsed = sum(node.elapsed for node in found.values())
    assert elapsed == slot.words[slots.ELAPSED]  # no time is counted twice or for no node


class Times:
    """The clocks of a thread that waits and works for as long as it is told to; `looks` is how often one is read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cpu = self.looks = 0
        monkeypatch.setattr(metering, "perf_counter_ns", lambda: 2 * self.cpu)
        monkeypatch.setattr(metering, "thread_time_ns", self._look)

    def _look(self) -> int:
        self.looks += 1
        return self.cpu

    def through(self, slot: Slot, works: Iterable[int], wait: int, **options: Any) -> None:
        """Have so much time pass in each message, behind a wait that takes so much."""

        def receive(work: Any) -> Any:
            self.cpu += wait
            return SimpleNamespace(root=SimpleNamespace(source=None))

        station: Any = SimpleNamespace(node=SimpleNamespace(receive=receive))
        pool: Pool | None = None
        meter = FlowMeter(slot, station, pool, **options)
        for work in works:
            station.node.receive(None)
            self.cpu += work
            meter.done(SimpleNamespace(error=None))  # type: ignore[arg-type]  # an Outcome, as far as it is asked
        self.cpu += wait
        meter.done(None)


@pytest.mark.parametrize(
    ("works", "wait", "options", "looks"),
    [
        pytest.param([100_000] * FEW, 1000, {}, 2 * FEW, id="the first messages one by one"),
        pytest.param([100_000] * 664, 1000, {}, 2 * FEW + 2 * 12, id="then once in 10 ms of both clocks"),
        pytest.param([100_000] * 664, 1000, {"one_by_one": True}, 2 * 664, id="one by one, where each origin counts"),
        pytest.param([6_000_000] * 100, 1000, {}, 2 * 100, id="one by one, where each takes longer than that"),
    ],
)
def test_processor_time_of_a_flow(
    works: list[int], wait: int, options: dict[str, bool], looks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All processor time is counted, as that of messages or of waits, however seldom the clock is read."""
    slot, times = opened(tmp_path / "1.slot"), Times(monkeypatch)
    times.through(slot, works, wait, **options)
    words = slot.words
    assert (len(works), len(works)) == (words[slots.MESSAGES], totals_of(slot).commits)
    assert (sum(works), wait * (len(works) + 1)) == (words[slots.CPU], words[slots.CPU_WAITING])
    assert (2 * sum(works), 2 * wait * (len(works) + 1)) == (words[slots.ELAPSED], words[slots.ELAPSED_WAITING])
    assert abs(times.looks - looks) <= 4


def test_a_long_message_among_short_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest processor time of a message is its own, not the mean of those that the clock was read for."""
    slot, times = opened(tmp_path / "1.slot"), Times(monkeypatch)
    times.through(slot, [*[10_000] * 150, 5_000_000, *[10_000] * 150], 1000)
    most, least = slot.words[slots.EXTREMES + 2 : slots.EXTREMES + 4].tolist()
    assert (5_000_000, 10_000) == (most, least)
    assert 5_000_000 + 300 * 10_000 == slot.words[slots.CPU]


def test_a_worker_that_ends_behind_the_one_that_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a worker counts at its end takes nothing away of what the one in its place has counted meanwhile."""
    slot, times = opened(tmp_path / "1.slot"), Times(monkeypatch)
    others = opened(tmp_path / "1.slot")

    def works() -> Iterator[int]:
        yield from [1000] * 100
        times.through(others, [1000] * 50, 10)
        yield 1000

    times.through(slot, works(), 10)
    assert (151, 151, 151) == (slot.words[slots.MESSAGES], totals_of(slot).commits, totals_of(slot).busy)


def test_a_thread_that_has_lost_its_message_is_not_busy(tmp_path: Path) -> None:
    """Where a thread's queue manager ends while it has a message in hand, others do not count all threads as busy."""
    slot, meters, stations = opened(tmp_path / "2.slot"), list[FlowMeter](), list[Any]()
    for number, own in enumerate((opened(tmp_path / "1.slot"), slot), 1):
        message = SimpleNamespace(root=SimpleNamespace(source=None))
        stations.append(SimpleNamespace(node=SimpleNamespace(receive=lambda _, message=message: message)))
        meters.append(FlowMeter(own, stations[-1], Pool(tmp_path, number, 2)))
    stations[0].node.receive(None)
    meters[0].broken(BrokerError(2161, "the queue manager has ended"))
    stations[1].node.receive(None)
    meters[1].done(SimpleNamespace(error=None))  # type: ignore[arg-type]  # an Outcome, as far as it is asked
    assert (1, 0) == (slot.words[slots.MESSAGES], totals_of(slot).busy)


def test_slots_that_are_not_whole(tmp_path: Path) -> None:
    """A file of counters that was cut off is made anew."""
    file = tmp_path / "0001-In.0123456789ab.slot"
    opened(file).close()
    whole = file.read_bytes()
    for length in (0, 3, len(whole) - 8):
        file.write_bytes(whole[:length])
        opened(file).close()
        assert len(whole) == file.stat().st_size


def test_no_room_for_counters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where a disk has no room for counters, threads count in memory, and say so once; nothing is left half made."""
    monkeypatch.setattr(mmap, "mmap", _full)
    slot = opened(tmp_path / "0001-In.0123456789ab.slot")
    slot.words[slots.MESSAGES] += 1
    assert 1 == slot.words[slots.MESSAGES]
    pool = Pool(tmp_path, 1, 2)
    assert not pool.begin()
    assert ["pool"] == [file.name for file in tmp_path.iterdir()]
    assert [True] == ["No space left on device; make room" in record.getMessage() for record in caplog.records]


def _full(*_: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
