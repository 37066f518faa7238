"""MQOutput: what segmentationAllowed does where a message is longer than its queue allows."""

from __future__ import annotations

import pytest

from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.message.received import Received
from engine.mq.definitions import QueueDefinition
from engine.transports.memory import MemoryQueues
from engine.tree.sharing import read_only
from tests.nodes.test_mq_output import LETTER, evaluated, written


@pytest.mark.parametrize("allowed", [True, False])
def test_a_message_that_is_too_long_for_its_queue(allowed: bool) -> None:
    """Where segmentationAllowed says so, it is put in segments; else the queue refuses it."""
    queues = MemoryQueues(QueueDefinition("SHORT", max_message_length=16))
    work, message = queues.work(), Message(read_only(Received(LETTER, bytes(40)).root()))
    properties: dict[str, object] = {"queueName": "SHORT", "segmentationAllowed": allowed}
    if not allowed:
        with pytest.raises(BrokerError, match="a message of 40 bytes is longer than queue SHORT allows"):
            evaluated(work, message, properties)
        return
    (data,) = written(evaluated(work, message, properties))
    work.commit()
    assert [len(arrival.body) for arrival in queues.browse("SHORT")] == [16, 16, 8]
    assert data["msgId"] == LETTER.msg_id
