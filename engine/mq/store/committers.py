"""The threads that are about to commit, which a writer waits for, and the sleep of those that do not come meanwhile."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from engine.mq.waiters import Sleep

if TYPE_CHECKING:
    from engine.mq.store.journal import Journal


class Committers:
    """The threads that committed just before, and are about to commit again.

    A thread that waits for a message is away: it commits nothing before it has that, and is about to commit then.
    """

    __slots__ = ("_away", "_expected", "_last")

    def __init__(self) -> None:
        self._last: set[int] = set()  # the threads whose units were in the last transaction
        self._expected: set[int] = set()  # with those of the one before it, and who has since got what it waited for
        self._away: set[int] = set()

    def note(self, threads: set[int]) -> None:
        """Learn whose units are written together."""
        self._away -= threads  # as of one whose sleep was interrupted
        self._expected = (self._last | threads) - self._away
        self._last = threads

    def leave(self, thread: int) -> None:
        """Expect no unit of a thread, if one was expected."""
        if thread in self._expected:
            self._expected.discard(thread)
            self._away.add(thread)

    def come_back(self, thread: int) -> None:
        """Expect a unit of a thread again."""
        if thread in self._away:
            self._away.discard(thread)
            self._expected.add(thread)

    def expected(self) -> int:
        """Returns how many units may come."""
        return len(self._expected)


class Absence(Sleep):
    """The sleep of a thread that is away from the committers meanwhile; it begins to be away at once.

    Where it is ended by the thread that makes available what it has written, it has its turn among the owners of what
    was written, of whom each wakes the next.
    """

    __slots__ = ("_committers", "_journal", "_thread", "is_asleep")

    def __init__(self, journal: Journal, committers: Committers) -> None:
        super().__init__()
        self.is_asleep = False  # and wakes the next when it is woken
        self._journal = journal
        self._committers = committers
        self._thread = threading.get_ident()
        committers.leave(self._thread)

    def end(self) -> None:
        self._committers.come_back(self._thread)
        if not self._journal.defers(self):
            super().end()

    def wake(self) -> bool:
        """Wake the thread; returns True where it wakes the next."""
        super().end()
        return self.is_asleep

    def wait(self, seconds: float | None) -> None:
        try:
            self.is_asleep = True
            self._journal.let_write()
            super().wait(seconds)
            self._rise()
        except BaseException:  # Ctrl-C
            self._rise()
            raise

    def _rise(self) -> None:
        self._committers.come_back(self._thread)
        self._journal.note_end(self)
