"""MQOutput of messages whose descriptors MQPUT refuses."""

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from tests.nodes.test_mq_output import LETTER, evaluated, message_of, queue_manager


@pytest.mark.parametrize(
    ("descriptor", "text"),
    [
        (
            LETTER._replace(msg_type=0),
            "BIP2029: a msg_type of 0 is none: give 1 to 65535 for those of MQ, 65536 to 999999999 for your own",
        ),
        (
            LETTER._replace(report=0x8040),
            "BIP2061: a report of 0x8040 has options that there are none of (0x8000): take them out",
        ),
        (
            LETTER._replace(msg_type=1, reply_to_q=""),
            "BIP2027: a message is a request, and names no queue for the answer: give it a reply_to_q",
        ),
    ],
)
def test_a_descriptor_that_mq_refuses(descriptor: Descriptor, text: str) -> None:
    """A message with a type or options that there are none of is the node's own failure, and nothing is put."""
    queues = queue_manager()
    work = queues.work()
    with pytest.raises(BrokerError) as caught:
        evaluated(work, message_of(descriptor), {"queueName": "OUT"})
    assert text == str(caught.value)
    work.commit()
    assert sum(queues.depth(name) for name in queues.names()) == 0
