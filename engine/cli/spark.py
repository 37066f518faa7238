"""penstock spark: flows over message sets on Apache Spark."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli.app import Json, app
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from spark_exec.plan import Plan
    from spark_exec.readers import Origin
    from spark_exec.run import Summary

spark = typer.Typer(help="Run flows over message sets on Apache Spark.", no_args_is_help=True)
app.add_typer(spark, name="spark")


@spark.callback()
def group() -> None:
    """Run flows over message sets on Apache Spark."""


@spark.command()
def run(
    files: Annotated[list[str], typer.Argument(help="A broker file, or flow files.")],
    messages: Annotated[str, typer.Option(help="A Parquet message set, or files with messages.")],
    output: Annotated[str, typer.Option(help="A directory for what comes out, which is not there yet.")],
    kind: Annotated[str, typer.Option(help="What --messages holds: parquet, files, json, text, fixed or rdw.")] = "",
    queue: Annotated[str, typer.Option(help="The queue that the messages are on, where they do not say it.")] = "",
    ccsid: Annotated[int, typer.Option(help="The CCSID that they are written in.")] = 1208,
    encoding: Annotated[int, typer.Option(help="The MQ encoding of their numbers.")] = 546,
    format_: Annotated[str, typer.Option("--format", help="The MQ format of their first bytes.")] = "",
    record_length: Annotated[int, typer.Option(help="The bytes of each record, where they are fixed.")] = 0,
    master: Annotated[str, typer.Option(help="The Spark master; as Spark is configured, else all cores here.")] = "",
    conf: Annotated[list[str] | None, typer.Option(help="A setting of Spark, as key=value.")] = None,
    partitions: Annotated[int, typer.Option(help="Partitions for each flow, in place of its instances.")] = 0,
    limit: Annotated[int, typer.Option(help="Take only so many messages.")] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan, and run nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Carry a message set through flows; every message put is a row, and so is every failure."""
    from engine.descriptor import Descriptor
    from spark_exec.deployment import deployment_of
    from spark_exec.plan import plan
    from spark_exec.readers import KINDS, Origin, kind_of

    planned = plan(deployment_of(*files))
    if partitions:
        planned = planned.scaled(partitions)
    if dry_run:
        for line in planned.lines():
            typer.echo(line)
        return
    settings = [_setting(text) for text in conf or ()]
    chosen = kind or kind_of(messages)
    if chosen not in KINDS:
        raise ConfigurationException(f"--kind {chosen} is none of {', '.join(KINDS)}")
    descriptor = Descriptor(coded_char_set_id=ccsid, encoding=encoding, format=format_)
    origin = Origin(messages, chosen, _queue(planned, queue, chosen), descriptor, record_length)
    summary = _carried(planned, origin, output, (master, settings, limit))
    _show(summary, output, as_json=as_json)
    raise typer.Exit(1 if summary.failures else 0)


def _queue(planned: Plan, queue: str, kind: str) -> str:
    """The queue that messages are put on; a message set may say it itself."""
    if queue or kind in {"parquet", "json"}:
        return queue
    reads = list(planned.reads)
    if len(reads) != 1:
        raise ConfigurationException(f"the flows read {', '.join(reads)}: say by --queue where the messages are")
    return reads[0]


def _setting(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise ConfigurationException(f"--conf {text} is no setting: write key=value")
    return key, value


def _carried(planned: Plan, origin: Origin, output: str, how: tuple[str, list[tuple[str, str]], int]) -> Summary:
    from spark_exec.progress import shown
    from spark_exec.readers import messages
    from spark_exec.run import run as run_rounds
    from spark_exec.session import session

    master, settings, limit = how
    own = session(master, settings)
    try:
        frame = messages(own, origin)
        if limit:
            frame = frame.orderBy("sequence").limit(limit)
        with shown(own) as counter:
            return run_rounds(own, planned, frame, output, {"path": origin.path, "kind": origin.kind}, counter)
    finally:
        own.stop()


def _show(summary: Summary, output: str, *, as_json: bool) -> None:
    data: dict[str, Any] = summary.as_data()
    if as_json:
        typer.echo(json.dumps(data | {"output": output}, indent=2))
        return
    rate = summary.messages / summary.seconds if summary.seconds else 0.0
    typer.echo(
        f"{summary.messages:,} messages in {summary.rounds} rounds, {summary.failures:,} failures,"
        f" {summary.seconds:.1f} s, {rate:,.0f} a second"
    )
    if summary.waiting:
        typer.echo(f"  {summary.waiting:>12,}  were not taken by their flow, and wait")
    for queue, count in sorted(summary.queues.items()):
        typer.echo(f"  {count:>12,}  on {queue}")
    for (flow, node), (cpu, count) in sorted(summary.nodes.items()):
        each = cpu / count / 1000 if count else 0.0
        typer.echo(f"  {count:>12,}  through {flow}.{node or '(around nodes)'}, {each:,.1f} µs CPU each")
    typer.echo(f"Written to {output}, with _manifest.json")
