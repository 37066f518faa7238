"""penstock flow: flow files drawn and checked; the flows of a broker listed, started and stopped."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli import app
from engine.cli.shared_options import (
    BrokerName,
    DataSources,
    Json,
    OwnNodes,
    SomeFlow,
    SomeGroup,
    broker_named,
    opened,
    switch_flows,
)
from engine.cli.shared_options import show as show_rows
from engine.errors import ConfigurationException, Problem

if TYPE_CHECKING:
    from engine.broker.state import DeployedUse, GroupState
    from engine.databases.definitions import Definition
    from engine.databases.sources import Sources
    from flows.files import Loaded


flow = typer.Typer(help="Draw and check flow files.", no_args_is_help=True)
app.add_typer(flow, name="flow")


@flow.command()
def show(
    file: Annotated[str, typer.Argument(help="The flow file.")],
    svg: Annotated[Path | None, typer.Option(help="Write a picture to this file instead.")] = None,
    ascii_: Annotated[bool, typer.Option("--ascii", help="Draw with plain characters.")] = False,
    nodes: OwnNodes = None,
    as_json: Json = False,
) -> None:
    """Draw the graph of a flow in the terminal, or as an SVG picture.

    Example: penstock flow show flows/samples/orders/orders.yaml --svg orders.svg
    """
    from engine.flow.definition import canonical
    from engine.flow.label_routes import label_routes
    from engine.node import node_catalog
    from flows.drawing import draw_text
    from flows.files import load_nodes, read_file
    from flows.label_names import label_names

    load_nodes(nodes or ())
    reading = read_file(file)
    if reading.flow is None:
        raise ConfigurationException(f"{file} holds no flow that could be drawn", reading.problems)
    shown = reading.flow
    if reading.problems:
        text = "cannot be read as a whole, so that something may be missing here"
        typer.echo(f"penstock: {file} {text}: see penstock flow lint {file}", err=True)
    if as_json:
        typer.echo(json.dumps(json.loads(canonical(shown)), indent=2))
    elif svg is not None:
        from engine.files.input_files import refuse_inputs
        from engine.files.output_files import write_file
        from flows.files import load
        from flows.layout import layout_file, layout_of
        from flows.programs import files_read
        from flows.svg import draw_svg

        layout, problems = layout_of(file)
        if problems:
            raise ConfigurationException(f"the layout of {file} cannot be used", problems)
        whole = load(file)
        read = (file, layout_file(file), *files_read(shown, *whole.subflows.values()), *(nodes or ()))
        refuse_inputs((svg,), map(Path, read))
        write_file(svg, draw_svg(shown, layout, labels=label_names(shown)))
        typer.echo(f"{svg}: {len(shown.nodes)} nodes, {len(shown.wires)} wires")
    else:
        unicode = not ascii_ and (sys.stdout.encoding or "").lower().startswith("utf")
        width = shutil.get_terminal_size().columns
        routes = tuple(label_routes(shown, node_catalog, label_names(shown)))
        typer.echo(draw_text(shown, width, unicode=unicode, routes=routes))


@flow.command()
def lint(
    paths: Annotated[
        list[str],
        typer.Argument(help="Flow files, broker files, and folders of flow files; what they use is found beside them."),
    ],
    nodes: OwnNodes = None,
    data_sources: DataSources = None,
    as_json: Json = False,
) -> None:
    """Everything that is wrong with flow files, found without running them; the exit code is 1 if there is anything.

    Files that are named are deployed together, and so are the flows of a broker file; each flow file in a folder is one
    that could be deployed by itself. Of the data sources of --data-source and broker files it is told whose driver is
    missing, and where a coordinated flow has no two-phase commit; nothing is connected to, and no password is read.

    Example: penstock flow lint flows --data-source STOCK=sqlite:///stock.db
    """
    from engine.flow.lint import notes
    from flows.files import load, load_nodes
    from flows.label_names import label_names
    from flows.programs import problems_of

    load_nodes(nodes or ())
    problems: set[Problem] = set()
    known: set[Problem] = set()
    for files, of_broker in _deployed_together(paths):
        loaded = load(*files)
        flows = (*loaded.flows, *loaded.subflows.values())
        problems.update(loaded.lint(labels=label_names), problems_of(*flows))
        known.update(notes(*flows))
        with opened(data_sources, of_broker) as sources:
            if sources is not None:
                found, said = _of_data_sources(loaded, sources)
                problems.update(found)
                known.update(said)
    listed = sorted(problems)
    show_rows([asdict(problem) for problem in listed], (problem.render() for problem in listed), as_json=as_json)
    for note in () if as_json else sorted(known):
        typer.echo(note.render(), err=True)
    raise typer.Exit(1 if problems else 0)


def _of_data_sources(loaded: Loaded, sources: Sources) -> tuple[set[Problem], set[Problem]]:
    """Returns the problems of data sources, and notes on them, for flows that compile."""
    from engine.flow.definition import expand
    from flows.data_sources import missing_drivers, notes_of, uncoordinated
    from flows.programs import binder

    problems, known = set(missing_drivers(sources)), set[Problem]()
    for flow in loaded.flows:
        try:
            whole = expand(flow, loaded.subflows)
            routines = binder(whole).routines
            problems.update(uncoordinated(whole, routines, sources))
            known.update(notes_of(whole, routines, sources))
        except ConfigurationException:  # it is told of already
            continue
    return problems, known


def _deployed_together(paths: list[str]) -> Iterator[tuple[list[str], tuple[Definition, ...]]]:
    """The files that are named, those of each broker with its data sources, and each of those that folders hold."""
    from engine.broker.file_reader import definition_of
    from engine.broker.flow_builds import flow_files
    from engine.databases.definitions import definitions_in
    from flows.files import ENDINGS

    files = [path for path in paths if not Path(path).is_dir()]
    brokers = {path: found for path in files if path.endswith(ENDINGS) and (found := definition_of(path)) is not None}
    named = [path for path in files if path not in brokers]
    if named:
        yield named, ()
    for broker in brokers.values():
        sources = definitions_in(broker.data_sources)
        together = list(dict.fromkeys(use.file for use in broker.flows))
        yield together, tuple(replace(one, password=None) for one in sources)
    for folder in (path for path in paths if Path(path).is_dir()):
        yield from (([file], ()) for file in flow_files((folder,)))


@flow.command("list")
def list_(name: BrokerName, flow: SomeFlow = "", group: SomeGroup = "", as_json: Json = False) -> None:
    """List the flows of a broker: whether they are running or stopped, and how many instances they have.

    Example: penstock flow list shop
    """
    from engine.broker.changes import check_group, uses_of
    from engine.broker.overview import standstills

    found = broker_named(name)
    state, status = found.load("read"), found.status()
    check_group(state, group)
    reasons = {(one.group, one.flow): one.reason for one in standstills(state, status)} if status else {}
    pairs = [(own, use) for own in state.groups for use in own.flows if group in {"", own.name}]
    at_all = status is not None or found.is_foreign
    rows = [
        {
            "group": own.name,
            "flow": use.name,
            "state": "running" if _runs(own, use, reasons, at_all=at_all) else "stopped",
            "reason": reasons.get((own.name, use.name), ""),
            "instances": use.instances,
            "how": use.how,
            "reads": list(use.reads),
            "content": use.content,
        }
        for own, use in (uses_of(state, flow, group) if flow else pairs)
    ]
    show_rows(rows, [_line(row) for row in rows], as_json=as_json)


def _runs(group: GroupState, use: DeployedUse, reasons: dict[tuple[str, str], str], *, at_all: bool) -> bool:
    return at_all and group.running and use.running and (group.name, use.name) not in reasons


def _line(row: dict[str, Any]) -> str:
    why = f", as {row['reason']}" if row["reason"] else ""
    return f"{row['group']}/{row['flow']}: {row['state']}, {row['how']}{why}"


@flow.command()
def start(name: BrokerName, flow: SomeFlow = "", group: SomeGroup = "", as_json: Json = False) -> None:
    """Start a flow of a broker, or all of them; also a group that was stopped as it kept dying.

    Example: penstock flow start shop orders
    """
    _switch(name, flow, group, running=True, as_json=as_json)


@flow.command()
def stop(name: BrokerName, flow: SomeFlow = "", group: SomeGroup = "", as_json: Json = False) -> None:
    """Stop a flow of a broker, or all of them; messages in hand are finished, others stay on their queues.

    Example: penstock flow stop shop orders
    """
    _switch(name, flow, group, running=False, as_json=as_json)


def _switch(name: str, flow: str, group: str, *, running: bool, as_json: bool) -> None:
    action, done = ("start", "started") if running else ("stop", "stopped")
    planned = switch_flows(name, [flow] if flow else [], group, action, running=running)
    rows = [{"group": c.group, "flow": c.flow, "state": "running" if running else "stopped"} for c in planned.changes]
    lines = [f"{c.group}/{c.flow}: {done}" for c in planned.changes] or [f"{flow or 'all flows'}: {done} already"]
    show_rows(rows, lines, as_json=as_json)
