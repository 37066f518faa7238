"""Jobs of a journal: units of work on their way into the store."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from engine.errors import BrokerError
from engine.mq.store_changes import Record

Then = Callable[[BrokerError | None], None]
_LOG: Final = logging.getLogger("penstock.store")


class Job:
    """A unit of work on its way into the store; `then` is called by who writes it, and what it raises is `raised`."""

    __slots__ = ("awaited", "done", "error", "is_settled", "is_woken", "owner", "raised", "record", "then", "turn")

    def __init__(self, record: Record, then: Then, *, awaited: bool) -> None:
        self.record = record
        self.then = then
        self.owner = threading.get_ident()
        self.awaited = awaited  # its owner stands by it
        self.done = False
        self.is_settled = False  # that it is written or refused, where it was tried alone or its writer interrupted
        self.is_woken = False  # its owner has been told that it is done
        self.turn = threading.Lock()  # released when it is done, or when its owner is to write
        self.turn.acquire()
        self.error: BrokerError | None = None
        self.raised: Exception | None = None

    def wake(self) -> bool:
        """Wake the owner, once, if it waits; returns True where it wakes the next."""
        wakes = self.awaited and not self.is_woken and self.turn.locked()
        if wakes:
            self.is_woken = True
            self.turn.release()
        return wakes

    def finish(self) -> None:
        """Call `then`, once: what it raises is for the owner alone."""
        then, self.then = self.then, nothing_follows
        try:
            then(self.error)
        except Exception as error:
            self.raised = error
            if not self.awaited:
                _LOG.exception("what follows the commit of a unit of work has failed")
        self.done = True


def nothing_follows(_: BrokerError | None) -> None:
    """Leaves it at what the store has."""
