"""The queue manager: queues, units of work over them, and what reaches them from other processes."""

from engine.mq.manager import QueueManager

__all__ = ["QueueManager"]
