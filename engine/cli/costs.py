"""penstock costs and costs plan: what flows cost, beside the report and their bounds, and what a load needs."""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from engine.cli import app
from engine.cli.command_failures import made_folder
from engine.cli.shared_options import Json, show
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.costs.measuring import Measured
    from engine.costs.nodes import How
    from engine.costs.report.earlier_results import Comparison
    from engine.costs.results import Key, Results, Row

NODES = "nodes"
MESSAGES = "messages"
QUEUES = "queues"
RESULTS = ("results.json", "rows.csv", "report.html")
WIDTH = 160  # of tables where no terminal says how wide it is

Say = Callable[[str], None]


planner = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@planner.command()
def plan(
    flow: Annotated[str, typer.Argument(help="The flow file.")],
    rate: Annotated[float, typer.Option(min=0.001, help="Messages a second.")],
    message: Annotated[Path | None, typer.Option(help="A file with a message like those to come.")] = None,
    size: Annotated[str, typer.Option(help="Bytes of each message, or KiB as in 4k, of XML.  [default: 1k]")] = "",
    persistent: Annotated[bool, typer.Option("--persistent", help="Messages are persistent.")] = False,
    subscribers: Annotated[int, typer.Option(min=0, help="How many subscribers get what is published.")] = 0,
    busy: Annotated[int, typer.Option(min=1, max=100, help="How busy processors may be, in per cent.")] = 70,
    backlog: Annotated[float, typer.Option(min=0, help="Seconds of messages that wait at worst.")] = 3600.0,
    count: Annotated[int, typer.Option("--messages", min=100, help="How many messages are measured.")] = 2000,
    check: Annotated[
        bool, typer.Option("--check", help="Run the flow on a broker as well; exit with 1 if it is off by 20 %.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what a load needs: measure the flow's nodes here, and work out instances, groups, processors, memory, disk.

    Example: penstock costs plan flows/samples/orders/orders.yaml --rate 500 --size 4k --persistent
    """
    from engine.costs.capacity import Load, checked, estimate
    from engine.files.input_files import MOST, NO_MESSAGE, read_file

    for name, value in (("--rate", rate), ("--backlog", backlog)):
        if math.isinf(value):
            raise ConfigurationException(f"{name} {value} is more than can be planned for: give a number")
    if message is not None and size:
        raise ConfigurationException("--message and --size are both given: leave one of them out")
    body = read_file(message, MOST, NO_MESSAGE) if message is not None else _body(size or "1k")
    load = Load(rate, persistent, subscribers, busy / 100, backlog)
    off = 0.0
    if check:
        found, seen, off = checked(flow, body, load, count=count)
        data = asdict(found) | {"observed_microseconds": seen, "off": off}
        said = [f"on a broker: {seen:,.1f} µs for each message, so the plan is off by {off:+.0%}"]
    else:
        found, said = estimate(flow, body, load, count=count), []
        data = asdict(found)
    show(data, [*found.lines(load), *said], as_json=as_json)
    raise typer.Exit(1 if abs(off) > 0.2 else 0)


def _body(size: str) -> bytes:
    """Returns a message of XML that has about so many bytes."""
    item = b"<Item><Id>1</Id><Text>abcdefghij</Text></Item>"
    return b"<Message>" + item * max(1, (_bytes(size) - 19) // len(item)) + b"</Message>"


class WithPlan(TyperCommand):
    """The command of costs, which hands `plan` on to a command of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] == ["plan"]:
            command = typer.main.get_command(planner)
            code = command.main(args[1:], prog_name="penstock costs plan", standalone_mode=False)
            ctx.exit(code if isinstance(code, int) else 0)
        return super().parse_args(ctx, args)


@app.command(cls=WithPlan)
def costs(
    group: Annotated[
        str | None,
        typer.Argument(
            help="nodes: the scenarios alone; messages: write their messages to --output; or a group of benchmarks,"
            " such as kernel or esql; or plan, what a load needs (`costs plan --help`). None: the scenarios, then every"
            " group but spark, which takes minutes."
        ),
    ] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option(help="Only this scenario, or those that fit a pattern such as 'convert_*'; may be repeated."),
    ] = None,
    size: Annotated[
        list[str] | None, typer.Option(help="Only messages of so many bytes, or KiB as in 4k; may be repeated.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            help="How long one run lasts; for the group queues, how long a file is watched.  [default: 0.25; 10]"
        ),
    ] = None,
    runs: Annotated[int | None, typer.Option(help="How many runs there are of each row.  [default: 5]")] = None,
    drivers: Annotated[int | None, typer.Option(help="How many drivers keep a flow busy.  [default: 15]")] = None,
    output: Annotated[
        str | None, typer.Option(help="A directory for results.json, rows.csv and report.html; or for messages.")
    ] = None,
    compare: Annotated[
        str | None, typer.Option(metavar="OLD.json", help="Show what has changed since these results.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if a bound, or what the suite must show, is not met.")
    ] = False,
    count: Annotated[
        int | None,
        typer.Option(
            "--messages",
            min=1_001,
            help="How many messages the group spark carries, and deep queues of the group queues have."
            "  [default: 100000]",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure the scenarios of the WMQI report, and CPU beside programs written by hand, and compare.

    Rates, processor time by the report's formula, and memory stand beside the report's figures; docs/costs.md says
    how each is taken.

    Example: penstock costs nodes --scenario filter --size 1k
    """
    from engine.costs import SPARK
    from engine.costs.report.analysis import verdicts
    from engine.costs.report.earlier_results import read_results

    given = {
        "--scenario": scenario,
        "--size": size,
        "--seconds": seconds,
        "--runs": runs,
        "--drivers": drivers,
        "--compare": compare,
    }
    if group not in {SPARK, QUEUES}:
        given["--messages"] = count
    if group == QUEUES:
        del given["--seconds"]
    if group == MESSAGES:
        _refuse(given | {"--check": check or None}, "messages takes no {}: it writes all messages to --output")
        _write_messages(output, as_json=as_json)
        return
    if group not in {None, NODES}:
        _refuse(given | {"--output": output}, f"{group} takes no {{}}: it is for the scenarios, penstock costs nodes")
        _check_seconds(1.0 if seconds is None else seconds)
        _show_group(str(group), {"messages": count, "seconds": seconds}, check=check, as_json=as_json)
        return
    _refuse({"--messages": count}, "{} is for the benchmarks of spark: penstock costs spark --messages 5000")
    from engine.costs.nodes import chosen

    keys = chosen(scenario or (), [_bytes(text) for text in size or ()])
    _refuse_overlap(output, compare)
    how, old = _how(seconds, runs, drivers), None if compare is None else read_results(compare)
    _make_folder(output)
    found = _suite(keys, how, bounds=group is None and not scenario and not size)
    _show(found, old, output, as_json=as_json)
    raise typer.Exit(1 if check and not all(verdict.met for verdict in verdicts(found)) else 0)


def _refuse(given: dict[str, Any], why: str) -> None:
    """Refuse options that a group would not look at."""
    idle = [name for name, value in given.items() if value is not None]
    if idle:
        raise ConfigurationException(why.format(", ".join(idle)))


def _refuse_overlap(output: str | None, compare: str | None) -> None:
    """Refuse to write results over those that they are compared with."""
    from engine.files.input_files import refuse_inputs

    if output and compare:
        results = (Path(output) / name for name in RESULTS)
        refuse_inputs(results, (Path(compare),))


def _write_messages(output: str | None, *, as_json: bool) -> None:
    from engine.costs.scenarios import write_messages

    if not output:
        raise ConfigurationException("--output names no directory: say where the messages are to be written")
    files = write_messages(Path(output))
    show(list(map(str, files)), [f"{len(files)} messages written to {output}, with index.json"], as_json=as_json)


def _show_group(group: str, options: Mapping[str, float | None], *, check: bool, as_json: bool) -> None:
    """Measure one group of benchmarks beside their bounds."""
    from engine.catalog import did_you_mean
    from engine.costs import GROUPS, measure
    from engine.costs.measuring import table

    if group not in GROUPS:
        known = (NODES, MESSAGES, *GROUPS)
        raise ConfigurationException(f"no benchmarks called {group}{did_you_mean(group, known)}")
    with _progress(None) as say:
        given = {name: value for name, value in options.items() if value is not None}
        figures = list(_told(measure(group, **given), say))
    typer.echo(json.dumps([figure.data() for figure in figures], indent=2) if as_json else table(figures))
    raise typer.Exit(1 if check and not all(figure.met for figure in figures) else 0)


def _told(figures: Iterable[Measured], say: Say) -> Iterator[Measured]:
    for figure in figures:
        say(f"{figure.group}: {figure.name}")
        yield figure


def _bytes(text: str) -> int:
    """A size as bytes: 4096, 4k and 4KiB are the same."""
    number = text.lower().removesuffix("ib").removesuffix("kb").removesuffix("k")
    if not (number.isascii() and number.isdigit() and len(number) < 10 and int(number)):
        raise ConfigurationException(f"--size {text} is no size: write bytes, as 4096, or KiB, as 4k")
    return int(number) * (1 if number == text else 1024)


def _how(seconds: float | None, runs: int | None, drivers: int | None) -> How:
    from engine.costs.nodes import How

    plain = How()
    how = How(
        plain.seconds if seconds is None else seconds,
        plain.runs if runs is None else runs,
        plain.drivers if drivers is None else drivers,
    )
    _check_seconds(how.seconds)
    if not 1 <= how.runs <= 1000:
        raise ConfigurationException(f"--runs {runs} is no number of runs: say 1 to 1000")
    if not 1 <= how.drivers <= 1000:
        raise ConfigurationException(f"--drivers {drivers} keep nothing busy: say 1 to 1000")
    return how


def _check_seconds(seconds: float) -> None:
    if not 0 < seconds <= 3600:
        raise ConfigurationException(f"--seconds {seconds} is no time to measure for: say more than 0, up to 3600")


def _make_folder(output: str | None) -> None:
    """Make the directory for what is written, before anything is measured for it."""
    if output == "":
        raise ConfigurationException("--output names no directory: say where the results are to be written")
    if output is not None:
        made_folder(Path(output), "results")


def _suite(keys: tuple[Key, ...], how: How, *, bounds: bool) -> Results:
    """Measure these rows, the parallel ones on Spark as well, and the groups of bounds where they are wanted."""
    from datetime import UTC, datetime

    from engine.costs import measure
    from engine.costs.measuring import machine
    from engine.costs.results import Results
    from engine.costs.spark import parallel

    started, on_spark = datetime.now(UTC).isoformat(timespec="seconds"), parallel(keys)
    reason, versions = _spark() if on_spark else ("", {})
    with _progress(len(keys) + len(on_spark)) as say:
        rows = tuple(_rows(keys, on_spark, how, reason, say))
        found = tuple(_told(measure(), say)) if bounds else ()
    options = asdict(how) | {"brokers": True, "scenarios": list(dict.fromkeys(key.scenario for key in keys))}
    return Results(machine() | versions, started, options, rows, found)


def _rows(keys: tuple[Key, ...], on_spark: tuple[Key, ...], how: How, reason: str, say: Say) -> Iterator[Row]:
    from engine.costs import nodes, spark
    from engine.costs.results import run_on

    for row in itertools.chain(nodes.rows(keys, how), spark.rows(on_spark, how, reason)):
        say(f"{row.key.scenario}{run_on(row.place)}, {row.key.message_bytes:,} bytes")
        yield row


def _spark() -> tuple[str, dict[str, str]]:
    """Returns the reason why Spark is not there, or its versions."""
    from engine.costs.spark import versions

    try:
        return "", versions()
    except ConfigurationException as error:
        return error.text, {}


@contextmanager
def _progress(total: int | None) -> Iterator[Say]:
    """Yields what says how far it is, on stderr and only if a person is looking."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("starting", total=total)

        def say(what: str) -> None:
            shown.update(task, advance=1, description=what)

        yield say


def _show(found: Results, old: Results | None, output: str | None, *, as_json: bool) -> None:
    """Print the results, and write them down where that is wanted."""
    from engine.costs.report.earlier_results import changes_table, compare, results_json
    from engine.costs.report.page import html
    from engine.costs.report.tables import rows_csv, tables
    from engine.files.output_files import OutputFolder

    compared = None if old is None else compare(old, found)
    if output is not None:
        texts = (results_json(found), rows_csv(found), html(found, compared))
        with closing(OutputFolder(Path(output))) as folder:
            for name, text in zip(RESULTS, texts, strict=True):
                folder.add((name,), text.encode("utf-8"))
            folder.publish()
    if as_json:
        typer.echo(_json(found, compared))
        return
    if sys.stdout.isatty():
        from rich.console import Console

        from engine.costs.report.tables import terminal_tables

        console = Console()
        console.print(terminal_tables(found, width=console.width), soft_wrap=True)
    else:
        typer.echo(tables(found, width=WIDTH), nl=False)
    if compared is not None:
        typer.echo("\n" + changes_table(compared), nl=False)
    if output is not None:
        typer.echo(f"\nWritten to {output}: results.json, rows.csv and report.html")


def _json(found: Results, compared: Comparison | None) -> str:
    if compared is None:
        from engine.costs.report.earlier_results import results_json

        return results_json(found).rstrip("\n")
    data = found.data() | {"compared": {"started": compared.old_started, "warnings": list(compared.warnings)}}
    data["compared"]["changed"] = [
        {"row": asdict(each.row.key), "place": each.row.place, "figure": each.figure}
        | {"old": asdict(each.old), "new": asdict(each.new), "better": each.better}
        for each in compared.flagged
    ]
    return json.dumps(data, indent=1, ensure_ascii=False)
