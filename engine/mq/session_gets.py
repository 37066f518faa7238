"""The gets of clients: each is answered with its message, or waits for it without a thread of its own."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Final

from engine.errors import BrokerError
from engine.mq import frames
from engine.mq.frames import Get
from engine.mq.served_manager import Unfinished, check_units
from engine.mq.waiting_gets import get_or_wait, register
from engine.work import Arrival

if TYPE_CHECKING:
    from engine.mq.session import Session
    from engine.mq.waiting_gets import Waiting

_LOOKS: Final = 50  # messages that one turn of a get looks at


def begin_get(session: Session, flags: int, data: bytes | memoryview) -> None:
    """Begin a get: it is answered at once, or waits as long as its client has patience."""
    if flags & frames.CARRIED and session.skips:
        session.skips = False
        return
    session.claim()
    wanted = _read_get(session, data)
    if session.once is not None or wanted.syncpoint is False:
        check_units(wanted, session.work, session.once)
    session.carried = bool(flags & frames.CARRIED)
    session.by_persistence = session.carried and wanted.syncpoint is None
    session.get = wanted = wanted._replace(syncpoint=True) if session.by_persistence else wanted
    session.deadline = math.inf
    session.plain = bool(wanted.syncpoint and wanted.wait and wanted.is_found_at_once)
    if not (_look_plainly(session, wanted) if session.plain else _look(session)) and wanted.wait > 0:
        session.server.limit(session, wanted.wait)


def _read_get(session: Session, data: bytes | memoryview) -> Get:
    """Returns a get that is like no other object, as waiters ask for one that may be over; most say the same."""
    if data != session.last_data:
        session.last, session.last_data = frames.read_get(data), bytes(data)  # a view would keep the exchange around it
    return tuple.__new__(Get, session.last)


def _look(session: Session, waiter: Waiting | None = None) -> bool:
    """Look for the message of the get, and answer it if that ends it; otherwise it waits, or it is looked for later."""
    wanted = session.get
    assert wanted is not None
    once = wanted.syncpoint is False and not (wanted.selection is not None and wanted.selection.browse)
    work = session.apart() if once else session.work
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
            session.server.look_on(session, wanted)
            return False
        if found is None and wanted.wait:
            wake = partial(session.server.wake, session, wanted)
            session.waiter = register(work, wanted.queue, wanted.selection, wake, takes=True)
            return False
    except BrokerError as error:
        stop_waiting(session)
        session.refuse(error)
        return True
    stop_waiting(session)
    if found is None:
        session.answer(frames.NOTHING)
    elif once:
        session.end_unit(work.commit_then, lambda error: _give(session, found, error))
    else:
        _arrived(session, found)
    return True


def _look_plainly(session: Session, wanted: Get) -> bool:
    """Look for the next message, or the next with ids, in the unit, and wait where there is none."""
    try:
        wake = partial(session.server.wake, session, wanted)
        found, session.waiter = get_or_wait(session.work, wanted.queue, wanted.selection, wake)
    except BrokerError as error:
        stop_waiting(session)
        session.refuse(error)
        return True
    if found is not None:
        _arrived(session, found)
    return found is not None


def _arrived(session: Session, found: Arrival) -> None:
    """End the get with its message."""
    session.get = None
    session.outside = session.by_persistence and not found.descriptor.persistence
    session.channel.answers += frames.arrival_frame(found, session.server.manager.version & 0xFFFF)


def _give(session: Session, arrival: Arrival, error: BrokerError | None) -> None:
    if error is not None:
        session.refuse(error)
        return
    session.owes = False
    session.channel.answers += frames.arrival_frame(arrival, session.server.changes)


def look_again(session: Session, wanted: Get) -> None:
    """Look again for a get that still waits: a message came that it may want, or it has more to look at."""
    if session.get is not wanted:
        return
    waiter, session.waiter = session.waiter, None  # its message is looked for before another gets its turn
    if session.plain and waiter is not None and (found := waiter.taken(syncpoint=True)) is not None:
        _arrived(session, found)
    elif not (_look_plainly(session, wanted) if session.plain else _look(session, waiter)):
        return
    session.server.send(session)  # a client that waits has asked nothing else


def time_over(session: Session) -> None:
    """End a get whose time is over."""
    if session.get is not None and not session.ended:
        stop_waiting(session)
        session.answer(frames.NOTHING)
        session.server.ready(session)


def stop_waiting(session: Session) -> None:
    """Let the get wait no longer."""
    session.get = None
    if session.waiter is not None:
        session.waiter.cancel()
        session.waiter = None
