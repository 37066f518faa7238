"""penstock run: a flow over messages from files."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from engine.cli.app import MAX_INPUT, AllowFiles, DataSources, Json, MaxInput, OwnNodes, app
from engine.cli.queue_manager_access import Reach
from engine.cli.run_inputs import check_descriptor, check_queue_manager, inputs_of, letters_of
from engine.cli.run_on_queues import Given, is_at_desk, run_on_queues
from engine.cli.run_tracing import local_errors, tracer, tracing
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.cli.run_report import Report
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
    from engine.cli.data_sources import opened
    from engine.cli.run_report import Report
    from engine.descriptor import UTF_8, Descriptor
    from engine.files.allowed_folders import allowed_files
    from engine.files.input_files import size_of
    from engine.files.output_files import refuse_inputs
    from engine.flow.user_nodes import load_nodes
    from engine.runtime.file_run import Outbox
    from engine.runtime.file_run import run as run_flow
    from flows.files import load_flow
    from flows.programs import binder

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
    outbox = Outbox(Path(output), (*inputs_of(sources), Path(flow)))
    report = Report(loaded.qualified_name, as_json=as_json)
    with tracing(wanted=trace != "none"), local_errors() as reasons, _delivered(report, outbox, count, as_json=as_json):
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
        others = f"{outbox.directory} also holds {report.others:,} files of another run"
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
    from engine.cli.run_report import MOST_SHOWN

    if count <= MOST_SHOWN or not sys.stderr.isatty():
        yield from passages
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(passages, "messages", total=count, console=Console(stderr=True), transient=True)
