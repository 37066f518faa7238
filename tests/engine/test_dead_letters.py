"""Dead letters: which queue takes a message that cannot be processed, and what is refused; see test_mq_input.py too."""

from __future__ import annotations

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError, MessageException
from engine.flow.dead_letters import BLOCKED, put_away
from engine.mq.definitions import QueueDefinition
from engine.transports.memory import MemoryQueues
from engine.work import QueueAttributes

LETTER = Descriptor(msg_id=b"m" * 24, backout_count=3, put_date="20010203", put_time="04050607")
TEXT = (
    "a message on IN cannot be processed, and neither its backout-requeue queue nor the dead-letter queue"
    " takes it, so it stays where it is: define or empty one of them"
)
WAYS = {
    "no backout queue": ("", "DLQ", {}, "DLQ"),
    "a backout queue": ("BOQ", "DLQ", {}, "BOQ"),
    "one that is full": ("BOQ", "DLQ", {"BOQ": (0, 1000)}, "DLQ"),
    "one for shorter messages": ("BOQ", "DLQ", {"BOQ": (9, 3)}, "DLQ"),
    "one that is not there": ("NIX", "DLQ", {}, "DLQ"),
    "the queue itself": ("IN", "DLQ", {}, "DLQ"),
    "no dead-letter queue": ("BOQ", "", {}, "BOQ"),
    "neither": ("", "", {}, ""),
    "both full": ("BOQ", "DLQ", {"BOQ": (0, 9), "DLQ": (0, 9)}, ""),
    "no room for the header": ("", "DLQ", {"DLQ": (9, 172 + 3)}, ""),
    "just room for the header": ("", "DLQ", {"DLQ": (9, 172 + 4)}, "DLQ"),
    "the dead-letter queue's own messages": ("", "IN", {}, ""),
}


@pytest.mark.parametrize(("requeue", "letters", "limits", "ends"), WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("backed_out", [False, True])
def test_put_away(requeue: str, letters: str, limits: dict[str, tuple[int, int]], ends: str, backed_out: bool) -> None:
    """The backout-requeue queue comes first, then the dead-letter queue; with neither, it is refused and stays."""
    others = [name for name in ("BOQ", "DLQ") if name != "DLQ" or letters == "DLQ"]
    queues = MemoryQueues(
        QueueDefinition("IN", QueueAttributes(backout_requeue_queue=requeue)),
        *(QueueDefinition(name, QueueAttributes(), *limits.get(name, (9, 1000))) for name in others),
        dead_letter_queue=letters,
    )
    work = queues.work()
    if ends:
        put_away("IN", LETTER, b"body", work, reason=7)
    else:
        with pytest.raises(BrokerError) as caught:
            put_away("IN", LETTER, b"body", work, reason=7)
        assert (caught.value.number, caught.value.text) == (BLOCKED, TEXT)
        assert isinstance(caught.value.__cause__, MessageException) == bool(limits)
    assert [name for name in queues.names() if queues.depth(name)] == []
    work.back_out() if backed_out else work.commit()
    assert ([ends] if ends and not backed_out else []) == [name for name in queues.names() if queues.depth(name)]
    for arrival in queues.browse(ends) if ends else ():
        header = ends == "DLQ"
        assert arrival.body[172 * header :] == b"body"
        assert arrival.descriptor == LETTER._replace(backout_count=0, format="MQDEAD" if header else "")
