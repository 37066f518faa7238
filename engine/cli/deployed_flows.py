"""penstock deploy, undeploy, rollback, change-properties, report-properties and trace: the flows of a broker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli import app
from engine.cli.shared_options import (
    BrokerName,
    FlowName,
    GroupName,
    Json,
    OwnNodes,
    SomeGroup,
    broker_named,
    change_flows,
    known_flows,
    pair_of,
    show,
)
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.broker.administration import Broker
    from engine.broker.changes import Planned
    from engine.broker.state import BrokerState

DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would change, and change nothing.")]


@app.command()
def deploy(
    name: BrokerName,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...|DIR", help="Flow files, folders of them, or a broker.yaml.")
    ],
    group: GroupName = "",
    complete: Annotated[
        bool, typer.Option("--complete", help="Take flows out of the group that are not among the files.")
    ] = False,
    dry_run: DryRun = False,
    nodes: OwnNodes = None,
    as_json: Json = False,
) -> None:
    """Deploy flows to a broker, or all that a broker.yaml says; flows of the same names are replaced.

    Running messages finish on what was there before. What does not lint, compile, or find its queues and data sources
    changes nothing.

    Example: penstock deploy shop flows/samples/orders/orders.yaml
    """
    from engine.broker.changes import group_for
    from engine.broker.definition import FlowUse
    from engine.broker.deployment import defined, deployed
    from engine.broker.file_reader import definition_of
    from engine.broker.flow_builds import flow_files
    from flows.files import own_nodes

    found, own = broker_named(name), own_nodes(nodes or ())
    whole = definition_of(files[0]) if len(files) == 1 and Path(files[0]).is_file() else None

    def plan(state: BrokerState) -> Planned:
        if whole is not None:
            if group:
                raise ConfigurationException(f"{files[0]} says itself what is in which group: leave -e out")
            return defined(state, whole, own)
        meant = group_for(state, group)
        uses = [FlowUse(file, meant) for file in flow_files(files)]
        return deployed(state, uses, complete=[meant] if complete else (), own=own)

    _carried(found, plan, "deploy", dry_run=dry_run, as_json=as_json)


@app.command()
def undeploy(
    name: BrokerName,
    flows: Annotated[list[str], typer.Argument(help="The names of flows.", autocompletion=known_flows)],
    group: SomeGroup = "",
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Take flows out of a broker.

    Example: penstock undeploy shop orders
    """
    from engine.broker.changes import undeployed

    _carried(
        broker_named(name), lambda state: undeployed(state, flows, group), "undeploy", dry_run=dry_run, as_json=as_json
    )


@app.command()
def rollback(
    name: BrokerName,
    group: GroupName = "",
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Bring a group back to what was deployed before; again leads one deployment further back.

    Example: penstock rollback shop -e default
    """
    from engine.broker.changes import check_group, group_for, rolled_back

    found = broker_named(name)

    def plan(state: BrokerState) -> Planned:
        check_group(state, group)
        meant = state.group(group_for(state, group))
        before = found.repository.version(meant.name, meant.parent) if meant else None
        if meant is None or before is None:
            raise ConfigurationException(f"there is no earlier deployment of {group or 'the group'} to go back to")
        return rolled_back(state, meant, *before)

    _carried(found, plan, "rollback", dry_run=dry_run, as_json=as_json)


def _carried(
    found: Broker, plan: Callable[[BrokerState], Planned], action: str, *, dry_run: bool, as_json: bool
) -> None:
    def said(planned: Planned) -> str:
        parts = [f"{c.sign}{c.group}/{c.flow}" for c in planned.changes if c.sign != "="]
        parts += [other.partition(":")[0].replace(" ", "", 1) for other in planned.others]
        return ", ".join(parts) or "nothing that runs"

    planned = change_flows(found, plan, action, said, dry_run=dry_run)
    lines = [*map(str, planned.changes), *planned.others] or ["nothing changes"]
    if not dry_run:
        lines.append(f"deployed: {planned.after.digest[:16]}")
    show(planned.as_data() | {"dryRun": dry_run}, lines, as_json=as_json)


@app.command("change-properties")
def change_properties(
    name: BrokerName,
    flow: FlowName,
    values: Annotated[list[str], typer.Argument(metavar="NAME=VALUE...", help="Properties: NAME, or Node.property.")],
    group: SomeGroup = "",
    as_json: Json = False,
) -> None:
    """Change properties of a flow that is deployed; new instances with them start before the old ones stop.

    Example: penstock change-properties shop orders additionalInstances=3 "In.queueName=ORDERS.IN"
    """
    from engine.broker.deployment import changed

    wrong = "{} is no property: write NAME=VALUE, or Node.property=VALUE"
    given = dict(pair_of(text, wrong.format(text)) for text in values)
    found = broker_named(name)

    def plan(state: BrokerState) -> Planned:
        return changed(state, flow, group, given, lambda key: found.repository.contents([key])[key])

    planned = change_flows(found, plan, "change-properties", lambda _: f"{flow}: {', '.join(values)}")
    show(planned.as_data(), [str(c) for c in planned.changes] or ["nothing changes"], as_json=as_json)


@app.command("report-properties")
def report_properties(
    name: BrokerName,
    flow: FlowName,
    group: SomeGroup = "",
    as_json: Json = False,
) -> None:
    """Show the properties of a flow that is deployed, with its nodes', and how its instances run.

    Example: penstock report-properties shop orders
    """
    from engine.broker.changes import uses_of
    from engine.broker.property_report import report

    found = broker_named(name)
    state = found.load("read", group=group, flow=flow)
    pairs = uses_of(state, flow, group)
    contents = found.repository.contents({use.content for _, use in pairs})
    rows = [report(own, use, contents[use.content]) for own, use in pairs]
    lines: list[str] = []
    for row in rows:
        lines.append(f"{row['group']}/{row['flow']}: {row['instances']}")
        lines += [f"  {key}='{value}'" for key, value in row["properties"].items()]
    show(rows if len(rows) > 1 else rows[0], lines, as_json=as_json)


@app.command()
def trace(
    name: BrokerName,
    flow: FlowName,
    level: Annotated[str, typer.Option(help="Trace from now on: none, normal, or debug.")] = "",
    reset: Annotated[bool, typer.Option("--reset", help="Forget what was traced until now.")] = False,
    group: SomeGroup = "",
    as_json: Json = False,
) -> None:
    """Print the user trace of a flow, or switch it with --level.

    Example: penstock trace shop orders --level debug
    """
    from engine.broker.changes import switched, uses_of
    from engine.broker.state import TRACE_LEVELS
    from engine.broker.tracing import as_data, forget, trace_lines

    found = broker_named(name)
    state = found.load("operate" if level or reset else "read", flow=flow, group=group)
    uses = uses_of(state, flow, group)
    for own, use in uses if reset else ():
        forget(found.folder, own.name, use.name)
    if not level:
        traces = [(own.name, use.name, list(trace_lines(found.folder, own.name, use.name))) for own, use in uses]
        rows = [{"group": own, "flow": name, "entries": as_data(lines)} for own, name, lines in traces]
        show(rows, [line for _, _, lines in traces for line in lines], as_json=as_json)
        return
    if level not in TRACE_LEVELS:
        raise ConfigurationException(f"--level {level} is none of {', '.join(TRACE_LEVELS)}")

    def plan(now: BrokerState) -> Planned:
        return switched(now, [flow], group, trace=level)

    change_flows(found, plan, "trace", lambda _: f"{level}: {flow}", deploys=False)
    show({"flow": flow, "level": level}, [f"{flow}: user trace {level}"], as_json=as_json)
