"""Names, ids, priorities and persistences that are none are refused, in the process and over the socket alike."""

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager
from engine.work import Selection
from tests.engine.mq.served import put, serving
from tests.engine.mq.test_manager import ANSWERED, COA, COD


@pytest.fixture
def manager():
    return QueueManager("A", name="QMX")


@pytest.fixture
def client(manager, tmp_path):
    with serving(manager, tmp_path) as found:
        yield found


@pytest.mark.parametrize("reached", ["manager", "client"])
def test_names_that_no_encoding_has_are_refused_by_the_queue_manager(reached, request):
    """A name or selector with half of a pair of surrogates, as a command line may have it, is refused like another."""
    work = request.getfixturevalue(reached).work()
    put(request.getfixturevalue(reached), "A", b"x")
    for reason, action in (
        (2085, lambda: work.put("\udcff", Descriptor(), b"")),
        (2085, lambda: work.get("\udcff")),
        (2459, lambda: work.get("A", Selection(selector="a = \udcff"))),
        (2085, lambda: work.get("\udcff", Selection(msg_id=b"M", browse=True))),
    ):
        with pytest.raises(MessageException) as error:
            action()
        assert reason == error.value.reason
    assert work.get("A", Selection(selector="JMSType = '\udcff'")) is None
    assert b"x" == work.get("A").body


@pytest.mark.parametrize(("name", "reason"), [("msg_id", 2206), ("correl_id", 2207), ("group_id", 2258)])
def test_ids_that_are_too_long_are_refused(name, reason):
    """An id of more than 24 bytes is no id; over a socket it would push what stands behind it aside."""
    with pytest.raises(MessageException, match=f"{name} has 25 bytes") as error:
        Selection(**{name: bytes(25)})
    assert reason == error.value.reason


@pytest.mark.parametrize("action", ["put", "publish"])
@pytest.mark.parametrize("reached", ["manager", "client"])
@pytest.mark.parametrize(
    ("wrong", "reason"), [({"priority": -2}, 2050), ({"persistence": 3}, 2047), ({"persistence": -1}, 2047)]
)
def test_priorities_and_persistences_that_are_none_are_refused(reached, action, wrong, reason, request):
    """-1 and 2 leave them to the queue or the topic, a priority that is too high is the highest; others are refused."""
    work = request.getfixturevalue(reached).work()
    send = getattr(work, action)
    for fields in ({"priority": -1, "persistence": 2}, {"priority": 17}):
        send("A", Descriptor(**fields), b"")
    with pytest.raises(MessageException) as refused:
        send("A", Descriptor(**wrong), b"")
    assert reason == refused.value.reason


@pytest.mark.parametrize("option", ANSWERED)
@pytest.mark.parametrize("queue", ["R" * 49, "é" * 25])
@pytest.mark.parametrize("reached", ["manager", "client"])
def test_reports_to_a_queue_that_cannot_be(reached, option, queue, request):
    """A message that asks for reports on a queue whose name is too long is refused before it is part of its unit."""
    queues = request.getfixturevalue(reached)
    work = queues.work()
    with pytest.raises(MessageException, match="give it 48 at most"):
        work.put("A", Descriptor(report=option, reply_to_q=queue), b"")
    work.commit()
    assert 0 == queues.depth("A")


def test_a_report_that_is_not_even_a_dead_letter(manager):
    """A report that no queue takes, and no dead letter can have a header for, is dropped: put and get succeed."""
    put(manager, "A", b"told", report=COA | COD, reply_to_q="\ud800")
    assert b"told" == manager.work().get("A").body
    assert [] == manager.browse(manager.dead_letter_queue)
