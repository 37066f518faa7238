"""Answers to commands of publish/subscribe: who is answered, by which message, and what becomes of it."""

from __future__ import annotations

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq.properties import with_folders
from engine.mq.topics.commands import CONTROL
from tests.engine.mq.test_commands import DEREG, ID, OK, PUB, REG, REQUEST, answer, ask, error, manager


@pytest.mark.parametrize("dead_letters", [True, False])
@pytest.mark.parametrize(("queue", "reason"), [("NONE", 2085), ("FULL", 2053)])
def test_answers_that_their_queue_does_not_take(
    queue: str, reason: int, dead_letters: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """An answer that its queue does not take is a dead letter with the reason; its command is carried out."""
    queues = manager()
    queues.mqsc("DEFINE QL(FULL) MAXDEPTH(0)" + ("" if dead_letters else "\nALTER QMGR DEADQ(' ')"))
    assert "" == answer(queues, Descriptor(msg_type=REQUEST, reply_to_q=queue, format="MQSTR"), REG)
    assert 1 == len(queues.display("SUB"))
    letters = queues.browse("SYSTEM.DEAD.LETTER.QUEUE")
    assert [reason] * dead_letters == [int.from_bytes(one.body[8:12], "little") for one in letters]
    assert dead_letters == ("answer to a command" not in caplog.text)


WANTED = (
    (REQUEST, 0, REG, OK),
    (8, 0, REG, ""),
    (8, 1, REG, OK),
    (8, 2, REG, ""),
    (8, 2, DEREG, error(3073)),
    (8, 1, DEREG, ""),
    (8, 1, PUB + "<Topic>n/#</Topic>", "Completion=warning Reason=3072 Topic=n/#"),
    (8, 2, PUB + "<Topic>n/#</Topic>", "Completion=warning Reason=3072 Topic=n/#"),
    (8, 0, PUB + "<Topic>n/#</Topic>", ""),
)


@pytest.mark.parametrize(("msg_type", "report", "folder", "expected"), WANTED)
def test_answers_that_are_wanted(msg_type: int, report: int, folder: str, expected: str) -> None:
    """A request is answered; another message where its report options ask for word of success or failure."""
    own = Descriptor(msg_type=msg_type, report=report, reply_to_q="ANSWERS")
    assert expected == answer(manager(), own, folder)


@pytest.mark.parametrize(("msg_type", "report"), [(REQUEST, 0), (8, 3), (8, 64 + 128 + 1)])
def test_descriptors_of_answers(msg_type: int, report: int) -> None:
    """An answer is a reply with priority, persistence, expiry and identity of its command, and the ids it asks for."""
    queues = manager()
    own = Descriptor(
        msg_type=msg_type, report=report, reply_to_q="ANSWERS", expiry=600, priority=5, persistence=1, correl_id=ID,
        user_identifier="ann", accounting_token=b"t" * 32, appl_identity_data="who",
    )  # fmt: skip
    work = queues.work()
    put = work.put(CONTROL, *with_folders([f"<psc>{REG}</psc>"], own, b""))
    work.commit()
    queues.topics.drain()
    (found,) = queues.browse("ANSWERS")
    told = found.descriptor
    assert (2, 0, 0, 5, 1, "MQHRF2") == (
        *(told.msg_type, told.report, told.feedback, told.priority, told.persistence, told.format),
    )
    assert 590 < told.expiry <= 600
    assert ("ann", b"t" * 32, "who", 26, "QM1") == (*told[14:17], *told[17:19])
    assert ((put.msg_id, ID) if report & 64 else (told.msg_id, put.msg_id)) == (told.msg_id, told.correl_id)


@pytest.mark.parametrize(("mode", "reason"), [("COMPAT", 0), ("DISABLED", 2530)])
def test_modes(mode: str, reason: int) -> None:
    """PSMODE ends commands as messages until it is ENABLED again, and with DISABLED whatever programs publish."""
    queues = manager()
    queues.mqsc("DEFINE SUB(S) TOPICSTR('t') DEST(Q)\nDEFINE TOPIC(T) TOPICSTR('t')")
    queues.mqsc("DEFINE QALIAS(AL) TARGTYPE(TOPIC) TARGET(T)")
    assert OK == ask(queues, REG)
    queues.mqsc(f"ALTER QMGR PSMODE({mode})")
    assert ("", 1) == (ask(queues, DEREG), queues.depth(CONTROL))
    for put in (
        lambda: queues.publish("t", Descriptor(), b""),
        lambda: queues.work().put("AL", Descriptor(), b"", syncpoint=False),
        lambda: queues.define("SUB", "NEW", {"TOPICSTR": "t", "DEST": "OTHER", "SUBTYPE": "API"}),
    ):
        if reason:
            with pytest.raises(MessageException) as caught:
                put()
            assert reason == caught.value.reason
        else:
            put()
    assert (0 if reason else 2) == queues.depth("Q")
    queues.mqsc("ALTER QMGR PSMODE(ENABLED)")
    queues.topics.drain()
    assert (0, 1) == (queues.depth(CONTROL), queues.depth("ANSWERS"))
    queues.publish("t", Descriptor(), b"")
