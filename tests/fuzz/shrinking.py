"""Shrinking: the smallest input that has the same thing wrong with it, as far as a little time finds it."""

from __future__ import annotations

from time import monotonic
from typing import Final

from tests.fuzz.target import Target
from tests.fuzz.watching import wrong_with

_PATIENCE: Final = 10.0  # seconds


def shrunk(target: Target, data: bytes, key: str) -> bytes:
    """A shorter input with the same finding."""
    if "Hang" in key:
        return data
    until, size = monotonic() + _PATIENCE, max(1, len(data) // 2)
    while size and monotonic() < until:
        at = 0
        while at < len(data) and monotonic() < until:
            shorter = data[:at] + data[at + size :]
            found = wrong_with(target, shorter)
            if found is not None and found.key == key:
                data = shorter
            else:
                at += size
        size //= 2
    return data
