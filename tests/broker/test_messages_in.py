"""The messages that keep a broker from being deleted."""

from engine.broker.queues import messages_in
from engine.descriptor import Descriptor
from engine.mq import QueueManager


def test_what_a_broker_publishes_of_itself_is_no_message_that_would_be_lost() -> None:
    """Messages on queues count; retained publications do not."""
    manager = QueueManager("IN", "SYSTEM.RETAINED.PUB.QUEUE")
    work = manager.work()
    for queue in ("IN", "SYSTEM.RETAINED.PUB.QUEUE"):
        work.put(queue, Descriptor(), b"")
    work.commit()
    assert 1 == messages_in(manager)
