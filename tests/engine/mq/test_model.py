"""The queue manager held against lists with rollbacks, in memory and durable, by stories that Hypothesis makes up."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from engine.descriptor import NO_ID, Descriptor
from engine.mq import QueueManager
from engine.mq import memory as memories
from engine.mq.store import shelves
from engine.mq.unit import Work
from engine.work import Selection

EXAMPLES = int(os.environ.get("PENSTOCK_EXAMPLES", "40"))
UNITS = 3
QUEUES = st.sampled_from(["A", "B"])
IDS = st.sampled_from([NO_ID, b"a" * 24, b"b" * 24])
DESCRIPTORS = st.tuples(st.integers(0, 9), st.integers(0, 1), IDS, IDS, st.sampled_from([-1, -1, 30])).map(
    lambda chosen: Descriptor(
        priority=chosen[0], persistence=chosen[1], correl_id=chosen[2], group_id=chosen[3], expiry=chosen[4]
    )
)
UNIT = st.integers(0, UNITS - 1)
WANTED = st.none() | st.builds(
    Selection,
    msg_id=st.just(b""),
    correl_id=st.sampled_from([b"", b"a" * 24, b"b" * 24]),
    group_id=st.sampled_from([b"", b"a" * 24]),
    selector=st.sampled_from(["", "JMSPriority > 4", "JMSPriority = 0 OR JMSCorrelationID = 'ID:" + "61" * 24 + "'"]),
)


@dataclass(frozen=True)
class Slip:
    """A message as the model knows it: where it waits, its place in the order of puts, and when it expires."""

    queue: str
    number: int
    descriptor: Descriptor
    body: bytes
    expires: int

    def is_wanted(self, queue: str, wanted: Selection | None, now: int) -> bool:
        own = self.descriptor
        if self.queue != queue or 0 < self.expires <= now:
            return False
        if wanted is None:
            return True
        ids = all(
            getattr(wanted, name) in {b"", getattr(own, name)} for name in ("msg_id", "correl_id", "group_id")
        )  # fmt: skip
        selected = {
            "": True,
            "JMSPriority > 4": own.priority > 4,
        }.get(wanted.selector, own.priority == 0 or own.correl_id == b"a" * 24)
        return ids and selected


@dataclass
class Unit:
    """A unit of work, what the model thinks it has done, and how far it has browsed each queue."""

    work: Work
    taken: list[Slip] = field(default_factory=list)
    put: list[Slip] = field(default_factory=list)
    browsed: dict[str, tuple[int, int]] = field(default_factory=dict)


class QueuesAgainstLists(RuleBasedStateMachine):
    """Each rule does the same to the queue manager and to lists, and compares what they answer."""

    durable = False

    def __init__(self) -> None:
        super().__init__()
        self.now = [1_000.0]
        self.folder = Path(tempfile.mkdtemp())
        if self.durable:
            QueueManager.create(self.folder / "QM")
        self.queues = self.opened()
        for queue in ("A", "B"):
            self.queues.define("QLOCAL", queue, {})
        self.waiting: list[Slip] = []
        self.number = 0
        self.begin()

    def opened(self) -> QueueManager:
        clock = lambda: self.now[0]  # noqa: E731
        return QueueManager.open(self.folder / "QM", clock=clock) if self.durable else QueueManager(clock=clock)

    def begin(self) -> None:
        self.units = [Unit(self.queues.work()) for _ in range(UNITS)]

    def teardown(self) -> None:
        self.queues.close()
        shutil.rmtree(self.folder)

    @rule(unit=UNIT, queue=QUEUES, own=DESCRIPTORS, size=st.sampled_from([1, 50, 3_000]), syncpoint=st.booleans())
    def put(self, unit: int, queue: str, own: Descriptor, size: int, syncpoint: bool) -> None:
        chosen, body = self.units[unit], b"%d." % self.number * size
        put = chosen.work.put(queue, own, body, syncpoint=syncpoint)
        self.number += 1
        expires = 0 if own.expiry < 0 else self.tenths() + own.expiry
        (chosen.put if syncpoint else self.waiting).append(Slip(queue, self.number, put, body, expires))

    @rule(unit=UNIT, queue=QUEUES, wanted=WANTED, syncpoint=st.sampled_from([True, True, False, None]))
    def get(self, unit: int, queue: str, wanted: Selection | None, syncpoint: bool | None) -> None:
        chosen = self.units[unit]
        found = next((slip for slip in self.in_order() if slip.is_wanted(queue, wanted, self.tenths())), None)
        arrival = chosen.work.get(queue, wanted, syncpoint=syncpoint)
        assert (None if found is None else self.shown(found)) == arrival
        if found is None:
            return
        self.waiting.remove(found)
        if syncpoint or (syncpoint is None and found.descriptor.persistence == 1):
            chosen.taken.append(found)

    @rule(unit=UNIT, queue=QUEUES)
    def browse(self, unit: int, queue: str) -> None:
        chosen = self.units[unit]
        behind = chosen.browsed.get(queue, (-99, 0))
        wanted = (slip for slip in self.in_order() if slip.is_wanted(queue, None, self.tenths()))
        found = next((slip for slip in wanted if (-slip.descriptor.priority, slip.number) > behind), None)
        arrival = chosen.work.get(queue, Selection(browse=True))
        assert (None if found is None else self.shown(found)) == arrival
        if found is not None:
            chosen.browsed[queue] = (-found.descriptor.priority, found.number)

    @rule(unit=UNIT)
    def commit(self, unit: int) -> None:
        chosen = self.units[unit]
        chosen.work.commit()
        self.waiting += chosen.put
        chosen.put, chosen.taken = [], []

    @rule(unit=UNIT)
    def back_out(self, unit: int) -> None:
        self.units[unit].work.back_out()
        self.undo(self.units[unit], 1)

    def undo(self, chosen: Unit, more: int) -> None:
        for slip in chosen.taken:
            again = slip.descriptor._replace(backout_count=slip.descriptor.backout_count + more)
            self.waiting.append(replace(slip, descriptor=again))
        chosen.put, chosen.taken = [], []

    @rule(seconds=st.sampled_from([0.1, 1.0, 2.0]))
    def time_passes(self, seconds: float) -> None:
        self.now[0] += seconds

    @rule()
    def expire(self) -> None:
        self.queues.expire()

    @rule(in_order=st.booleans())
    def restart(self, in_order: bool) -> None:
        if not self.durable:
            return
        if in_order:
            self.queues.close()
        else:
            assert self.queues.store is not None
            self.queues.store.close(in_order=False)
        for unit in self.units:
            self.undo(unit, int(in_order))
        if not in_order:
            self.waiting = [slip for slip in self.waiting if slip.descriptor.persistence]
        self.queues = self.opened()
        self.begin()

    def tenths(self) -> int:
        return int(self.now[0] * 10)

    def shown(self, slip: Slip) -> tuple[Descriptor, bytes]:
        left = slip.expires - self.tenths() if slip.expires else -1
        return slip.descriptor._replace(expiry=left), slip.body

    def in_order(self) -> list[Slip]:
        return sorted(self.waiting, key=lambda slip: (-slip.descriptor.priority, slip.number))

    @invariant()
    def queues_hold_what_the_lists_hold(self) -> None:
        for queue in ("A", "B"):
            expected = [self.shown(s) for s in self.in_order() if s.is_wanted(queue, None, self.tenths())]
            assert expected == self.queues.browse(queue)
            assert len(expected) <= self.queues.depth(queue) <= sum(slip.queue == queue for slip in self.waiting)


class DurableQueuesAgainstLists(QueuesAgainstLists):
    """The same with a store, so little of which is in memory that most of it is not."""

    durable = True


@pytest.mark.parametrize("machine", [QueuesAgainstLists, DurableQueuesAgainstLists])
def test_queues_against_lists(machine: type[QueuesAgainstLists], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever units do in turn, queues hold and give what lists with rollbacks, expiry and restarts hold and give."""
    monkeypatch.setattr(memories, "WINDOW", (4, 8_000))
    monkeypatch.setattr(shelves, "WINDOW", (2, 4_000))
    monkeypatch.setattr(memories, "BUDGET", 12_000)
    monkeypatch.setattr(memories, "LEAST", 1)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
