"""Turns at a lock that is held for moments only: who finds it taken gives way, and does not block on it."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _thread import RLock

_NAPS: Final = (0.0001, 0.0002, 0.0004, 0.0008)  # seconds


def wait_for(lock: RLock) -> bool:
    """Returns True once the thread has a lock that another had, as a rule as it lost the interpreter meanwhile.

    A thread that blocked on the lock would make each release of it a call of the system, wake to find it taken again,
    and, once it has it, have all others block that come before it has the interpreter too: that takes several times as
    long as what is to be done. A thread that naps leaves the interpreter to who has the lock. It blocks after some
    naps: one that only looked now and then would hardly ever find the lock free beside a thread that takes it again
    and again, and reads the store, where others get the interpreter, while it has it.

    Where Ctrl-C ends the wait, the lock is the thread's as well, for the `finally` that releases it. It is not where
    Ctrl-C comes just before; the release fails then, and `interruption` is what to raise.
    """
    try:
        for nap in _NAPS:
            time.sleep(nap)
            if lock.acquire(False):
                return True
        return lock.acquire()
    except BaseException:
        with suppress(RuntimeError):  # it is not the thread's yet
            lock.release()
        lock.acquire()
        raise


def interruption(error: RuntimeError) -> BaseException:
    """Returns what kept a thread from its turn at a lock, which it could not release then: Ctrl-C, as a rule."""
    return error.__context__ or error
