"""Room: the calls below a function find their frames in one piece of memory, however deep they go.

CPython takes memory for frames in pieces of 16 KiB, and gives each back as soon as no frame is in it. Where a loop
happens to call over the end of a piece, every such call asks the system for memory: it takes 7 µs instead of 0.1, and a
flow whose nodes stand just there twice the time or more. A frame that asks for half a megabyte gets a piece of one, and
all frames above it stand in what is left; memory that no frame has stood in is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

_PLACES: Final = 1 << 16  # of 8 bytes

T = TypeVar("T")


def with_room(work: Callable[[], T]) -> T:
    """Returns what a function answers that is called with room for the frames of some thousand calls.

    >>> with_room(lambda: sum(range(5)))
    10
    """
    return work()


with_room.__code__ = with_room.__code__.replace(co_stacksize=_PLACES)
