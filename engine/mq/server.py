"""The server of a queue manager's socket: one loop, in which nothing waits and nothing takes long."""

from __future__ import annotations

import heapq
import logging
import math
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.mq.addresses import SOCKET, Peer, listening, name_of, peer
from engine.mq.channel import Channel
from engine.mq.requests import Requests
from engine.mq.security.user_view import Guarded
from engine.mq.served_manager import Facts
from engine.mq.session import Session
from engine.mq.session_gets import look_again, time_over
from engine.mq.socket_poll import ENDED, READS, WRITES, poll
from engine.mq.spare_descriptor import SpareDescriptor

if TYPE_CHECKING:
    from engine.mq.conversation import Conversation
    from engine.mq.frames import Get
    from engine.mq.served_manager import Served

_LOG: Final = logging.getLogger("penstock.queues")
_MOST_HELD: Final = 512 * 1024 * 1024  # bytes of all units that are not committed
_MOST_UNSENT: Final = 256 * 1024 * 1024  # bytes of all answers that are not read
_PATIENT_ROUNDS: Final = 8  # with events, until a long request has a slice all the same
_QUIET: Final = 1.0  # seconds for which a client has said nothing that is at nothing
_DRAINING: Final = 0.02  # seconds between two looks at clients that are still at work
_ENDING: Final = 10.0  # seconds for which commits that are being synced are waited for
_SPARE: Final = 256
_LONGEST: Final = 3_600.0  # seconds: the system takes no timeout of weeks


class Server:
    """The socket of a folder: `serve` runs until `stop` is called, by a thread, a signal or a client."""

    def __init__(self, manager: Served, folder: Path, *, group: str = "", lasting: bool = True) -> None:
        self.manager = manager
        self.folder = folder
        self.is_lasting = lasting  # it goes on until it is told to stop
        self.requests = Requests(self)
        self._listening = listening(folder, group)
        self._woken, self._wakes = socket.socketpair()
        for end in (self._woken, self._wakes):
            end.setblocking(False)
        self._spare = SpareDescriptor()
        self._poll = poll()
        self._poll.register(self._listening.fileno(), READS)
        self._poll.register(self._woken.fileno(), READS)
        self._sessions: dict[int, Session] = {}
        self._thread = 0
        self._stopping = False
        self._posted: deque[Callable[[], None]] = deque()  # by other threads, and by this one for later
        self._woken_gets: deque[tuple[Session, Get]] = deque()  # that wait for what has come
        self._turns: deque[Conversation] = deque()  # sessions that have more frames
        self._slices: deque[Iterator[bool]] = deque()  # long requests, each a generator that yields between slices
        self._parked: deque[Iterator[bool]] = deque()
        self._limits: list[tuple[float, int, Session]] = []
        self._numbers = 0
        self._rounds = 0  # since the last slice
        self._held = 0
        self._drained = 0.0  # the moment at which all that is left ends
        self._heard: dict[int, float] = {}  # when clients last said something, since then
        self._owner = os.geteuid()

    # What sessions ask.

    @property
    def changes(self) -> int:
        """Returns the number of changes of definitions, modulo 65,536."""
        return self.manager.version & 0xFFFF

    def is_here(self) -> bool:
        """Returns True in the server's own thread."""
        return threading.get_ident() == self._thread

    def post(self, call: Callable[[], None]) -> None:
        """Has the server's thread call something soon."""
        self._posted.append(call)
        if threading.get_ident() != self._thread:
            self._wake()

    def _wake(self) -> None:
        try:
            self._wakes.send(b"w")
        except OSError:
            return  # it is awake, or has ended

    def wake(self, session: Session, wanted: Get) -> None:
        """Has a session look again for what it waits for."""
        if threading.get_ident() == self._thread:
            self._woken_gets.append((session, wanted))
        else:
            self.post(lambda: look_again(session, wanted))

    def serve_woken(self) -> None:
        """Gives those whom this thread has woken what they wait for."""
        woken = self._woken_gets
        while woken:
            session, wanted = woken.popleft()
            look_again(session, wanted)

    def look_on(self, session: Session, wanted: Get) -> None:
        """Has a session look on when all others had their turn."""
        self._slices.append(_looking(session, wanted))

    def work_on(self, slices: Iterator[bool]) -> None:
        """Works on a long request, slice by slice; one that yields False waits until it may go on."""
        self._slices.append(slices)

    def go_on(self) -> None:
        """Lets long requests go on that have waited for the store."""
        self._slices.extend(self._parked)
        self._parked.clear()

    def again(self, session: Conversation) -> None:
        """Lets a session have another turn when all others had theirs."""
        self._turns.append(session)

    def limit(self, session: Session, wait: float) -> None:
        """Ends the get of a session when its time is over."""
        session.deadline = deadline = time.monotonic() + wait
        if deadline < session.looked_at:
            self._look_at(session, deadline)

    def _look_at(self, session: Session, moment: float) -> None:
        """Looks at the deadline of a session at a moment: one for all the gets that it has until then."""
        session.looked_at = moment
        self._numbers += 1
        heapq.heappush(self._limits, (moment, self._numbers, session))
        if len(self._limits) > _SPARE + 2 * len(self._sessions):  # most count no more
            self._limits = [limit for limit in self._limits if limit[0] == limit[2].looked_at and not limit[2].ended]
            heapq.heapify(self._limits)

    def send(self, session: Conversation) -> None:
        """Sends what a session has to say."""
        if session.ended:
            return
        channel = session.channel
        if not channel.send():
            self.leave(session)
        elif channel.unsent or session.watched != READS:
            self._watch(session)

    def ready(self, session: Conversation) -> None:
        """Sends what a session has to say, and takes the frames behind."""
        if not session.ended and session.turn():
            self._watch(session)

    def holds(self, count: int) -> bool:
        """Counts bytes of units that are not committed; False where they would be too many, and are not counted."""
        if count > 0 and self._held + count > _MOST_HELD:
            return False
        self._held += count
        return True

    def trusts(self, other: Peer) -> bool:
        """Returns True for the folder's owner, who may set context as it likes."""
        return other.user in {self._owner, 0}

    def guarded(self, other: Peer, user: str) -> Guarded | None:
        """Returns the queue manager as a user sees it who is held to authority records, or None for the owner."""
        return None if self.trusts(other) else self._face(user)

    def admitted(self, other: Peer, user: str, wanted: str) -> Guarded | None:
        """Returns the face for a user who connects, perhaps to act for another; who may not is refused."""
        guarded = self.guarded(other, user)
        if guarded is not None:
            guarded.check_connect(wanted)
        if wanted == user:
            return guarded
        return self._face(wanted)

    def _face(self, user: str) -> Guarded | None:
        face = self.manager.acting_for(user)
        return face if isinstance(face, Guarded) else None

    def facts(self, queue: str) -> Facts:
        """Returns what a client needs to know of a queue to put to it."""
        target = self.manager.target(queue)
        room = target.queue.most - target.queue.depth - target.queue.reserved
        stream = target.queue.stream
        if stream is not None and stream.must:
            room = 0  # its copy may be refused at any time, and then the put is
        return Facts(target.attributes, target.longest, room)

    def drop(self, session: Conversation) -> None:
        """Ends a session whose client has gone, or breaks the rules."""
        if session.ended:
            return
        number = session.channel.fileno()
        self._poll.unregister(number)
        self._sessions.pop(number, None)
        session.end()

    def leave(self, session: Conversation) -> None:
        """Ends a session whose client has gone, behind what it sent before: it may have given a message back."""
        while session.channel.read_on():
            continue
        session.finish()
        self.drop(session)

    def stop(self) -> None:
        """Ends the loop; this may be called from any thread, and from a signal handler."""
        self._stopping = True
        self._wake()  # also from a handler, behind which this thread goes on to wait

    def drain(self, seconds: float = 5.0) -> None:
        """Ends the loop once no client is at work, or after so many seconds; this may be called from any thread.

        A client that has just come, or just said something, is about to go on, and others are let in meanwhile.
        """
        self._drained = time.monotonic() + seconds
        self._wake()

    # The loop.

    def serve(self) -> None:
        """Serves until it is stopped."""
        self._thread = threading.get_ident()
        try:
            while not self._stopping:
                self._round()
        finally:
            self._close()

    def _round(self) -> None:
        events = self._poll.poll(self._timeout())
        for number, mask in events:
            session = self._sessions.get(number)
            if session is not None:
                self._event(session, mask)
            elif number == self._listening.fileno():
                self._accept()
            else:
                self._drain()
        if self._turns:
            self._take_turns()
        if self._posted:
            self.call_posted()
        if self._woken_gets:
            self.serve_woken()
        if self._limits and self._limits[0][0] <= time.monotonic():
            self._end_waits()
        self._rounds += 1
        if self._drained:
            self._drop_idle(events)
        if self._slices and (not events or self._rounds >= _PATIENT_ROUNDS):
            self._slice()

    def _take_turns(self) -> None:
        for _ in range(len(self._turns)):
            session = self._turns.popleft()
            if not session.ended:
                self.ready(session)

    def call_posted(self) -> None:
        """Does what was posted, by this thread and by others."""
        posted = self._posted
        for _ in range(len(posted)):
            if not posted:
                return  # what was done has done the rest
            posted.popleft()()

    def _timeout(self) -> float:
        if self._turns or self._posted or self._slices or self._woken_gets:
            return 0.0
        if self._drained:
            return _DRAINING
        if self._limits:
            return min(max(0.0, self._limits[0][0] - time.monotonic()), _LONGEST)
        return -1.0

    def _withdraw(self) -> None:
        """Takes no more connections."""
        if self._listening.fileno() >= 0:
            (self.folder / SOCKET).unlink(missing_ok=True)
            self._poll.unregister(self._listening.fileno())
            self._listening.close()

    def _drop_idle(self, events: list[tuple[int, int]]) -> None:
        """Drops the clients that are at nothing, and ends where none is left; not before all have been quiet."""
        now, heard = time.monotonic(), self._heard
        heard.update((number, now) for number, _ in events)
        quiet = now - _QUIET
        if now < self._drained and any(heard.setdefault(number, now) > quiet for number in self._sessions):
            return
        self._withdraw()
        for session in list(self._sessions.values()):
            if session.is_idle or time.monotonic() >= self._drained:
                session.channel.end_reading()
                session.finish()
                session.channel.send()
                self.drop(session)
        self._stopping = self._stopping or not self._sessions

    def _event(self, session: Session, mask: int) -> None:
        channel = session.channel
        if mask & (READS | ENDED) and not channel.read():
            self.leave(session)
            return
        if session.turn() and (channel.more or channel.unsent or session.watched != READS):
            self._watch(session)

    def _watch(self, session: Conversation) -> None:
        """Watches for what can go on: a client that does not read its answers is not read either."""
        channel = session.channel
        wanted = WRITES if channel.unsent else READS * (not (channel.more and session.is_full))
        if wanted != session.watched:
            session.watched = wanted
            self._poll.modify(session.channel.fileno(), wanted)
            if wanted == WRITES:
                self._check_unsent()

    def _check_unsent(self) -> None:
        """Drops the client that has most to read when all have too much."""
        unsent = [(session.channel.unsent, number) for number, session in self._sessions.items()]
        if sum(count for count, _ in unsent) > _MOST_UNSENT:
            slowest = self._sessions[max(unsent)[1]]
            _LOG.warning("a client of user %s does not read its answers, and is dropped", slowest.user)
            self.drop(slowest)

    def _accept(self) -> None:
        try:
            connection, _ = self._listening.accept()
        except OSError as error:  # it has gone again, or no more can be had
            self._spare.turn_away(self._listening, error)
            return
        try:
            connection.setblocking(False)
            other = peer(connection)
        except OSError:
            connection.close()
            return
        session = Session(self, Channel(connection), other, name_of(other.user))
        self._sessions[connection.fileno()] = session
        session.watched = READS
        self._poll.register(connection.fileno(), READS)

    def _drain(self) -> None:
        try:
            while len(self._woken.recv(4096)) == 4096:
                continue
        except BlockingIOError:
            return

    def _end_waits(self) -> None:
        now = time.monotonic()
        while self._limits and self._limits[0][0] <= now:
            moment, _, session = heapq.heappop(self._limits)
            if moment != session.looked_at:
                continue  # an earlier moment has come between
            session.looked_at = math.inf
            if session.deadline <= now:
                time_over(session)
            elif session.get is not None and session.deadline < math.inf:
                self._look_at(session, session.deadline)

    def _slice(self) -> None:
        self._rounds = 0
        slices = self._slices.popleft()
        goes_on = next(slices, None)
        if goes_on is not None:
            (self._slices if goes_on else self._parked).append(slices)

    def _close(self) -> None:
        """Ends all sessions; their units are backed out."""
        self._withdraw()
        for session in list(self._sessions.values()):
            session.channel.end_reading()
            session.finish()
            if not session.ended:
                self._poll.modify(session.channel.fileno(), 0)  # that nothing more comes could be read again and again
        end = time.monotonic() + _ENDING
        while time.monotonic() < end and any(session.syncs for session in self._sessions.values()):
            self._poll.poll(_DRAINING)
            self._drain()
            self.call_posted()
        for session in list(self._sessions.values()):
            session.channel.send()
            self.drop(session)
        self._poll.close()
        self._spare.close()
        self._woken.close()
        self._wakes.close()


def _looking(session: Session, wanted: Get) -> Iterator[bool]:
    yield True
    look_again(session, wanted)
