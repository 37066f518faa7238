"""penstock browse: the messages of a queue, which stay there."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from engine.cli import app
from engine.cli.get import form
from engine.cli.queue_manager_access import KeyStore, Reach, User, reached
from engine.cli.shared_options import Selector


@app.command()
def browse(
    queue: Annotated[str, typer.Argument(help="The queue.")],
    selector: Selector = "",
    queue_manager: Reach = None,
    user: User = "",
    _key_store: KeyStore = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a message as a line of JSON.")] = False,
) -> None:
    """Show the messages of a queue in the order in which they would be got.

    Example: penstock browse ORDERS --json
    """
    out = sys.stdout.buffer
    with reached(queue_manager, user) as manager:
        for arrival in manager.cursor(queue, selector):
            out.write(form(arrival, as_json=as_json))
    out.flush()
