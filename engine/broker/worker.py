"""A worker: a process that takes messages through a flow, one at a time in each of its threads."""

from __future__ import annotations

import logging
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from engine.broker.amqp_broker import AmqpBroker, of_group
from engine.broker.channel import Channel
from engine.broker.child_processes import FAILED, leave
from engine.broker.definition import Limits
from engine.broker.flow_builds import given_to, laid_over, sources_of
from engine.broker.folder import Folder
from engine.broker.logs import TraceFile, hand_to
from engine.broker.overrides import overridden
from engine.broker.queues import connected
from engine.broker.spans import Spans, tracer_for
from engine.broker.state import DeployedUse
from engine.broker.statistics.metering import FlowMeter, Pool
from engine.broker.statistics.node_metering import NodeMeter, shapes_of
from engine.broker.statistics.origins import OriginMeter
from engine.broker.statistics.slots import file_of, folder_of, opened
from engine.broker.tracing import trace_file
from engine.broker.workload_limits import Deadline
from engine.budget import Allowance
from engine.databases.coordination import Coordinator, identity_of
from engine.databases.work import with_databases
from engine.errors import USER_TRACE, BrokerError, ConfigurationException
from engine.files.allowed_folders import allowed_around
from engine.flow.definition import Flow
from engine.runtime.deployment import DeployedFlow, Station, deploy
from engine.runtime.flow_runner import FlowRunner, Meter, Running, fail_when_too_long, instances_of
from engine.runtime.user_trace import UserTrace
from flows.files import Shipped
from flows.programs import Binder, binder

_LOOK: Final = 0.2  # seconds between two looks at how long messages take
_STACK: Final = 8 << 20  # bytes that each thread may take as its stack
_LEAST_ROOM: Final = 8 << 20  # bytes that a limit of memory must leave to messages


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
    amqp: Mapping[str, Any] = field(default_factory=dict)  # of the group, where its queues are an AMQP broker's

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
    places = instances_of(deployed, use.copies)
    return [Job(use, tuple(places))] if use.shares else [Job(use, (place,)) for place in places]


def _end_by_fault(fault: threading.ExceptHookArgs) -> NoReturn:
    """End this process, which its group starts again, rather than have it go on without one of its threads."""
    sys.excepthook(fault.exc_type, fault.exc_value or fault.exc_type(), fault.exc_traceback)
    leave(FAILED)


def data_of_process() -> int:
    """Returns the bytes of data that this process has, as the system limits them; 0 where it does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[5]) * resource.getpagesize()
    except OSError:
        return 0


def restarts_group(deployed: DeployedFlow) -> bool:
    """Returns True where a message that takes too long has the execution group start again."""
    said = deployed.properties
    return bool(said.processing_timeout_sec) and said.processing_timeout_action == "restartExecutionGroup"


class Worker:
    """The process itself: what tells it to end, and where it works."""

    def __init__(self, place: Place, job: Job, log: int, *, counted: bool = False) -> None:
        """`counted` says that messages in hand are held responsible where this process dies."""
        self._place = place
        self._folder = Folder(Path(place.folder))
        self._job = job
        self._counted = counted
        self._runner = FlowRunner()
        self._deadlines: list[Deadline] = []
        hand_to(log, f"{place.group}/{job.name}")

    def run(self, channel: Channel, load: Callable[[], Loaded]) -> None:
        """Make ready, say so, and work from the word to go until told to end."""
        with ExitStack() as around:
            try:
                flow = load()
                first = flow.deployed()
                running = self._running(flow, first, around)
                room = self._limit_memory()
                first = self._limited(first, room)
                running = replace(running, deploy=lambda: self._limited(flow.deployed(), room))
            except BrokerError as error:
                channel.send({"failed": str(error)})
                return
            channel.send({"ready": True})
            if (channel.receive() or {}).get("go"):
                signal.signal(signal.SIGTERM, partial(self._end, channel))
                self._work(running, first, channel)

    def _limit_memory(self) -> int:
        """Limit the data of this process as its group says; returns the bytes that are left to messages, or 0."""
        limit = self._place.limits.memory
        if not limit:
            return 0
        taken = data_of_process() + _STACK * (1 + len(self._job.entrances))
        if limit - taken < _LEAST_ROOM:
            text = f"the limit of {limit >> 20} MiB of memory of the execution group {self._place.group}"
            needed = (taken + _LEAST_ROOM >> 20) + 1
            raise ConfigurationException(
                f"{text} is too low for {self._job.use.name}, which needs {needed} MiB or more"
            )
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, most))
        return limit - taken

    def _limited(self, deployed: DeployedFlow, room: int) -> DeployedFlow:
        """A flow whose messages have less than the room of the process, so that one that takes too much can fail in it.

        In a process of several threads, which signals do not reach, the processor time of messages is limited as well.
        """
        given, seconds = deployed.allowance, self._place.limits.cpu_seconds
        if isinstance(given, Allowance):
            memory = min(given.memory, room * 3 // 4) if room else given.memory
            cpu = min(given.cpu, seconds) if seconds and not self._cpu_seconds else given.cpu
            deployed.allowance = Allowance(cpu, memory)
        return deployed

    @property
    def _cpu_seconds(self) -> float:
        """The processor time of a message behind which a signal comes; 0: no signal."""
        return self._place.limits.cpu_seconds if len(self._job.entrances) == 1 else 0.0

    def _end(self, channel: Channel, *_: object) -> None:
        """End behind the message in hand; one that takes too long ends with this process."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self._place.stop_limit)
        with suppress(OSError):
            channel.socket.shutdown(socket.SHUT_RD)  # who listens to it has the instances end

    def _listen(self, channel: Channel) -> None:
        """Have the instances end when the group is gone, or this process is told to end."""
        with suppress(OSError):
            while channel.is_open:
                channel.receive()
        self._runner.stop()

    def _running(self, flow: Loaded, first: DeployedFlow, around: ExitStack) -> Running:
        """Reach what the flow works with: data sources, where its traces go, and the queue manager, once it answers."""
        place = self._place
        if flow.trace is not None:
            log = logging.getLogger(USER_TRACE)
            log.handlers[:] = [TraceFile(trace_file(self._folder, place.group, self._job.use.name))]
            log.propagate = False
        fail_when_too_long(self._cpu_seconds)
        sources = around.enter_context(sources_of(place.data_sources))
        tracer = around.enter_context(tracer_for(place.traces, place.broker, place.group))
        outside = of_group(place.group, place.amqp)
        if outside is not None:
            return self._running_outside(outside, flow, first, sources, tracer)
        queues = around.enter_context(connected(self._folder))
        coordinator: Coordinator | None = None
        if sources is not None and first.properties.coordinated_transaction:
            coordinator = Coordinator(queues, identity_of(self._folder.queues))
            around.callback(coordinator.close)
            coordinator.watch(sources)
        return Running(
            flow.deployed,
            partial(queues.work, blamed=self._counted or restarts_group(first)),
            lambda work, deployed: with_databases(work, sources, deployed.properties, coordinator),
            partial(self._meters, tracer),
            self._rate(first),
            self._cpu_seconds,
        )

    def _running_outside(
        self, outside: AmqpBroker, flow: Loaded, first: DeployedFlow, sources: Any, tracer: Any
    ) -> Running:
        """Reach the AMQP broker that has the group's queues; a flow that asks for more than that has is refused."""
        queues = outside.queues(self._place.broker)
        from engine.transports.amqp.missing_features import at_least_once, check_flow  # noqa: PLC0415  # a package of its own

        if said := at_least_once(self._job.use.name, check_flow(queues, first)):
            logging.getLogger("penstock.amqp").warning("%s", said)
        return Running(
            flow.deployed,
            queues.work,
            lambda work, deployed: with_databases(work, sources, deployed.properties, None),
            partial(self._meters, tracer),
            self._rate(first),
            self._cpu_seconds,
        )

    def _work(self, running: Running, first: DeployedFlow, channel: Channel) -> None:
        """Run the instances, the first of them in this thread, until told to end."""
        threading.excepthook = _end_by_fault
        threading.Thread(target=self._listen, args=(channel,), daemon=True).start()
        (label, number), *others = self._job.entrances
        for place in others:
            self._runner.start_instance(running, running.deploy(), *place)
        if first.properties.processing_timeout_sec:
            threading.Thread(target=self._watch, args=(channel, first), daemon=True).start()
        self._runner.run(running, first, label, number)
        self._runner.join()

    def _watch(self, channel: Channel, first: DeployedFlow) -> None:
        """Tell the group of messages that take longer than they may, until the instances end."""
        limit, restarts = first.properties.processing_timeout_sec, restarts_group(first)
        while not self._runner.stopping.wait(_LOOK):
            for over in [over for deadline in list(self._deadlines) for over in deadline.overruns()]:
                said = {"kind": over.kind, "seconds": over.seconds, "limit": limit}
                channel.send({"overrun": {**said, "restarts": restarts and over.in_hand}})

    def _meters(self, tracer: Any, deployed: DeployedFlow, entrance: Station, number: int) -> list[Meter]:
        use = self._job.use
        others: list[Meter] = [Spans(tracer, deployed, entrance)] if tracer is not None else []
        if limit := deployed.properties.processing_timeout_sec:
            self._deadlines.append(Deadline(limit, entrance))
            others.append(self._deadlines[-1])
        if use.statistics == "none" and not use.notified_rate:
            return others
        shapes = shapes_of(deployed) if use.statistics == "nodes" else []
        folder = folder_of(self._folder.statistics, self._place.group, use.name, use.counting)
        file = partial(file_of, folder, number, entrance.label, use.content)
        by_origin = OriginMeter(file, shapes) if use.by_origin and use.statistics != "none" else None
        slot = opened(file(), shapes) if by_origin is None else by_origin.staged
        nodes = NodeMeter(slot, deployed, entrance) if shapes else None
        size = len(instances_of(deployed, use.copies))
        pool = Pool(folder, number, size) if size > 1 else None
        meters = [FlowMeter(slot, entrance, pool, nodes, one_by_one=by_origin is not None), *others]
        return meters if by_origin is None else [*meters, by_origin]

    def _rate(self, deployed: DeployedFlow) -> float:
        """Returns the messages a second that an instance may take: the flow's limit or the group's, of all together."""
        own = float(deployed.properties.maximum_rate_msgs_per_sec)
        group = self._place.limits.rate
        rate = min(own, group) if own and group else own or group
        return rate / max(1, self._job.use.instances)
