"""A session: what one client asks, and what the server has of its unit of work."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from engine.errors import BrokerError, MessageException
from engine.mq import frames
from engine.mq.addresses import Peer
from engine.mq.channel import BadFrameError, Channel
from engine.mq.frames import Get
from engine.mq.served import Unfinished, unprotected
from engine.work import Arrival, QueueAttributes

if TYPE_CHECKING:
    from engine.mq.served import ServedWork, Waiter
    from engine.mq.server import Server

_LOOKS: Final = 50  # messages that one turn of a get looks at
_STORAGE_NOT_AVAILABLE: Final = 2071
_FRAMES_A_TURN: Final = 64
_LARGE: Final = 65_536  # bytes of a message behind which a turn ends

Cursor = Callable[[int], Arrival | Unfinished | None]  # given how many messages it may look at
Frame = tuple[int, int, bytes | memoryview]


class Session:
    """One connection: frames are taken one after the other, and none is while an answer is owed or not read yet."""

    __slots__ = (
        *("_blamed", "_carried", "_cursors", "_failed", "_held", "_once", "_owes", "_skips", "_syncs", "_waiter"),
        "_work",
        *("application", "channel", "ended", "face", "get", "guarded", "peer", "server", "subscriptions", "user"),
        "watched",
    )

    def __init__(self, server: Server, channel: Channel, peer: Peer, user: str) -> None:
        self.server = server
        self.channel = channel
        self.peer = peer
        self.user = user
        self.watched = 0  # what the poll watches for
        self.subscriptions: set[str] = set()  # that end with it
        self.get: Get | None = None  # one that waits for its message
        self.ended = False
        self.application = ""
        self._blamed = True
        self.guarded = server.guarded(peer, user)  # None: the owner, or who acts as it
        self.face: Any = self.guarded or server.manager
        self._work: ServedWork = unprotected(self.face.work(user))
        self._once: ServedWork | None = None  # for what is done outside the unit, each a unit of its own
        self._waiter: Waiter | None = None
        self._owes = False  # an answer that comes later
        self._syncs = False  # a commit that another thread writes
        self._failed: BrokerError | None = None  # the first put of the unit that was refused unasked
        self._skips = False  # the get that a failed commit would have carried
        self._carried = False  # all that the unit has is what such a get gave
        self._held = 0  # bytes put in the unit
        self._cursors: dict[int, Cursor] = {}

    def turn(self) -> bool:
        """Takes the frames that have come, a number of them; True where more may be there."""
        taken = 0
        channel = self.channel
        while not (self._owes or channel.unsent or self.ended):
            try:
                frame = channel.next_frame()
            except BadFrameError:
                self.server.drop(self)
                return False
            if frame is None:
                break
            if self.get is not None and frame[0] != frames.CANCEL:
                self.server.drop(self)  # a client waits for what it asked first
                return False
            self._take(frame)
            taken += 1
            if taken >= _FRAMES_A_TURN or len(frame[2]) > _LARGE:
                self.server.again(self)
                break
        if not channel.send():
            self.server.drop(self)
            return False
        return True

    def finish(self) -> None:
        """Takes all frames that have come from a client that is about to go: a commit may be among them."""
        while not (self._owes or self.ended) and (frame := self._next()) is not None:
            self._take(frame)

    def _next(self) -> Frame | None:
        try:
            return self.channel.next_frame()
        except BadFrameError:
            return None

    def _take(self, frame: Frame) -> None:
        kind, flags, data = frame
        try:
            if kind == frames.GET:
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
    def is_full(self) -> bool:
        """Returns True where more need not be read: what has come waits for an answer that is owed."""
        return self.channel.received > _LARGE and (self._owes or self.get is not None)

    @property
    def is_synced(self) -> bool:
        """Returns True where no commit is with the thread that writes."""
        return not self._syncs

    @property
    def is_idle(self) -> bool:
        """Returns True where nothing would be lost, and nobody wait in vain, if the session ended."""
        return not (self._owes or self.channel.unsent or self._cursors) and self._work.is_idle

    def answer(self, kind: int, data: bytes = b"", flags: int = 0) -> None:
        """Answers, with the next bytes that are sent."""
        self._owes = False
        self.channel.answer([frames.frame(kind, data, flags, self.server.changes)])

    def answer_json(self, value: object) -> None:
        """Answers with data."""
        self.answer(frames.DATA, json.dumps(value).encode())

    def refuse(self, error: BrokerError, flags: int = 0) -> None:
        """Answers with an error."""
        self._owes = False
        self.channel.answer([frames.refusal_frame(error, flags, self.server.changes)])

    def owe(self) -> None:
        """Answers later: no frame is taken until then."""
        self._owes = True

    def _then(self, settle: Callable[[BrokerError | None], None]) -> Callable[[BrokerError | None], None]:
        """Returns what is called at the end of a commit, by whichever thread; `settle` runs in the server's."""
        self._owes = self._syncs = True
        server = self.server

        def then(error: BrokerError | None) -> None:
            if server.is_here():
                self._syncs = False
                settle(error)
            else:
                server.post(lambda: self._settled(settle, error))

        return then

    def _settled(self, settle: Callable[[BrokerError | None], None], error: BrokerError | None) -> None:
        """Ends a commit that another thread has synced."""
        self._syncs = False
        settle(error)
        if self.ended:
            self.undo()
        else:
            self.server.ready(self)

    def _put(self, flags: int, data: bytes | memoryview) -> None:
        answered = bool(flags & frames.WANTS_ANSWER)
        if self._failed is not None and not answered:
            return
        self._carried = False
        try:
            queue, descriptor, body = frames.read_put(data)
            if not flags & frames.IN_SYNCPOINT:
                self._put_once(queue, lambda work: work.put(queue, descriptor, body))
                return
            if not self.server.holds(len(body)):
                text = "units of work that are not committed hold too much: commit this one in smaller parts"
                raise MessageException(_STORAGE_NOT_AVAILABLE, text, reason=_STORAGE_NOT_AVAILABLE)
            self._held += len(body)
            full = self._work.put(queue, descriptor, body)
        except BrokerError as error:
            if answered:
                raise
            self._failed = error
            return
        if answered:
            self.answer(frames.ACCEPTED, frames.accepted_data(full, self.server.facts(queue)))

    def _put_once(self, queue: str, put: Callable[[ServedWork], object]) -> None:
        """Puts in a unit of its own, and answers when that is committed."""
        work = self._apart()
        full = put(work)

        def settle(error: BrokerError | None) -> None:
            if error is not None:
                self.refuse(error)
            else:
                self.answer(frames.ACCEPTED, frames.accepted_data(full, self.server.facts(queue)))  # type: ignore[arg-type]

        work.commit_then(self._then(settle))

    def _apart(self) -> ServedWork:
        if self._once is None:
            self._once = unprotected(self.face.work(self.user, self.application))
        return self._once

    def _begin_get(self, flags: int, data: bytes | memoryview) -> None:
        if flags & frames.CARRIED and self._skips:
            self._skips = False
            return
        self._carried = bool(flags & frames.CARRIED)
        wanted = frames.read_get(data)
        self.get = wanted
        if not self._look() and wanted.wait > 0:
            self.server.limit(self, wanted)

    def _look(self, waiter: Waiter | None = None) -> bool:
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
            elif wanted.selection is None or wanted.selection.plain:  # which looks at one message
                found = work.get(wanted.queue, wanted.selection, syncpoint=syncpoint)
            else:
                found = work.get_some(wanted.queue, wanted.selection, syncpoint=syncpoint, most=_LOOKS)
            if found is Unfinished.UNFINISHED:
                self.server.look_on(self, wanted)
                return False
            if found is None and wanted.wait:
                self._wait(work, wanted)
                return False
        except BrokerError as error:
            self.stop_waiting()
            self.refuse(error)
            return True
        self.stop_waiting()
        if found is None:
            self.answer(frames.NOTHING)
        elif once:
            work.commit_then(self._then(lambda error: self._give(found, error)))
        else:
            self.channel.answer(frames.arrival_frame(found, self.server.changes))
        return True

    def _wait(self, work: ServedWork, wanted: Get) -> None:
        wake = partial(self.server.wake, self, wanted)
        self._waiter = work.waiter(wanted.queue, wanted.selection, wake, takes=True)

    def _give(self, arrival: Arrival, error: BrokerError | None) -> None:
        if error is not None:
            self.refuse(error)
            return
        self._owes = False
        self.channel.answer(frames.arrival_frame(arrival, self.server.changes))

    def look_again(self, wanted: Get) -> None:
        """Looks again for a get that still waits: a message came that it may want, or it has more to look at."""
        if self.get is not wanted or self.ended:
            return
        waiter, self._waiter = self._waiter, None  # its message is looked for before another gets its turn
        if self._look(waiter):
            self.server.send(self)  # a client that waits has asked nothing else

    def time_over(self, wanted: Get) -> None:
        """Ends a get whose time is over."""
        if self.get is wanted and not self.ended:
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
        self._work = unprotected(self.face.work(self.user, application))

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
        self._carried = False

    def _commit(self, flags: int, decision: bytes) -> None:
        self._skips = False
        self._carried = False
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
            self._owes = False
            if answered:
                self.answer(frames.DONE)
            elif flags & frames.CARRIES_GET:
                self.server.serve_woken()  # who waits for what was put has it before this client waits itself

        self._work.commit_then(self._then(settle), tuple(decision.split(b"\0")) if decision else ())

    def _back_out(self) -> None:
        self._failed = None
        self._carried = False
        self._release()
        self._work.back_out_then(
            self._then(lambda error: self.answer(frames.DONE) if error is None else self.refuse(error))
        )

    def _release(self) -> None:
        if self._held:
            self.server.holds(-self._held)
            self._held = 0

    def open_cursor(self, number: int, cursor: Cursor | None) -> None:
        """Keeps a cursor by its number, or keeps it no longer."""
        if cursor is None:
            self._cursors.pop(number, None)
        else:
            self._cursors[number] = cursor

    def cursor(self, number: int) -> Cursor | None:
        """Returns what a cursor shows next."""
        return self._cursors.get(number)

    def cursors(self) -> int:
        """Returns how many cursors are open."""
        return len(self._cursors)

    def end(self) -> None:
        """Backs the unit out: the client has gone. What it was given unasked goes back as it was."""
        self.ended = True
        self.stop_waiting()
        self._cursors.clear()
        self.channel.close()
        self.server.requests.end(self)
        if not self._syncs:
            self.undo()

    def undo(self) -> None:
        """Backs out what an ended session still has."""
        self._release()
        if self._carried or not self._blamed:
            self._work.give_back()
        else:
            self._work.back_out_then(lambda _: None)
