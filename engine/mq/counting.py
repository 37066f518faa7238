"""Counts of what is done to a queue: kept always, and written at intervals where statistics are on."""

from __future__ import annotations

FIELDS = ("streamed", "stream_failed")


class Counts:
    """What has been done to a queue since it was opened; pairs are of non-persistent messages and of others."""

    __slots__ = FIELDS

    def __init__(self) -> None:
        self.streamed = 0  # messages of which copies were made
        self.stream_failed = 0  # messages of which no copy was made
