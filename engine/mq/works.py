"""The units of work of a queue manager that somebody has, and publications in units of their own."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakSet

if TYPE_CHECKING:
    from engine.descriptor import Descriptor

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


class Publisher(ABC):
    """A queue manager as one publishes on it, in this process or another, as its owner or as a user."""

    @abstractmethod
    def work(self) -> Any:
        """Returns a new unit of work."""

    def publish(
        self, topic: str, descriptor: Descriptor, body: bytes, *, retain: bool = False, point: str = ""
    ) -> Descriptor:
        """Publishes a message on a topic in a unit of work of its own."""
        with closing(self.work()) as work:
            published: Descriptor = work.publish(topic, descriptor, body, retain=retain, point=point)
            work.commit()
        return published
