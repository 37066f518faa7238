"""A session: what one client asks, and what the server has of its unit of work."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from engine.errors import BrokerError, MessageException
from engine.mq import frames
from engine.mq.addresses import Peer
from engine.mq.conversation import UNFOUNDED, Conversation, Frame
from engine.mq.frames import Get
from engine.mq.served_manager import Unfinished, unprotected
from engine.mq.session_gets import begin_get, stop_waiting
from engine.work import Arrival, QueueAttributes

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.mq.channel import Channel
    from engine.mq.server import Server
    from engine.mq.unit import Work
    from engine.mq.waiting_gets import Waiting

_STORAGE_NOT_AVAILABLE: Final = 2071

Cursor = Callable[[int], Arrival | Unfinished | None]  # given how many messages it may look at


class Session(Conversation):
    """One connection, its unit of work, and the get that it waits for."""

    __slots__ = (
        *("_behind", "_blamed", "_failed", "_held"),
        *("application", "by_persistence", "carried", "cursors", "deadline", "face", "guarded", "last", "last_data"),
        *("looked_at", "once", "outside", "peer", "plain", "skips", "subscriptions", "syncs", "user", "waiter", "work"),
    )

    def __init__(self, server: Server, channel: Channel, peer: Peer, user: str) -> None:
        super().__init__(server, channel)
        self.peer = peer
        self.user = user
        self.subscriptions: set[str] = set()  # that end with it
        self.deadline = math.inf  # of the get
        self.looked_at = math.inf  # the moment at which the server looks at the deadline
        self.application = ""
        self._blamed = True
        self.guarded = server.guarded(peer, user)  # None: the owner, or who acts as it
        self.face: Any = self.guarded or server.manager
        self.work: Work = unprotected(self.face.work(user))
        self.once: Work | None = None  # for what is done outside the unit, each a unit of its own
        self.waiter: Waiting | None = None
        self.plain = True  # the get is in the unit, waits, and asks for ids alone, or for what is next
        self.last = Get("", None, True, 0.0)  # the last get as it was read, and its data
        self.last_data = b""
        self.by_persistence = False  # such a get leaves it to the message whether that is part of the unit
        self.outside = False  # it is not: it can only go back until the client does something
        self.syncs = False  # a commit that another thread writes
        self._failed: BrokerError | None = None  # the first put of the unit that was refused unasked
        self.skips = False  # the get that a failed commit would have carried
        self._behind: bytes | memoryview = b""  # the get of an exchange, until its commit has ended
        self.carried = False  # all that the unit has is what such a get gave
        self._held = 0  # bytes put in the unit
        self.cursors: dict[int, Cursor] = {}

    def take(self, frame: Frame) -> None:
        kind, flags, data = frame
        try:
            if kind == frames.EXCHANGE:
                self._exchange(flags, data)
            elif kind == frames.GET:
                begin_get(self, flags, data)
            elif kind == frames.COMMIT:
                self._commit(flags, bytes(data))
            elif kind == frames.PUT:
                self._put(flags, data)
            elif kind == frames.BACK_OUT:
                self._back_out()
            elif kind == frames.CANCEL:
                self._cancel(flags)
            else:
                self.server.requests.take(self, kind, bytes(data))
        except BrokerError as error:
            self.refuse(error)
        except UNFOUNDED:
            self.server.drop(self)

    @property
    def is_idle(self) -> bool:
        """Returns True where nothing would be lost, and nobody wait in vain, if the session ended."""
        return not (self.owes or self.channel.unsent or self.cursors) and self.work.is_idle

    def end_unit(
        self, end: Callable[[Callable[[BrokerError | None], None]], None], settle: Callable[[BrokerError | None], None]
    ) -> None:
        """Ends a unit of work by `end`, which calls back at once, or later from whichever thread has written the unit.

        `settle` runs in the server's thread. That may itself be who writes, for another session, long after the turn of
        this one: only what is called back at once is answered at the end of the turn.
        """
        self.owes = self.syncs = at_once = True
        server = self.server

        def then(error: BrokerError | None) -> None:
            if at_once and server.is_here():
                self.syncs = False
                settle(error)
            else:
                server.post(lambda: self._settled(settle, error))

        end(then)
        at_once = False

    def _settled(self, settle: Callable[[BrokerError | None], None], error: BrokerError | None) -> None:
        """Ends a commit that was synced later."""
        self.syncs = False
        settle(error)
        if self.ended:
            self.undo()
            return
        if self._behind:
            get, self._behind = self._behind, b""
            self.take((frames.GET, frames.CARRIED, get))
        self.server.ready(self)

    def _put(self, flags: int, data: bytes | memoryview) -> None:
        answered = bool(flags & frames.WANTS_ANSWER)
        if self._failed is not None and not answered:
            return
        self.claim()
        try:
            queue, descriptor, body = frames.read_put(data)
            if not flags & frames.IN_SYNCPOINT:
                self._put_once(queue, descriptor, body, briefly=bool(flags & frames.BRIEFLY))
                return
            full = self._put_in_unit(queue, descriptor, body)
        except BrokerError as error:
            if answered:
                raise
            self._failed = error
            return
        if answered:
            self.answer(frames.ACCEPTED, frames.accepted_data(full, self.server.facts(queue)))

    def _exchange(self, flags: int, data: bytes | memoryview) -> None:
        """Puts the last message of a unit, commits it, and gets the next one."""
        queue, descriptor, body, get = frames.read_exchange(data)
        self.claim()
        if self._failed is None and not self._held and self.work.put_at_once(queue, descriptor, body):
            self.skips = False
            if flags & frames.WANTS_ANSWER:
                self.answer(frames.DONE)
            self.server.serve_woken()  # who waits for what was put has it before this client waits itself
        else:
            self._exchange_in_steps(queue, descriptor, body, flags)
        if not get:
            return
        if self.owes:
            self._behind = get
        else:
            begin_get(self, frames.CARRIED, get)

    def _exchange_in_steps(self, queue: str, descriptor: Descriptor, body: bytes, flags: int) -> None:
        if self._failed is None:
            try:
                self._put_in_unit(queue, descriptor, body)
            except BrokerError as error:
                self._failed = error
        self._commit(flags, b"")

    def _put_in_unit(self, queue: str, descriptor: Descriptor, body: bytes) -> Descriptor:
        if not self.server.holds(len(body)):
            text = "units of work that are not committed hold too much: commit this one in smaller parts"
            raise MessageException(_STORAGE_NOT_AVAILABLE, text, reason=_STORAGE_NOT_AVAILABLE)
        self._held += len(body)
        return self.work.put(queue, descriptor, body)

    def _put_once(self, queue: str, descriptor: Descriptor, body: bytes, *, briefly: bool) -> None:
        """Puts in a unit of its own, and answers when that is committed."""
        work = self.apart()
        if briefly and work.put_at_once(queue, descriptor, body):
            self.answer(frames.DONE)
            return
        full = work.put(queue, descriptor, body)

        def settle(error: BrokerError | None) -> None:
            if error is not None:
                self.refuse(error)
            elif briefly:
                self.answer(frames.DONE)
            else:
                self.answer(frames.ACCEPTED, frames.accepted_data(full, self.server.facts(queue)))

        self.end_unit(work.commit_then, settle)

    def apart(self) -> Work:
        if self.once is None:
            self.once = unprotected(self.face.work(self.user, self.application), self.peer.process)
        return self.once

    def claim(self) -> None:
        """The client has what its last commit brought: outside a unit, that is final."""
        self.carried = False
        if self.outside:
            self.outside = False
            self.work.commit()

    def begin(self, application: str, user: str = "", *, blamed: bool = True) -> None:
        """Begins to work for a program; what it has in hand as it dies counts as backed out if it is `blamed`.

        `user` is another user than that of the process, for whom it acts.
        """
        self.guarded = self.server.admitted(self.peer, self.user, user or self.user)
        self.user = user or self.user
        self.face = self.guarded or self.server.manager
        self.application = application
        self._blamed = blamed
        self.work = unprotected(self.face.work(self.user, application), self.peer.process)

    def attributes(self, queue: str) -> QueueAttributes | None:
        """Returns the attributes of a queue."""
        return self.work.attributes(queue)

    def _cancel(self, flags: int) -> None:
        if self.get is not None:
            stop_waiting(self)
            self.answer(frames.NOTHING)
        elif flags & frames.RETURNS and self.carried:
            self.work.give_back()
            self.carried = self.outside = False

    def _commit(self, flags: int, decision: bytes) -> None:
        self.skips = False
        self.claim()
        answered = bool(flags & frames.WANTS_ANSWER)
        failed, self._failed = self._failed, None
        if failed is not None:
            self.work.give_back()
            self._release()
            self.skips = bool(flags & frames.CARRIES_GET)
            self.refuse(failed, frames.UNIT_ENDED | frames.OF_COMMIT)
            return

        def settle(error: BrokerError | None) -> None:
            if error is not None:
                self.skips = bool(flags & frames.CARRIES_GET)
                self.refuse(error, frames.OF_COMMIT)
                return
            self._release()
            self.owes = False
            if answered:
                self.answer(frames.DONE)
            elif flags & frames.CARRIES_GET:
                self.server.serve_woken()

        self.end_unit(lambda then: self.work.commit_then(then, frames.read_decision(decision)), settle)

    def _back_out(self) -> None:
        self._failed = None
        self.claim()
        self._release()
        self.end_unit(
            self.work.back_out_then,
            lambda error: self.answer(frames.DONE) if error is None else self.refuse(error),
        )

    def _release(self) -> None:
        if self._held:
            self.server.holds(-self._held)
            self._held = 0

    def end(self) -> None:
        """Backs the unit out: the client has gone. What it was given unasked goes back as it was."""
        self.ended = True
        stop_waiting(self)
        self.cursors.clear()
        self.channel.close()
        self.server.requests.end(self)
        if not self.syncs:
            self.undo()

    def undo(self) -> None:
        """Backs out what an ended session still has."""
        self._release()
        if self.outside:
            self.claim()  # as its client may have done with it what it likes
        if self.carried or not self._blamed:
            self.work.give_back()
        else:
            self.work.back_out_then(lambda _: None)
