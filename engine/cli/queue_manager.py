"""penstock queue-manager: queue managers made, started, stopped, looked at, checked, and kept."""

from __future__ import annotations

import json
import re
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from engine.cli import app
from engine.cli.command_failures import visible
from engine.cli.queue_manager_access import PATIENCE, Folder, KeyStore, reached
from engine.cli.shared_options import Json
from engine.errors import ConfigurationException
from flows.content_filters import filtering

if TYPE_CHECKING:
    from collections.abc import Iterator


queue_managers = typer.Typer(
    name="queue-manager",
    help="Make, start, stop, examine and keep queue managers, each a folder.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(queue_managers)

_TURN: Final = 0.0005  # seconds after which the thread that serves clients has its turn beside the one that writes
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@queue_managers.command()
def create(
    folder: Folder,
    name: Annotated[str, typer.Option(help="The name of the queue manager.")] = "QM",
    max_size: Annotated[str, typer.Option(help="How large its store may grow, such as 16M or 4G.")] = "",
) -> None:
    """Make a queue manager in a folder.

    Example: penstock queue-manager create qm --name ORDERS --max-size 4G
    """
    from engine.mq import QueueManager

    QueueManager.create(folder, name=name, max_size=_size(max_size))
    typer.echo(f"queue manager {name} is in {folder}")


@queue_managers.command()
def start(
    folder: Folder,
    socket_group: Annotated[
        str, typer.Option(metavar="GROUP", help="A group whose users may connect as well; otherwise nobody else can.")
    ] = "",
    _key_store: KeyStore = None,
) -> None:
    """Run a queue manager for other processes until it is told to stop.

    It prints a line with `ready` when it takes connections, and ends in order at SIGTERM or `queue-manager stop`.

    Example: penstock queue-manager start qm &
    """
    import logging

    from engine.mq import QueueManager
    from engine.mq.server import Server

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    with closing(filtering(QueueManager.open(folder, wait=PATIENCE))) as manager:
        log = logging.getLogger("penstock.queues")
        log.addHandler(logging.StreamHandler())
        log.setLevel(logging.INFO)
        server = Server(manager, folder, group=socket_group)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: server.stop())
        manager.when_ended = server.stop
        sys.setswitchinterval(_TURN)
        typer.echo(f"queue manager {manager.name} is ready in {folder}")
        server.serve()
        manager.check()  # a disk that failed has ended it


@queue_managers.command()
def stop(folder: Folder) -> None:
    """End the process that serves a queue manager, in order, and wait until it has ended.

    Example: penstock queue-manager stop qm
    """
    from engine.mq.client import Client

    with closing(Client(folder)) as client:
        client.stop()


@queue_managers.command()
def display(folder: Folder, as_json: Json = False) -> None:
    """Show the queues of a queue manager with their depths.

    Example: penstock queue-manager display qm
    """
    with reached(folder) as manager:
        shown = [{"queue": name, "depth": manager.depth(name)} for name in manager.names()]
        name = manager.name
    if as_json:
        typer.echo(json.dumps({"queue_manager": name, "queues": shown}, indent=2))
        return
    width = max((len(str(row["depth"])) for row in shown), default=0)
    typer.echo(f"queue manager {name}")
    for row in shown:
        typer.echo(f"  {row['depth']:>{width}}  {row['queue']}")


@queue_managers.command()
def dump(folder: Folder, as_json: Json = False) -> None:
    """Show the queues of a queue manager and the ids of the messages on them.

    Example: penstock queue-manager dump qm --json
    """
    with reached(folder) as manager:
        for queue in manager.names():
            if not as_json:
                typer.echo(f"{queue} ({manager.depth(queue)})")
            for line in _ids(manager, queue, as_json=as_json):
                typer.echo(line)


def _ids(manager: Any, queue: str, *, as_json: bool) -> Iterator[str]:
    for descriptor, body in manager.cursor(queue, examines=True):
        msg_id = descriptor.msg_id.hex()
        if as_json:
            said = {"queue": queue, "msg_id": msg_id, "persistence": descriptor.persistence, "length": len(body)}
            yield json.dumps(said)
        else:
            yield f"  {msg_id}  {len(body)} bytes{', persistent' if descriptor.persistence else ''}"


def _size(text: str) -> int | None:
    if not text:
        return None
    found = re.fullmatch(r"([0-9]+)([KMGT]?)B?", text.strip().upper())
    if found is None:
        raise ConfigurationException(f"--max-size {text!r:.40} is no size: write a number of bytes, or one like 16M")
    return int(found[1]) * _UNITS[found[2]]


@queue_managers.command()
def check(folder: Folder, as_json: Json = False) -> None:
    """Read all that a queue manager keeps; the exit code is 1 at damage.

    Every record is held against its checksum, ids and counts against the messages; the queue manager may be running.

    Example: penstock queue-manager check qm
    """
    from engine.mq.store.checking import check as problems_of

    problems = problems_of(folder)
    if as_json:
        typer.echo(json.dumps({"problems": problems}, indent=2))
    elif not problems:
        typer.echo(f"{folder} is as it was written")
    for problem in problems:
        typer.echo(visible(f"penstock: {folder}: {problem}; restore a backup, or see what dump still shows"), err=True)
    raise typer.Exit(1 if problems else 0)


@queue_managers.command()
def backup(
    folder: Folder,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The folder of the backup, which is not there yet.")],
) -> None:
    """Copy what a queue manager keeps, while it runs.

    The copy is what was committed at one moment; non-persistent messages are no part of it.

    Example: penstock queue-manager backup qm backups/monday
    """
    from engine.mq.store.copying import back_up

    back_up(folder, output)
    typer.echo(f"{folder} is backed up in {output}")


@queue_managers.command()
def restore(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the queue manager, not there yet.")],
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="The folder of the backup.")],
) -> None:
    """Make a queue manager of a backup.

    Example: penstock queue-manager restore qm backups/monday
    """
    from engine.mq.store.copying import restore as restore_from

    restore_from(source, folder)
    typer.echo("restored")


@queue_managers.command()
def upgrade(folder: Folder) -> None:
    """Bring the store of a queue manager that has ended to the format of this Penstock; a backup is made before.

    Example: penstock queue-manager upgrade qm
    """
    from engine.mq.store.copying import upgrade as upgrade_store

    made = upgrade_store(folder)
    if made is None:
        typer.echo(f"{folder} has the format of this Penstock already")
    else:
        typer.echo(f"{folder} is upgraded; as it was, it is in {made}")
