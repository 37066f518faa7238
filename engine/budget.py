"""Budget: the processor time and the memory that one message may take, which the loops of the engine pay into.

The message of a flow has a budget while it is processed, and so has a program at a desk. A loop whose turns depend on
what a message or a program says calls `pay`; what makes values or elements whose size depends on it calls `take`. Where
nobody has given a budget both do nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import thread_time
from typing import Final, TypeVar

from engine.errors import LimitExceeded

SECONDS_OF_A_MESSAGE: Final = 60.0
BYTES_OF_A_MESSAGE: Final = 1 << 30
OVER_TIME: Final = 2574
OVER_MEMORY: Final = 2575
_STEPS: Final = 10_000  # of loops, between two looks at the clock
_FEW: Final = 64  # steps that cost less than to pay for them
_GRACE: Final = 4  # the part of an allowance that the way of failure is given once more
_FEWEST_TURNS: Final = 100  # of a loop before the clock is looked at for the first time
_MOST_TURNS: Final = 1000
_SHORT: Final = 0.002  # seconds between two looks: where less has passed, the next one is later
_LONG: Final = 0.02
_WEIGHINGS: Final = 16  # looks at the memory of the process while a whole allowance is taken


@dataclass(frozen=True, slots=True)
class Allowance:
    """The processor time in seconds that one message may take, and the bytes by which the process may grow for it.

    Where it is the current one, the message's budget begins when something is first paid for.
    """

    cpu: float = SECONDS_OF_A_MESSAGE
    memory: int = BYTES_OF_A_MESSAGE

    def begin(self) -> Budget:
        """Returns a new budget, which is the current one from now on."""
        budget = Budget(self)
        CURRENT.set(budget)
        return budget

    def pay(self, steps: int) -> None:
        """Begin the budget, and count steps of a loop."""
        self.begin().pay(steps)

    def take(self, size: int) -> None:
        """Begin the budget, and count bytes that are about to be made."""
        self.begin().take(size)


GENEROUS: Final = Allowance()


def resident() -> int:
    """Returns the bytes of memory that this process occupies; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as told:
            return int(told.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 0


class Budget:
    """The rest of an allowance; it belongs to the thread that carries the message.

    Once it is used up, each further look fails; the first failure leaves a part of the allowance once more, for the
    message to go its way of failure.

    >>> Budget(Allowance(memory=1000)).take(2000)
    Traceback (most recent call last):
        ...
    engine.errors.LimitExceeded: BIP2575: the message needs more than 1000 bytes of memory: raise the limit
    """

    __slots__ = (
        "_allowance",
        "_base",
        "_deadline",
        "_has_memory_left",
        "_has_time_left",
        "_next",
        "_seen",
        "_steps",
        "_taken",
        "turns",
    )

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._steps = _STEPS
        self._deadline: float | None = None
        self._has_time_left = self._has_memory_left = True
        self._seen = 0.0
        self._taken = 0
        self._base: int | None = None
        self._next = allowance.memory // _WEIGHINGS
        self.turns = _FEWEST_TURNS  # of a loop, after which it is to look again

    def pay(self, steps: int) -> None:
        """Count steps of a loop; now and then the clock is looked at."""
        self._steps -= steps
        if self._steps < 0:
            self.look()

    def look(self) -> None:
        """Look at the processor time of this thread; more than the message may take is an error."""
        self._steps = _STEPS
        now = thread_time()
        if self._deadline is None:
            self._deadline = now + self._allowance.cpu
        elif now > self._deadline:
            if self._has_time_left:
                self._has_time_left = False
                self._deadline = now + self._allowance.cpu / _GRACE
            text = f"the message needs more than {self._allowance.cpu:g} seconds of processor time: raise the limit"
            raise LimitExceeded(OVER_TIME, text, f"{self._allowance.cpu:g}")
        elif now - self._seen < _SHORT:
            self.turns = min(self.turns * 4, _MOST_TURNS)
        elif now - self._seen > _LONG:
            self.turns = max(self.turns // 8, 1)
        self._seen = now

    def take(self, size: int) -> None:
        """Count bytes that are about to be made; the process is weighed once that might be too much for it."""
        self._taken += size
        if self._taken > self._next:
            self._weigh(size)

    def _weigh(self, size: int) -> None:
        """Fail where the process has grown by more than the message may take, and has done so for this message."""
        most = self._allowance.memory
        if size > most:
            raise self._too_large()
        weight = resident()
        if self._base is None:
            self._base = weight
        grown = weight - self._base + size
        if self._taken > most and grown > most:
            if self._has_memory_left:
                self._has_memory_left = False
                self._base += grown - most + most // _GRACE
            raise self._too_large()
        self._next = max(most, self._taken + most // _WEIGHINGS)

    def _too_large(self) -> LimitExceeded:
        most = self._allowance.memory
        return LimitExceeded(
            OVER_MEMORY, f"the message needs more than {most} bytes of memory: raise the limit", str(most)
        )


class Unpaid(Budget):
    """A budget that nothing is taken from: what is done under it shows what paying costs."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(GENEROUS)
        self.turns = _MOST_TURNS

    def pay(self, steps: int) -> None:
        """Take nothing."""

    def look(self) -> None:
        """Look at nothing."""

    def take(self, size: int) -> None:
        """Take nothing."""


CURRENT: Final[ContextVar[Budget | Allowance | None]] = ContextVar("budget", default=None)


def current() -> Budget | None:
    """Returns the budget of the message, which begins now if nothing was paid for before; None where it has none."""
    known = CURRENT.get()
    return known.begin() if isinstance(known, Allowance) else known


def pay(steps: int) -> None:
    """Pay for so many steps of a loop, each about as long as a line of Python, out of the budget of the message.

    >>> pay(1_000_000)
    """
    budget = CURRENT.get()
    if budget is not None:
        budget.pay(steps)


def pay_for_many(steps: int) -> None:
    """Pay for steps of a loop where they are many; for a few, those pay who go on from there.

    >>> pay_for_many(1_000_000)
    """
    if steps > _FEW:
        pay(steps)


def take(size: int) -> None:
    """Pay for so many bytes that are about to be made out of the budget of the message.

    >>> take(1_000_000)
    """
    budget = CURRENT.get()
    if budget is not None:
        budget.take(size)


@contextmanager
def spending(allowance: Allowance) -> Iterator[Budget]:
    """Give what is done inside a budget of its own.

    >>> with spending(Allowance(cpu=1)) as budget:
    ...     CURRENT.get() is budget
    True
    """
    budget = Budget(allowance)
    token = CURRENT.set(budget)
    try:
        yield budget
    finally:
        CURRENT.reset(token)


# CPython takes memory for frames in pieces of 16 KiB, and gives each back as soon as no frame is in it. Where a loop
# happens to call over the end of a piece, every such call asks the system for memory: it takes 7 µs instead of 0.1,
# and a flow whose nodes stand just there twice the time or more. A frame that asks for half a megabyte gets a piece of
# one, and all frames above it stand in what is left; memory that no frame has stood in is none.
_PLACES: Final = 1 << 16  # of 8 bytes

T = TypeVar("T")


def with_room(work: Callable[[], T]) -> T:
    """Returns what a function answers that is called with room for the frames of some thousand calls.

    >>> with_room(lambda: sum(range(5)))
    10
    """
    return work()


with_room.__code__ = with_room.__code__.replace(co_stacksize=_PLACES)
