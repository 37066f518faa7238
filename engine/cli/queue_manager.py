"""penstock queue-manager: queue managers made, started, stopped, looked at, checked, and kept."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Annotated, Any, Final

import typer

import flows
from engine.cli import app
from engine.cli.command_failures import visible
from engine.cli.queue_manager_access import PATIENCE, Folder, KeyStore, reached
from engine.cli.shared_options import Json, show
from engine.errors import ConfigurationException
from flows.content_filters import filtering

queue_managers = typer.Typer(
    name="queue-manager",
    help="Make, start, stop, examine and keep queue managers, each a folder.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(queue_managers)

_TURN: Final = 0.0005  # seconds after which the thread that serves clients has its turn beside the one that writes
_ENDING: Final = 60.0  # seconds in which a process has ended that was told to
_NAP: Final = 0.02
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
    from engine.mq.lock import holder
    from engine.mq.refusals import OBJECT_IN_USE, refusal

    with closing(Client(folder, wait=PATIENCE)) as client:
        process = holder(folder)
        client.stop()
    end = time.monotonic() + _ENDING
    while process and holder(folder) == process:
        if time.monotonic() >= end:
            text = f"process {process} has been told to stop {folder} and has not ended in {_ENDING:.0f} seconds"
            raise refusal(OBJECT_IN_USE, f"{text}: wait for it, or kill it")
        time.sleep(_NAP)


@queue_managers.command()
def display(folder: Folder, as_json: Json = False) -> None:
    """Show the queues of a queue manager with their depths.

    Example: penstock queue-manager display qm
    """
    with reached(folder) as manager:
        shown = [{"queue": name, "depth": manager.depth(name)} for name in manager.names()]
        name = manager.name
    width = max((len(str(row["depth"])) for row in shown), default=0)
    lines = (f"  {row['depth']:>{width}}  {row['queue']}" for row in shown)
    show({"queue_manager": name, "queues": shown}, [f"queue manager {name}", *lines], as_json=as_json)


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
    if found is None or not int(found[1]):
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
    show({"problems": problems}, [] if problems else [f"{folder} is as it was written"], as_json=as_json)
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


ORDERS: Final = 1_000
_KILLED_AFTER: Final = 400
_PATIENCE: Final = 60.0
_PROGRAM: Final = (sys.executable, "-c", "from engine.cli import main; main()")
_QUEUES: Final = ("ORDERS.IN", "ORDERS.ACCEPTED", "ORDERS.AUDIT", "ORDERS.REJECTED")
_ORDER: Final = "<Order><Id>{}</Id><Customer>Ada Lovelace</Customer></Order>"


@queue_managers.command()
def demo(
    output: Annotated[Path, typer.Option(metavar="DIR", help="A folder for the queue manager; it is made.")],
) -> None:
    """Kill a queue manager and a flow in the middle of 1,000 orders, start them again, and count.

    Example: penstock queue-manager demo --output out/queue-demo
    """
    from engine.mq import QueueManager

    folder = output / "queue-manager"
    if folder.exists():
        raise ConfigurationException(f"{folder} is there already: name another folder, or remove it")
    output.mkdir(parents=True, exist_ok=True)
    QueueManager.create(folder, name="DEMO")
    with closing(QueueManager.open(folder)) as manager:
        for queue in _QUEUES:
            manager.define("QLOCAL", queue, {"DEFPSIST": "YES"})
    typer.echo(f"A queue manager is made in {folder}, with the queues {', '.join(_QUEUES)}.")
    with _processes(folder) as running:
        typer.echo("It runs as a process, and the flow samples.orders.Orders on it as another.")
        _put(folder)
        _wait(folder, _KILLED_AFTER)
        for process in running:  # as a power cut would
            process.kill()
    typer.echo(f"In the middle of the {ORDERS:,} orders that were put, both processes are killed (SIGKILL).")
    typer.echo(f"On disk there are now {_depths(folder)}.")
    began = time.monotonic()
    with _processes(folder):
        _wait(folder, ORDERS)
        typer.echo(
            f"Both are started again, and the flow is through with the rest after {time.monotonic() - began:.1f} s."
        )
    typer.echo(f"On disk there are now {_depths(folder)}.")
    _judge({queue: _numbers(folder, queue) for queue in _QUEUES})


@contextmanager
def _processes(folder: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Starts the process of the queue manager and that of the flow, each when the other is ready, and ends them."""
    flow = Path(flows.__path__[0]) / "samples" / "orders" / "orders.yaml"
    running: list[subprocess.Popen[bytes]] = []
    try:
        for arguments in (("queue-manager", "start", folder), ("run", flow, "--queue-manager", folder)):
            words = tuple(map(str, arguments))
            running.append(subprocess.Popen((*_PROGRAM, *words), stdout=subprocess.PIPE))  # noqa: S603 - this program
            stream: IO[bytes] | None = running[-1].stdout
            assert stream is not None
            if b"ready" not in stream.readline():
                raise ConfigurationException(f"penstock {' '.join(words)} did not start: it says why above")
        yield running
    finally:
        for process in reversed(running):
            if process.poll() is None:
                process.terminate()
            process.communicate()


def _put(folder: Path) -> None:
    lines = "".join(json.dumps({"body": _ORDER.format(number)}) + "\n" for number in range(1, ORDERS + 1))
    arguments = ("put", "ORDERS.IN", "-", "--json", "--queue-manager", str(folder))
    command = (*_PROGRAM, *arguments)
    subprocess.run(command, input=lines.encode(), stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - the same


def _wait(folder: Path, accepted: int) -> None:
    """Wait until so many orders have been accepted."""
    from engine.mq import QueueManager

    end = time.monotonic() + _PATIENCE
    with closing(QueueManager.connect(folder)) as manager:
        while manager.depth("ORDERS.ACCEPTED") < accepted:
            if time.monotonic() > end:
                raise ConfigurationException(f"the flow has not accepted {accepted:,} orders in {_PATIENCE:g} s")
            time.sleep(0.002)


def _depths(folder: Path) -> str:
    from engine.mq import QueueManager

    with closing(QueueManager.open(folder)) as manager:
        depths = [f"{manager.depth(queue):,} messages on {queue}" for queue in _QUEUES]
    return f"{', '.join(depths[:-1])} and {depths[-1]}"


def _numbers(folder: Path, queue: str) -> Counter[str]:
    """Returns how often each order is on a queue."""
    from engine.mq import QueueManager

    with closing(QueueManager.open(folder)) as manager:
        return Counter(body.decode().partition("</Id>")[0].rpartition(">")[2] for _, body in manager.cursor(queue))


def _judge(found: dict[str, Counter[str]]) -> None:
    """Say what became of the orders; the exit code is 1 if one was lost, or is there twice."""
    every = {str(number) for number in range(1, ORDERS + 1)}
    lost = sum(len(every - found[queue].keys()) for queue in ("ORDERS.ACCEPTED", "ORDERS.AUDIT"))
    twice = sum(count - 1 for queue in found.values() for count in queue.values())
    typer.echo(f"Of {ORDERS:,} orders, each with a copy for the auditors, {lost} are lost and {twice} are there twice.")
    if lost or twice or found["ORDERS.IN"] or found["ORDERS.REJECTED"]:
        raise typer.Exit(1)
