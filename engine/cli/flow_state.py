"""penstock flow list, start and stop: the flows of a broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.cli.app import Json
from engine.cli.broker_options import BrokerName, SomeFlow, SomeGroup, show
from engine.cli.flow import flow as flow_commands

if TYPE_CHECKING:
    from engine.broker.changes import Planned
    from engine.broker.state import DeployedUse, GroupState


@flow_commands.command("list")
def list_(name: BrokerName, flow: SomeFlow = "", group: SomeGroup = "", as_json: Json = False) -> None:
    """List the flows of a broker: whether they are running or stopped, and how many instances they have.

    Example: penstock flow list shop
    """
    from engine.broker.administration import broker_of
    from engine.broker.changes import uses_of
    from engine.broker.overview import standstills

    found = broker_of(name)
    state, status = found.load("read"), found.status()
    reasons = {(one.group, one.flow): one.reason for one in standstills(state, status)} if status else {}
    pairs = [(own, use) for own in state.groups for use in own.flows if group in {"", own.name}]
    rows = [
        {
            "group": own.name,
            "flow": use.name,
            "state": "running" if _runs(own, use, status, reasons) else "stopped",
            "reason": reasons.get((own.name, use.name), ""),
            "instances": use.instances,
            "how": use.how,
            "reads": list(use.reads),
            "content": use.content,
        }
        for own, use in (uses_of(state, flow, group) if flow else pairs)
    ]
    show(rows, [_line(row) for row in rows], as_json=as_json)


def _runs(
    group: GroupState, use: DeployedUse, status: dict[str, Any] | None, reasons: dict[tuple[str, str], str]
) -> bool:
    return status is not None and group.running and use.running and (group.name, use.name) not in reasons


def _line(row: dict[str, Any]) -> str:
    why = f", as {row['reason']}" if row["reason"] else ""
    return f"{row['group']}/{row['flow']}: {row['state']}, {row['how']}{why}"


@flow_commands.command()
def start(name: BrokerName, flow: SomeFlow = "", group: SomeGroup = "", as_json: Json = False) -> None:
    """Start a flow of a broker, or all of them; also a group that was stopped as it kept dying.

    Example: penstock flow start shop orders
    """
    _switch(name, flow, group, running=True, as_json=as_json)


@flow_commands.command()
def stop(name: BrokerName, flow: SomeFlow = "", group: SomeGroup = "", as_json: Json = False) -> None:
    """Stop a flow of a broker, or all of them; messages in hand are finished, others stay on their queues.

    Example: penstock flow stop shop orders
    """
    _switch(name, flow, group, running=False, as_json=as_json)


def _switch(name: str, flow: str, group: str, *, running: bool, as_json: bool) -> None:
    from engine.broker.administration import broker_of
    from engine.broker.changes import switched
    from engine.broker.repository.repository import Change

    done = "started" if running else "stopped"

    def change(planned: Planned) -> Change:
        return Change("start" if running else "stop", ", ".join(f"{c.group}/{c.flow}" for c in planned.changes))

    planned = broker_of(name).change(
        lambda state: switched(state, [flow] if flow else [], group, running=running),
        change,
        right="operate",
        deploys=False,
    )
    rows = [{"group": c.group, "flow": c.flow, "state": "running" if running else "stopped"} for c in planned.changes]
    lines = [f"{c.group}/{c.flow}: {done}" for c in planned.changes] or [f"{flow or 'all flows'}: {done} already"]
    show(rows, lines, as_json=as_json)
