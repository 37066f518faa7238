"""penstock stats: accounting and statistics of a broker's flows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli.app import Json, app
from engine.cli.broker_options import BrokerName, SomeFlow, SomeGroup, show
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.broker.changes import Planned


@app.command()
def stats(
    name: BrokerName,
    flow: SomeFlow = "",
    level: Annotated[
        str, typer.Option(help="Count from now on: none, basic (each flow), or nodes (each node too).")
    ] = "",
    group: SomeGroup = "",
    prometheus: Annotated[bool, typer.Option("--prometheus", help="Print Prometheus samples.")] = False,
    xml: Annotated[bool, typer.Option("--xml", help="Print the records as IBM's XML, one a line.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the flow level of the records as CSV.")] = False,
    as_json: Json = False,
) -> None:
    """Print what flows have done: since statistics were switched on, and in the last interval of 20 s; or switch them.

    Example: penstock stats shop orders --level nodes
    """
    from engine.broker.administration import broker_of
    from engine.broker.statistics.snapshots import records_of

    found = broker_of(name)
    if level:
        _switch(name, flow, group, level, as_json=as_json)
        return
    state = found.load("read")
    if flow and not state.uses_of(flow, group):
        raise ConfigurationException(f"there is no flow {flow} in {state.name}")
    records = list(records_of(found.folder, state, flow, group))
    if prometheus:
        from engine.broker.statistics.prometheus import exposition

        archives = [one for one in records if one["WMQIStatisticsAccounting"]["RecordType"] == "Archive"]
        typer.echo(exposition(archives), nl=False)
    elif as_json:
        typer.echo(json.dumps(records, indent=2))
    elif xml or csv:
        from engine.broker.statistics.records import as_csv, as_xml

        typer.echo(as_csv(records) if csv else "".join(f"{as_xml(one).decode()}\n" for one in records), nl=False)
    else:
        for line in _lines(records):
            typer.echo(line)


def _switch(name: str, flow: str, group: str, level: str, *, as_json: bool) -> None:
    from engine.broker.administration import broker_of
    from engine.broker.changes import switched
    from engine.broker.repository.repository import Change
    from engine.broker.state import STATISTICS_LEVELS
    from engine.broker.statistics.snapshots import forget

    if level not in STATISTICS_LEVELS:
        raise ConfigurationException(f"--level {level} is none of {', '.join(STATISTICS_LEVELS)}")
    found = broker_of(name)
    before = found.repository.load()

    def change(planned: Planned) -> Change:
        return Change("statistics", f"{level}: " + ", ".join(f"{c.group}/{c.flow}" for c in planned.changes))

    planned = found.change(
        lambda state: switched(state, [flow] if flow else [], group, statistics=level),
        change,
        right="operate",
        deploys=False,
    )
    for changed in planned.changes:
        for _, use in before.uses_of(changed.flow, changed.group):
            forget(found.folder, changed.group, changed.flow, use.statistics)
    rows = [{"group": changed.group, "flow": changed.flow, "level": level} for changed in planned.changes]
    lines = [f"{row['group']}/{row['flow']}: statistics {level}" for row in rows]
    show(rows, lines or [f"{flow or 'all flows'}: statistics {level} already"], as_json=as_json)


def _lines(records: list[dict[str, Any]]) -> list[str]:
    lines = []
    for record in records:
        said = record["WMQIStatisticsAccounting"]
        flow = said["MessageFlow"]
        count = flow["TotalInputMessages"]
        cpu = flow["TotalCPUTime"] / count if count else 0
        lines.append(
            f"{said['RecordType']:8} {flow['ExecutionGroupName']}/{flow['MessageFlowName']}: {count:,} messages,"
            f" {flow['TotalNumberOfMessagesWithErrors']:,} with errors, {cpu:,.0f} µs of CPU each,"
            f" {flow['NumberOfThreadsInPool']} instances"
        )
        lines += [
            f"           {node['Label']} ({node['Type']}): {node['CountOfInvocations']:,} invocations,"
            f" {node['TotalCPUTime'] / max(1, node['CountOfInvocations']):,.0f} µs of CPU each"
            for node in said["Nodes"]
        ]
    return lines
