"""penstock stats, top and queue top: what flows and queues have done, and what they and processes do now."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, NoReturn, TypeVar

import typer

from engine.cli import app
from engine.cli.queue_manager_access import Reach, reached
from engine.cli.shared_options import BrokerName, Json, SomeFlow, SomeGroup, broker_named, show
from engine.errors import ConfigurationException

Found = TypeVar("Found")
Lines = Callable[[Found, Found | None, float], list[str]]


@app.command()
def stats(
    name: BrokerName,
    flow: SomeFlow = "",
    level: Annotated[
        str, typer.Option(help="Count from now on: none, basic (each flow), or nodes (each node too).")
    ] = "",
    origin: Annotated[
        str, typer.Option(help="Keep records apart by accounting origin: basic (IBM's word), or none.")
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
    from engine.broker.changes import check_group, uses_of
    from engine.broker.statistics.snapshots import records_of

    _refuse_two_forms({"--json": as_json, "--prometheus": prometheus, "--xml": xml, "--csv": csv})
    found = broker_named(name)
    if level or origin:
        _switch(name, flow, group, level, origin, as_json=as_json)
        return
    state = found.load("read")
    check_group(state, group)
    if flow:
        uses_of(state, flow, group)
    records = list(records_of(found.folder, state, flow, group))
    if prometheus:
        from engine.broker.statistics.records import exposition

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


def _refuse_two_forms(asked: dict[str, bool]) -> None:
    if len(forms := [option for option, is_asked in asked.items() if is_asked]) > 1:
        raise ConfigurationException(f"{' and '.join(forms)} are forms of the same records: leave out all but one")


def _switch(name: str, flow: str, group: str, level: str, origin: str, *, as_json: bool) -> None:
    from engine.broker.state import ORIGINS, STATISTICS_LEVELS
    from engine.broker.statistics.snapshots import count_otherwise

    for option, value, known in (("level", level, STATISTICS_LEVELS), ("origin", origin, ORIGINS)):
        if value and value not in known:
            raise ConfigurationException(f"--{option} {value} is none of {', '.join(known)}")
    values = ({"statistics": level} if level else {}) | ({"by_origin": origin == "basic"} if origin else {})
    said = " ".join(word for word in (level, f"by origin {origin}" if origin else "") if word)
    planned = count_otherwise(broker_named(name), [flow] if flow else [], group, said, values)
    asked = ({"level": level} if level else {}) | ({"origin": origin} if origin else {})
    rows = [{"group": changed.group, "flow": changed.flow, **asked} for changed in planned.changes]
    lines = [f"{row['group']}/{row['flow']}: statistics {said}" for row in rows]
    show(rows, lines or [f"{flow or 'all flows'}: statistics {said} already"], as_json=as_json)


def _for(flow: dict[str, Any]) -> str:
    """Returns for whom messages are counted, where that is somebody."""
    return f" for {flow['AccountingOrigin']}" if flow["AccountingOrigin"] != "Anonymous" else ""


def _lines(records: list[dict[str, Any]]) -> list[str]:
    lines = []
    for record in records:
        said = record["WMQIStatisticsAccounting"]
        flow = said["MessageFlow"]
        count = flow["TotalInputMessages"]
        cpu = flow["TotalCPUTime"] / count if count else 0
        name = f"{flow['ExecutionGroupName']}/{flow['MessageFlowName']}{_for(flow)}"
        lines.append(
            f"{said['RecordType']:8} {name}: {count:,} messages,"
            f" {flow['TotalNumberOfMessagesWithErrors']:,} with errors, {cpu:,.0f} µs of CPU each,"
            f" {flow['NumberOfThreadsInPool']} instances"
        )
        lines += [
            f"           {node['Label']} ({node['Type']}): {node['CountOfInvocations']:,} invocations,"
            f" {node['TotalCPUTime'] / max(1, node['CountOfInvocations']):,.0f} µs of CPU each"
            for node in said["Nodes"]
        ]
    return lines


@app.command()
def top(
    name: BrokerName,
    interval: Annotated[float, typer.Option(min=0.1, help="Seconds between looks.")] = 2.0,
    as_json: Json = False,
) -> None:
    """Show a broker's processes, queues and message rates until interrupted; --json: once.

    Example: penstock top shop --json
    """
    from engine.broker.overview import looked

    found = broker_named(name)
    found.load("read")
    now = looked(found)
    if as_json or not sys.stdout.isatty():
        show(now, _overview(now, None, interval), as_json=as_json)
        return
    _show_again(lambda: looked(found), _overview, now, interval)


def _show_again(look: Callable[[], Found], lines: Lines[Found], now: Found, interval: float) -> NoReturn:
    """Shows what was found in place of what was shown before, and at each interval what is found then."""
    before: Found | None = None
    while True:
        typer.echo("\x1b[H\x1b[2J" + "\n".join(lines(now, before, interval)))
        time.sleep(interval)
        before, now = now, look()


def _overview(now: dict[str, Any], before: dict[str, Any] | None, interval: float) -> list[str]:
    runs = "running" if now["running"] else "stopped"
    lines = [f"broker {now['broker']}: {runs}"]
    lines += [
        f"  {one['process'] or '-':>8} {one['memoryMiB']:7.0f} MiB  {one['name']}: {one['state']}"
        for one in now["processes"]
    ]
    last = {(flow["group"], flow["flow"]): flow["messages"] for flow in (before or {}).get("flows", ())}
    for flow in now["flows"]:
        since = flow["messages"] - last.get((flow["group"], flow["flow"]), flow["messages"])
        rate = f", {since / interval:,.0f}/s" if before else ""
        lines.append(
            f"  {flow['group']}/{flow['flow']}: {flow['messages']:,} messages, {flow['errors']:,} with errors{rate}"
        )
    return [*lines, *(f"  {queue['queue']}: {queue['depth']:,}" for queue in now["queues"])]


queues = typer.Typer(
    name="queue", help="Look at the queues of a queue manager.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(queues)


@queues.callback()
def queue() -> None:
    """Look at the queues of a queue manager."""


@queues.command("top")
def queue_top(
    queue_manager: Reach = None,
    interval: Annotated[float, typer.Option(min=0.1, help="Seconds between looks.")] = 2.0,
    as_json: Json = False,
) -> None:
    """Show depths, rates and counts of queues until interrupted; --json: once.

    Example: penstock queue top --queue-manager qm --json
    """
    with reached(queue_manager) as manager, suppress(KeyboardInterrupt):
        now = manager.statistics()
        if as_json:
            typer.echo(json.dumps(now))
            return
        if not sys.stdout.isatty():
            typer.echo("\n".join(queue_lines(now, None, interval)))
            return
        _show_again(manager.statistics, queue_lines, now, interval)


def queue_lines(now: list[dict[str, Any]], before: list[dict[str, Any]] | None, interval: float) -> list[str]:
    """Returns a line for each queue, those at which most is done first; rates are since the look before."""
    heads = ("depth", "uncomm.", "put/s", "got/s", "puts", "gets", "copies", "no copy", "expired", "readers")
    shown = [f"{'queue':<48}" + "".join(f"{head:>10}" for head in heads)]
    last = {one["queue"]: one for one in before or ()}
    rated = [(one, *_rates(one, last.get(one["queue"]), interval)) for one in now]
    for one, put, got in sorted(rated, key=lambda each: (-each[1] - each[2], each[0]["queue"])):
        figures = (one["depth"], one["uncommitted"], put, got, sum(one["puts"]), sum(one["gets"]))
        rest = (one["streamed"], one["stream_failed"], one["expired"], one["readers"])
        shown.append(f"{one['queue']:<48}" + "".join(f"{figure:>10,.0f}" for figure in (*figures, *rest)))
    return shown


def _rates(one: dict[str, Any], before: dict[str, Any] | None, interval: float) -> tuple[float, float]:
    """Returns how many messages a second were put and got since the look before."""
    if before is None:
        return 0.0, 0.0
    put, got = ((sum(one[name]) - sum(before[name])) / interval for name in ("puts", "gets"))
    return put, got
