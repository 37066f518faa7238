"""penstock queue-manager check, backup, restore and upgrade: what keeps the store of a queue manager."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from engine.cli.app import Json
from engine.cli.command_failures import visible
from engine.cli.queue_manager import queue_managers
from engine.cli.queue_manager_access import Folder


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
