"""penstock change-properties and report-properties: what a broker lays over the properties of its flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli import app
from engine.cli.shared_options import BrokerName, FlowName, Json, SomeGroup, show
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.broker.changes import Planned


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
    from engine.broker.administration import broker_of
    from engine.broker.deployment import changed
    from engine.broker.repository.repository import Change

    given = dict(_value(text) for text in values)
    found = broker_of(name)

    def change(planned: Planned) -> Change:
        return Change("change-properties", f"{flow}: {', '.join(values)}")

    planned = found.change(
        lambda state: changed(state, flow, group, given, lambda key: found.repository.contents([key])[key]), change
    )
    show(planned.as_data(), [str(c) for c in planned.changes] or ["nothing changes"], as_json=as_json)


def _value(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator):
        raise ConfigurationException(f"{text} is no property: write NAME=VALUE, or Node.property=VALUE")
    return name, value


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
    from engine.broker.administration import broker_of
    from engine.broker.changes import uses_of
    from engine.broker.property_report import report

    found = broker_of(name)
    state = found.load("read", group=group, flow=flow)
    pairs = uses_of(state, flow, group)
    contents = found.repository.contents({use.content for _, use in pairs})
    rows = [report(own, use, contents[use.content]) for own, use in pairs]
    lines: list[str] = []
    for row in rows:
        lines.append(f"{row['group']}/{row['flow']}: {row['instances']}")
        lines += [f"  {key}='{value}'" for key, value in row["properties"].items()]
    show(rows if len(rows) > 1 else rows[0], lines, as_json=as_json)
