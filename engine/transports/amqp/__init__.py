"""Queues of an AMQP 1.0 broker: the same flow reads and writes them as it does those of the queue manager."""

from engine.transports.amqp.queues import AmqpQueues

__all__ = ["AmqpQueues"]
