"""Gets and puts outside syncpoint over a socket, and gets in logical order that wait, are as in the process."""

import threading
import tracemalloc

import pytest

from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.mq.channel import Channel
from engine.mq.definitions import QueueDefinition
from engine.work import Order, Selection
from tests.engine.mq.served import bodies, eventually, put, refused, serving


@pytest.fixture
def manager():
    return QueueManager("A", "B", QueueDefinition("WIDE", max_depth=400), name="QMX")


@pytest.fixture
def client(manager, tmp_path):
    with serving(manager, tmp_path) as found:
        yield found


@pytest.mark.parametrize("syncpoint", [None, False])
def test_what_nobody_wanted_of_a_commit_goes_back_outside_syncpoint_too(client, manager, syncpoint):
    """A reader that is told to end leaves the message behind its last one on the queue; that one stays got."""
    put(client, "A", b"1", b"2", b"3")
    work = client.work()
    work.patience = -1.0
    for body in (b"1", b"2"):
        assert body == work.get("A", syncpoint=syncpoint, wait=-1).body
        work.commit()
    work.interrupt()
    work.close()
    eventually(lambda: manager.depth("A") == 1)
    assert [(b"3", 0)] == [(body, descriptor.backout_count) for descriptor, body in client.cursor("A")]


@pytest.mark.parametrize("served", [False, True])
def test_messages_of_one_unit_and_those_beside_it_stand_in_the_order_of_their_puts(client, manager, served):
    """A put outside the unit stands behind those of the unit that came before, which are there when it is committed."""
    work = (client if served else manager).work()
    for turn in range(2):  # the second time the client knows the queue, and holds what is in the unit
        work.put("A", Descriptor(), b"in the unit")
        work.put("A", Descriptor(), b"beside it", syncpoint=False)
        work.put("A", Descriptor(), b"in the unit again")
        assert [b"beside it"] == bodies(client, "A")[3 * turn :]
        work.commit()
    assert [b"in the unit", b"beside it", b"in the unit again"] * 2 == bodies(client, "A")
    work.put("A", Descriptor(), b"in the unit")
    work.put("A", Descriptor(), b"beside it", syncpoint=False)
    work.back_out()
    assert [b"beside it"] == bodies(client, "A")[6:]


@pytest.mark.parametrize("syncpoint", [True, None])
def test_what_is_sent_to_a_client_that_has_gone_goes_back(client, manager, monkeypatch, syncpoint):
    """A reader that ends before the answer to its last commit is sent has still given back what that brought."""
    put(client, "A", b"1", b"brought in vain")
    closed, send = threading.Event(), Channel._send_at_once

    def late(channel, data):
        if data.endswith(b"in vain"):
            closed.wait(10)
        return send(channel, data)

    monkeypatch.setattr(Channel, "_send_at_once", late)
    work = client.work()
    work.patience = -1.0
    assert b"1" == work.get("A", syncpoint=syncpoint, wait=-1).body
    work.commit()
    work.interrupt()
    work.close()
    closed.set()
    eventually(lambda: manager.depth("A") == 1)
    assert [(b"brought in vain", 0)] == [(body, own.backout_count) for own, body in manager.browse("A")]


@pytest.mark.parametrize("end", ["back_out", "close", "put", "get"])
def test_what_came_with_a_commit_outside_syncpoint_is_final_once_it_is_used(client, manager, end):
    """Whatever becomes of the reader then, the message does not come again."""
    put(client, "A", b"1", b"2", b"3")
    work = client.work()
    work.patience = -1.0
    work.get("A", syncpoint=None, wait=-1)
    work.commit()
    assert b"2" == work.get("A", syncpoint=None, wait=-1).body
    if end == "put":
        work.put("B", Descriptor(), b"of the unit")
    if end == "get":
        assert b"3" == work.get("A").body
    if end != "close":
        work.back_out()
    work.close()
    eventually(lambda: b"3" in bodies(client, "A"))
    assert ([b"3"], []) == (bodies(client, "A"), bodies(client, "B"))


def test_a_decision_alone_gives_back_what_came_with_the_commit_before(client, manager):
    """It commits no message that nobody has seen, and its answer is not mistaken for one."""
    put(client, "A", b"1", b"2")
    work = client.work()
    work.patience = -1.0
    work.get("A", wait=-1)
    work.commit()
    work.commit((b"branch",))
    assert [b"2"] == bodies(client, "A")
    assert b"2" == work.get("A", wait=-1).body


def test_sessions_keep_nothing_of_a_large_exchange_but_what_its_get_says(client, manager):
    """A message that was got is in memory no more, while its sender's connection stays."""
    works = [client.work() for _ in range(20)]
    put(client, "B", b"known")
    tracemalloc.start()
    try:
        for work in works:
            work.put("B", Descriptor(), b"known")
            work.commit()
            work.put("B", Descriptor(), bytes(200_000))
            assert work.commit_then_get("A") is None
        reader = manager.work()
        while reader.get("B") is not None:
            reader.commit()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 1_000_000


def test_puts_outside_syncpoint_to_a_queue_that_is_known_are_done_when_they_return(client, manager):
    """They are as the first, which asked for all there is to know, and are refused where they happen."""
    work = client.work()
    work.put("B", Descriptor(), b"of the unit")
    done = [work.put("WIDE", Descriptor(persistence=0), b"%d" % number, syncpoint=False) for number in range(3)]
    assert [b"0", b"1", b"2"] == bodies(client, "WIDE")
    assert done == [descriptor for descriptor, _ in client.cursor("WIDE")]
    while manager.depth("WIDE") < 400:
        put(manager, "WIDE", b"of others")
    assert 2053 == refused(lambda: work.put("WIDE", Descriptor(), b"one too many", syncpoint=False))
    work.back_out()
    assert (400, []) == (manager.depth("WIDE"), bodies(client, "B"))


def test_a_reader_of_groups_is_given_messages_of_none_beside_the_queue(client, manager):
    """A get in logical order that waits has its message as soon as one comes, and a group's in their turn."""
    work, found = client.work(), []
    wanted = Selection(logical=True, order=Order(groups=True))

    def read():
        found.extend(work.get("A", wanted, wait=30).body for _ in range(3))
        work.commit()

    reader = threading.Thread(target=read)
    reader.start()
    eventually(lambda: manager.directory.queues["A"].waiters.count == 1)
    put(client, "A", b"alone")
    eventually(lambda: found == [b"alone"])
    put(client, "A", b"second", group_id=b"G" * 24, msg_seq_number=2, msg_flags=24)
    put(client, "A", b"first", group_id=b"G" * 24, msg_seq_number=1, msg_flags=8)
    reader.join()
    assert [b"alone", b"first", b"second"] == found
