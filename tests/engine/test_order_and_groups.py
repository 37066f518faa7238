"""Queues: messages of groups in logical order, browsing, and what several units of work keep in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from engine.descriptor import LAST_MSG_IN_GROUP, MSG_IN_GROUP, NO_ID, Descriptor
from engine.mq.definitions import QueueDefinition
from engine.mq.queue import Queue
from engine.mq.queue_handle import Handle
from engine.mq.queued_message import Stored
from engine.mq.unit import Work
from engine.transports.memory import MemoryQueues
from engine.work import Order, Selection

LOGICAL = Selection(logical=True)
WHOLE = Selection(logical=True, whole_groups=True)


def letter(text: str) -> Descriptor:
    """`a1` is the first message of group a, `a3!` its third and last, `-` is of no group."""
    if text[0] == "-":
        return Descriptor()
    flags = MSG_IN_GROUP | (LAST_MSG_IN_GROUP if text.endswith("!") else 0)
    return Descriptor(group_id=text[0].encode() * 24, msg_seq_number=int(text[1]), msg_flags=flags)


def queued(*texts: str, **fields: Any) -> MemoryQueues:
    queues = MemoryQueues("IN")
    put(queues, *texts, **fields)
    return queues


def put(queues: MemoryQueues, *texts: str, **fields: Any) -> None:
    work = queues.work()
    for text in texts:
        work.put("IN", letter(text)._replace(**fields), text.encode())
    work.commit()


def got(work: Work, selection: Selection, most: int = 20) -> list[str]:
    found = []
    while len(found) < most and (arrival := work.get("IN", selection)) is not None:
        found.append(arrival.body.decode())
    return found


IN_ORDER: list[tuple[str, Selection, str, str]] = [
    ("as they stand", Selection(whole_groups=False, browse=False), "a2 -x a1", "a2 -x a1"),
    ("one group", LOGICAL, "a1 a2 a3!", "a1 a2 a3!"),
    ("out of order", LOGICAL, "a3! a1 a2", "a1 a2 a3!"),
    ("two groups, mixed", LOGICAL, "a1 b1 a2! b2!", "a1 a2! b1 b2!"),
    ("others wait for the end of a group", LOGICAL, "a1 -x a2! -y", "a1 a2! -x -y"),
    ("a gap holds all up that is behind it", LOGICAL, "a1 a3! -x", "a1"),
    ("a group without its first is passed over", LOGICAL, "a2! -x b1!", "-x b1!"),
    ("a group that is not whole is passed over", WHOLE, "a1 a2 b1 -x b2!", "b1 b2! -x"),
    ("a group with a gap is not whole", WHOLE, "a1 a3! -x", "-x"),
    ("whole, out of order", WHOLE, "a3! a2 a1", "a1 a2 a3!"),
    ("whole, in any order", Selection(whole_groups=True), "b1 a3! a2 a1", "a3! a2 a1"),
]


@pytest.mark.parametrize(("selection", "given", "expected"), [c[1:] for c in IN_ORDER], ids=[c[0] for c in IN_ORDER])
def test_logical_order(selection: Selection, given: str, expected: str) -> None:
    """The messages of a group come in their order and together, where that is asked for."""
    assert got(queued(*given.split()).work(), selection) == expected.split()


def test_a_group_goes_on_when_its_next_message_comes() -> None:
    """What is missing of a group is waited for, also over several units of work."""
    queues = queued("a1", "-x")
    work = queues.work()
    assert got(work, LOGICAL) == ["a1"]
    work.commit()
    assert got(work, LOGICAL) == []
    put(queues, "a2!")
    assert got(work, LOGICAL) == ["a2!", "-x"]


def test_a_unit_that_is_backed_out_forgets_where_it_was_in_a_group() -> None:
    """After a unit is backed out, its group begins where it began."""
    queues = queued("a1", "a2", "a3!")
    work = queues.work()
    assert got(work, LOGICAL, 1) == ["a1"]
    work.commit()
    assert got(work, LOGICAL, 1) == ["a2"]
    work.back_out()
    assert got(work, LOGICAL) == ["a2", "a3!"]


def test_browsing() -> None:
    """What is browsed stays where it is, each message once, also those that come while one browses."""
    queues = queued("-1", "-2")
    work = queues.work()
    browse = Selection(browse=True)
    assert got(work, browse) == ["-1", "-2"]
    put(queues, "-3")
    assert (got(work, browse), queues.depth("IN")) == (["-3"], 3)
    work.back_out()
    assert (got(work, browse), [a.descriptor.backout_count for a in queues.browse("IN")]) == ([], [0, 0, 0])


def test_browsing_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time without a message, browsing begins with the first; before that, it does not."""
    now = [0.0]
    monkeypatch.setattr("engine.mq.queue_handle.time.monotonic", lambda: now[0])
    queue = Queue(QueueDefinition("IN"))
    handle = Handle(queue, [])
    for order in (1, 2):
        queue.put(Stored(order, Descriptor(), b""))
    seen = []
    for moment in (0.0, 1.0, 5.0, 11.0, 11.0, 12.0):
        now[0] = moment
        found = queue.take(Selection(browse=True, rewind=10), handle)
        seen.append(found.order if found else 0)
    assert seen == [1, 2, 0, 1, 2, 0]


def test_browsing_by_id() -> None:
    """Only what has the id is browsed, one after the other."""
    queues = MemoryQueues("IN")
    work = queues.work()
    for number in range(4):
        work.put("IN", Descriptor(correl_id=b"ab"[number % 2 : number % 2 + 1] * 24), b"%d" % number)
    work.commit()
    assert got(work, Selection(correl_id=b"b" * 24, browse=True)) == ["1", "3"]


KEYS: list[tuple[Order, Descriptor, bytes | None]] = [
    (Order(), Descriptor(user_identifier="ada"), None),
    (Order(groups=True), Descriptor(), None),
    (Order(groups=True), letter("a1"), b"a" * 24),
    (Order("byUserID"), Descriptor(user_identifier="ada"), b"ada"),
    (Order("byUserID", groups=True), letter("a1")._replace(user_identifier="eve"), b"eve"),
    (Order("byQueueOrder"), Descriptor(user_identifier="ada"), b"*"),
]


@pytest.mark.parametrize(("order", "descriptor", "expected"), KEYS)
def test_keys(order: Order, descriptor: Descriptor, expected: bytes | None) -> None:
    """The key says which messages go through one after the other; a single one, that more instances bring nothing."""
    assert (order.key(descriptor), order.single) == (expected, order.mode == "byQueueOrder")


def by_user(*users: str) -> MemoryQueues:
    queues = MemoryQueues("IN")
    work = queues.work()
    for number, user in enumerate(users):
        work.put("IN", Descriptor(user_identifier=user), f"{user}{number}".encode())
    work.commit()
    return queues


SHARED: Sequence[tuple[Order, list[str], list[str]]] = [
    (Order(), ["ada0"], ["ada1", "eve2", "ada3"]),
    (Order("byUserID"), ["ada0"], ["eve2"]),
    (Order("byQueueOrder"), ["ada0"], []),
]


@pytest.mark.parametrize("ending", ["commit", "back_out"])
@pytest.mark.parametrize(("order", "first", "second"), SHARED)
def test_two_units(order: Order, first: list[str], second: list[str], ending: str) -> None:
    """While one unit has a message of a key in hand, another gets none of that key; then it does, in order."""
    queues = by_user("ada", "ada", "eve", "ada")
    one, other = queues.work(), queues.work()
    selection = Selection(order=order)
    assert got(one, selection, 1) == first
    assert got(other, selection) == second
    other.back_out()
    getattr(one, ending)()
    rest = ["ada1", "eve2", "ada3"]
    assert got(other, selection) == (rest if ending == "commit" else [*first, *rest])


def test_a_unit_goes_on_with_what_it_has_in_hand() -> None:
    """Several messages of a key may go into one unit of work."""
    assert got(by_user("ada", "ada").work(), Selection(order=Order("byQueueOrder"))) == ["ada0", "ada1"]


def test_a_message_that_cannot_be_put_reserves_nothing() -> None:
    """A put that fails for what its descriptor says leaves no place taken on the queue."""
    queues = MemoryQueues(QueueDefinition("IN", max_depth=1))
    work = queues.work()
    broken: Any = None
    with pytest.raises(TypeError):
        work.put("IN", Descriptor(priority=broken), b"")
    work.put("IN", Descriptor(group_id=NO_ID), b"")
    work.commit()
    assert queues.depth("IN") == 1
