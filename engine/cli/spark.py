"""penstock spark: flows over message sets on Apache Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

import flows
from engine.cli import app
from engine.cli.command_failures import existing
from engine.cli.shared_options import DataSources, Json, OwnNodes, check_descriptor, opened_some, pair_of, show
from engine.errors import BrokerError, ConfigurationException
from engine.files.output_files import written

if TYPE_CHECKING:
    from spark_exec.plan import Plan
    from spark_exec.readers import Kind, Origin
    from spark_exec.run import Limits
    from spark_exec.summary import Summary


spark = typer.Typer(help="Run flows over message sets on Apache Spark.", no_args_is_help=True)
app.add_typer(spark, name="spark")


def _needs_spark() -> None:
    """Refuse to go on where what the extra brings is not installed."""
    from importlib.util import find_spec

    missing = [name for name in ("pyspark", "pyarrow", "pandas") if find_spec(name) is None]
    if missing:
        raise ConfigurationException(f"{' and '.join(missing)}: not installed: pip install 'penstock[spark]'")


@spark.command()
def run(
    files: Annotated[list[str], typer.Argument(help="A broker file, or flow files.")],
    messages: Annotated[str, typer.Option(help="A Parquet message set, or files with messages.")],
    output: Annotated[str, typer.Option(help="A directory for what comes out, which is not there yet.")],
    kind: Annotated[
        str,
        typer.Option(help="What --messages holds: parquet, files, json, text, fixed or rdw.  [default: by its name]"),
    ] = "",
    queue: Annotated[str, typer.Option(help="The queue that the messages are on, where they do not say it.")] = "",
    ccsid: Annotated[
        int | None, typer.Option(help="The CCSID that files are written in.  [default: 1208, UTF-8]")
    ] = None,
    encoding: Annotated[
        int | None, typer.Option(help="The MQ encoding of their numbers.  [default: 546, little endian]")
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", help="The MQ format of their first bytes, such as MQSTR.")
    ] = None,
    record_length: Annotated[
        int | None, typer.Option(min=1, help="The bytes of each record, where they are fixed.")
    ] = None,
    master: Annotated[
        str, typer.Option(help="The Spark master, such as local[4] or spark://HOST:7077.  [default: all cores here]")
    ] = "",
    conf: Annotated[
        list[str] | None, typer.Option(help="A setting of Spark, as key=value; may be given several times.")
    ] = None,
    partitions: Annotated[
        int | None,
        typer.Option(
            "--instances",
            "--partitions",
            min=1,
            help="Instances of each flow, a partition each.  [default: what the flow says, else one for each core]",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Take only the first so many messages.  [default: all]")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="End after so many rounds, even if flows are still fed.")] = 100,
    moment: Annotated[
        str, typer.Option(help="The date and time of all puts, such as 2026-01-02T03:04:05.  [default: now]")
    ] = "",
    data_sources: DataSources = None,
    effects: Annotated[
        str,
        typer.Option(
            help="exactly-once: what flows do to databases is prepared by each task, and committed when a round ends;"
            " at-least-once: it is committed with each message, and done again where Spark tries a task again."
            "  [default: exactly-once]"
        ),
    ] = "",
    nodes: OwnNodes = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan, and run nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Carry a message set through flows; every message put is a row, and so is every failure.

    Example: penstock spark run flows/samples/orders/orders.yaml --messages flows/samples/orders/messages --output
    out/spark --dry-run
    """
    _needs_spark()
    from flows.files import own_nodes
    from spark_exec.deployment import deployment_of, with_sources
    from spark_exec.plan import plan
    from spark_exec.run import Limits, moment_of, refuse_taken
    from spark_exec.session import cores_of, java

    deployment = with_sources(deployment_of(*files), data_sources or (), effects)
    planned = plan(deployment, own_nodes(nodes or ()))
    if partitions:
        planned = planned.scaled(partitions)
    settings = [pair_of(text, f"--conf {text} is no setting: write key=value") for text in conf or ()]
    within = Limits(rounds, moment_of(moment))
    said = {"--ccsid": ccsid, "--encoding": encoding, "--format": format_, "--record-length": record_length}
    found = _kind(kind, messages, said)
    entry = planned.entry(queue, needed=not dry_run and found not in {"parquet", "json"})
    if dry_run:
        cores = cores_of(master, dict(settings))
        _show_plan(planned.spread(cores) if cores else planned, master, dict(settings), as_json=as_json)
        return
    if "://" not in messages:
        existing(messages, "a file or a directory")
    refuse_taken(output)
    java()
    origin = _origin(messages, found, entry, said)
    summary = _carried(planned, origin, output, (master, settings), (limit or 0, within))
    _show(summary, output, as_json=as_json)
    raise typer.Exit(1 if summary.failures or summary.fed else 0)


def _kind(kind: str, messages: str, said: dict[str, Any]) -> Kind:
    """Returns what --messages holds, if that is known; options that would not be looked at are refused."""
    from spark_exec.readers import KINDS, kind_of

    found = next((known for known in KINDS if known == kind), None) if kind else kind_of(messages)
    if found is None:
        raise ConfigurationException(f"--kind {kind} is none of {', '.join(KINDS)}")
    if said["--record-length"] is not None and found != "fixed":
        raise ConfigurationException(f"--record-length is for --kind fixed, and the messages are of kind {found}")
    idle = [name for name, value in said.items() if value is not None]
    if idle and found == "parquet":
        raise ConfigurationException(f"{', '.join(idle)}: a message set in Parquet says this itself, in its columns")
    return found


def _origin(messages: str, kind: Kind, queue: str, said: dict[str, Any]) -> Origin:
    from engine.descriptor import Descriptor
    from spark_exec.readers import Origin

    fields = {"coded_char_set_id": said["--ccsid"], "encoding": said["--encoding"], "format": said["--format"]}
    descriptor = Descriptor()._replace(**{name: value for name, value in fields.items() if value is not None})
    check_descriptor(descriptor.coded_char_set_id, descriptor.encoding, descriptor.format)
    return Origin(messages, kind, queue, descriptor, said["--record-length"] or 0)


@spark.command()
def demo(
    output: Annotated[
        str, typer.Option(help="A directory for the messages and for what comes out.")
    ] = "out/spark-demo",
    messages: Annotated[int, typer.Option(min=1, help="How many messages there are.")] = 10_000,
    master: Annotated[str, typer.Option(help="The Spark master, such as local[4].  [default: all cores here]")] = "",
) -> None:
    """Write 10,000 sales as JSON lines, and carry them through the flows of a sample broker.

    Example: penstock spark demo --output out/spark-demo
    """
    _needs_spark()
    from spark_exec.deployment import deployment_of
    from spark_exec.plan import plan
    from spark_exec.readers import Origin
    from spark_exec.run import Limits, refuse_taken
    from spark_exec.session import java

    java()
    source, results = Path(output) / "messages.jsonl", str(Path(output) / "results")
    refuse_taken(results)
    planned = plan(deployment_of(str(BROKER)))
    write_sales(source, messages)
    typer.echo(f"penstock spark run {BROKER} --messages {source} --queue SALES.IN --output {results}")
    for line in planned.lines():
        typer.echo(line)
    summary = _carried(planned, Origin(str(source), "json", "SALES.IN"), results, (master, []), (0, Limits()))
    _show(summary, results, as_json=False)


@spark.command()
def resolve(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The output folder of a run whose driver has ended.")],
    data_sources: DataSources = None,
    as_json: Json = False,
) -> None:
    """Commit what a run had decided in databases before it died, and roll back what it had not.

    Example: penstock spark resolve out/sales --data-source STOCK=@stock.url
    """
    _needs_spark()
    from spark_exec.prepared_transactions import resolve as ended

    with opened_some(data_sources) as sources:
        for source, gid, state in ended(folder, sources):
            told = {"gid": gid, "dataSource": source, "state": state}
            typer.echo(json.dumps(told) if as_json else f"{source}  {state}  {gid}")


def _show_plan(planned: Plan, master: str, settings: dict[str, str], *, as_json: bool) -> None:
    from spark_exec.session import executor_lines

    where = master or settings.get("spark.master", "local[*]")
    show(planned.as_data(), chain(planned.lines(), executor_lines(planned, where, settings)), as_json=as_json)


def _carried(
    planned: Plan, origin: Origin, output: str, where: tuple[str, list[tuple[str, str]]], limits: tuple[int, Limits]
) -> Summary:
    from logging import getLogger

    from spark_exec.cancellation import Ending, ended_at_once
    from spark_exec.plan import first
    from spark_exec.readers import messages
    from spark_exec.run import make_place
    from spark_exec.run import run as run_rounds
    from spark_exec.session import cores_in, failures_told, session, stop
    from spark_exec.summary import shown

    limit, within = limits
    getLogger().addFilter(lambda record: "py4j" not in record.pathname)  # what it logs is raised as well
    ending = Ending(output)
    make_place(output)
    with ended_at_once(ending) as take_signals:
        own = session(*where)
        take_signals()
        try:
            with failures_told(), shown(own):
                frame = messages(own, origin)
                if limit:
                    frame = first(frame, limit)
                planned = planned.spread(cores_in(own))
                inputs = {"path": origin.path, "kind": origin.kind, "limit": limit or None}
                return run_rounds(own, planned, frame, output, inputs, within._replace(ending=ending))
        except BrokerError as error:
            said = ending.leave(error.text)
            if ending.summary is not None:
                error.text += f"; {said}"
            raise
        finally:
            stop(own)
            if ending.decisions is not None:
                ending.decisions.give_up()  # also what tasks have prepared that nobody waited for
                ending.decisions.close()


def _show(summary: Summary, output: str, *, as_json: bool) -> None:
    lines = (*summary.lines(), f"Written to {output}, with _manifest.json")
    show(summary.as_data() | {"output": output}, lines, as_json=as_json)


BROKER: Final = Path(flows.__path__[0]) / "samples" / "archive" / "broker.yaml"
MESSAGES: Final = 10_000
_POISON: Final = 1000  # one in so many sells nothing


def sales(count: int) -> Iterator[str]:
    """JSON lines, each with a sale.

    >>> print(*sales(1))
    {"body": "<Sale><Id>1</Id><Count>8</Count><Price>3.99</Price></Sale>", "format": "MQSTR"}
    """
    for number in range(1, count + 1):
        sold = number * 7 % 9 + 1 if number % _POISON else 0
        price = f"{number * 37 % 17}.99"
        body = f"<Sale><Id>{number}</Id><Count>{sold}</Count><Price>{price}</Price></Sale>"
        yield json.dumps({"body": body, "format": "MQSTR"})


def write_sales(file: Path, count: int = MESSAGES) -> None:
    """Write so many sales, in a directory that is made where it is not there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with written(file) as opened:
        opened.writelines(f"{line}\n".encode() for line in sales(count))
