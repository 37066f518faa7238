"""penstock queue top: the queues of a queue manager, and what is done to them."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from typing import Annotated, Any

import typer

from engine.cli import app
from engine.cli.queue_manager_access import Reach, reached
from engine.cli.shared_options import Json

queues = typer.Typer(
    name="queue", help="Look at the queues of a queue manager.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(queues)


@queues.callback()
def queue() -> None:
    """Look at the queues of a queue manager."""


@queues.command()
def top(
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
            typer.echo("\n".join(lines(now, {}, interval)))
            return
        before: dict[str, dict[str, Any]] = {}
        while True:
            typer.echo("\x1b[H\x1b[2J" + "\n".join(lines(now, before, interval)))
            time.sleep(interval)
            before, now = {one["queue"]: one for one in now}, manager.statistics()


def lines(now: list[dict[str, Any]], before: dict[str, dict[str, Any]], interval: float) -> list[str]:
    """Returns a line for each queue, those at which most is done first; rates are since the look before."""
    heads = ("depth", "uncomm.", "put/s", "got/s", "puts", "gets", "copies", "no copy", "expired", "readers")
    shown = [f"{'queue':<48}" + "".join(f"{head:>10}" for head in heads)]
    rated = [(one, *_rates(one, before.get(one["queue"]), interval)) for one in now]
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
