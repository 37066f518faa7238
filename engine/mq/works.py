"""The units of work of a queue manager that somebody has, which come and go while others look at them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Generic, TypeVar
from weakref import WeakSet

WorkT = TypeVar("WorkT")


class Works(Generic[WorkT]):
    """Units of work that are kept as long as somebody has them; any thread may add one while another lists them."""

    __slots__ = ("_found", "_lock")

    def __init__(self) -> None:
        self._found: WeakSet[WorkT] = WeakSet()
        self._lock = threading.RLock()  # as a finalizer may run while they are listed

    def add(self, work: WorkT) -> None:
        """Know of a unit of work."""
        with self._lock:
            self._found.add(work)

    def __iter__(self) -> Iterator[WorkT]:
        """Yields those that there are now."""
        with self._lock:
            return iter(list(self._found))
