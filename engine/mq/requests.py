"""Requests that are no part of a unit of work: definitions, displays, purges, cursors, and the end of the server."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from engine.errors import BrokerError, ConfigurationException
from engine.mq import frames

if TYPE_CHECKING:
    from engine.mq.server import Server
    from engine.mq.session import Session
    from engine.work import Arrival

_SLICE: Final = 0.0002  # seconds that a slice of a long request takes
_PURGED: Final = 20  # messages removed between two looks at the clock
_PAGE: Final = 262_144  # bytes of a page of a cursor
_MOST_CURSORS: Final = 256  # of one connection

# Functions of the queue manager that a client may call as they are.
_PLAIN: Final = frozenset({"depth", "names", "display", "define", "alter", "delete", "forget_retained", "mqsc"})


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
            self._call(session, said["call"], said["arguments"], said["options"])
        elif kind == frames.OPEN_CURSOR:
            self._open(session, said)
        elif kind == frames.NEXT_PAGE:
            session.owe()
            self._server.work_on(self._page(session, said["cursor"]))
        elif kind == frames.CLOSE_CURSOR:
            session.open_cursor(said["cursor"], None)
            session.answer(frames.DONE)
        else:
            raise ConfigurationException(f"a request of kind {kind} is not known here: use clients of this version")

    def _greet(self, session: Session, said: dict[str, Any]) -> None:
        if said.get("protocol") != frames.PROTOCOL:
            text = f"this queue manager speaks protocol {frames.PROTOCOL}, not {said.get('protocol')}: use its version"
            raise ConfigurationException(text)
        manager = self._server.manager
        session.begin(str(said.get("application", ""))[:28], blamed=bool(said.get("blamed", True)))
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
        elif name == "new_ids":
            session.answer_json(manager.new_ids(*arguments).hex())
        elif name in {"purge", "clear"}:
            session.owe()
            self._server.work_on(self._purge(session, *arguments))
        elif name == "stop":
            session.answer_json(None)
            self._server.stop()
        elif name == "decisions":
            session.answer_json({branch.hex(): commits for branch, commits in manager.decisions().items()})
        elif name in {"forget", "refuse"}:
            session.answer_json(getattr(manager, name)(*map(bytes.fromhex, arguments)))
        elif name in _PLAIN:
            session.answer_json(getattr(manager, name)(*arguments, **options))
        else:
            raise ConfigurationException(f"{name} is not known here: use clients of this version")

    def _purge(self, session: Session, queue: str) -> Iterator[None]:
        total, removed = 0, _PURGED
        try:
            while removed == _PURGED and not session.ended:
                end = time.monotonic() + _SLICE
                while removed == _PURGED and time.monotonic() < end:
                    removed = self._server.manager.purge_some(queue, _PURGED)
                    total += removed
                yield
            session.answer_json(total)
        except BrokerError as error:
            session.refuse(error)
        self._server.ready(session)

    def _open(self, session: Session, said: dict[str, Any]) -> None:
        if session.cursors() >= _MOST_CURSORS:
            raise ConfigurationException(f"a connection may have {_MOST_CURSORS} cursors open: close some")
        session.open_cursor(said["cursor"], self._server.manager.cursor(said["queue"], said["selector"]))
        session.answer(frames.DONE)

    def _page(self, session: Session, number: int) -> Iterator[None]:
        """Fills a page, and looks on later where much was looked at in vain."""
        cursor = session.cursor(number)
        arrivals: list[Arrival] = []
        length = 0
        try:
            while not session.ended:
                end = time.monotonic() + _SLICE
                found: Arrival | None = None
                while length < _PAGE and time.monotonic() < end and (found := next(cursor, None)) is not None:
                    arrivals.append(found)
                    length += len(found.body)
                if found is None and length < _PAGE:
                    session.open_cursor(number, None)
                    session.answer(frames.PAGE, frames.page_data(arrivals), frames.LAST_PAGE)
                    break
                if arrivals:
                    session.answer(frames.PAGE, frames.page_data(arrivals))
                    break
                yield
        except BrokerError as error:
            session.open_cursor(number, None)
            session.refuse(error)
        self._server.ready(session)
