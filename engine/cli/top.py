"""penstock top: the processes of a broker, and what its flows do."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli import app
from engine.cli.shared_options import BrokerName, Json, show

if TYPE_CHECKING:
    from engine.broker.administration import Broker


@app.command()
def top(
    name: BrokerName,
    interval: Annotated[float, typer.Option(min=0.1, help="Seconds between looks.")] = 2.0,
    as_json: Json = False,
) -> None:
    """Show a broker's processes, queues and message rates until interrupted; --json: once.

    Example: penstock top shop --json
    """
    from engine.broker.administration import broker_of
    from engine.broker.overview import looked

    found = broker_of(name)
    found.load("read")
    now = looked(found)
    if as_json or not sys.stdout.isatty():
        show(now, _lines(now, {}, interval), as_json=as_json)
        return
    before: dict[str, Any] = {}
    while True:
        typer.echo("\x1b[H\x1b[2J" + "\n".join(_lines(now, before, interval)))
        time.sleep(interval)
        before, now = now, _looked_again(found)


def _looked_again(found: Broker) -> dict[str, Any]:
    from engine.broker.overview import looked

    return looked(found)


def _lines(now: dict[str, Any], before: dict[str, Any], interval: float) -> list[str]:
    runs = "running" if now["running"] else "stopped"
    lines = [f"broker {now['broker']}: {runs}"]
    lines += [
        f"  {one['process'] or '-':>8} {one['memoryMiB']:7.0f} MiB  {one['name']}: {one['state']}"
        for one in now["processes"]
    ]
    last = {(flow["group"], flow["flow"]): flow["messages"] for flow in before.get("flows", ())}
    for flow in now["flows"]:
        since = flow["messages"] - last.get((flow["group"], flow["flow"]), flow["messages"])
        rate = f", {since / interval:,.0f}/s" if before else ""
        lines.append(
            f"  {flow['group']}/{flow['flow']}: {flow['messages']:,} messages, {flow['errors']:,} with errors{rate}"
        )
    return [*lines, *(f"  {queue['queue']}: {queue['depth']:,}" for queue in now["queues"])]
