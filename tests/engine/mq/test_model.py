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

from engine.descriptor import LAST_MSG_IN_GROUP, MSG_IN_GROUP, NO_ID, Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager
from engine.mq import memory as memories
from engine.mq.store import shelves
from engine.mq.unit import Work
from engine.work import Selection

EXAMPLES = int(os.environ.get("PENSTOCK_EXAMPLES", "40"))
UNITS = 3
QUEUES = st.sampled_from(["A", "B", "COPIES"])  # messages of B are copied
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
    whole: set[bytes] = field(default_factory=set)  # groups that were whole when the first of them was got
    kept: set[bytes] = field(default_factory=set)  # the same when the unit began


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
        for queue in ("A", "B", "COPIES", "GROUPS"):
            self.queues.define("QLOCAL", queue, {})
        self.waiting: list[Slip] = []
        self.number = 0
        self.must = self.inhibited = False
        self.queues.alter("QLOCAL", "B", {"STREAMQ": "COPIES"})
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
        self.put_one(chosen, queue, own, body, syncpoint=syncpoint)

    def put_one(self, chosen: Unit, queue: str, own: Descriptor, body: bytes, *, syncpoint: bool = True) -> None:
        copied = queue == "B" and not self.inhibited
        if self.inhibited and (queue == "COPIES" or (queue == "B" and self.must)):
            with pytest.raises(MessageException) as refused:
                chosen.work.put(queue, own, body, syncpoint=syncpoint)
            assert 2051 == refused.value.reason
            self.number += 1
            return
        put = chosen.work.put(queue, own, body, syncpoint=syncpoint)
        self.number += 1
        expires = 0 if own.expiry < 0 else self.tenths() + own.expiry
        slips = [Slip(queue, self.number, put, body, expires)]
        if copied:
            self.number += 1
            slips.append(Slip("COPIES", self.number, put._replace(expiry=-1), body, 0))
        (chosen.put if syncpoint else self.waiting).extend(slips)

    @rule(must=st.booleans(), inhibited=st.sampled_from([True, False, False]))
    def stream(self, must: bool, inhibited: bool) -> None:
        self.queues.alter("QLOCAL", "B", {"STRMQOS": "MUSTDUP" if must else "BESTEF"})
        self.queues.alter("QLOCAL", "COPIES", {"PUT": "DISABLED" if inhibited else "ENABLED"})
        self.must, self.inhibited = must, inhibited

    @rule(unit=UNIT, queue=QUEUES, wanted=WANTED, syncpoint=st.sampled_from([True, True, False, None]))
    def get(self, unit: int, queue: str, wanted: Selection | None, syncpoint: bool | None) -> None:
        self.get_one(self.units[unit], queue, wanted, syncpoint=syncpoint)

    def get_one(self, chosen: Unit, queue: str, wanted: Selection | None, *, syncpoint: bool | None) -> None:
        found = next((slip for slip in self.in_order() if slip.is_wanted(queue, wanted, self.tenths())), None)
        arrival = chosen.work.get(queue, wanted, syncpoint=syncpoint)
        assert (None if found is None else self.shown(found)) == arrival
        if found is None:
            return
        self.waiting.remove(found)
        if syncpoint or (syncpoint is None and found.descriptor.persistence == 1):
            chosen.taken.append(found)

    @rule(unit=UNIT, queue=QUEUES, wanted=WANTED, times=st.integers(2, 9))
    def get_many(self, unit: int, queue: str, wanted: Selection | None, times: int) -> None:
        for _ in range(times):
            self.get_one(self.units[unit], queue, wanted, syncpoint=True)

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

    @rule(unit=UNIT, queue=QUEUES, priorities=st.lists(st.integers(3, 5), min_size=6, max_size=12))
    def put_many(self, unit: int, queue: str, priorities: list[int]) -> None:
        """More than memory keeps, half of them with an id."""
        for number, priority in enumerate(priorities):
            own = Descriptor(priority=priority, persistence=1, correl_id=b"a" * 24 if number % 2 else NO_ID)
            self.put_one(self.units[unit], queue, own, b"one of many %d" % self.number, syncpoint=False)

    @rule(
        unit=UNIT,
        group=st.sampled_from([b"a" * 24, b"b" * 24, NO_ID]),
        number=st.integers(1, 3),
        priority=st.integers(0, 1),
        persistence=st.integers(0, 1),
    )
    def put_of_a_group(self, unit: int, group: bytes, number: int, priority: int, persistence: int) -> None:
        flags = 0 if group == NO_ID else MSG_IN_GROUP | (LAST_MSG_IN_GROUP if number == 3 else 0)
        own = Descriptor(
            priority=priority, persistence=persistence, group_id=group, msg_seq_number=number, msg_flags=flags
        )
        self.put_one(self.units[unit], "GROUPS", own, b"%d of a group" % number)

    @rule(unit=UNIT)
    def get_of_a_whole_group(self, unit: int) -> None:
        chosen = self.units[unit]
        waiting = [slip for slip in self.in_order() if slip.queue == "GROUPS"]
        numbers: dict[bytes, set[int]] = {}
        for slip in waiting:
            numbers.setdefault(slip.descriptor.group_id, set()).add(slip.descriptor.msg_seq_number)
        whole = {NO_ID, *chosen.whole, *(group for group, found in numbers.items() if found == {1, 2, 3})}
        found = next((slip for slip in waiting if slip.descriptor.group_id in whole), None)
        arrival = chosen.work.get("GROUPS", Selection(whole_groups=True))
        assert (None if found is None else self.shown(found)) == arrival
        if found is not None:
            self.waiting.remove(found)
            chosen.taken.append(found)
            chosen.whole |= {found.descriptor.group_id} - {NO_ID}

    @rule(unit=UNIT)
    def commit(self, unit: int) -> None:
        chosen = self.units[unit]
        chosen.work.commit()
        self.waiting += chosen.put
        chosen.put, chosen.taken, chosen.kept = [], [], set(chosen.whole)

    @rule(unit=UNIT)
    def back_out(self, unit: int) -> None:
        self.units[unit].work.back_out()
        self.undo(self.units[unit], 1)

    def undo(self, chosen: Unit, more: int) -> None:
        for slip in chosen.taken:
            again = slip.descriptor._replace(backout_count=slip.descriptor.backout_count + more)
            self.waiting.append(replace(slip, descriptor=again))
        chosen.put, chosen.taken, chosen.whole = [], [], set(chosen.kept)

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
        for queue in ("A", "B", "COPIES", "GROUPS"):
            expected = [self.shown(s) for s in self.in_order() if s.is_wanted(queue, None, self.tenths())]
            assert expected == self.queues.browse(queue)
            assert len(expected) <= self.queues.depth(queue) <= sum(slip.queue == queue for slip in self.waiting)


class DurableQueuesAgainstLists(QueuesAgainstLists):
    """The same with a store, so little of which is in memory that most of it is not."""

    durable = True

    def __init__(self) -> None:
        super().__init__()
        for queue in ("A", "B", "COPIES"):
            for number in range(12):
                ids = (b"a" * 24, b"b" * 24, NO_ID)[number % 3]
                own = Descriptor(priority=number % 5 + 1, persistence=number % 4 != 0, correl_id=ids)
                self.put_one(self.units[0], queue, own, b"%d" % number, syncpoint=False)
        self.queues.close()
        self.queues = self.opened()
        self.begin()


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
