"""Units of work over queues in memory, held against a list with rollbacks by stories that Hypothesis makes up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from engine.descriptor import NO_ID, Descriptor
from engine.errors import MessageException
from engine.mq.definitions import QueueDefinition
from engine.mq.unit import Work
from engine.transports.memory import MemoryQueues
from engine.work import Selection

UNITS = 3
LIMITS = {"A": (6, 8), "B": (999_999_999, 104_857_600)}  # depth and length
QUEUES = st.sampled_from(["A", "B", "NONE"])
IDS = st.sampled_from([NO_ID, b"a" * 24, b"b" * 24])
DESCRIPTORS = st.tuples(st.integers(0, 9), st.integers(0, 1), IDS, IDS, IDS).map(
    lambda chosen: Descriptor(
        priority=chosen[0], persistence=chosen[1], msg_id=chosen[2], correl_id=chosen[3], group_id=chosen[4]
    )
)
WANTED_IDS = st.sampled_from([b"", NO_ID, b"a" * 24, b"b" * 24])


@dataclass(frozen=True)
class Slip:
    """A message as the model knows it: what it says, where it waits, and its place in the order of puts."""

    queue: str
    number: int
    descriptor: Descriptor
    body: bytes

    def is_wanted(self, queue: str, wanted: Selection | None) -> bool:
        ids = ("msg_id", "correl_id", "group_id")
        asked = {} if wanted is None else {n: v for n in ids if (v := getattr(wanted, n)) not in (b"", NO_ID)}
        return self.queue == queue and all(getattr(self.descriptor, name) == value for name, value in asked.items())


@dataclass
class Unit:
    """A unit of work and what the model thinks it has done."""

    work: Work
    taken: list[Slip] = field(default_factory=list)
    put: list[Slip] = field(default_factory=list)


class QueuesAgainstLists(RuleBasedStateMachine):
    """Each rule does the same to the queue manager and to lists, and compares what they answer."""

    def __init__(self) -> None:
        super().__init__()
        definitions = [QueueDefinition(n, max_depth=d, max_message_length=length) for n, (d, length) in LIMITS.items()]
        self.queues = MemoryQueues(*definitions)
        self.units = [Unit(self.queues.work()) for _ in range(UNITS)]
        self.waiting: list[Slip] = []
        self.number = 0
        self.ids: set[bytes] = set()

    def refusal(self, queue: str, body: bytes) -> int:
        """The reason for which a put is refused, or 0."""
        if queue not in LIMITS:
            return 2085
        depth, length = LIMITS[queue]
        held = [*self.waiting, *(slip for unit in self.units for slip in unit.put)]
        if len(body) > length:
            return 2030
        return 2053 if sum(slip.queue == queue for slip in held) >= depth else 0

    @rule(
        unit=st.integers(0, UNITS - 1),
        queue=QUEUES,
        descriptor=DESCRIPTORS,
        body=st.binary(max_size=9),
        syncpoint=st.booleans(),
    )
    def put(self, unit: int, queue: str, descriptor: Descriptor, body: bytes, syncpoint: bool) -> None:
        chosen, reason = self.units[unit], self.refusal(queue, body)
        if reason:
            with pytest.raises(MessageException) as caught:
                chosen.work.put(queue, descriptor, body, syncpoint=syncpoint)
            assert reason == caught.value.reason
            return
        put = chosen.work.put(queue, descriptor, body, syncpoint=syncpoint)
        if descriptor.msg_id == NO_ID:
            assert put.msg_id not in self.ids
            self.ids.add(put.msg_id)
        assert put == descriptor._replace(msg_id=put.msg_id, put_date=put.put_date, put_time=put.put_time)
        self.number += 1
        (chosen.put if syncpoint else self.waiting).append(Slip(queue, self.number, put, body))

    @rule(
        unit=st.integers(0, UNITS - 1),
        queue=QUEUES,
        wanted=st.none() | st.builds(Selection, WANTED_IDS, WANTED_IDS, WANTED_IDS),
        syncpoint=st.sampled_from([True, False, None]),
    )
    def get(self, unit: int, queue: str, wanted: Selection | None, syncpoint: bool | None) -> None:
        chosen = self.units[unit]
        if queue not in LIMITS:
            with pytest.raises(MessageException):
                chosen.work.get(queue, wanted, syncpoint=syncpoint)
            return
        found = next((slip for slip in self.in_order() if slip.is_wanted(queue, wanted)), None)
        arrival = chosen.work.get(queue, wanted, syncpoint=syncpoint)
        assert (None if found is None else (found.descriptor, found.body)) == arrival
        if found is None:
            return
        self.waiting.remove(found)
        if syncpoint or (syncpoint is None and found.descriptor.persistence == 1):
            chosen.taken.append(found)

    @rule(unit=st.integers(0, UNITS - 1))
    def commit(self, unit: int) -> None:
        chosen = self.units[unit]
        chosen.work.commit()
        self.waiting += chosen.put
        chosen.put, chosen.taken = [], []

    @rule(unit=st.integers(0, UNITS - 1))
    def back_out(self, unit: int) -> None:
        chosen = self.units[unit]
        chosen.work.back_out()
        for slip in chosen.taken:
            again = slip.descriptor._replace(backout_count=slip.descriptor.backout_count + 1)
            self.waiting.append(replace(slip, descriptor=again))
        chosen.put, chosen.taken = [], []

    def in_order(self) -> list[Slip]:
        return sorted(self.waiting, key=lambda slip: (-slip.descriptor.priority, slip.number))

    @invariant()
    def queues_hold_what_the_lists_hold(self) -> None:
        for queue in LIMITS:
            expected = [(slip.descriptor, slip.body) for slip in self.in_order() if slip.queue == queue]
            assert expected == self.queues.browse(queue)
            assert len(expected) == self.queues.depth(queue)


def test_queues_against_lists() -> None:
    """Whatever several units do in turn, queues hold and give what a list with rollbacks holds and gives."""
    run_state_machine_as_test(
        QueuesAgainstLists,
        settings=settings(
            max_examples=80, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
