"""The purge of a queue for a client: in slices, while others are served and the store writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from engine.errors import BrokerError

if TYPE_CHECKING:
    from engine.mq.server import Server
    from engine.mq.session import Session

_SLICE: Final = 50  # messages that one slice takes off their queue
_AHEAD: Final = 20  # slices that the store is given before the first is written

Then = Callable[[int, BrokerError | None], None]


def purge_then(manager: Any, queue: str, most: int, then: Then) -> int:
    """Remove so many messages of a queue at most, and return how many; `then` learns when that is synced."""
    found = manager.find(queue)
    taken = []
    if found is not None:
        with manager.lock:
            taken = [(found, stored) for stored in found.take_some(most)]
    if manager.store is None or not any(stored.descriptor.persistence for _, stored in taken):
        manager.admission.apply([], taken)
        then(len(taken), None)
    else:
        manager.store.write_then([], taken, (), lambda error: then(len(taken), error))
    return len(taken)


class Purge:
    """A purge that a client has asked for, and how far it is."""

    def __init__(self, server: Server, session: Session, queue: str) -> None:
        self._server = server
        self._session = session
        self._queue = queue
        self._removed = 0
        self._ahead = 0
        self._failed: BrokerError | None = None

    def slices(self) -> Iterator[bool]:
        """Yields True between slices, and False where the store has to go on first."""
        took = 1
        while took and self._failed is None and not self._session.ended:
            if self._ahead >= _AHEAD:
                yield False
                continue
            try:
                took = self._take()
            except BrokerError as error:
                self._failed = error
            yield True
        while self._ahead:
            yield False
        if self._failed is None:
            self._session.answer_json(self._removed)
        else:
            self._session.refuse(self._failed)
        self._server.ready(self._session)

    def _take(self) -> int:
        """Remove a slice; returns how many messages it had, 0 at the end."""

        def then(count: int, error: BrokerError | None) -> None:
            if self._server.is_here():
                self._written(count, error)
            else:
                self._server.post(lambda: self._written(count, error))

        self._ahead += 1
        try:
            return purge_then(self._server.manager, self._queue, _SLICE, then)
        except BrokerError:
            self._ahead -= 1
            raise

    def _written(self, count: int, error: BrokerError | None) -> None:
        self._ahead -= 1
        self._failed = self._failed or error
        self._removed += 0 if error else count
        self._server.go_on()
