"""Where queues are kept: one file a transport."""
