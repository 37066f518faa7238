"""penstock run: a flow over messages from files, and its report."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from engine.cli import app
from engine.cli.command_failures import visible
from engine.cli.queue_manager_access import Reach
from engine.cli.run_on_queues import Given, is_at_desk, local_errors, run_on_queues, tracer, tracing
from engine.cli.shared_options import (
    MAX_INPUT,
    AllowFiles,
    DataSources,
    Json,
    MaxInput,
    OwnNodes,
    check_descriptor,
    check_queue_manager,
    inputs_of,
    letters_of,
    opened,
)
from engine.errors import ConfigurationException
from engine.files.allowed_folders import allowed_files
from engine.files.input_files import refuse_inputs, size_of

if TYPE_CHECKING:
    from engine.runtime.file_run import Letter, Outbox, Passage


class _Run(TyperCommand):
    """The command, with --trace alone for --trace normal."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = [
            "--trace=normal" if arg == "--trace" and (following.startswith("-") or not following) else arg
            for arg, following in pairwise([*args, ""])
        ]
        return super().parse_args(ctx, given)


@app.command(cls=_Run)
def run(
    context: typer.Context,
    flows: Annotated[list[str], typer.Argument(metavar="FLOW…", help="The flow file; several with --queue-manager.")],
    sources: Annotated[
        list[str] | None,
        typer.Option(
            "--input", help="A file, a directory of files, or - for standard input; may be given several times."
        ),
    ] = None,
    output: Annotated[str, typer.Option("--output", help="Where messages are written: DIR/QUEUE/NAME.")] = "",
    queue: Annotated[str, typer.Option(help="The queue they enter by, where the flow reads more than one.")] = "",
    queue_manager: Reach = None,
    amqp: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="An AMQP 1.0 broker in the place of a queue manager: amqp://USER@HOST:PORT?password-env=VARIABLE.",
        ),
    ] = "",
    queue_manager_name: Annotated[
        str, typer.Option(help="The name of the queue manager that a flow at this desk sees.")
    ] = "QM",
    ccsid: Annotated[int, typer.Option(help="The CCSID that they are written in.")] = 1208,
    encoding: Annotated[int, typer.Option(help="The MQ encoding of their numbers.")] = 546,
    format_: Annotated[str, typer.Option("--format", help="The MQ format of their first bytes, such as MQHRF2.")] = "",
    trace: Annotated[
        str,
        typer.Option(metavar="[LEVEL]", help="Show the user trace on stderr: normal, or debug for more."),
    ] = "none",
    subscribers: Annotated[
        list[str] | None,
        typer.Option(
            "--subscribe",
            metavar="QUEUE=TOPIC",
            help="At this desk, a queue that subscribes to a topic; may be given several times.",
        ),
    ] = None,
    data_sources: DataSources = None,
    max_input: MaxInput = MAX_INPUT,
    allow_files: AllowFiles = None,
    nodes: OwnNodes = None,
    as_json: Json = False,
) -> None:
    """Send messages from files through a flow at this desk, or run flows on the queues of a queue manager.

    With --input and --output, queues are kept in memory, what the flow leaves on them is written to files, and it is
    shown which way messages took; the exit code is 1 if one failed. With --queue-manager DIR, flows run until SIGTERM.

    Example: penstock run flows/samples/orders/orders.yaml --input flows/samples/orders/messages --output out/orders
    """
    if not is_at_desk(context, flows, sources, output):
        given = (tuple(flows), queue_manager or Path(), trace, tuple(data_sources or ()), tuple(allow_files or ()))
        run_on_queues(Given(*given, nodes=tuple(nodes or ()), as_json=as_json, amqp=amqp))
        return
    flow, sources = flows[0], sources or []
    from engine.descriptor import UTF_8, Descriptor
    from engine.runtime.file_run import Outbox
    from engine.runtime.file_run import run as run_flow
    from flows.files import load_flow, load_nodes
    from flows.programs import binder, files_read

    check_descriptor(ccsid, encoding, format_)
    check_queue_manager(queue_manager_name)
    most, files = size_of(max_input), allowed_files(allow_files or ())
    load_nodes(nodes or ())
    loaded = load_flow(flow)
    traced = tracer(trace)
    databases = context.with_resource(opened(data_sources))
    bind = binder(loaded, trace=traced, sources=databases).allowing(files)
    descriptor = Descriptor(coded_char_set_id=ccsid, encoding=encoding, format=format_)
    letters, count = letters_of(sources, descriptor, most)
    refuse_inputs((Path(output),), inputs_of(sources))
    outbox = Outbox(Path(output), (*inputs_of(sources), *map(Path, (*files_read(loaded), *(nodes or ())))))
    report = Report(loaded.qualified_name, as_json=as_json)
    reasons: list[str] = []
    log, delivered = local_errors(reasons.append), _delivered(report, outbox, count, as_json=as_json)
    with tracing(wanted=trace != "none"), log, delivered:
        ready = _made_ready(letters)
        passages = run_flow(
            loaded,
            ready,
            queue=queue,
            bind=bind,
            queue_manager=queue_manager_name,
            trace=traced,
            sources=databases,
            subscribers=_subscribers(subscribers or []),
        )
        for passage in _progress(passages, count):
            report.explain(passage.name, reasons)
            report.add(passage, [(sent.queue, outbox.write(passage.name, sent)) for sent in passage.sent])
    if ccsid != UTF_8 and report.tells_of(f"CCSID {ccsid}"):
        typer.echo(f"CCSID {ccsid} is what --ccsid says", err=True)
    raise typer.Exit(1 if report.failed else 0)


def _subscribers(given: list[str]) -> dict[str, str]:
    """Returns the topics that queues subscribe to."""
    found: dict[str, str] = {}
    for text in given:
        queue, equals, topic = text.partition("=")
        if not (queue and equals and topic) or queue in found:
            raise ConfigurationException(f"--subscribe {text!r:.60} is none: write QUEUE=TOPIC, each queue once")
        found[queue] = topic
    return found


@contextmanager
def _delivered(report: Report, outbox: Outbox, count: int, *, as_json: bool) -> Iterator[None]:
    """Publishes what the messages of a block have come to, also where it is broken off, and shows the report.

    Where the output cannot be written, nothing is published: what another run has left there stays as it was.
    """
    started = time.perf_counter()
    for remains in outbox.remains:
        typer.echo(f"{outbox.directory}: {remains}", err=True)
    try:
        yield
    except BaseException as error:
        report.unsent = count - report.messages
        if report.messages and not isinstance(error, OSError):
            _publish(report, outbox, started, as_json=as_json)
        if report.messages or not isinstance(error, Exception):
            typer.echo(f"{report.unsent:,} of {count:,} messages were not sent", err=True)
        raise
    else:
        _publish(report, outbox, started, as_json=as_json)
    finally:
        outbox.close()


def _publish(report: Report, outbox: Outbox, started: float, *, as_json: bool) -> None:
    outbox.publish()
    report.others = outbox.others()
    report.show(time.perf_counter() - started)
    if report.others and not as_json:
        others = f"{outbox.directory} also holds {report.others:,} file{'s' * (report.others > 1)} of another run"
        typer.echo(f"{others}: empty it, or name another", err=True)


def _made_ready(letters: Iterator[Letter]) -> Iterator[Letter]:
    """The letters, once the flow is deployed: the collector need not look through what stays, a tenth of its time."""
    gc.freeze()
    try:
        yield from letters
    finally:
        gc.unfreeze()


def _progress(passages: Iterable[Passage], count: int) -> Iterator[Passage]:
    """The passages, with a bar on stderr if a person is looking and there is something to wait for."""
    if count <= MOST_SHOWN or not sys.stderr.isatty():
        yield from passages
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(passages, "messages", total=count, console=Console(stderr=True), transient=True)


MOST_SHOWN = 20


class Report:
    """The results of a run so far; a list that may be endless keeps its first few entries, or all of them for JSON."""

    def __init__(self, flow: str, *, as_json: bool) -> None:
        self._flow = flow
        self._as_json = as_json
        self.messages = 0
        self.unsent = 0
        self.others = 0
        self._wires: Counter[tuple[str, str, str]] = Counter()
        self._queues: Counter[tuple[str, str]] = Counter()
        self._shown: list[dict[str, Any]] = []
        self.failed = 0
        self._failures: list[dict[str, Any]] = []
        self._reasons: list[tuple[str, str]] = []
        from engine.runtime.incidents import Reasons

        self._counted = Reasons()
        self._incidents: list[dict[str, Any]] = []

    def explain(self, name: str, lines: list[str]) -> None:
        """Take what the local error log has said of a message."""
        for line in lines:
            if line and self._keeps(self._reasons):
                self._reasons.append((name, line.splitlines()[0]))
        lines.clear()

    def tells_of(self, words: str) -> bool:
        """Returns True where the text of a failure or of its reason contains these words."""
        texts = [*(text for _, text in self._reasons), *(failure["error"] for failure in self._failures)]
        return any(words in text for text in texts)

    def add(self, passage: Passage, written: list[tuple[str, Path]]) -> None:
        from engine.runtime.incidents import explained

        self.messages += 1
        self._wires.update(passage.wires)
        self._queues.update((queue, str(file.parent)) for queue, file in written)
        self._counted.add(passage.incidents)
        found = [{"message": passage.name} | incident.as_data() for incident in passage.incidents]
        self._incidents += (each for each in found if self._keeps(self._incidents))
        if passage.error is not None:
            self.failed += 1
            if self._keeps(self._failures):
                self._failures.append({"message": passage.name, "error": explained(passage.error)})
        if self.messages <= MOST_SHOWN:
            wires = [f"{label}.{terminal} -> {target}" for label, terminal, target in passage.wires]
            files = [str(file) for _, file in written]
            self._shown.append({"message": passage.name, "wires": wires, "files": files, "incidents": found})

    def _keeps(self, kept: list[Any]) -> bool:
        return self._as_json or len(kept) < MOST_SHOWN

    def show(self, seconds: float) -> None:
        if self._as_json:
            typer.echo(json.dumps(self._data(seconds), indent=2))
            return
        for shown in self._shown if self.messages <= MOST_SHOWN else ():
            say(shown["message"])
            caught = [each for each in shown["incidents"] if each["kind"] == "caught"]
            steps = [*shown["wires"], *map(_caught, caught), *(f"=> {file}" for file in shown["files"])]
            for step in steps:
                say(f"    {step}")
        say(f"{self._flow}: {', '.join(self._sums())}")
        width = max((len(f"{count:,}") for count in (*self._wires.values(), *self._queues.values())), default=0)
        for (label, terminal, target), count in self._wires.items():
            say(f"  {count:>{width},}  {label}.{terminal} -> {target}")
        for (queue, folder), count in sorted(self._queues.items()):
            say(f"  {count:>{width},}  on {queue}, in {folder}")
        for line in self._counted.lines():
            say(f"  {line}")
        self._show_errors()

    def _sums(self) -> list[str]:
        """The numbers of messages, and of the errors that were caught, if there were any."""
        sums = [f"{self.messages:,} in", f"{sum(self._queues.values()):,} out", f"{self.failed:,} failed"]
        caught = self._counted.total("caught")
        return [*sums, f"{caught:,} caught"] if caught else sums

    def _show_errors(self) -> None:
        """Print the first few errors in full on stderr; of few messages, those that were caught stand with these."""
        for name, reason in self._reasons[:MOST_SHOWN]:
            say(f"{name}: {reason}", err=True)
        caught = [each for each in self._incidents if each["kind"] == "caught"]
        for each in caught[:MOST_SHOWN] if self.messages > MOST_SHOWN else ():
            say(f"{each['message']}: {_caught(each)}", err=True)
        for failure in self._failures[:MOST_SHOWN]:
            say(f"{failure['message']}: {failure['error']}", err=True)
        if self.failed > MOST_SHOWN:
            say(f"and {self.failed - MOST_SHOWN} more", err=True)

    def _data(self, seconds: float) -> dict[str, Any]:
        return {
            "flow": self._flow,
            "messages": self.messages,
            "unsent": self.unsent,
            "seconds": round(seconds, 6),
            "wires": {f"{label}.{terminal} -> {target}": n for (label, terminal, target), n in self._wires.items()},
            "queues": {queue: {"messages": n, "directory": folder} for (queue, folder), n in self._queues.items()},
            "others": self.others,
            "failures": self._failures,
            "reasons": [{"message": name, "reason": reason} for name, reason in self._reasons],
            "by_reason": self._counted.as_data(),
            "incidents": self._incidents,
            "first": [{key: shown[key] for key in ("message", "wires", "files")} for shown in self._shown],
        }


def _caught(incident: dict[str, Any]) -> str:
    return f"caught by {incident['by']}: {incident['error']}"


def say(text: str, *, err: bool = False) -> None:
    """Print a line; names of files and queues may hold what a terminal would obey."""
    typer.echo(visible(text), err=err)
