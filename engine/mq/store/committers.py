"""The threads that are about to commit, which a writer waits for, and the sleep of those that do not come meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable

from engine.mq.waiters import Sleep


class Committers:
    """The threads that committed just before, and are about to commit again.

    A thread that waits for a message is away: it commits nothing before it has that, and is about to commit then.
    """

    __slots__ = ("_away", "_back", "_before", "_last")

    def __init__(self) -> None:
        self._last: set[int] = set()  # the threads whose units were in the last transaction
        self._before: set[int] = set()  # and in the one before it
        self._back: set[int] = set()  # those that have since got what they waited for
        self._away: set[int] = set()

    def note(self, threads: set[int]) -> None:
        """Learn whose units are written together."""
        self._before, self._last, self._back = self._last, threads, set()
        self._away -= threads  # as of one whose sleep was interrupted

    def leave(self, thread: int) -> None:
        """Expect no unit of a thread, if one was expected."""
        if thread in self._last or thread in self._before or thread in self._back:
            self._away.add(thread)

    def come_back(self, thread: int) -> None:
        """Expect a unit of a thread again."""
        if thread in self._away:
            self._back.add(thread)
            self._away.discard(thread)

    def expected(self) -> int:
        """Returns how many units may come."""
        return len((self._last | self._before | self._back) - self._away)


class Absence(Sleep):
    """The sleep of a thread that is away from the committers meanwhile; it begins to be away at once."""

    __slots__ = ("_committers", "_left", "_thread")

    def __init__(self, committers: Committers, left: Callable[[], None]) -> None:
        """`left` is called before the thread sleeps, as it may have been the last that a writer waits for."""
        super().__init__()
        self._committers = committers
        self._left = left
        self._thread = threading.get_ident()
        committers.leave(self._thread)

    def end(self) -> None:
        self._committers.come_back(self._thread)
        super().end()

    def wait(self, seconds: float | None) -> None:
        self._left()
        try:
            super().wait(seconds)
        finally:
            self._committers.come_back(self._thread)
