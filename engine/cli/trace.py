"""penstock trace: the user trace of a broker's flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli import app
from engine.cli.shared_options import BrokerName, FlowName, Json, SomeGroup, show
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.broker.changes import Planned


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
    from engine.broker.administration import broker_of
    from engine.broker.changes import switched, uses_of
    from engine.broker.repository.repository import Change
    from engine.broker.state import TRACE_LEVELS
    from engine.broker.tracing import as_data, forget, trace_lines

    found = broker_of(name)
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

    def change(planned: Planned) -> Change:
        return Change("trace", f"{level}: {flow}")

    found.change(lambda now: switched(now, [flow], group, trace=level), change, right="operate", deploys=False)
    show({"flow": flow, "level": level}, [f"{flow}: user trace {level}"], as_json=as_json)
