"""Transports: the places where queues are kept, one file each."""
