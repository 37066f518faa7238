"""Accounting: what each node of a flow costs, in processor time and messages."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

if TYPE_CHECKING:
    from engine.message.assembly import Message
    from engine.work import UnitOfWork

Evaluate: TypeAlias = "Callable[[Message, UnitOfWork], Generator[tuple[str, Message], bool, None]]"
Clock: TypeAlias = Callable[[], int]

AROUND: Final = ""  # what no node spends: getting, committing, the runtime itself


class Worker(Protocol):
    """A node where it stands in a deployed flow."""

    evaluate: Evaluate


@dataclass(slots=True)
class Account:
    """The cost of one node: nanoseconds of processor time, and how many messages it was given."""

    nanoseconds: int = 0
    messages: int = 0


class Meter:
    """Says who spends the time of one thread: each moment counts for one node, or for none."""

    __slots__ = ("_clock", "_current", "_since", "accounts")

    def __init__(self, clock: Clock = time.thread_time_ns) -> None:
        self._clock = clock
        self.accounts: dict[str, Account] = {AROUND: Account()}
        self._current = AROUND
        self._since = clock()

    def switch(self, label: str) -> str:
        """From now on time counts for this node; answers for which it did before."""
        now, before = self._clock(), self._current
        self.accounts[before].nanoseconds += now - self._since
        self._current, self._since = label, now
        return before

    def resume(self) -> None:
        """Time that has passed since the last switch counts for nobody."""
        self._since = self._clock()

    def settled(self) -> Mapping[str, Account]:
        """The accounts up to now."""
        self.switch(self._current)
        return self.accounts

    def metered(self, label: str, evaluate: Evaluate) -> Evaluate:
        """A node's work, its time on its account; what happens inside a yield is on that of others."""
        account = self.accounts.setdefault(label, Account())

        def measured(message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
            account.messages += 1
            before = self.switch(label)
            try:
                evaluation = evaluate(message, work)
                sent = next(evaluation)
                while True:
                    self.switch(before)
                    try:
                        wired = yield sent
                    except BaseException as error:  # whatever it is, the node is to see it
                        self.switch(label)
                        sent = evaluation.throw(error)
                    else:
                        self.switch(label)
                        sent = evaluation.send(wired)
            except StopIteration:
                return
            finally:
                self.switch(before)

        return measured


def meter(workers: Mapping[str, Worker], clock: Clock = time.thread_time_ns) -> Meter:
    """Measure the nodes of a deployed flow, by label, from now on; one that is not measured does not pay for it."""
    made = Meter(clock)
    for label, worker in workers.items():
        worker.evaluate = made.metered(label, worker.evaluate)
    return made
