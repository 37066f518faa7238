"""Turns at a lock that is held for moments only: who finds it taken gives way, and does not block on it."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _thread import RLock

_FIRST: Final = 0.0001  # seconds
_LONGEST: Final = 0.005  # as Python lets a thread run before another has its turn


def wait_for(lock: RLock) -> bool:
    """Returns True once the thread has a lock that another had, as a rule as it lost the interpreter meanwhile.

    A thread that blocked on the lock would make each release of it a call of the system, wake to find it taken again,
    and, once it has it, have all others block that come before it has the interpreter too: that takes several times as
    long as what is to be done. A thread that naps leaves the interpreter to who has the lock.

    Where Ctrl-C ends the wait, the lock is the thread's as well, for the `finally` that releases it.
    """
    nap = _FIRST
    try:
        time.sleep(nap)
        while not lock.acquire(False):
            nap = min(2 * nap, _LONGEST)
            time.sleep(nap)
    except BaseException:
        with suppress(RuntimeError):  # it is not the thread's yet
            lock.release()
        lock.acquire()
        raise
    return True
