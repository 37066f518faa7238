"""penstock purge: a queue without its messages."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from engine.cli import app
from engine.cli.queue_manager_access import Reach, reached
from engine.cli.shared_options import Json


@app.command()
def purge(
    queue: Annotated[str, typer.Argument(help="The queue.")],
    queue_manager: Reach = None,
    as_json: Json = False,
) -> None:
    """Remove the messages of a queue.

    Example: penstock purge ORDERS --queue-manager qm
    """
    with reached(queue_manager) as manager:
        removed = manager.purge(queue)
    if as_json:
        typer.echo(json.dumps({"queue": queue, "removed": removed}))
    else:
        typer.echo(f"{queue}: {removed:,} removed")
