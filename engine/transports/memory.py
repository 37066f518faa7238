"""Queues in the memory of one process: the queue manager without a store, for desks, tests and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from engine.mq.definitions import QueueDefinition
from engine.mq.manager import DEAD_LETTER_QUEUE, QueueManager
from engine.node import Publishes

__all__ = ["DEAD_LETTER_QUEUE", "PUBLICATIONS", "MemoryQueues", "QueueDefinition", "subscribe"]

PUBLICATIONS: Final = "PUBLICATIONS"  # the queue of who subscribes to everything, where nobody else is named


class MemoryQueues(QueueManager):
    """A queue manager without a store.

    >>> from engine.descriptor import Descriptor
    >>> queues = MemoryQueues("IN", "OUT")
    >>> work = queues.work()
    >>> _ = work.put("IN", Descriptor(), b"hello")
    >>> work.get("IN") is None, work.commit(), work.get("IN").body
    (True, None, b'hello')
    """


class Subscribable(Protocol):
    """Queues that can subscribe to topics."""

    def define(self, kind: str, name: str, attributes: Mapping[str, object]) -> None:
        """Define an object."""
        ...


def subscribe(queues: Subscribable, nodes: Iterable[object], subscribers: Mapping[str, str] | None = None) -> None:
    """Let queues subscribe to what nodes of a flow publish: each of `subscribers` to its topic, else one to everything.

    >>> queues = MemoryQueues(open_=True)
    >>> subscribe(queues, [], {"WEATHER": "news/+/weather"})
    >>> queues.display("SUB")[0]["DEST"]
    'WEATHER'
    """
    points = {node.publishes_at for node in nodes if isinstance(node, Publishes)}
    wanted = subscribers or dict.fromkeys([PUBLICATIONS] if points else [], "#")
    for queue, topic in wanted.items():
        for point in sorted(points | {""}):
            attributes = {"TOPICSTR": topic, "DEST": queue, "SUBPOINT": point, "PSPROP": "NONE"}
            queues.define("SUB", f"{queue} {point}".rstrip(), attributes)
