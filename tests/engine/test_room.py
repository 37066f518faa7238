"""Room: no call asks the system for memory, at whatever depth it is made."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable

import pytest

from engine.budget import with_room

CALLS = 500
DEPTHS = range(200)


@pytest.mark.skipif(sys.platform != "linux", reason="counts page faults as Linux does")
def test_calls_at_any_depth_ask_for_no_memory() -> None:
    """A loop that calls functions has no page faults, wherever on the stack it stands."""
    assert [] == with_room(lambda: [depth for depth in DEPTHS if at(depth, faults) >= CALLS])


def at(depth: int, work: Callable[[], int]) -> int:
    """What a function answers that many calls deeper."""
    return at(depth - 1, work) if depth else work()


def faults() -> int:
    """The page faults of calls within calls."""

    def outer(value: int) -> int:
        return inner(value)

    def inner(value: int) -> int:
        return value

    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for value in range(CALLS):
        outer(value)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
