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
from engine.mq.properties import properties_of, split
from engine.mq.store import stored_queue
from engine.mq.topics.retained import RETAINED
from engine.mq.unit import Work
from engine.work import Arrival, Selection
from tests.engine.mq.slips import Slip, plain

EXAMPLES = int(os.environ.get("PENSTOCK_EXAMPLES", "40"))
UNITS = 3
QUEUES = st.sampled_from(["A", "B", "COPIES", "AIRED", "S1", "S2"])  # messages of B and AIRED are copied
ALL = ("A", "B", "COPIES", "GROUPS", "AIRED", "S1", "S2")
TOPICS = st.sampled_from(["n/x", "n/y"])
AIR = "n/x"  # the topic that messages of AIRED are copied to
FITTING = {"ONE": {"n/x", "n/y"}, "TWO": {"n/x"}, "THREE": {"n/x", "n/y"}}  # subscriptions, and the topics of each
DESTINATIONS = {"ONE": "S1", "TWO": "A", "THREE": "S2"}
SUBSCRIPTIONS = {"ONE": "n/#", "TWO": "n/x", "THREE": "n/+"}
CORREL_IDS = {name: f"{name:>24}".encode() for name in SUBSCRIPTIONS}
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


@dataclass
class Unit:
    """A unit of work, what the model thinks it has done, and how far it has browsed each queue."""

    work: Work
    taken: list[Slip] = field(default_factory=list)
    put: list[Slip] = field(default_factory=list)
    browsed: dict[str, tuple[int, int]] = field(default_factory=dict)
    whole: set[bytes] = field(default_factory=set)  # groups that were whole when the first of them was got
    kept: set[bytes] = field(default_factory=set)  # the same when the unit began
    late: dict[tuple[str, str], Slip] = field(default_factory=dict)  # who subscribed to what the unit retains


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
        self.waiting: list[Slip] = []
        self.number = 0
        self.must = self.inhibited = False
        self.subscribed: dict[str, bytes] = {}  # the correlation ids of subscriptions
        for queue in ALL:
            self.queues.define("QLOCAL", queue, {})
        self.queues.mqsc(f"DEFINE TOPIC(AIR) TOPICSTR({AIR!r})\nDEFINE QALIAS(AIR) TARGET(AIR) TARGTYPE(TOPIC)")
        self.queues.alter("QLOCAL", "AIRED", {"STREAMQ": "AIR"})
        for name in ("ONE", "TWO"):
            self.subscribe(name)
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
        if queue == "AIRED":
            slips += self.delivered(AIR, put._replace(expiry=-1), body, 0)
        (chosen.put if syncpoint else self.waiting).extend(slips)

    def delivered(self, topic: str, own: Descriptor, body: bytes, expires: int) -> list[Slip]:
        """Returns a publication's copies for those who subscribe."""
        return [self.copy(name, own, body, expires) for name in self.subscribed if topic in FITTING[name]]

    def copy(self, name: str, own: Descriptor, body: bytes, expires: int) -> Slip:
        self.number += 1
        own = own._replace(correl_id=self.subscribed[name], backout_count=0)
        return Slip(DESTINATIONS[name], self.number, own, body, expires)

    @rule(
        unit=UNIT, topic=TOPICS, own=DESCRIPTORS, retain=st.booleans(), syncpoint=st.sampled_from([True, True, False])
    )
    def publish(self, unit: int, topic: str, own: Descriptor, retain: bool, syncpoint: bool) -> None:
        chosen, body = self.units[unit], b"%d, published" % self.number
        self.number += 1
        self.now[0] += 0.001  # so that one was published before the other
        published = chosen.work.publish(topic, own, body, retain=retain, syncpoint=syncpoint)
        expires = 0 if own.expiry < 0 else self.tenths() + own.expiry
        slips = self.delivered(topic, published, body, expires)
        if retain:
            self.number += 1
            slips.append(Slip(RETAINED, self.number, published, body, expires, topic))
            late = [slip for slip in self.waiting if slip.topic == topic and 0 < slip.expires <= self.tenths()]
            replaced = [slip for slip in self.waiting if slip.topic == topic and slip not in late]
            self.waiting = [slip for slip in self.waiting if slip.topic != topic]
            chosen.taken += replaced if syncpoint else []
        (chosen.put if syncpoint else self.waiting).extend(slips)

    @rule(topic=TOPICS)
    def forget_retained(self, topic: str) -> None:
        expected = any(slip.topic == topic for slip in self.retained())
        assert expected == self.queues.forget_retained(topic)
        self.waiting = [slip for slip in self.waiting if slip.topic != topic]

    @rule(name=st.sampled_from(list(SUBSCRIPTIONS)), there=st.booleans())
    def change_subscription(self, name: str, there: bool) -> None:
        """A new subscription is sent what is retained, each topic's last publication."""
        if there == (name in self.subscribed):
            return
        if not there:
            self.queues.delete("SUB", name)
            del self.subscribed[name]
            return
        in_hand = [slip for unit in self.units for slip in unit.taken if slip.is_wanted(RETAINED, None, self.tenths())]
        kept = sorted(self.retained() + in_hand, key=lambda slip: slip.number)
        last = {slip.topic: slip for slip in kept if slip.topic in FITTING[name]}
        self.subscribe(name)
        for slip in sorted(last.values(), key=lambda slip: slip.number):
            self.waiting.append(self.copy(name, slip.descriptor, slip.body, slip.expires))
        for unit in self.units:
            unit.late |= {(name, topic): slip for topic, slip in self.replacing(unit) if topic in FITTING[name]}

    def replacing(self, unit: Unit) -> list[tuple[str, Slip]]:
        """Returns the topics that a unit puts retained publications on, each with the last of them."""
        return list({slip.topic: slip for slip in unit.put if slip.topic}.items())

    def subscribe(self, name: str) -> None:
        correl_id = CORREL_IDS[name]
        to = {"DEST": DESTINATIONS[name], "DESTCORL": correl_id.hex()}
        self.queues.define("SUB", name, {"TOPICSTR": SUBSCRIPTIONS[name], **to})
        self.subscribed[name] = correl_id

    def retained(self) -> list[Slip]:
        """Returns what is retained and not in a unit's hands, the last of a topic last."""
        return [slip for slip in self.by_number() if slip.is_wanted(RETAINED, None, self.tenths())]

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
        assert (None if found is None else self.shown(found)) == self.seen(arrival)
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
        assert (None if found is None else self.shown(found)) == self.seen(arrival)
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
        assert (None if found is None else self.shown(found)) == self.seen(arrival)
        if found is not None:
            self.waiting.remove(found)
            chosen.taken.append(found)
            chosen.whole |= {found.descriptor.group_id} - {NO_ID}

    @rule(unit=UNIT)
    def commit(self, unit: int) -> None:
        chosen = self.units[unit]
        chosen.work.commit()
        last = dict(self.replacing(chosen))
        for (name, topic), slip in chosen.late.items():
            if name in self.subscribed and last[topic] is slip:
                chosen.put.append(self.copy(name, slip.descriptor, slip.body, slip.expires))
        chosen.late = {}
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
        chosen.put, chosen.taken, chosen.whole, chosen.late = [], [], set(chosen.kept), {}

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
        own = slip.descriptor._replace(expiry=left)
        return plain(own) if own.correl_id in CORREL_IDS.values() else own, slip.body

    def seen(self, arrival: Arrival | None) -> tuple[Descriptor, bytes] | None:
        """Returns a message as it is compared: a publication's copy without the id of its own that it has."""
        if arrival is None or arrival.descriptor.correl_id not in CORREL_IDS.values():
            return arrival
        return plain(arrival.descriptor), arrival.body

    def by_number(self) -> list[Slip]:
        return sorted(self.waiting, key=lambda slip: slip.number)

    def in_order(self) -> list[Slip]:
        return sorted(self.waiting, key=lambda slip: (-slip.descriptor.priority, slip.number))

    @invariant()
    def queues_hold_what_the_lists_hold(self) -> None:
        for queue in ALL:
            expected = [self.shown(s) for s in self.in_order() if s.is_wanted(queue, None, self.tenths())]
            found = self.queues.browse(queue)
            assert expected == [self.seen(arrival) for arrival in found]
            assert len(found) == len({arrival.descriptor.msg_id for arrival in found})
            assert len(expected) <= self.queues.depth(queue) <= sum(slip.queue == queue for slip in self.waiting)

    @invariant()
    def topics_retain_what_the_lists_hold(self) -> None:
        if RETAINED not in self.queues.names():
            assert [] == self.retained()
            return
        kept = [(str(properties_of(*one)["mqps.Top"]), split(*one)[2]) for one in self.queues.browse(RETAINED)]
        assert [(slip.topic, slip.body) for slip in self.retained()] == kept


class DurableQueuesAgainstLists(QueuesAgainstLists):
    """The same with a store, so little of which is in memory that most of it is not."""

    durable = True

    def __init__(self) -> None:
        super().__init__()
        for queue in ("A", "B", "COPIES"):
            for number in range(12):
                ids = (b"a" * 24, b"b" * 24, NO_ID)[number % 3]
                own = Descriptor(priority=number % 5 + 1, persistence=number % 4 != 0, correl_id=ids)
                self.put_one(self.units[0], queue, own, b"%d" % number)
        self.units[0].work.commit()
        self.waiting += self.units[0].put
        self.queues.close()
        self.queues = self.opened()
        self.begin()


@pytest.mark.parametrize("machine", [QueuesAgainstLists, DurableQueuesAgainstLists])
def test_queues_against_lists(machine: type[QueuesAgainstLists], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever units do in turn, queues hold and give what lists with rollbacks, expiry and restarts hold and give."""
    monkeypatch.setattr(memories, "WINDOW", (4, 8_000))
    monkeypatch.setattr(stored_queue, "WINDOW", (2, 4_000))
    monkeypatch.setattr(stored_queue, "OVERFLOWN", (2, 4_000))
    monkeypatch.setattr(memories, "BUDGET", 12_000)
    monkeypatch.setattr(memories, "LEAST", 1)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
