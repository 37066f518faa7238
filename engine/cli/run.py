"""penstock run: a flow over messages from files."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from engine.cli.app import DataSources, Json, OwnNodes, app
from engine.cli.failing import existing, visible
from engine.errors import NOWHERE, BrokerError, ConfigurationException

if TYPE_CHECKING:
    from engine.desk import Letter, Passage
    from engine.usertrace import UserTrace

MOST_SHOWN = 20
TRACE_LEVELS = ("none", "normal", "debug")


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
    flow: Annotated[str, typer.Argument(help="The flow file.")],
    sources: Annotated[
        list[str],
        typer.Option(
            "--input", help="A file, a directory of files, or - for standard input; may be given several times."
        ),
    ],
    output: Annotated[str, typer.Option("--output", help="Where messages are written: DIR/QUEUE/NAME.")],
    queue: Annotated[str, typer.Option(help="The queue they enter by, where the flow reads more than one.")] = "",
    queue_manager: Annotated[str, typer.Option(help="The name of the queue manager whose queues these are.")] = "QM",
    ccsid: Annotated[int, typer.Option(help="The CCSID that they are written in.")] = 1208,
    encoding: Annotated[int, typer.Option(help="The MQ encoding of their numbers.")] = 546,
    format_: Annotated[str, typer.Option("--format", help="The MQ format of their first bytes, such as MQHRF2.")] = "",
    trace: Annotated[
        str,
        typer.Option(metavar="[LEVEL]", help="Show the user trace on stderr: normal, or debug for more."),
    ] = "none",
    data_sources: DataSources = None,
    nodes: OwnNodes = None,
    as_json: Json = False,
) -> None:
    """Send messages through a flow at this desk, and show which way they took and what came out.

    Queues are kept in memory; what the flow leaves on them is written to files. The exit code is 1 if a message failed.
    """
    from engine.cli.data_sources import opened
    from engine.descriptor import UTF_8, Descriptor
    from engine.desk import Outbox
    from engine.desk import run as run_flow
    from engine.own_nodes import load_nodes
    from flows.files import load_flow
    from flows.programs import binder

    if not output:
        raise ConfigurationException("--output names no directory: say where messages are to be written")
    check_descriptor(ccsid, encoding, format_)
    _check_queue_manager(queue_manager)
    load_nodes(nodes or ())
    loaded = load_flow(flow)
    tracer = _tracer(trace)
    databases = context.with_resource(opened(data_sources))
    bind = binder(loaded, trace=tracer, sources=databases)
    descriptor = Descriptor(coded_char_set_id=ccsid, encoding=encoding, format=format_)
    letters, count = _letters(sources, descriptor)
    outbox, started = Outbox(Path(output)), time.perf_counter()
    report = _Report(loaded.qualified_name)
    with _tracing(wanted=trace != "none"), _local_errors() as reasons:
        try:
            ready = _made_ready(letters)
            passages = run_flow(
                loaded, ready, queue=queue, bind=bind, queue_manager=queue_manager, trace=tracer, sources=databases
            )
            for passage in _progress(passages, count):
                report.explain(passage.name, reasons)
                report.add(passage, [(sent.queue, outbox.write(passage.name, sent)) for sent in passage.sent])
        except BaseException:
            if report.messages:  # what was done until it went wrong, or until someone had enough of it
                report.show(time.perf_counter() - started, as_json=as_json)
            raise
    report.show(time.perf_counter() - started, as_json=as_json)
    if ccsid != UTF_8 and report.tells_of(f"CCSID {ccsid}"):
        typer.echo(f"CCSID {ccsid} is what --ccsid says", err=True)
    if not as_json and (others := outbox.others()):
        typer.echo(f"{output} also holds {others:,} files of another run: empty it, or name another", err=True)
    raise typer.Exit(1 if report.failed else 0)


def _made_ready(letters: Iterator[Letter]) -> Iterator[Letter]:
    """The letters, once the flow is deployed: the collector need not look through what stays, a tenth of its time."""
    gc.freeze()
    try:
        yield from letters
    finally:
        gc.unfreeze()


def check_descriptor(ccsid: int, encoding: int, format_: str) -> None:
    """Refuse what no message descriptor could say of a message."""
    from engine.descriptor import is_encoding
    from parsers.ccsid import codec

    codec(ccsid)
    if not is_encoding(encoding):
        raise ConfigurationException(f"--encoding {encoding} is no MQ encoding: 546 is little endian, 273 big endian")
    if len(format_) > 8 or not format_.isascii():
        raise ConfigurationException(f"--format {format_} is no MQ format: it has at most 8 ASCII characters")


def _check_queue_manager(name: str) -> None:
    """Refuse what is no name of a queue manager."""
    import re

    from engine.destinations import QUEUE_MANAGER

    if not re.fullmatch(QUEUE_MANAGER.regex, name):
        raise ConfigurationException(f"--queue-manager is {QUEUE_MANAGER.words}, not {name!r:.60}")


def _letters(sources: list[str], descriptor: Any) -> tuple[Iterator[Letter], int]:
    """The messages of all sources, one after the other, and how many there are."""
    from engine.desk import Letter, files_of, letters_from

    letters: list[Iterable[Letter]] = []
    count = 0
    for source in sources:
        if source != "-":
            files = files_of(existing(source))
            letters.append(letters_from(files, descriptor))
            count += len(files)
        elif sys.stdin is None:
            raise ConfigurationException("standard input is closed: pipe a message into it, or name a file")
        else:
            letters.append([Letter("stdin", descriptor, sys.stdin.buffer.read())])
            count += 1
    return chain.from_iterable(letters), count


def _tracer(level: str) -> UserTrace | None:
    """What writes the user trace at this level."""
    from engine.usertrace import UserTrace

    if level not in TRACE_LEVELS:
        raise ConfigurationException(f"--trace {level} is no level: it is one of {', '.join(TRACE_LEVELS)}")
    return None if level == "none" else UserTrace("debug" if level == "debug" else "normal")


@contextmanager
def _tracing(*, wanted: bool) -> Iterator[None]:
    """Have the user trace on stderr while something runs."""
    if not wanted:
        yield
        return
    import logging

    from engine.usertrace import TraceFormatter

    log, handler = logging.getLogger("penstock"), logging.StreamHandler()
    handler.setFormatter(TraceFormatter())
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(logging.NOTSET)
        log.removeHandler(handler)


@contextmanager
def _local_errors() -> Iterator[list[str]]:
    """Have the lines of the local error log in a list while something runs."""
    import logging

    lines: list[str] = []
    log, handler = logging.getLogger("penstock.localerror"), logging.Handler(logging.INFO)
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]  # all it does
    log.addHandler(handler)
    before = log.level
    log.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        log.setLevel(before)
        log.removeHandler(handler)


def _progress(passages: Iterable[Passage], count: int) -> Iterator[Passage]:
    """The passages, with a bar on stderr if a person is looking and there is something to wait for."""
    if count <= MOST_SHOWN or not sys.stderr.isatty():
        yield from passages
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(passages, "messages", total=count, console=Console(stderr=True), transient=True)


class _Report:
    """What a run has done so far."""

    def __init__(self, flow: str) -> None:
        self._flow = flow
        self.messages = 0
        self._wires: Counter[tuple[str, str, str]] = Counter()
        self._queues: Counter[tuple[str, str]] = Counter()
        self._shown: list[dict[str, Any]] = []
        self.failed: list[dict[str, str]] = []
        self._reasons: list[tuple[str, str]] = []

    def explain(self, name: str, lines: list[str]) -> None:
        """Take what the local error log has said of a message."""
        self._reasons += ((name, line.splitlines()[0]) for line in lines if line)
        lines.clear()

    def tells_of(self, words: str) -> bool:
        """Whether any of what failed did so for something that is called so."""
        texts = [*(text for _, text in self._reasons), *(failure["error"] for failure in self.failed)]
        return any(words in text for text in texts)

    def add(self, passage: Passage, written: list[tuple[str, Path]]) -> None:
        self.messages += 1
        self._wires.update(passage.wires)
        self._queues.update((queue, str(file.parent)) for queue, file in written)
        if passage.error is not None:
            self.failed.append({"message": passage.name, "error": explained(passage.error)})
        if self.messages <= MOST_SHOWN:
            wires = [f"{label}.{terminal} -> {target}" for label, terminal, target in passage.wires]
            self._shown.append({"message": passage.name, "wires": wires, "files": [str(file) for _, file in written]})

    def show(self, seconds: float, *, as_json: bool) -> None:
        if as_json:
            typer.echo(json.dumps(self._data(seconds), indent=2))
            return
        for shown in self._shown if self.messages <= MOST_SHOWN else ():
            _say(shown["message"])
            for step in [*shown["wires"], *(f"=> {file}" for file in shown["files"])]:
                _say(f"    {step}")
        _say(f"{self._flow}: {self.messages:,} in, {sum(self._queues.values()):,} out, {len(self.failed):,} failed")
        width = max((len(f"{count:,}") for count in (*self._wires.values(), *self._queues.values())), default=0)
        for (label, terminal, target), count in self._wires.items():
            _say(f"  {count:>{width},}  {label}.{terminal} -> {target}")
        for (queue, folder), count in sorted(self._queues.items()):
            _say(f"  {count:>{width},}  on {queue}, in {folder}")
        for name, reason in self._reasons[:MOST_SHOWN]:
            _say(f"{name}: {reason}", err=True)
        for failure in self.failed[:MOST_SHOWN]:
            _say(f"{failure['message']}: {failure['error']}", err=True)
        if len(self.failed) > MOST_SHOWN:
            _say(f"and {len(self.failed) - MOST_SHOWN} more", err=True)

    def _data(self, seconds: float) -> dict[str, Any]:
        return {
            "flow": self._flow,
            "messages": self.messages,
            "seconds": round(seconds, 6),
            "wires": {f"{label}.{terminal} -> {target}": n for (label, terminal, target), n in self._wires.items()},
            "queues": {queue: {"messages": n, "directory": folder} for (queue, folder), n in self._queues.items()},
            "failures": self.failed,
            "reasons": [{"message": name, "reason": reason} for name, reason in self._reasons],
            "first": self._shown,
        }


def _say(text: str, *, err: bool = False) -> None:
    """Print a line; names of files and queues may hold what a terminal would obey."""
    typer.echo(visible(text), err=err)


def explained(error: BaseException) -> str:
    """An error with what caused it."""
    texts: list[str] = []
    at: BaseException | None = error
    while at is not None:
        said = at.text if isinstance(at, BrokerError) else str(at)
        if not any(said in text for text in texts):
            texts.append(_with_node(at))
        at = at.__cause__
    return "; because ".join(texts)


def _with_node(error: BaseException) -> str:
    """An error, and its node where its place is one in a file."""
    place = error.place if isinstance(error, BrokerError) else NOWHERE
    node = ".".join(part for part in (place.flow, place.node) if part)
    return f"{error} (in {node})" if place.file and place.node else str(error)
