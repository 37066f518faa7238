"""penstock transactions: units of work over queues and databases that are in doubt, listed and resolved."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli import app
from engine.cli.shared_options import DataSources, Json
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.databases.coordination import Coordinator, Doubt
    from engine.databases.sources import Sources

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
    from engine.cli.shared_options import opened
    from engine.databases.coordination import Coordinator, identity_of

    if not data_sources:
        raise ConfigurationException("no data source is named: give --data-source NAME=URL")
    if not folder.is_dir():
        raise ConfigurationException(f"{folder} is no folder of a queue manager: name one that exists")
    with opened(data_sources) as sources, closing(connected_or_opened(folder)) as manager:
        assert sources is not None  # some are given
        yield Coordinator(manager, identity_of(folder)), sources


def _tell(doubts: Iterable[Doubt], *, as_json: bool) -> None:
    """Print a line for each, or an object a line; nothing where nothing is in doubt."""
    for doubt in doubts:
        branch = doubt.branch
        if as_json:
            told = {"gid": branch.gid, "dataSource": branch.source, "connection": branch.connection}
            typer.echo(json.dumps({**told, "unit": branch.unit, "state": doubt.state}))
        else:
            typer.echo(f"{branch.source}  {doubt.state}  {branch.gid}")
