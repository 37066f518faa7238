"""Queues in the memory of one process: the queue manager without a store, for desks, tests and Spark."""

from __future__ import annotations

from engine.mq.definitions import QueueDefinition
from engine.mq.manager import DEAD_LETTER_QUEUE, QueueManager

__all__ = ["DEAD_LETTER_QUEUE", "MemoryQueues", "QueueDefinition"]


class MemoryQueues(QueueManager):
    """A queue manager without a store.

    >>> from engine.descriptor import Descriptor
    >>> queues = MemoryQueues("IN", "OUT")
    >>> work = queues.work()
    >>> _ = work.put("IN", Descriptor(), b"hello")
    >>> work.get("IN") is None, work.commit(), work.get("IN").body
    (True, None, b'hello')
    """
