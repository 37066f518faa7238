"""Messages in segments: when a queue manager makes them, and that they are got as one."""

from __future__ import annotations

import pytest

from engine.descriptor import LAST_SEGMENT, NO_ID, SEGMENT, SEGMENTATION_ALLOWED, Descriptor
from engine.errors import MessageException
from engine.mq.definitions import QueueDefinition
from engine.transports.memory import MemoryQueues
from engine.work import Selection

ALLOWED = Descriptor(msg_flags=SEGMENTATION_ALLOWED, format="MQSTR")


def queues(length: int = 40, depth: int = 100) -> MemoryQueues:
    return MemoryQueues(QueueDefinition("Q", max_message_length=length, max_depth=depth))


CUTS = [(40, 10, [10]), (40, 40, [40]), (40, 41, [32, 9]), (40, 100, [32, 32, 32, 4]), (32, 64, [32, 32])]


@pytest.mark.parametrize(("longest", "length", "expected"), CUTS)
def test_cuts(longest: int, length: int, expected: list[int]) -> None:
    """A message that is too long is cut into multiples of 16 bytes, each with its offset; they are one when got."""
    manager, body = queues(longest), bytes(range(256))[:length]
    work = manager.work()
    put = work.put("Q", ALLOWED, body)
    work.commit()
    pieces = manager.browse("Q")
    assert [len(one.body) for one in pieces] == expected
    if len(expected) > 1:
        assert [one.descriptor.offset for one in pieces] == [sum(expected[:at]) for at in range(len(expected))]
        flags = [one.descriptor.msg_flags for one in pieces]
        inner = SEGMENTATION_ALLOWED | SEGMENT
        assert flags == [inner] * (len(pieces) - 1) + [inner | LAST_SEGMENT]
        assert {one.descriptor.original_length for one in pieces} == {length}
        assert len({(one.descriptor.group_id, one.descriptor.msg_id) for one in pieces}) == 1
    got = work.get("Q")
    assert got is not None
    assert (got.body, got.descriptor.msg_id) == (body, put.msg_id)
    assert got.descriptor._replace(msg_id=NO_ID, group_id=NO_ID, put_date="", put_time="") == ALLOWED
    assert work.get("Q") is None


def test_without_leave() -> None:
    """A message that may not be put in segments is refused where it is too long."""
    with pytest.raises(MessageException, match="longer than queue Q allows"):
        queues().work().put("Q", Descriptor(), bytes(41))


def test_a_queue_too_full_for_all_of_them() -> None:
    """Either all segments find their place or none."""
    manager = queues(depth=2)
    work = manager.work()
    with pytest.raises(MessageException, match="queue Q is full"):
        work.put("Q", ALLOWED, bytes(100))
    work.commit()
    assert manager.depth("Q") == 0
    work.put("Q", ALLOWED, bytes(64))
    work.commit()
    assert manager.depth("Q") == 2


@pytest.mark.parametrize("syncpoint", [True, False])
def test_back_out(syncpoint: bool) -> None:
    """What is backed out is back on its queue with all its segments, and counts as one that was backed out."""
    manager = queues()
    work = manager.work()
    work.put("Q", ALLOWED, bytes(100), syncpoint=False)
    assert work.get("Q", syncpoint=syncpoint) is not None
    work.back_out()
    assert manager.depth("Q") == (4 if syncpoint else 0)
    if syncpoint:
        got = work.get("Q")
        assert got is not None
        assert (got.body, got.descriptor.backout_count) == (bytes(100), 1)


def test_others_between_them() -> None:
    """Messages that stand between segments, or are asked for by id, are not taken for them."""
    manager = queues()
    one, two = manager.work(), manager.work()
    one.put("Q", ALLOWED._replace(correl_id=b"1" * 24), b"1" * 50)
    two.put("Q", ALLOWED._replace(correl_id=b"2" * 24), b"2" * 50)
    one.put("Q", Descriptor(), b"small")
    two.commit()
    one.commit()
    second = one.get("Q", Selection(correl_id=b"2" * 24))
    rest = [one.get("Q"), one.get("Q")]
    assert [None if found is None else found.body for found in (second, *rest)] == [b"2" * 50, b"1" * 50, b"small"]


def test_segments_that_are_not_all_there() -> None:
    """A segment whose others are missing comes as it is, and the others stay."""
    manager = queues()
    work = manager.work()
    own = Descriptor(group_id=b"g" * 24, msg_flags=SEGMENT)
    for offset in (0, 32):
        work.put("Q", own._replace(offset=offset), b"x" * 16, syncpoint=False)
    first = work.get("Q")
    assert first is not None
    assert (first.descriptor.msg_flags, first.body, manager.depth("Q")) == (SEGMENT, b"x" * 16, 1)
