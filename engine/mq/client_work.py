"""A unit of work over the socket: puts travel with their commit, and the commit may carry the next get."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from engine.descriptor import PERSISTENT, Descriptor
from engine.errors import MessageException
from engine.message.topics import address
from engine.mq import frames
from engine.mq.addresses import CONNECTION_BROKEN, Q_MGR_NOT_AVAILABLE
from engine.mq.admission import context_of
from engine.mq.client_queues import Known, ReservedNumbers
from engine.mq.frames import Get, exchange_frame, frame, get_data, put_frame, read_arrival
from engine.mq.packed_descriptor import pack
from engine.mq.protection.policies import policy_of
from engine.mq.protection.unit_protection import Protection
from engine.work import Arrival, QueueAttributes, Selection

if TYPE_CHECKING:
    from engine.mq.connection import Answer, Connection
    from engine.mq.protection.policies import Policy

_MOST_HELD: Final = 256 * 1024  # bytes of puts that wait here for their commit
_MOST_KNOWN: Final = 10_000
_GONE: Final = (CONNECTION_BROKEN, Q_MGR_NOT_AVAILABLE)


class ClientWork:
    """A unit of work of a queue manager in another process, on a connection of its own.

    A put to a queue that is known to have room waits for the commit, which then raises what the queue refused, and the
    unit is backed out uncounted; the next unit then puts one by one, so that the put itself fails. With `patience`, a
    commit carries the get that the unit began with. A connection that broke is made anew by the next call.
    """

    __slots__ = (
        *("__weakref__", "_broken", "_carried", "_connect", "_connection", "_eager", "_first", "_held", "_interrupted"),
        *("_asked", "_authorised", "_policies", "_policies_at", "_protection", "_said", "protects"),
        *("_known", "_length", "_lock", "_numbers", "_open", "_syncs", "patience"),
    )

    def __init__(self, connect: Callable[[], Connection], protection: Protection | None = None) -> None:
        self.protects = True
        self._protection = protection or Protection()
        self._policies: dict[str, dict[str, Policy]] = {}
        self._policies_at = -1
        self._authorised: dict[tuple[str, str], int] = {}  # users who may put, and when that was known
        self.patience = 0.0
        self._connect = connect
        self._connection: Connection | None = None
        self._lock = threading.Lock()
        self._interrupted = False
        self._known: dict[str, Known] = {}
        self._numbers = ReservedNumbers(self._reserve)
        self._eager = False
        self._broken: MessageException | None = None  # what ended a unit that has not been backed out since
        self._carried: Get | None = None  # a get that was sent, and is not answered yet
        self._asked: Get | None = None  # the last get, and what its frame said
        self._said = b""
        self._forget()

    def _forget(self) -> None:
        """Forget the unit: nothing was done since."""
        self._held: list[tuple[bytes, bytes, bytes]] = []  # puts: queue, descriptor, body
        self._length = 0
        self._first: Get | None = None
        self._open = False  # the server has something of the unit
        self._syncs = False  # that a commit must be answered for

    def get(
        self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True, wait: float = 0.0
    ) -> Arrival | None:
        connection = self._connection or self._reached()
        if self.protects and (policy := self._policy(connection, "GET", queue)) is not None:
            return self._protection.get(self, queue, policy, selection, syncpoint=syncpoint, wait=wait)
        wanted = Get(queue, selection, syncpoint, wait)
        try:
            if self._carried is not None and self._carried == wanted and self._begins():
                self._carried = None
                answer = connection.answer(frames.ARRIVAL, frames.NOTHING)
            else:
                self._return_carried(connection)
                with self._lock:
                    if self._interrupted:
                        wanted = wanted._replace(wait=0.0)
                    connection.send([frame(frames.GET, self._data_of(wanted))])
                answer = connection.answer(frames.ARRIVAL, frames.NOTHING)
        except MessageException as error:
            raise self._noted(error) from error.__cause__
        return self._arrived(wanted, answer)

    def _arrived(self, wanted: Get, answer: Answer) -> Arrival | None:
        if self._first is None and self._begins():
            self._first = wanted
        self._open = True  # also where nothing came: groups and cursors are remembered there
        if answer.kind == frames.NOTHING:
            return None
        arrival = read_arrival(answer.data)
        self._syncs = self._syncs or arrival.descriptor.persistence == PERSISTENT
        return arrival

    def _begins(self) -> bool:
        return not (self._open or self._held)

    def put(self, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool = True) -> Descriptor:
        connection = self._connection or self._reached()
        if self.protects and (policy := self._policy(connection, "PUT", queue)) is not None:
            return self._protection.put(self, queue, policy, (descriptor, body), syncpoint=syncpoint)
        try:
            if self._carried is not None:
                self._return_carried(connection)
            known = self._known.get(queue)
            if (
                known is None
                or known.changes != connection.changes
                or self._eager
                or not known.takes(descriptor, len(body))
                or self._length + len(body) > _MOST_HELD
            ):
                return self._put_now(connection, queue, descriptor, body, syncpoint=syncpoint)
            full = known.admitted(descriptor, self._numbers)
            if syncpoint:
                self._held.append((known.name, pack(full), body))
                self._length += len(body)
            else:
                pieces = put_frame(known.name, pack(full), body, frames.WANTS_ANSWER | frames.BRIEFLY)
                connection.send([*self._let_go(), *pieces] if self._held else pieces)  # in the order of the puts
                connection.answer(frames.DONE)
        except MessageException as error:
            raise self._noted(error) from error.__cause__
        return full

    def publish(
        self,
        topic: str,
        descriptor: Descriptor,
        body: bytes,
        *,
        retain: bool = False,
        point: str = "",
        syncpoint: bool = True,
    ) -> Descriptor:
        return self.put(address(topic, retain=retain, point=point), descriptor, body, syncpoint=syncpoint)

    def _put_now(
        self, connection: Connection, queue: str, descriptor: Descriptor, body: bytes, *, syncpoint: bool
    ) -> Descriptor:
        """Send what was held and a put, and wait for the answer to it."""
        flags = frames.WANTS_ANSWER | frames.IN_SYNCPOINT * syncpoint
        name = frames.named(queue)
        connection.send([*self._let_go(), *put_frame(name, pack(descriptor), body, flags)])
        self._open = self._open or syncpoint
        self._syncs = self._syncs or syncpoint
        full, facts = frames.read_accepted(connection.answer(frames.ACCEPTED).data)
        context = context_of(connection.greeting.user, connection.application)
        if len(self._known) >= _MOST_KNOWN:  # topics may be many
            self._known.clear()
        self._known[queue] = Known(name, facts, connection.changes, context)
        return full

    def _let_go(self) -> list[bytes]:
        """Returns the frames of what was held, which the server has from now on."""
        pieces = _framed(self._held)
        if pieces:
            self._held, self._length, self._open, self._syncs = [], 0, True, True
        return pieces

    def attributes(self, queue: str) -> QueueAttributes | None:
        connection = self._reached()
        try:
            self._return_carried(connection)
            found = connection.call("attributes", queue)
        except MessageException as error:
            raise self._noted(error) from error.__cause__
        return None if found is None else QueueAttributes(**found)

    def _policy(self, connection: Connection, way: str, queue: str) -> Policy | None:
        """Returns the policy by which messages are put to a queue, or got; asked for anew when definitions change."""
        if self._policies_at != connection.changes:
            self._return_carried(connection)
            said = connection.call("policies")
            self._policies = {way: {name: policy_of(*one) for name, one in said[way].items()} for way in said}
            self._policies_at = connection.changes
        return self._policies[way].get(queue)

    def authorise(self, user: str, queue: str) -> None:
        connection = self._reached()
        if self._authorised.get((user, queue)) != connection.changes:
            self._return_carried(connection)
            connection.call("authorise", user, queue)
            if len(self._authorised) >= _MOST_KNOWN:  # topics may be many
                self._authorised.clear()
            self._authorised[user, queue] = connection.changes

    @property
    def knows_subscribers(self) -> bool:
        """True: a put to a topic can be answered by whether a subscription takes it."""
        return True

    def new_id(self) -> bytes:
        return self._numbers.new_id()

    def _reserve(self, count: int) -> bytes:
        connection = self._reached()
        self._return_carried(connection)
        return bytes.fromhex(connection.call("new_ids", count))

    @property
    def dead_letter_queue(self) -> str:
        return self._reached().greeting.dead_letter_queue

    @property
    def queue_manager(self) -> str:
        return self._reached().greeting.name

    def commit(self, decision: tuple[bytes, ...] = ()) -> None:
        """Make the unit last; `decision` names the branches of other resources that commit with it."""
        named = frames.decision_data(decision)
        if self._begins() and self._broken is None and not named:
            return
        connection, carried = self._reached(), self._carries()
        answered = bool(self._held or named or self._syncs)  # others cannot be refused, and nothing is to be synced
        try:
            self._return_carried(connection)  # or a decision alone would commit it
            self._send_commit(connection, carried, frames.WANTS_ANSWER * answered, named)
            if answered:
                answer = connection.answer(frames.DONE, frames.REFUSED)
                if answer.kind == frames.REFUSED:
                    self._fail(answer)
                self._eager = False
        except MessageException as error:
            raise self._noted(error) from error.__cause__
        self._forget()
        self._carried = carried

    def commit_then_get(
        self, queue: str, selection: Selection | None = None, *, syncpoint: bool | None = True, wait: float = 0.0
    ) -> Arrival | None:
        """Commit, and get the next message in the same round trip."""
        connection = self._connection or self._reached()
        if self.protects and self._policy(connection, "GET", queue) is not None:
            self.commit()
            return self.get(queue, selection, syncpoint=syncpoint, wait=wait)
        wanted = Get(queue, selection, syncpoint, wait)
        try:
            if self._carried is not None:
                self._return_carried(connection)
            self._send_commit(connection, wanted, 0)
            answer = connection.answer(frames.ARRIVAL, frames.NOTHING, frames.REFUSED)
            if answer.kind == frames.REFUSED:
                self._fail(answer)
        except MessageException as error:
            raise self._noted(error) from error.__cause__
        self._eager = False
        self._forget()
        return self._arrived(wanted, answer)

    def _send_commit(self, connection: Connection, carried: Get | None, flags: int, decision: bytes = b"") -> None:
        """Send what is held, the commit with its decision, and the get that follows it."""
        with self._lock:
            get = b""
            if carried is not None:
                get = self._data_of(carried._replace(wait=0.0) if self._interrupted else carried)
                flags |= frames.CARRIES_GET
            if self._held and not decision:
                pieces = exchange_frame(self._held[-1], get, flags)
                connection.send(pieces if len(self._held) == 1 else [*_framed(self._held[:-1]), *pieces])
                return
            pieces = [*_framed(self._held), frame(frames.COMMIT, decision, flags)]
            connection.send([*pieces, frame(frames.GET, get, frames.CARRIED)] if get else pieces)

    def _fail(self, answer: Answer) -> None:
        """Raise what the server refused; a unit with a put that was refused is over, and the next puts one by one."""
        if answer.flags & frames.OF_COMMIT:
            self._held, self._length = [], 0
            if answer.flags & frames.UNIT_ENDED:
                self._forget()
                self._eager = True
        else:
            self._forget()
        raise frames.read_refusal(answer.data)

    def _carries(self) -> Get | None:
        """The get that is sent with the commit: that which the unit began with, by someone who comes back for more.

        A get that is never part of a unit is not: nothing could take back what it brought, were it not wanted any more.
        """
        first = self._first
        if first is None or self.patience == 0 or self._interrupted or first.syncpoint is False:
            return None
        return None if first.selection is not None and first.selection.browse else first

    def _data_of(self, wanted: Get) -> bytes:
        """Returns what the frame of a get says, which is mostly what the last one said."""
        if wanted != self._asked:
            self._asked, self._said = wanted, get_data(wanted)
        return self._said

    def back_out(self) -> None:
        connection, opened = self._connection, self._open
        self._forget()
        self._broken = None
        if connection is None or not opened:
            return
        try:
            connection.send([frame(frames.BACK_OUT)])
            connection.answer(frames.DONE)
        except MessageException as error:
            if self._noted(error).reason not in _GONE:  # a server that is gone has backed it out
                raise

    def interrupt(self) -> None:
        """End a get that waits in another thread, as if its time were over, and let none wait from now on."""
        with self._lock:
            self._interrupted = True
            connection = self._connection
        if connection is not None:
            try:
                connection.send([frame(frames.CANCEL)])
            except MessageException:
                return  # there is nothing left that waits

    def close(self) -> None:
        """End the connection; the server backs out what it holds of the unit, uncounted where nobody has seen it."""
        connection, self._connection = self._connection, None
        if not self._begins() and self._broken is None:
            text = "the unit of work was backed out when its connection was closed: back out, and begin another"
            self._broken = MessageException(CONNECTION_BROKEN, text, reason=CONNECTION_BROKEN)
        carried, self._carried = self._carried, None
        self._forget()
        if connection is None:
            return
        if carried is not None:
            with suppress(MessageException):
                connection.send([frame(frames.CANCEL, flags=frames.RETURNS)])
        connection.close()

    def _return_carried(self, connection: Connection) -> None:
        """Let a message go back that came with a commit, and that is not what is wanted now."""
        if self._carried is None:
            return
        self._carried = None
        connection.send([frame(frames.CANCEL, flags=frames.RETURNS)])
        connection.answer(frames.ARRIVAL, frames.NOTHING, frames.REFUSED)

    def _reached(self) -> Connection:
        """The connection, which is made anew where it broke; a unit that broke with it has to be backed out first."""
        if self._broken is not None:
            raise self._broken
        if self._connection is None:
            self._connection = self._connect()
            self._known, self._carried = {}, None
            self._numbers = ReservedNumbers(self._reserve, self._connection.greeting.name)
            self._forget()
        return self._connection

    def _noted(self, error: MessageException) -> MessageException:
        """The error; where the connection broke, nothing is left of it, and the unit is known to be lost."""
        if error.reason in _GONE:
            self._broken = None if self._begins() else error
            self.close()
        return error


def _framed(puts: list[tuple[bytes, bytes, bytes]]) -> list[bytes]:
    """Returns the frames of puts that nobody waits for an answer to, as their pieces."""
    return [piece for put in puts for piece in put_frame(*put, frames.IN_SYNCPOINT)]
