"""penstock costs: what things cost, measured here and now beside their bounds."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from engine.cli.app import Json, app


@app.command()
def costs(
    group: Annotated[str | None, typer.Argument(help="Which benchmarks; none: all.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 if a bound is not met.")] = False,
    as_json: Json = False,
) -> None:
    """Measure CPU side by side with programs written by hand for the same work, and compare with the bounds."""
    from engine.catalog import did_you_mean
    from engine.costs.bounds import table
    from engine.costs.suite import GROUPS, measure
    from engine.errors import ConfigurationException

    if group is not None and group not in GROUPS:
        raise ConfigurationException(f"no benchmarks called {group}{did_you_mean(group, tuple(GROUPS))}")
    figures = []
    for figure in measure(group):
        figures.append(figure)
        if sys.stderr.isatty():
            typer.echo(f"\r\033[K{len(figures)} measured: {figure.name}", nl=False, err=True)
    if sys.stderr.isatty():
        typer.echo("\r\033[K", nl=False, err=True)
    typer.echo(json.dumps([figure.data() for figure in figures], indent=2) if as_json else table(figures))
    raise typer.Exit(1 if check and not all(figure.met for figure in figures) else 0)
