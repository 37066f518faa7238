"""Runs deployed flows on the queues of a queue manager, an instance in each thread, until told to stop."""

from __future__ import annotations

import gc
import logging
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from engine.budget import with_room
from engine.errors import LOCAL_ERROR, BrokerError, LimitExceeded, MessageException
from engine.flow.dead_letters import BLOCKED
from engine.runtime.batches import Batch
from engine.runtime.deployment import DeployedFlow, Outcome, Station
from engine.runtime.incidents import explained
from engine.work import UnitOfWork

GONE: Final = frozenset((2009, 2059, 2161, 2162))  # MQ's reasons: broken, not available, quiescing, stopping
_LOG: Final = logging.getLogger(LOCAL_ERROR)
_SHORTEST: Final = 0.05  # seconds between two tries
_LONGEST: Final = 5.0
_AWAY: Final = 0.5  # at most between two tries to reach a queue manager that is gone
_TIMED_OUT: Final = 2230
_WAIT: Final = 5.0  # seconds after which a wait that is metered is counted, with what was done before it


class Meter(Protocol):
    """A count of what one instance does, which is told of each message."""

    def done(self, outcome: Outcome | None) -> None:
        """A message has been processed; None: the wait for one has ended."""
        ...

    def broken(self, error: BrokerError) -> None:
        """A get has failed."""
        ...


@dataclass(slots=True)
class Counts:
    """The messages that a flow has taken, and how many of them failed, each time counted."""

    messages: int = 0
    failed: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def done(self, outcome: Outcome | None) -> None:
        """Count a message."""
        if outcome is not None:
            with self.lock:
                self.messages += 1
                self.failed += outcome.error is not None

    def broken(self, error: BrokerError) -> None:
        """Count nothing, as no message came."""


@dataclass(frozen=True, slots=True)
class Running:
    """A flow that is to run: what deploys it for a thread, what begins units of work, and what lies around these."""

    deploy: Callable[[], DeployedFlow]
    begin: Callable[[], Any]  # a unit of work that can be interrupted and closed
    around: Callable[[Any, DeployedFlow], UnitOfWork] = lambda work, _: work
    meters: Callable[[DeployedFlow, Station, int], Sequence[Meter]] = lambda *_: ()  # of the instance of a number
    rate: float = 0.0  # messages a second that each instance may take; 0: any
    cpu_seconds: float = 0.0  # processor time of a message, for the main thread alone, in which signals are handled


class FlowRunner:
    """Instances of flows, each a thread that waits for messages without using the processor.

    A unit of work whose queue manager ends is begun again.
    """

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._works: set[Any] = set()
        self._lock = threading.Lock()

    def start(self, running: Running) -> list[str]:
        """Start the instances of a flow; returns the labels of the nodes at which messages enter."""
        first = running.deploy()
        places = instances_of(first)
        for label, number in places:
            self.start_instance(running, running.deploy() if number > 1 else first, label, number)
        return [entrance.label for entrance in first.entrances]

    def start_instance(self, running: Running, deployed: DeployedFlow, label: str, number: int) -> None:
        """Start an instance in a thread of its own."""
        name = f"{deployed.flow.name}.{label}.{number}"
        thread = threading.Thread(target=self.run, args=(running, deployed, label, number), name=name)
        self._threads.append(thread)
        thread.start()

    def stop(self) -> None:
        """Have all instances end: those that wait at once, others behind the message in hand."""
        self.stopping.set()
        with self._lock:
            works = list(self._works)
        for work in works:
            work.interrupt()

    def join(self) -> None:
        """Wait until all instances have ended."""
        for thread in self._threads:
            thread.join()

    def run(self, running: Running, deployed: DeployedFlow, label: str, number: int = 1) -> None:
        """Run an instance in this thread until told to stop, also on a queue manager that ends and comes back."""
        entrance = deployed.stations[label]
        meters = running.meters(deployed, entrance, number)
        pause, told = _SHORTEST, ""
        while not self.stopping.is_set():
            began = time.monotonic()
            try:
                work = running.begin()
                with self._lock:
                    self._works.add(work)
                try:
                    with_room(partial(self._carry, running, deployed, entrance, work, meters))
                finally:
                    with self._lock:
                        self._works.discard(work)
                    work.close()
            except BrokerError as error:
                if time.monotonic() - began > _LONGEST:
                    pause, told = _SHORTEST, ""
                if str(error) != told:
                    told = str(error)
                    _LOG.warning("%s: %s; it is tried again", deployed.flow.qualified_name, error)
                self.stopping.wait(pause)
                pause = min(2 * pause, _AWAY)

    def _carry(
        self, running: Running, deployed: DeployedFlow, entrance: Station, work: Any, meters: Sequence[Meter]
    ) -> None:
        """Take messages until told to end; raises when the queue manager has ended."""
        batch = deployed.batch(entrance)
        whole = running.around(work, deployed)
        process: Callable[..., Outcome | None] = deployed.process
        if running.cpu_seconds:
            process = partial(_limited, running.cpu_seconds, process)
        paced = _Pace(running.rate, self.stopping.wait).wait if running.rate else None
        stopping, pause = self.stopping.is_set, _SHORTEST
        work.patience = batch.patience if batch is not None else _WAIT if meters else -1.0
        while not stopping():
            if paced is not None:
                paced()
            if batch is not None:
                work.patience = batch.patience
            try:
                outcome = process(entrance, whole, batch)
            except BrokerError as error:
                for meter in meters:
                    meter.broken(error)
                pause = self._failed(deployed, error, pause)
                continue
            failure = _failure_of(outcome)
            for meter in meters:
                meter.done(outcome)
            outcome = None  # nothing of this message is kept while the next one is waited for
            if failure is None:
                pause = _SHORTEST
            else:
                pause = self._failed(deployed, failure, pause, retried=failure.number != BLOCKED)
        _finish(batch, whole)

    def _failed(self, deployed: DeployedFlow, error: BrokerError, pause: float, *, retried: bool = False) -> float:
        """Note a failure; returns how long to wait after the next one that time may heal.

        A message that is `retried` comes again at once, until it has failed too often.
        """
        if is_gone(error):
            raise error
        if isinstance(error, LimitExceeded):
            gc.collect()  # trees are cycles, beside which the next message may have no room
        if retried:
            _LOG.warning("%s: %s; the message is backed out", deployed.flow.qualified_name, explained(error))
            return _SHORTEST
        _LOG.error("%s: %s; it is tried again", deployed.flow.qualified_name, error)
        self.stopping.wait(pause)
        return min(2 * pause, _LONGEST)


def instances_of(deployed: DeployedFlow, copies: int = 1) -> list[tuple[str, int]]:
    """Returns the instances of a flow: the label of the node at which each takes messages, and its number."""
    labels: list[str] = []
    for entrance in deployed.entrances:
        single = deployed.order(entrance).single
        labels += [entrance.label] * (1 if single else copies * deployed.instances(entrance))
    return [(label, number) for number, label in enumerate(labels, 1)]


def is_gone(error: BaseException | None) -> bool:
    """Returns True for what is raised because a queue manager has ended."""
    while error is not None:
        if isinstance(error, MessageException) and error.reason in GONE:
            return True
        error = error.__cause__
    return False


def _failure_of(outcome: Outcome | None) -> BrokerError | None:
    """Returns the error of a message, if it has one, without the frames that this and those behind it have passed.

    These would keep what the message has made in them until the errors, which are cycles with them, are collected.
    """
    if outcome is None or outcome.error is None:
        return None
    waiting: list[object] = [outcome.error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, BaseException) and id(one) not in seen:
            seen.add(id(one))
            one.__traceback__ = None
            waiting += [one.__cause__, one.__context__, *(one.passed if isinstance(one, BrokerError) else ())]
    return outcome.error


def _finish(batch: Batch | None, work: UnitOfWork) -> None:
    """Commit what a batch has taken whole; what it has not is backed out."""
    if batch is not None and not batch.commit(None, work, patient=False):
        work.back_out()


def _limited(seconds: float, process: Callable[..., Outcome | None], *arguments: Any) -> Outcome | None:
    """Process a message with a limit to its processor time, behind which the signal SIGVTALRM comes."""
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        return process(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)


def fail_when_too_long(seconds: float) -> None:
    """Have the message in hand fail when the signal says that it has taken the processor time it may take.

    What goes on behind the failure, as what is wired to a TryCatch node does, may take as much again.
    """

    def fail(*_: object) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        text = f"the message took more than {seconds:g} s of processor time"
        raise LimitExceeded(_TIMED_OUT, f"{text}, which is the limit of the execution group")

    signal.signal(signal.SIGVTALRM, fail)


class _Pace:
    """Keeps an instance from taking more messages a second than it may."""

    __slots__ = ("_between", "_next", "_sleep")

    def __init__(self, rate: float, sleep: Callable[[float], object]) -> None:
        self._between = 1 / rate
        self._next = time.monotonic()
        self._sleep = sleep  # which ends early when the instance is told to end

    def wait(self) -> None:
        """Wait until the next message may be taken."""
        now = time.monotonic()
        if now < self._next:
            self._sleep(self._next - now)
            now = time.monotonic()
        self._next = max(now, self._next) + self._between
