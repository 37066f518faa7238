"""penstock run --queue-manager and --amqp: flows on the queues of another process, until they are told to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, NoReturn

import typer

from engine.cli.command_failures import USAGE, visible
from engine.cli.shared_options import opened, show
from engine.errors import ConfigurationException, MessageException
from engine.files.allowed_folders import allowed_files

if TYPE_CHECKING:
    from engine.databases.coordination import Coordinator
    from engine.databases.sources import Sources
    from engine.flow.definition import Flow
    from engine.runtime.deployment import DeployedFlow
    from engine.runtime.flow_runner import Counts, FlowRunner, Running
    from engine.runtime.user_trace import UserTrace


_INSTALL = "--amqp needs Qpid Proton: pip install 'penstock[amqp]'"


class AmqpHeld:
    """An AMQP broker whose queues flows read and write; it says at deploy what the broker cannot do."""

    def __init__(self, url: str) -> None:
        try:
            from engine.transports.amqp import AmqpQueues
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] not in {"proton", "cproton"}:
                raise
            raise ConfigurationException(_INSTALL) from error
        self._queues = AmqpQueues(url)
        self._peer = self._queues.introduce()
        self.name = f"{self._queues.name} ({self._peer.product} {self._peer.version} at {self._queues.address.url})"

    def begin(self) -> Any:
        """Returns a new unit of work with a connection of its own."""
        return self._queues.work()

    def coordinator(self, sources: Sources) -> NoReturn:
        """Refuses to coordinate databases."""
        from engine.transports.amqp.missing_features import not_coordinated

        raise not_coordinated()

    def check(self, flow: Flow, deployed: DeployedFlow) -> None:
        """Refuses a flow that asks for more than the broker has, and one whose queue is not there."""
        from engine.transports.amqp.missing_features import at_least_once, check_flow

        if said := at_least_once(flow.qualified_name, check_flow(self._queues, deployed)):
            typer.echo(said, err=True)


UNKNOWN_OBJECT_NAME: Final = 2085
# What says something of messages from files, which are not there.
_OF_THE_DESK: Final = {
    "queue": "--queue",
    "queue_manager_name": "--queue-manager-name",
    "ccsid": "--ccsid",
    "encoding": "--encoding",
    "format_": "--format",
    "max_input": "--max-input",
}


@dataclass(frozen=True, slots=True)
class Given:
    """The options that flows on queues are run with."""

    flows: tuple[str, ...]
    folder: Path
    trace: str = "none"
    data_sources: tuple[str, ...] = ()
    allow_files: tuple[Path, ...] = ()
    nodes: tuple[str, ...] = ()
    as_json: bool = False
    amqp: str = ""


def is_at_desk(context: typer.Context, flows: list[str], sources: list[str] | None, output: str) -> bool:
    """Returns True where messages come from files; refuses options that do not go together."""
    named = _is_given(context, "queue_manager") or _is_given(context, "amqp")
    if _is_given(context, "queue_manager") and _is_given(context, "amqp"):
        raise ConfigurationException("--queue-manager and --amqp name two places for queues: give one of them")
    if sources or _is_given(context, "output"):
        if named:
            raise ConfigurationException(
                "--queue-manager and --amqp take messages off queues: leave them out, or leave out --input and --output"
            )
        missing = "" if _is_given(context, "output") else "--output"
        missing = missing if sources else "--input"
        if missing:
            raise _misuse(context, f"missing option '{missing}'")
        if not output:
            raise ConfigurationException("--output names no directory: say where messages are to be written")
        if len(flows) > 1:
            raise _misuse(context, f"got unexpected extra argument ({flows[1]}): a desk runs one flow")
        return True
    if context.params.get("queue_manager") is None and not named:
        raise _misuse(context, "missing option '--input', or '--queue-manager' for messages from queues")
    for name, option in _OF_THE_DESK.items():
        if _is_given(context, name):
            raise ConfigurationException(f"{option} is for messages from files: leave it out, or give --input")
    return False


def _misuse(context: typer.Context, text: str) -> Exception:
    error: Any = USAGE
    found: Exception = error(text, ctx=context)
    return found


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def run_on_queues(given: Given) -> None:
    """Run flows until SIGTERM or SIGINT."""
    from engine.runtime.flow_runner import FlowRunner

    stopped: SimpleQueue[None] = SimpleQueue()  # which, unlike an Event, a handler may tell while this thread waits
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.put(None))
    runner = FlowRunner()
    with ExitStack() as around, local_errors(_show_error, alone=True):
        flows = _prepared(given, around)
        manager = AmqpHeld(given.amqp) if given.amqp else Held(given.folder, around)
        started: list[tuple[Flow, Counts]] = []
        try:
            for flow, running in flows:
                started.append((flow, _started(runner, flow, running, manager)))
            names = ", ".join(flow.qualified_name for flow, _ in started)
            typer.echo(f"{names} ready on queue manager {manager.name}")
            stopped.get()
        finally:
            runner.stop()
            runner.join()
    _report(started, as_json=given.as_json)


def _prepared(given: Given, around: ExitStack) -> list[tuple[Flow, Any]]:
    """Returns the flows with what deploys each for a thread; raises with all that is wrong with one."""
    from flows.files import load_flow, load_nodes

    traced = tracer(given.trace)
    load_nodes(list(given.nodes))
    files = allowed_files(given.allow_files)
    around.enter_context(tracing(wanted=traced is not None))
    sources = around.enter_context(opened(list(given.data_sources)))
    return [_bound(load_flow(name), sources, files, traced) for name in given.flows]


def _bound(flow: Flow, sources: Sources | None, files: Any, traced: Any) -> tuple[Flow, Any]:
    from engine.databases.work import with_databases
    from engine.runtime.deployment import deploy, flow_properties
    from engine.runtime.flow_runner import Running
    from flows.programs import binder

    bind = binder(flow, trace=traced, sources=sources).allowing(files)
    if bind.asking_databases and sources is None:
        text = (
            f"the program of {bind.asking_databases[0]} asks a database, and there is none: give --data-source NAME=URL"
        )
        raise ConfigurationException(f"{flow.qualified_name}: {text}")

    def running(begin: Any, coordinate: Callable[[Sources], Coordinator] | None = None) -> Running:
        coordinator = None
        if sources is not None and coordinate is not None and flow_properties(flow).coordinated_transaction:
            coordinator = coordinate(sources)

        def around(work: Any, deployed: DeployedFlow) -> Any:
            return with_databases(work, sources, deployed.properties, coordinator)

        return Running(lambda: deploy(flow, bind=bind, trace=traced), begin, around)

    running(None).deploy()  # what cannot be deployed is said before a queue manager is opened
    return flow, running


def _started(runner: FlowRunner, flow: Flow, running: Any, manager: Held | AmqpHeld) -> Counts:
    """Start a flow whose queues are there; returns the counts of its messages."""
    from engine.runtime.flow_runner import Counts

    made: Running = running(manager.begin, manager.coordinator)
    deployed = made.deploy()
    if not deployed.entrances:
        raise ConfigurationException(f"flow {flow.name} reads no queue: give it an MQInput node")
    manager.check(flow, deployed)
    counts = Counts()
    runner.start(replace(made, meters=lambda *_: (counts,)))
    return counts


class Held:
    """The queue manager of a folder: its process's, or opened here and served to others.

    Where a command served it, such as another `run`, and has ended, it is opened here.
    """

    def __init__(self, folder: Path, around: ExitStack) -> None:
        self._folder = folder
        self._around = around
        self._lock = threading.Lock()
        self._manager = self._reached()
        self.name: str = self._manager.name

    def _reached(self) -> Any:
        from engine.cli.queue_manager_access import connected_or_opened, served

        manager = connected_or_opened(self._folder)
        self._around.callback(manager.close)
        self._around.enter_context(served(manager, self._folder))
        return manager

    def coordinator(self, sources: Sources) -> Coordinator:
        """Returns what commits databases and queues as one; it resolves what is in doubt, now and every 30 seconds."""
        from engine.databases.coordination import Coordinator, identity_of

        made = Coordinator(self, identity_of(self._folder))
        self._around.callback(made.close)
        made.watch(sources)
        return made

    def decisions(self) -> Mapping[bytes, bool]:
        """Returns the branches of two-phase commits that are decided."""
        found: Mapping[bytes, bool] = self._manager.decisions()
        return found

    def forget(self, branch: bytes) -> None:
        """Forgets a decision that was carried out."""
        self._manager.forget(branch)

    def refuse(self, branch: bytes) -> bool:
        """Decides that a branch does not commit; False where it is decided already that it does."""
        return bool(self._manager.refuse(branch))

    def check(self, flow: Flow, deployed: DeployedFlow) -> None:
        """Refuses a flow that reads a queue that is not there."""
        work = self.begin()
        for entrance in deployed.entrances:
            queue = str(getattr(entrance.node, "queue_name", ""))
            if queue and work.attributes(queue) is None:
                text = f"flow {flow.name} reads {queue}, and there is no queue called so: define it"
                raise MessageException(UNKNOWN_OBJECT_NAME, text, queue, reason=UNKNOWN_OBJECT_NAME)
        work.close()

    def begin(self) -> Any:
        """Returns a new unit of work; raises with reason 2059 where the queue manager's process has ended."""
        from engine.cli.queue_manager_access import begin
        from engine.mq.client import Client

        with self._lock:
            manager = self._manager
            try:
                work = begin(manager)
                work.attributes("")
            except MessageException:
                if not isinstance(manager, Client) or manager.is_lasting:
                    raise
                self._manager = self._reached()
                work = begin(self._manager)
            return work


@contextmanager
def local_errors(hear: Callable[[str], None], *, alone: bool = False) -> Iterator[None]:
    """Have the lines of the local error log heard while flows run; `alone`, without the handlers that all logs have."""
    import logging

    from engine.runtime.incidents import heard_by

    handler = logging.Handler(logging.INFO)
    handler.emit = lambda record: hear(record.getMessage())  # type: ignore[method-assign]  # all it does
    with heard_by(handler, alone=alone):
        yield


def _show_error(line: str) -> None:
    typer.echo(visible(line), err=True)


def _report(started: list[tuple[Flow, Counts]], *, as_json: bool) -> None:
    """Print how many messages each flow has taken."""
    rows = [
        {"flow": flow.qualified_name, "messages": counts.messages, "failed": counts.failed} for flow, counts in started
    ]
    lines = (f"{row['flow']}: {row['messages']:,} in, {row['failed']:,} failed" for row in rows)
    show({"flows": rows}, lines, as_json=as_json)


TRACE_LEVELS = ("none", "normal", "debug")


def tracer(level: str) -> UserTrace | None:
    """Returns the writer of the user trace at this level; None for `none`."""
    from engine.runtime.user_trace import UserTrace

    if level not in TRACE_LEVELS:
        raise ConfigurationException(f"--trace {level} is no level: it is one of {', '.join(TRACE_LEVELS)}")
    return None if level == "none" else UserTrace("debug" if level == "debug" else "normal")


@contextmanager
def tracing(*, wanted: bool) -> Iterator[None]:
    """Have the user trace on stderr while something runs."""
    if not wanted:
        yield
        return
    import logging

    from engine.runtime.user_trace import TraceFormatter

    log, handler = logging.getLogger("penstock"), logging.StreamHandler()
    handler.setFormatter(TraceFormatter())
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(logging.NOTSET)
        log.removeHandler(handler)
