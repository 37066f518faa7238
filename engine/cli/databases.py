"""penstock data-source and transactions: data sources, listed and tried; units of work in doubt, and their end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli import app
from engine.cli.shared_options import DataSources, Json, opened_some, show
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.databases.coordination import Coordinator, Doubt
    from engine.databases.definitions import Definition
    from engine.databases.sources import Sources


data_source = typer.Typer(help="List and try data sources.", no_args_is_help=True)
app.add_typer(data_source, name="data-source")


@data_source.command("list")
def list_sources(data_sources: DataSources = None, as_json: Json = False) -> None:
    """List data sources with their dialects and the databases that they lead to; passwords are not shown.

    Example: penstock data-source list --data-source STOCK=sqlite:///stock.db
    """
    from engine.databases.definitions import definitions_of

    found = [_data(one, is_default=not place) for place, one in enumerate(definitions_of(data_sources or ()))]
    ends = {True: "  (default)", False: ""}
    lines = (f"{one['name']}  {one['dialect']}  {one['place']}{ends[one['default']]}" for one in found)
    show(found, lines, as_json=as_json)


@data_source.command("test")
def try_source(
    name: Annotated[str, typer.Argument(help="The name of the data source.")],
    data_sources: DataSources = None,
    as_json: Json = False,
) -> None:
    """Connect to a data source and ask it for a row; the exit code is 1 if that fails.

    Example: penstock data-source test STOCK --data-source STOCK=sqlite:///stock.db
    """
    if not data_sources:
        raise ConfigurationException(f"there is no data source {name}: give --data-source {name}=URL")
    with opened_some(data_sources) as sources:
        found = sources.find(name)
        version = found.probe()
        two_phase = found.can_prepare()
    told = {"name": found.name, "dialect": found.driver.name, "version": version, "twoPhase": two_phase}
    prepares = "takes part in two-phase commits" if two_phase else "does not take part in two-phase commits"
    show(told, [f"{found.name}: connected, {found.driver.name} {version}; it {prepares}"], as_json=as_json)


def _data(definition: Definition, *, is_default: bool) -> dict[str, Any]:
    from engine.databases.sources import place_of

    return {
        "name": definition.name,
        "dialect": definition.scheme,
        "place": place_of(definition),
        "default": is_default,
    }


transactions = typer.Typer(
    help="List and resolve units of work over queues and databases that are in doubt.", no_args_is_help=True
)
app.add_typer(transactions, name="transactions")

QueueManagerFolder = Annotated[
    Path,
    typer.Option(
        "--queue-manager",
        metavar="DIR",
        envvar="PENSTOCK_QUEUE_MANAGER",
        help="The folder of the queue manager that coordinates.",
    ),
]


@transactions.command("list")
def list_doubts(queue_manager: QueueManagerFolder, data_sources: DataSources = None, as_json: Json = False) -> None:
    """List what data sources have prepared for this queue manager: committed, refused, alive or undecided.

    Example: penstock transactions list --queue-manager /var/qm --data-source STOCK=@stock.url
    """
    with _coordinating(queue_manager, data_sources) as (coordinator, sources):
        _tell(coordinator.in_doubt(sources), as_json=as_json)


@transactions.command("resolve")
def resolve(queue_manager: QueueManagerFolder, data_sources: DataSources = None, as_json: Json = False) -> None:
    """Commit what was decided, and roll back what was not and whose process is gone; the rest is left alone.

    Example: penstock transactions resolve --queue-manager /var/qm --data-source STOCK=@stock.url
    """
    with _coordinating(queue_manager, data_sources) as (coordinator, sources):
        _tell(coordinator.resolve(sources), as_json=as_json)


@contextmanager
def _coordinating(folder: Path, data_sources: list[str] | None) -> Iterator[tuple[Coordinator, Sources]]:
    from engine.cli.queue_manager_access import connected_or_opened
    from engine.databases.coordination import Coordinator, identity_of

    with opened_some(data_sources) as sources:
        if not folder.is_dir():
            raise ConfigurationException(f"{folder} is no folder of a queue manager: name one that exists")
        with closing(connected_or_opened(folder)) as manager:
            yield Coordinator(manager, identity_of(folder)), sources


def _tell(doubts: Iterable[Doubt], *, as_json: bool) -> None:
    """Print a line for each, or an object a line; nothing where nothing is in doubt."""
    for doubt in doubts:
        branch = doubt.branch
        parts = {"gid": branch.gid, "dataSource": branch.source, "connection": branch.connection}
        told = {**parts, "unit": branch.unit, "state": doubt.state}
        typer.echo(json.dumps(told) if as_json else f"{branch.source}  {doubt.state}  {branch.gid}")
