"""Child processes that end with their parent, and the loop in which a parent looks after them."""

from __future__ import annotations

import ctypes
import fcntl
import gc
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Final, NoReturn, Protocol

from engine.broker.channel import Channel

_PR_SET_PDEATHSIG: Final = 1
_OWN: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)  # signals that each process sees to itself
FAILED: Final = 70  # the exit code of a process that an exception ended


class Readable(Protocol):
    """Something that has a file descriptor."""

    def fileno(self) -> int: ...


@dataclass(slots=True)
class Child:
    """A process that this one has started, and the channel to it."""

    pid: int
    channel: Channel
    started: float = field(default_factory=time.monotonic)

    def tell(self, number: int) -> None:
        """Send the process a signal, if it is still there."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def fork(run: Callable[[Channel], None], inherited: Iterable[int] = ()) -> Child:
    """Start a process that runs a function with its end of a channel, and ends with this one.

    It keeps standard streams, its channel and the descriptors that are `inherited`; all others are closed in it.
    """
    own, theirs = Channel.pair()
    parent = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    held = signal.pthread_sigmask(signal.SIG_BLOCK, _OWN)  # one to the child is for it alone, once it is settled
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        theirs.socket.close()
        os.set_inheritable(own.fileno(), False)
        return Child(pid, own)
    status = FAILED
    try:
        _settle(parent, {0, 1, 2, theirs.fileno(), *inherited})
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        run(theirs)
        status = 0
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:  # the process ends here, whatever it was; its parent logs what it says
        sys.excepthook(*sys.exc_info())
    finally:
        leave(status)


def leave(status: int) -> NoReturn:
    """End this process at once, with what it has written."""
    with suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def _settle(parent: int, kept: set[int]) -> None:
    """Make a forked process one of its own: its signals, its descriptors, and its end when its parent ends."""
    for number in _OWN:
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    start = 0
    for keep in sorted(kept):
        if start < keep:  # an empty range from 0 is taken for all descriptors
            os.closerange(start, keep)
        start = keep + 1
    os.closerange(start, 4096)
    end_with_parent(parent)
    gc.freeze()


def end_with_parent(parent: int) -> None:
    """Have the system tell this process to end when its parent does; it ends at once where that has happened."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(FAILED)


class Loop:
    """Waits for what a parent has to see to: channels, signals, children that end, and times that come."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._signals: dict[int, Callable[[], None]] = {}
        self._wake, theirs = socket.socketpair()
        self._wake.setblocking(False)
        theirs.setblocking(False)
        self._theirs = theirs
        signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        self.watch(self._wake, self._signalled)
        self._ended = False

    def on_signal(self, number: int, act: Callable[[], None]) -> None:
        """Act on a signal, in the loop."""
        self._signals[number] = act
        signal.signal(number, _noted)

    def watch(self, readable: Readable, act: Callable[[], None]) -> None:
        """Act whenever something can be read; what is sent by a channel that is watched never holds the loop up."""
        if isinstance(readable, Channel):
            readable.await_room = partial(self._await_room, readable)
        self._selector.register(readable.fileno(), selectors.EVENT_READ, (act, None))

    def _await_room(self, channel: Channel) -> None:
        """Send the rest of what a channel has to send once there is room, unless it is watched no longer."""
        if (key := self._selector.get_map().get(channel.fileno())) is not None:
            both = selectors.EVENT_READ | selectors.EVENT_WRITE
            self._selector.modify(key.fd, both, (key.data[0], channel))

    def forget(self, readable: Readable) -> None:
        """Watch it no longer."""
        with suppress(KeyError, ValueError):
            self._selector.unregister(readable.fileno())

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Act once so many seconds have passed."""
        heappush(self._timers, (time.monotonic() + seconds, next(self._numbers), act))

    def end(self) -> None:
        """Return from `run` when what is being done is done."""
        self._ended = True

    def run(self) -> None:
        """Wait and act until `end` is called."""
        while not self._ended:
            self.step()

    def step(self, longest: float | None = None) -> None:
        """Wait for the next thing, at most so many seconds, and act."""
        left = None if not self._timers else max(0.0, self._timers[0][0] - time.monotonic())
        wait = longest if left is None else left if longest is None else min(left, longest)
        for key, events in self._selector.select(wait):
            if self._selector.get_map().get(key.fd) is not key:  # it has been forgotten by what came before
                continue
            act, sender = key.data
            if events & selectors.EVENT_WRITE and sender.send_rest():
                self._selector.modify(key.fd, selectors.EVENT_READ, (act, None))
            if events & selectors.EVENT_READ:
                act()
        while self._timers and self._timers[0][0] <= time.monotonic():
            heappop(self._timers)[2]()

    def _signalled(self) -> None:
        with suppress(BlockingIOError):
            for number in dict.fromkeys(self._wake.recv(4096)):
                if number in self._signals:
                    self._signals[number]()


def ended_children() -> list[tuple[int, int]]:
    """Returns the children that have ended, each with its exit code; a signal is a negative one."""
    found: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if not pid:
            return found
        found.append((pid, os.waitstatus_to_exitcode(status)))


def _noted(number: int, frame: object) -> None:
    """Nothing: the signal is seen to in the loop, which its number has woken."""


def nonblocking(descriptor: int) -> None:
    """Have reads and writes of a descriptor never wait."""
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_NONBLOCK)
