"""penstock data-source: the data sources that commands are given, listed and tried."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli import app
from engine.cli.shared_options import DataSources, Json
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.databases.definitions import Definition

data_source = typer.Typer(help="List and try data sources.", no_args_is_help=True)
app.add_typer(data_source, name="data-source")


@data_source.command("list")
def list_sources(data_sources: DataSources = None, as_json: Json = False) -> None:
    """List data sources with their dialects and the databases that they lead to; passwords are not shown.

    Example: penstock data-source list --data-source STOCK=sqlite:///stock.db
    """
    from engine.databases.definitions import definitions_of

    found = [_data(one, is_default=not place) for place, one in enumerate(definitions_of(data_sources or ()))]
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for one in found:
        typer.echo(f"{one['name']}  {one['dialect']}  {one['place']}{'  (default)' if one['default'] else ''}")


@data_source.command("test")
def try_source(
    name: Annotated[str, typer.Argument(help="The name of the data source.")],
    data_sources: DataSources = None,
    as_json: Json = False,
) -> None:
    """Connect to a data source and ask it for a row; the exit code is 1 if that fails.

    Example: penstock data-source test STOCK --data-source STOCK=sqlite:///stock.db
    """
    from engine.cli.shared_options import opened

    if not data_sources:
        raise ConfigurationException(f"there is no data source {name}: give --data-source {name}=URL")
    with opened(data_sources) as sources:
        assert sources is not None  # some are given
        found = sources.find(name)
        version = found.probe()
        two_phase = found.can_prepare()
    told = {"name": found.name, "dialect": found.driver.name, "version": version, "twoPhase": two_phase}
    if as_json:
        typer.echo(json.dumps(told, indent=2))
        return
    prepares = "takes part in two-phase commits" if two_phase else "does not take part in two-phase commits"
    typer.echo(f"{found.name}: connected, {found.driver.name} {version}; it {prepares}")


def _data(definition: Definition, *, is_default: bool) -> dict[str, Any]:
    from engine.databases.sources import place_of

    return {
        "name": definition.name,
        "dialect": definition.scheme,
        "place": place_of(definition),
        "default": is_default,
    }
