"""Requests that are no part of a unit of work: definitions, displays, purges, cursors, and the end of the server."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from engine.errors import BrokerError, ConfigurationException
from engine.mq import frames
from engine.mq.conversation import UNFOUNDED
from engine.mq.protection.policies import policies_of
from engine.mq.served_manager import unprotected
from engine.work import Arrival, Selection

if TYPE_CHECKING:
    from engine.mq.server import Server
    from engine.mq.session import Session

_SLICE: Final = 0.0002  # seconds that a slice of a long request takes
_PAGE: Final = 262_144  # bytes of a page of a cursor
_LOOKS: Final = 50  # messages that one look passes over
_MOST_CURSORS: Final = 256  # of one connection
_AT_ONCE: Final = 32  # messages that one slice of a purge takes off their queue, as many as an overflow gives back
_MOST_IDS: Final = 65_536  # that a client reserves at once
_LOG: Final = logging.getLogger("penstock.queues")
_AHEAD: Final = 20  # slices of a purge that the store is given before the first is written

# Functions of the queue manager that a client may call as they are.
_PLAIN: Final = frozenset({"depth", "names", "display", "statistics"})
_LONG: Final = frozenset({"define", "alter", "delete", "clear", "forget_retained", "mqsc"})
_CHECKED: Final = frozenset({"authorise", "purge", "stop", "decisions", "forget", "refuse"})


class Requests:
    """The requests of all sessions."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def take(self, session: Session, kind: int, data: bytes) -> None:
        """Answers a request, or begins to work on it."""
        said: dict[str, Any] = json.loads(data)
        if kind == frames.HELLO:
            self._greet(session, said)
        elif kind == frames.CALL:
            if session.guarded is not None and said["call"] in _CHECKED:
                session.guarded.check_call(said["call"], said["arguments"])
            self._call(session, said["call"], said["arguments"], said["options"])
        elif kind == frames.OPEN_CURSOR:
            self._open(session, said)
        elif kind == frames.NEXT_PAGE:
            session.owes = True
            self._server.work_on(self._page(session, said["cursor"]))
        elif kind == frames.CLOSE_CURSOR:
            session.cursors.pop(said["cursor"], None)
            session.answer(frames.DONE)
        else:
            raise ConfigurationException(f"a request of kind {kind} is not known here: use clients of this version")

    def _greet(self, session: Session, said: dict[str, Any]) -> None:
        if said.get("protocol") != frames.PROTOCOL:
            text = f"this queue manager speaks protocol {frames.PROTOCOL}, not {said.get('protocol')}: use its version"
            raise ConfigurationException(text)
        manager = self._server.manager
        user = str(said.get("user", ""))
        session.begin(str(said.get("application", ""))[:28], user, blamed=bool(said.get("blamed", True)))
        greeting = {
            "name": manager.name,
            "dead_letter_queue": manager.dead_letter_queue,
            "user": session.user,
            "lasting": self._server.is_lasting,
        }
        session.answer_json(greeting)

    def _call(self, session: Session, name: str, arguments: list[Any], options: dict[str, Any]) -> None:
        manager = self._server.manager
        if name == "attributes":
            found = session.attributes(*arguments)
            session.answer_json(None if found is None else asdict(found))
        elif name in {"authorise", "policies"}:
            session.answer_json(policies_of(manager) if name == "policies" else manager.work().authorise(*arguments))
        elif name == "new_ids":
            session.answer_json(manager.new_ids(_checked_count(*arguments)).hex())
        elif name == "purge":
            session.owes = True
            self._server.work_on(Purge(self._server, session, *arguments).slices())
        elif name == "stop":
            session.answer_json(None)
            self._server.stop()
        elif name == "decisions":
            session.answer_json({branch.hex(): commits for branch, commits in manager.decisions().items()})
        elif name in {"forget", "refuse"}:
            session.answer_json(getattr(manager, name)(*map(bytes.fromhex, arguments)))
        elif name in _LONG:
            self._apart(session, name, arguments, options)
        elif name in _PLAIN:
            session.answer_json(getattr(session.face, name)(*arguments, **options))
        else:
            raise ConfigurationException(f"{name} is not known here: use clients of this version")

    def _apart(self, session: Session, name: str, arguments: list[Any], options: dict[str, Any]) -> None:
        """Calls what may take long, or waits for the store, in a thread of its own, and answers then."""
        session.owes = True
        function = getattr(session.face, name)

        def call() -> None:
            try:
                value = function(*arguments, **options)
            except BrokerError as error:
                refused = error
                self._server.post(lambda: self._settle(session, lambda: session.refuse(refused)))
            except Exception:  # who asked would wait for ever
                _LOG.exception("%s of a client of user %s has failed, which is dropped", name, session.user)
                self._server.post(lambda: self._server.drop(session))
            else:
                if name == "define" and arguments[0] == "SUB" and arguments[2].get("DURABLE") == "NO":
                    session.subscriptions.add(arguments[1])
                self._server.post(lambda: self._settle(session, lambda: session.answer_json(value)))

        threading.Thread(target=call, name=f"queue manager's {name}", daemon=True).start()

    def _settle(self, session: Session, answer: Callable[[], None]) -> None:
        if session.ended:
            self.end(session)
            return
        try:
            answer()
        except UNFOUNDED:
            self._server.drop(session)
        self._server.ready(session)

    def end(self, session: Session) -> None:
        """Ends the subscriptions that last no longer than a session."""
        names, session.subscriptions = session.subscriptions, set()
        manager = self._server.manager

        def call() -> None:
            for name in names:
                with suppress(BrokerError):
                    manager.delete("SUB", name)

        if names:
            threading.Thread(target=call, name="end of subscriptions", daemon=True).start()

    def _open(self, session: Session, said: dict[str, Any]) -> None:
        if len(session.cursors) >= _MOST_CURSORS:
            raise ConfigurationException(f"a connection may have {_MOST_CURSORS} cursors open: close some")
        work = unprotected(session.face.work())
        work.examines = bool(said.get("examines")) and session.guarded is None
        wanted = Selection(browse=True, selector=said["selector"])
        session.cursors[said["cursor"]] = lambda most: work.get_some(said["queue"], wanted, most=most)
        session.answer(frames.DONE)

    def _page(self, session: Session, number: int) -> Iterator[bool]:
        """Fills a page, and looks on later where much was looked at in vain."""
        look = session.cursors.get(number)
        arrivals: list[Arrival] = []
        length, last = 0, False
        try:
            while not (session.ended or arrivals or last):
                end = time.monotonic() + _SLICE
                while not last and length < _PAGE and time.monotonic() < end:
                    found = None if look is None else look(_LOOKS)
                    if isinstance(found, Arrival):
                        arrivals.append(found)
                        length += len(found.body)
                    last = found is None
                yield True
            if last:
                session.cursors.pop(number, None)
            session.answer(frames.PAGE, frames.page_data(arrivals), frames.LAST_PAGE * last)
        except BrokerError as error:
            session.cursors.pop(number, None)
            session.refuse(error)
        except UNFOUNDED:
            self._server.drop(session)
        self._server.ready(session)


def _checked_count(count: object) -> int:
    if not isinstance(count, int) or not 0 < count <= _MOST_IDS:
        raise ValueError(count)
    return count


def purge_then(manager: Any, queue: str, most: int, then: Callable[[int, BrokerError | None], None]) -> int:
    """Remove so many messages of a queue at most, and return how many; `then` learns when that is synced."""
    found = manager.find(queue)
    taken = []
    if found is not None:
        with manager.lock:
            taken = [(found, stored) for stored in found.take_some(most)]
            found.counts.purged += len(taken)
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
            except UNFOUNDED:
                self._server.drop(self._session)
                return
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
            return purge_then(self._server.manager, self._queue, _AT_ONCE, then)
        except BrokerError:
            self._ahead -= 1
            raise

    def _written(self, count: int, error: BrokerError | None) -> None:
        self._ahead -= 1
        self._failed = self._failed or error
        self._removed += 0 if error else count
        self._server.go_on()
