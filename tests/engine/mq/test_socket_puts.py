"""Puts over a socket: what MQPUT refuses is refused at once, and what it fills in is filled in."""

import pytest

from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.mq.definitions import QueueDefinition
from tests.engine.mq.served import bodies, refused, serving


@pytest.fixture
def client(tmp_path):
    with serving(QueueManager("A", "B", QueueDefinition("WIDE", max_depth=400), name="QMX"), tmp_path) as found:
        yield found


def test_the_character_set_of_the_queue_manager_is_said(client):
    """A message that leaves its CCSID to the queue manager has that one, however it is put."""
    work = client.work()
    put = [work.put("WIDE", Descriptor(coded_char_set_id=0), b"", syncpoint=unit) for unit in (True, True, False, True)]
    work.commit_then_get("A", wait=0.01)
    found = [arrival.descriptor.coded_char_set_id for arrival in client.cursor("WIDE")]
    assert [1208] * 4 == found == [descriptor.coded_char_set_id for descriptor in put]


@pytest.mark.parametrize("syncpoint", [True, False])
@pytest.mark.parametrize(
    ("reason", "fields"), [(2029, {"msg_type": 0}), (2061, {"report": 0x8000}), (2249, {"msg_flags": 0x20})]
)
def test_a_put_of_what_mq_does_not_know_is_refused_at_once(client, reason, fields, syncpoint):
    """Types, report options and flags that there are none of are refused, at queues that are known too."""
    work = client.work()
    for queue in ("WIDE", "WIDE", "A"):
        work.put("WIDE", Descriptor(), b"asks", syncpoint=syncpoint)
        assert reason == refused(lambda name=queue: work.put(name, Descriptor(**fields), b"", syncpoint=syncpoint))
    work.commit()
    assert [b"asks"] * 3 == bodies(client, "WIDE")


@pytest.mark.parametrize("syncpoint", [True, False])
@pytest.mark.parametrize("fields", [{"msg_type": 1}, {"report": 0x100}, {"report": 0x2}])
def test_a_put_that_says_nowhere_to_answer_is_refused_at_once(client, fields, syncpoint):
    """A request needs a reply-to queue, and so does who asks for reports, at queues that are known too (2027)."""
    work = client.work()
    for queue in ("WIDE", "WIDE", "A"):
        work.put("WIDE", Descriptor(**fields, reply_to_q="B"), b"asks", syncpoint=syncpoint)
        assert 2027 == refused(lambda name=queue: work.put(name, Descriptor(**fields), b"", syncpoint=syncpoint))
    work.commit()
    assert [b"asks"] * 3 == bodies(client, "WIDE")


def test_a_reply_to_queue_alone_is_one_of_the_queue_manager(client):
    """MQPUT fills in who has the reply-to queue, however the message is put, also one that is complete otherwise."""
    work, sent = client.work(), []
    for syncpoint in (True, True, False, True, False):
        sent.append(work.put("WIDE", Descriptor(reply_to_q="R"), b"", syncpoint=syncpoint))
        sent.append(work.put("WIDE", sent[-1]._replace(reply_to_q_mgr=""), b"", syncpoint=syncpoint))
    work.commit()
    found = [arrival.descriptor for arrival in client.cursor("WIDE", "JMSReplyTo = 'queue://QMX/R'")]
    assert ["QMX"] * 10 == [one.reply_to_q_mgr for one in found] == [one.reply_to_q_mgr for one in sent]
    for given in (Descriptor(reply_to_q="R", reply_to_q_mgr="THERE"), Descriptor(reply_to_q_mgr="THERE"), Descriptor()):
        assert given.reply_to_q_mgr == work.put("WIDE", given, b"", syncpoint=False).reply_to_q_mgr
