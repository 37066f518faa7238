"""penstock broker demo: a broker at work, and what it does when a part of it is killed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from engine.cli.app import Json
from engine.cli.broker import broker


@broker.command()
def demo(
    output: Annotated[Path, typer.Option(help="The broker's folder, which is not there yet.")] = Path("out/demo"),
    as_json: Json = False,
) -> None:
    """Make a broker of sample flows, kill one of its groups in the middle of its work, and tell what comes of it.

    Example: penstock broker demo --output out/demo
    """
    from engine.broker.demonstration import demonstrate

    for line in demonstrate(output):
        typer.echo(json.dumps({"line": line}) if as_json else line)
