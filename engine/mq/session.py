"""A session: what one client asks, and what the server has of its unit of work."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from engine.errors import BrokerError, MessageException
from engine.mq import frames
from engine.mq.addresses import Peer
from engine.mq.conversation import Conversation, Frame
from engine.mq.frames import Get
from engine.mq.server_operations import Unfinished, check_units, unprotected
from engine.mq.waiting_gets import get_or_wait, register
from engine.work import Arrival, QueueAttributes

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.mq.channel import Channel
    from engine.mq.server import Server
    from engine.mq.unit import Work
    from engine.mq.waiting_gets import Waiting

_LOOKS: Final = 50  # messages that one turn of a get looks at
_STORAGE_NOT_AVAILABLE: Final = 2071

Cursor = Callable[[int], Arrival | Unfinished | None]  # given how many messages it may look at


class Session(Conversation):
    """One connection, its unit of work, and the get that it waits for."""

    __slots__ = (
        *("_behind", "_blamed", "_by_persistence", "_carried", "_failed", "_held", "_last", "_last_data", "_once"),
        *("_outside", "_plain", "_skips", "_waiter", "_work"),
        *("application", "cursors", "deadline", "face", "guarded", "looked_at", "peer", "subscriptions", "syncs"),
        "user",
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
        self._work: Work = unprotected(self.face.work(user))
        self._once: Work | None = None  # for what is done outside the unit, each a unit of its own
        self._waiter: Waiting | None = None
        self._plain = True  # the get is in the unit, waits, and asks for ids alone, or for what is next
        self._last = Get("", None, True, 0.0)  # the last get as it was read, and its data
        self._last_data = b""
        self._by_persistence = False  # such a get leaves it to the message whether that is part of the unit
        self._outside = False  # it is not: it can only go back until the client does something
        self.syncs = False  # a commit that another thread writes
        self._failed: BrokerError | None = None  # the first put of the unit that was refused unasked
        self._skips = False  # the get that a failed commit would have carried
        self._behind: bytes | memoryview = b""  # the get of an exchange, until its commit has ended
        self._carried = False  # all that the unit has is what such a get gave
        self._held = 0  # bytes put in the unit
        self.cursors: dict[int, Cursor] = {}

    def take(self, frame: Frame) -> None:
        kind, flags, data = frame
        try:
            if kind == frames.EXCHANGE:
                self._exchange(flags, data)
            elif kind == frames.GET:
                self._begin_get(flags, data)
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
        except (ValueError, LookupError, TypeError, AttributeError, struct.error):  # what no client of ours sends
            self.server.drop(self)

    @property
    def is_idle(self) -> bool:
        """Returns True where nothing would be lost, and nobody wait in vain, if the session ended."""
        return not (self.owes or self.channel.unsent or self.cursors) and self._work.is_idle

    def _end(
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
        self._claim()
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
        self._claim()
        if self._failed is None and not self._held and self._work.put_at_once(queue, descriptor, body):
            self._skips = False
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
            self._begin_get(frames.CARRIED, get)

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
        return self._work.put(queue, descriptor, body)

    def _put_once(self, queue: str, descriptor: Descriptor, body: bytes, *, briefly: bool) -> None:
        """Puts in a unit of its own, and answers when that is committed."""
        work = self._apart()
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

        self._end(work.commit_then, settle)

    def _apart(self) -> Work:
        if self._once is None:
            self._once = unprotected(self.face.work(self.user, self.application), self.peer.process)
        return self._once

    def _begin_get(self, flags: int, data: bytes | memoryview) -> None:
        if flags & frames.CARRIED and self._skips:
            self._skips = False
            return
        self._claim()
        wanted = self._read_get(data)
        if self._once is not None or wanted.syncpoint is False:
            check_units(wanted, self._work, self._once)
        self._carried = bool(flags & frames.CARRIED)
        self._by_persistence = self._carried and wanted.syncpoint is None
        self.get = wanted = wanted._replace(syncpoint=True) if self._by_persistence else wanted
        self.deadline = math.inf
        self._plain = bool(wanted.syncpoint and wanted.wait and wanted.is_found_at_once)
        if not (self._look_plainly(wanted) if self._plain else self._look()) and wanted.wait > 0:
            self.server.limit(self, wanted.wait)

    def _read_get(self, data: bytes | memoryview) -> Get:
        """Returns a get that is like no other object, as waiters ask for one that may be over; most say the same."""
        if data != self._last_data:
            self._last, self._last_data = frames.read_get(data), bytes(data)  # a view would keep the exchange around it
        return tuple.__new__(Get, self._last)

    def _claim(self) -> None:
        """The client has what its last commit brought: outside a unit, that is final."""
        self._carried = False
        if self._outside:
            self._outside = False
            self._work.commit()

    def _look(self, waiter: Waiting | None = None) -> bool:
        """Looks for the message of the get, and answers it if that ends it; otherwise it waits, or looks on later."""
        wanted = self.get
        assert wanted is not None
        once = wanted.syncpoint is False and not (wanted.selection is not None and wanted.selection.browse)
        work = self._apart() if once else self._work
        syncpoint = True if once else wanted.syncpoint
        try:
            given = None if waiter is None else waiter.taken(syncpoint=syncpoint)
            if given is not None:
                found: Arrival | Unfinished | None = given
            elif wanted.is_found_at_once:
                found = work.get(wanted.queue, wanted.selection, syncpoint=syncpoint)
            else:
                found = work.get_some(wanted.queue, wanted.selection, syncpoint=syncpoint, most=_LOOKS)
            if found is Unfinished.UNFINISHED:
                self.server.look_on(self, wanted)
                return False
            if found is None and wanted.wait:
                wake = partial(self.server.wake, self, wanted)
                self._waiter = register(work, wanted.queue, wanted.selection, wake, takes=True)
                return False
        except BrokerError as error:
            self.stop_waiting()
            self.refuse(error)
            return True
        self.stop_waiting()
        if found is None:
            self.answer(frames.NOTHING)
        elif once:
            self._end(work.commit_then, lambda error: self._give(found, error))
        else:
            self._arrived(found)
        return True

    def _look_plainly(self, wanted: Get) -> bool:
        """Looks for the next message, or the next with ids, in the unit, and waits where there is none."""
        try:
            wake = partial(self.server.wake, self, wanted)
            found, self._waiter = get_or_wait(self._work, wanted.queue, wanted.selection, wake)
        except BrokerError as error:
            self.stop_waiting()
            self.refuse(error)
            return True
        if found is not None:
            self._arrived(found)
        return found is not None

    def _arrived(self, found: Arrival) -> None:
        """Ends the get with its message."""
        self.get = None
        self._outside = self._by_persistence and not found.descriptor.persistence
        self.channel.answers += frames.arrival_frame(found, self.server.manager.version & 0xFFFF)

    def _give(self, arrival: Arrival, error: BrokerError | None) -> None:
        if error is not None:
            self.refuse(error)
            return
        self.owes = False
        self.channel.answers += frames.arrival_frame(arrival, self.server.changes)

    def look_again(self, wanted: Get) -> None:
        """Looks again for a get that still waits: a message came that it may want, or it has more to look at."""
        if self.get is not wanted:
            return
        waiter, self._waiter = self._waiter, None  # its message is looked for before another gets its turn
        if self._plain and waiter is not None and (found := waiter.taken(syncpoint=True)) is not None:
            self._arrived(found)
        elif not (self._look_plainly(wanted) if self._plain else self._look(waiter)):
            return
        self.server.send(self)  # a client that waits has asked nothing else

    def time_over(self) -> None:
        """Ends a get whose time is over."""
        if self.get is not None and not self.ended:
            self.stop_waiting()
            self.answer(frames.NOTHING)
            self.server.ready(self)

    def begin(self, application: str, user: str = "", *, blamed: bool = True) -> None:
        """Begins to work for a program; what it has in hand as it dies counts as backed out if it is `blamed`.

        `user` is another user than that of the process, for whom it acts.
        """
        self.guarded = self.server.admitted(self.peer, self.user, user or self.user)
        self.user = user or self.user
        self.face = self.guarded or self.server.manager
        self.application = application
        self._blamed = blamed
        self._work = unprotected(self.face.work(self.user, application), self.peer.process)

    def attributes(self, queue: str) -> QueueAttributes | None:
        """Returns the attributes of a queue."""
        return self._work.attributes(queue)

    def stop_waiting(self) -> None:
        """Lets the get wait no longer."""
        self.get = None
        if self._waiter is not None:
            self._waiter.cancel()
            self._waiter = None

    def _cancel(self, flags: int) -> None:
        if self.get is not None:
            self.stop_waiting()
            self.answer(frames.NOTHING)
        elif flags & frames.RETURNS and self._carried:
            self._work.give_back()
            self._carried = self._outside = False

    def _commit(self, flags: int, decision: bytes) -> None:
        self._skips = False
        self._claim()
        answered = bool(flags & frames.WANTS_ANSWER)
        failed, self._failed = self._failed, None
        if failed is not None:
            self._work.give_back()
            self._release()
            self._skips = bool(flags & frames.CARRIES_GET)
            self.refuse(failed, frames.UNIT_ENDED | frames.OF_COMMIT)
            return

        def settle(error: BrokerError | None) -> None:
            if error is not None:
                self._skips = bool(flags & frames.CARRIES_GET)
                self.refuse(error, frames.OF_COMMIT)
                return
            self._release()
            self.owes = False
            if answered:
                self.answer(frames.DONE)
            elif flags & frames.CARRIES_GET:
                self.server.serve_woken()

        self._end(lambda then: self._work.commit_then(then, frames.read_decision(decision)), settle)

    def _back_out(self) -> None:
        self._failed = None
        self._claim()
        self._release()
        self._end(
            self._work.back_out_then,
            lambda error: self.answer(frames.DONE) if error is None else self.refuse(error),
        )

    def _release(self) -> None:
        if self._held:
            self.server.holds(-self._held)
            self._held = 0

    def end(self) -> None:
        """Backs the unit out: the client has gone. What it was given unasked goes back as it was."""
        self.ended = True
        self.stop_waiting()
        self.cursors.clear()
        self.channel.close()
        self.server.requests.end(self)
        if not self.syncs:
            self.undo()

    def undo(self) -> None:
        """Backs out what an ended session still has."""
        self._release()
        if self._outside:
            self._claim()  # as its client may have done with it what it likes
        if self._carried or not self._blamed:
            self._work.give_back()
        else:
            self._work.back_out_then(lambda _: None)
