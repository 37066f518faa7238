"""A worker: a process that takes messages through a flow, one at a time in each of its threads."""

from __future__ import annotations

import logging
import resource
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from engine.allowed_files import allowed_around
from engine.broker.channel import Channel
from engine.broker.definition import Limits
from engine.broker.folder import Folder
from engine.broker.logs import LOCAL_ERROR, USER_TRACE, TraceFile, hand_to
from engine.broker.overrides import overridden
from engine.broker.preparing import given_to, laid_over, sources_of
from engine.broker.queues import Lost, connected
from engine.broker.spans import Spans, tracer_for
from engine.broker.state import DeployedUse
from engine.broker.statistics.metering import FlowMeter, NodeMeter, shapes_of
from engine.broker.statistics.slots import folder_of, opened
from engine.broker.tracing import trace_file
from engine.databases.coordination import Coordinator, identity_of
from engine.databases.sources import Sources
from engine.databases.work import with_databases
from engine.dead_letters import BLOCKED
from engine.errors import BrokerError
from engine.flow import Flow
from engine.flow_runner import finish, is_gone
from engine.room import with_room
from engine.runtime import DeployedFlow, Station, deploy
from engine.usertrace import UserTrace
from flows.programs import Binder, binder
from flows.shipped import Shipped

_BLOCKED_FOR: Final = 1.0
_TIMED_OUT: Final = 2230
_LONGEST_PAUSE: Final = 5.0
_LOG: Final = logging.getLogger(LOCAL_ERROR)


@dataclass(frozen=True, slots=True)
class Place:
    """The broker and the group that a worker belongs to, with the limits and the data sources that they give it."""

    folder: str
    broker: str
    group: str
    limits: Limits = field(default_factory=Limits)
    stop_limit: float = 30.0
    data_sources: Mapping[str, Any] = field(default_factory=dict)
    traces: str = ""  # where spans go to

    @property
    def given(self) -> dict[str, str]:
        """Returns the properties of the broker that programs can read."""
        return given_to(self.broker, self.group)


@dataclass(frozen=True, slots=True)
class Job:
    """The task of one worker: the entrances of a flow at which its threads take messages, each with its number."""

    use: DeployedUse
    entrances: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """The worker's name in the log."""
        return f"{self.use.name}.{self.entrances[0][1]}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A flow that has been read and compiled in this process, or in the one that this was forked from."""

    flow: Flow
    bound: Binder
    trace: UserTrace | None

    def deployed(self) -> DeployedFlow:
        """Returns the flow once more, for a thread of its own."""
        return deploy(self.flow, bind=self.bound, trace=self.trace)


def loaded(use: DeployedUse, shipped: Shipped, given: dict[str, str]) -> Loaded:
    """Read and compile a flow as a broker runs it."""
    trace = UserTrace("debug" if use.trace == "debug" else "normal") if use.trace != "none" else None
    flow = overridden(shipped.flow(), laid_over(use), use.promotions)
    return Loaded(
        flow, binder(flow, files=shipped.files, given=dict(given), trace=trace).allowing(allowed_around()), trace
    )


def jobs_of(use: DeployedUse, deployed: DeployedFlow) -> list[Job]:
    """Returns what the workers of a flow are to do: a process for each instance, or one with threads for all."""
    places: list[tuple[str, int]] = []
    for entrance in deployed.entrances:
        single = deployed.order(entrance).single
        count = 1 if single else use.copies * deployed.instances(entrance)
        places += [(entrance.label, len(places) + 1 + number) for number in range(count)]
    if use.shares:
        return [Job(use, tuple(places))]
    return [Job(use, (place,)) for place in places]


class Worker:
    """The process itself: what tells it to end, and where it works."""

    def __init__(self, place: Place, job: Job, log: int, *, counted: bool = False) -> None:
        """`counted` says that messages in hand are held responsible where this process dies."""
        self._place = place
        self._job = job
        self._counted = counted
        self._ending = threading.Event()
        self._works: set[Any] = set()
        self._sources: Sources | None = None
        self._tracer: Any = None
        hand_to(log, f"{place.group}/{job.name}")
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGVTALRM, self._too_long)
        if place.limits.memory:
            _, most = resource.getrlimit(resource.RLIMIT_DATA)
            resource.setrlimit(resource.RLIMIT_DATA, (place.limits.memory, most))

    def run(self, channel: Channel, load: Callable[[], Loaded]) -> None:
        """Make ready, say so, and work from the word to go until told to end."""
        place = self._place
        traced = tracer_for(place.traces, place.broker, place.group)
        with sources_of(place.data_sources) as self._sources, traced as self._tracer:
            self._run(channel, load)

    def _run(self, channel: Channel, load: Callable[[], Loaded]) -> None:
        try:
            flow = load()
            if flow.trace is not None:
                self._trace()
            first = flow.deployed()
            self._reach()
        except BrokerError as error:
            channel.send({"failed": str(error)})
            return
        channel.send({"ready": True})
        while (word := channel.receive(0.2)) is None and channel.is_open and not self._ending.is_set():
            continue
        if not (word or {}).get("go"):
            return
        threading.Thread(target=self._listen, args=(channel,), daemon=True).start()
        threading.Thread(target=self._wake, daemon=True).start()
        label, number = self._job.entrances[0]
        others = [
            threading.Thread(target=self._work, args=(flow.deployed(), *entrance))
            for entrance in self._job.entrances[1:]
        ]
        for thread in others:
            thread.start()
        self._work(first, label, number)
        for thread in others:
            thread.join()

    def _end(self, *_: object) -> None:
        """End behind the message in hand; one that takes too long ends with this process."""
        self._ending.set()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self._place.stop_limit)

    def _too_long(self, *_: object) -> None:
        """A message has taken the processor time that one may take: it fails."""
        text = f"the message took more than {self._place.limits.cpu_seconds:g} s of processor time"
        raise BrokerError(_TIMED_OUT, f"{text}, which is the limit of the execution group")

    def _listen(self, channel: Channel) -> None:
        """End when the group is gone."""
        with suppress(OSError):
            while channel.is_open:
                channel.receive()
        self._ending.set()

    def _wake(self) -> None:
        """Have threads that wait for messages see that they are to end."""
        self._ending.wait()
        for work in tuple(self._works):
            work.interrupt()

    def _reach(self) -> None:
        """Wait until the queue manager answers."""
        with connected(Folder(Path(self._place.folder)), self._ending.is_set):
            return

    def _trace(self) -> None:
        log = logging.getLogger(USER_TRACE)
        log.handlers[:] = [
            TraceFile(trace_file(Folder(Path(self._place.folder)), self._place.group, self._job.use.name))
        ]
        log.propagate = False

    def _work(self, deployed: DeployedFlow, label: str, number: int) -> None:
        """Take messages at an entrance until told to end, also from a queue manager that comes back."""
        entrance = deployed.stations[label]
        meters = self._meters(deployed, entrance, number)
        pause = 0.05
        coordinator: Coordinator | None = None
        while not self._ending.is_set():
            try:
                began = time.monotonic()
                with connected(Folder(Path(self._place.folder)), self._ending.is_set) as queues:
                    began = time.monotonic()
                    coordinator = self._coordinator(deployed, queues, coordinator)
                    work = queues.work(blamed=self._counted)
                    with_room(partial(self._carry, deployed, entrance, work, meters, coordinator))
            except Lost as error:
                pause = 0.05 if time.monotonic() - began > _LONGEST_PAUSE else min(2 * pause, _LONGEST_PAUSE)
                _LOG.warning("the queue manager is gone (%s); trying again", error)
                self._ending.wait(pause)

    def _coordinator(self, deployed: DeployedFlow, queues: Any, known: Coordinator | None) -> Coordinator | None:
        """Returns the coordinator that commits databases and queues as one; None for a flow that asks for none."""
        if self._sources is None or not deployed.properties.coordinated_transaction:
            return None
        if known is None:
            known = Coordinator(queues, identity_of(Folder(Path(self._place.folder)).queues))
        known.reach(queues)
        known.watch(self._sources)
        return known

    def _meters(self, deployed: DeployedFlow, entrance: Station, number: int) -> list[FlowMeter | Spans]:
        use = self._job.use
        spans = [Spans(self._tracer, deployed, entrance)] if self._tracer is not None else []
        if use.statistics == "none":
            return [*spans]
        statistics = Folder(Path(self._place.folder)).statistics
        shapes = shapes_of(deployed) if use.statistics == "nodes" else []
        folder = folder_of(statistics, self._place.group, use.name, use.statistics)
        slot = opened(folder / f"{number:04d}-{quote(entrance.label, safe='')[:80]}.{use.content[:12]}.slot", shapes)
        if shapes:
            NodeMeter(slot, deployed)
        return [FlowMeter(slot, entrance), *spans]

    def _carry(
        self,
        deployed: DeployedFlow,
        entrance: Station,
        work: Any,
        meters: list[FlowMeter | Spans],
        coordinator: Coordinator | None = None,
    ) -> None:
        """The loop itself: a message, its unit of work, the next."""
        self._works.add(work)
        try:
            whole = with_databases(work, self._sources, deployed.properties, coordinator)
            self._carried(deployed, entrance, (work, whole), meters)
        finally:
            self._works.discard(work)
            work.close()

    def _carried(
        self, deployed: DeployedFlow, entrance: Station, works: tuple[Any, Any], meters: list[FlowMeter | Spans]
    ) -> None:
        """`works` is the unit of work over the queues, and the one over the databases as well."""
        work, whole = works
        pace = _Pace(self._rate(deployed))
        limit = self._place.limits.cpu_seconds if len(self._job.entrances) == 1 else 0.0
        batch = deployed.batch(entrance)
        ending = self._ending.is_set
        while not ending():
            pace.wait(ending)
            work.patience = whole.patience = batch.patience
            try:
                if limit:
                    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
                outcome = deployed.process(entrance, whole, batch)
            except BrokerError as error:
                for meter in meters:
                    meter.broken(error)
                raise_if_lost(error)
                _LOG.error("%s", error)
                self._ending.wait(_BLOCKED_FOR)
                continue
            finally:
                if limit:
                    signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
            for meter in meters:
                meter.done(outcome)
            if outcome is None or outcome.error is None:
                continue
            raise_if_lost(outcome.error)
            _LOG.warning("%s", outcome.error)
            if outcome.error.number == BLOCKED:
                self._ending.wait(_BLOCKED_FOR)
        finish(batch, whole)

    def _rate(self, deployed: DeployedFlow) -> float:
        own = float(deployed.properties.maximum_rate_msgs_per_sec)
        group = self._place.limits.rate
        rate = min(own, group) if own and group else own or group
        return rate / max(1, self._job.use.instances)


def raise_if_lost(error: BaseException) -> None:
    """Raises Lost where a failure comes of a queue manager that is not there any more."""
    if is_gone(error):
        raise Lost(str(error)) from error


class _Pace:
    """Keeps a thread from taking more messages a second than it may."""

    __slots__ = ("_between", "_next")

    def __init__(self, rate: float) -> None:
        self._between = 1 / rate if rate else 0.0
        self._next = time.monotonic()

    def wait(self, ending: Callable[[], bool]) -> None:
        """Wait until the next message may be taken."""
        if not self._between:
            return
        now = time.monotonic()
        while now < self._next and not ending():
            time.sleep(min(0.1, self._next - now))
            now = time.monotonic()
        self._next = max(now, self._next) + self._between
