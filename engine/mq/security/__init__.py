"""Security: who may do what to which objects of a queue manager."""
