"""A poll of many sockets: epoll where there is one, and what the system has elsewhere behind the same calls."""

from __future__ import annotations

import select
import selectors
import sys
from typing import Final, Protocol

READS: Final = 0x001  # as epoll numbers them
WRITES: Final = 0x004
ENDED: Final = 0x018  # an error, or the other side has gone


class Poll(Protocol):
    """The calls of epoll that a server makes; `timeout` in seconds, negative or None without end."""

    def register(self, fd: int, eventmask: int) -> None:
        """Watch a file from now on."""
        ...

    def modify(self, fd: int, eventmask: int) -> None:
        """Watch a file for something else."""
        ...

    def unregister(self, fd: int) -> None:
        """Watch a file no longer."""
        ...

    def poll(self, timeout: float | None = None) -> list[tuple[int, int]]:
        """Return the files that are ready, each with what for."""
        ...

    def close(self) -> None:
        """Watch nothing any more."""
        ...


def poll() -> Poll:
    """Returns the best poll that this system has."""
    return select.epoll() if sys.platform == "linux" else SelectorPoll()


class SelectorPoll:
    """A poll by the standard library's selectors, which is kqueue on macOS."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._idle: set[int] = set()  # registered, and watched for nothing

    def register(self, fd: int, eventmask: int) -> None:
        events = _events(eventmask)
        if events:
            self._selector.register(fd, events)
        else:
            self._idle.add(fd)

    def modify(self, fd: int, eventmask: int) -> None:
        self.unregister(fd)
        self.register(fd, eventmask)

    def unregister(self, fd: int) -> None:
        if fd in self._idle:
            self._idle.discard(fd)
        else:
            self._selector.unregister(fd)

    def poll(self, timeout: float | None = None) -> list[tuple[int, int]]:
        within = None if timeout is None or timeout < 0 else timeout
        found = self._selector.select(within)
        return [
            (key.fd, READS * bool(mask & selectors.EVENT_READ) | WRITES * bool(mask & selectors.EVENT_WRITE))
            for key, mask in found
        ]

    def close(self) -> None:
        self._selector.close()


def _events(mask: int) -> int:
    return selectors.EVENT_READ * bool(mask & READS) | selectors.EVENT_WRITE * bool(mask & WRITES)
