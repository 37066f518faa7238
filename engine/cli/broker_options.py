"""Options that name a broker, and the printing of results, for all commands of brokers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

import typer


def known_brokers(incomplete: str) -> list[str]:
    """Returns the names of brokers below PENSTOCK_HOME that begin so, for shells that complete them."""
    from engine.broker.folder import known

    return [folder.path.name for folder in known() if folder.path.name.startswith(incomplete)]


def known_flows(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the flows of the broker that is named, for shells that complete them."""
    from engine.broker.administration import broker_of
    from engine.errors import BrokerError

    try:
        groups = broker_of(context.params.get("name") or "").load("read").groups
    except BrokerError:  # there is nothing to choose from
        return []
    names = {use.name for group in groups for use in group.flows}
    return sorted(name for name in names if name.startswith(incomplete))


BrokerName = Annotated[
    str,
    typer.Argument(
        metavar="BROKER", help="A broker's folder, or its name below PENSTOCK_HOME.", autocompletion=known_brokers
    ),
]
GroupName = Annotated[
    str,
    typer.Option("-e", "--group", help="The execution group.  [default: the only one]"),
]
FlowName = Annotated[str, typer.Argument(help="The flow.", autocompletion=known_flows)]
SomeFlow = Annotated[
    str, typer.Argument(metavar="[FLOW]", help="The flow.  [default: all of them]", autocompletion=known_flows)
]
SomeGroup = Annotated[str, typer.Option("-e", "--group", help="The execution group.  [default: all of them]")]


def show(data: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Print data as JSON, or the lines that say the same."""
    if as_json:
        typer.echo(json.dumps(data, indent=2))
        return
    for line in lines:
        typer.echo(line)
