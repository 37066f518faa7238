"""The queue manager: queues and what their handles remember."""
