"""Runs deployed flows on the queues of a queue manager, a thread for each instance, until told to stop."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from engine.batches import ALONE, Alone, Batch
from engine.dead_letters import BLOCKED
from engine.errors import BrokerError, MessageException
from engine.incidents import explained
from engine.room import with_room
from engine.runtime import DeployedFlow, Outcome, Station
from engine.work import UnitOfWork

GONE: Final = frozenset((2009, 2059, 2161, 2162))  # MQ's reasons: broken, not available, quiescing, stopping
_LOG: Final = logging.getLogger("penstock.localerror")
_SHORTEST: Final = 0.05  # seconds between two tries
_LONGEST: Final = 5.0


@dataclass(slots=True)
class Counts:
    """The messages that a flow has taken, and how many of them failed, each time counted."""

    messages: int = 0
    failed: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, outcome: Outcome) -> None:
        """Count a message."""
        with self.lock:
            self.messages += 1
            self.failed += outcome.error is not None


@dataclass(frozen=True, slots=True)
class Running:
    """A flow that is to run: what deploys it for a thread, what begins units of work, and what lies around these."""

    deploy: Callable[[], DeployedFlow]
    begin: Callable[[], Any]  # a unit of work that can be interrupted and closed
    around: Callable[[Any, DeployedFlow], UnitOfWork] = lambda work, _: work
    counts: Counts = field(default_factory=Counts)


class FlowRunner:
    """Instances of flows, each a thread that waits for messages without using the processor.

    A unit of work whose queue manager ends is begun again, with pauses that grow to five seconds.
    """

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._works: set[Any] = set()
        self._lock = threading.Lock()

    def start(self, running: Running) -> list[str]:
        """Start the instances of a flow; returns the labels of the nodes at which messages enter."""
        first = running.deploy()
        spare = [first]
        for entrance in first.entrances:
            count = 1 if first.order(entrance).single else first.instances(entrance)
            for number in range(count):
                deployed = spare.pop() if spare else running.deploy()
                name = f"{first.flow.name}.{entrance.label}.{number + 1}"
                work = partial(with_room, partial(self._run, running, deployed, entrance.label))
                thread = threading.Thread(target=work, name=name)
                self._threads.append(thread)
        for thread in self._threads:
            if thread.ident is None:
                thread.start()
        return [entrance.label for entrance in first.entrances]

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

    def _run(self, running: Running, deployed: DeployedFlow, label: str) -> None:
        entrance = deployed.stations[label]
        pause = _SHORTEST
        while not self.stopping.is_set():
            began = time.monotonic()
            try:
                work = running.begin()
                with self._lock:
                    self._works.add(work)
                try:
                    self._carry(running, deployed, entrance, work)
                finally:
                    with self._lock:
                        self._works.discard(work)
                    work.close()
            except BrokerError as error:
                pause = _SHORTEST if time.monotonic() - began > _LONGEST else min(2 * pause, _LONGEST)
                _LOG.warning("%s: %s; it is tried again", deployed.flow.qualified_name, error)
                self.stopping.wait(pause)

    def _carry(self, running: Running, deployed: DeployedFlow, entrance: Station, work: Any) -> None:
        """Take messages until told to end; raises when the queue manager has ended."""
        batch = deployed.batch(entrance)
        whole = running.around(work, deployed)
        pause = _SHORTEST
        while not self.stopping.is_set():
            work.patience = batch.patience
            try:
                outcome = deployed.process(entrance, whole, batch)
            except BrokerError as error:
                if is_gone(error):
                    raise
                outcome = Outcome(None, error)  # type: ignore[arg-type]  # no message came
            else:
                if outcome is not None:
                    running.counts.add(outcome)
            pause = self._settled(deployed, outcome, pause)
        finish(batch, whole)

    def _settled(self, deployed: DeployedFlow, outcome: Outcome | None, pause: float) -> float:
        """Note what became of a message; returns how long to wait after the next failure that time may heal."""
        error = None if outcome is None else outcome.error
        if error is None:
            return _SHORTEST
        if is_gone(error):
            raise error
        if outcome is not None and outcome.message is not None and error.number != BLOCKED:
            _LOG.warning("%s: %s; the message is backed out", deployed.flow.qualified_name, explained(error))
            return _SHORTEST  # it is tried again at once, until it has failed too often
        _LOG.error("%s: %s; it is tried again", deployed.flow.qualified_name, error)
        self.stopping.wait(pause)
        return min(2 * pause, _LONGEST)


def finish(batch: Batch | Alone, work: UnitOfWork) -> None:
    """Commit what a batch has taken whole; what it has not is backed out."""
    if batch is ALONE:
        return
    if batch.ends(None, patient=False):
        work.commit()
        batch.committed()
    else:
        work.back_out()


def is_gone(error: BaseException | None) -> bool:
    """Returns True for what is raised because a queue manager has ended."""
    while error is not None:
        if isinstance(error, MessageException) and error.reason in GONE:
            return True
        error = error.__cause__
    return False
