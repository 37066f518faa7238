"""penstock deploy, undeploy and rollback: what a broker runs, changed everywhere at once or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli import app
from engine.cli.shared_options import BrokerName, GroupName, Json, OwnNodes, SomeGroup, known_flows, show
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
    from engine.broker.administration import broker_of
    from engine.broker.changes import group_for
    from engine.broker.definition import FlowUse
    from engine.broker.deployment import defined, deployed
    from engine.broker.file_reader import definition_of
    from engine.broker.flow_builds import flow_files
    from flows.files import own_nodes

    found, own = broker_of(name), own_nodes(nodes or ())
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
    from engine.broker.administration import broker_of
    from engine.broker.changes import undeployed

    found = broker_of(name)
    _carried(found, lambda state: undeployed(state, flows, group), "undeploy", dry_run=dry_run, as_json=as_json)


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
    from engine.broker.administration import broker_of
    from engine.broker.changes import check_group, group_for, rolled_back

    found = broker_of(name)

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
    from engine.broker.repository.repository import Change

    def change(planned: Planned) -> Change:
        said = [f"{c.sign}{c.group}/{c.flow}" for c in planned.changes if c.sign != "="]
        said += [other.partition(":")[0].replace(" ", "", 1) for other in planned.others]
        return Change(action, ", ".join(said) or "nothing that runs")

    planned = found.change(plan, change, dry_run=dry_run)
    lines = [*map(str, planned.changes), *planned.others] or ["nothing changes"]
    if not dry_run:
        lines.append(f"deployed: {planned.after.digest[:16]}")
    show(planned.as_data() | {"dryRun": dry_run}, lines, as_json=as_json)
