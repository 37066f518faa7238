"""Access of commands to a queue manager: its process, if one runs, and otherwise its folder, opened by the command."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from engine.errors import ConfigurationException, MessageException
from flows.content_filters import filtering

if TYPE_CHECKING:
    from engine.broker.folder import Folder as BrokerFolder
    from engine.mq import QueueManager
    from engine.mq.client import Client
    from engine.mq.security.user_view import Guarded

PATIENCE: Final = 5.0  # seconds that a command waits for a folder that another process has
_PAUSE: Final = 0.02
_QUEUE_MANAGER: Final = "queue-manager.json"  # the file by which a queue manager's folder is known
ENDING: Final = (2009, 2059, 2042)  # a process that ends, or begins, or has the folder: worth another try

Done = TypeVar("Done")
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the queue manager.")]
Reach = Annotated[
    Path | None,
    typer.Option(
        "--queue-manager",
        "--broker",
        metavar="DIR",
        envvar="PENSTOCK_QUEUE_MANAGER",
        help="The folder of the queue manager; or a broker, by its folder or its name below PENSTOCK_HOME.",
    ),
]


def _name_key_store(folder: Path | None) -> Path | None:
    """Has units of work of this process protect messages with the keys of a folder."""
    if folder is not None:
        os.environ["PENSTOCK_KEY_STORE"] = str(folder)
    return folder


KeyStore = Annotated[
    Path | None,
    typer.Option(
        "--key-store",
        metavar="DIR",
        callback=_name_key_store,
        help="The folder of the certificates and private keys that protected messages are put and got with;"
        " otherwise the one that PENSTOCK_KEY_STORE names.",
    ),
]
User = Annotated[
    str,
    typer.Option(
        "--user",
        metavar="NAME",
        help="Act for this user, who is held to the authority records of the queue manager.",
    ),
]


@contextmanager
def reached(folder: Path | None, user: str = "", patience: float = 0.0) -> Iterator[QueueManager | Client | Guarded]:
    """Gives a queue manager, by its socket or opened here, where others reach it for as long as this lasts.

    `user` is one for whom the command acts, and who is held to authority records. A process that ended is given so many
    seconds of patience to come back, before the folder is opened here.
    """
    with _reached(folder, patience) as manager:
        if not user:
            yield manager
            return
        with closing(manager.acting_for(user)) as face:
            yield face


@contextmanager
def _reached(folder: Path | None, patience: float) -> Iterator[QueueManager | Client]:
    if folder is None:
        raise ConfigurationException(
            "no queue manager is named: give --queue-manager DIR, or set PENSTOCK_QUEUE_MANAGER"
        )
    from engine.broker.folder import home
    from engine.broker.queues import reached as reached_of_broker

    broker = broker_at(folder)
    if broker is not None and broker.holder:
        with reached_of_broker(broker) as queues:
            yield queues
        return
    if broker is None and not folder.exists():
        text = f"{folder} is neither a queue manager's folder nor a broker, which has a folder, or a name below"
        raise ConfigurationException(f"{text} {home()}: make one with `penstock queue-manager create {folder}`")
    place = folder if broker is None else broker.queues
    manager = connected_or_opened(place, patience)
    with closing(manager), served(manager, place):
        yield manager


def broker_at(name: Path) -> BrokerFolder | None:
    """Returns the folder of a broker that is named, by its path or its name; None where it is none of a broker.

    The name of a folder here that is neither a broker's nor a queue manager's is one below PENSTOCK_HOME.
    """
    from engine.broker.folder import Folder as BrokerFolder
    from engine.broker.folder import home, place_of

    here = BrokerFolder(name)
    if not name.is_dir():
        broker = BrokerFolder(place_of(str(name)))
    elif here.is_created or len(name.parts) > 1 or (name / _QUEUE_MANAGER).is_file():
        broker = here
    else:
        broker = BrokerFolder(home() / name)
    return broker if broker.is_created else None


def connected_or_opened(folder: Path, patience: float = 0.0) -> Any:
    """Returns a client where a process serves the folder, else the queue manager, opened; waits five seconds for it.

    It is not opened before so many seconds of patience are over.
    """
    from engine.mq import QueueManager
    from engine.mq.addresses import SOCKET

    begun = time.monotonic()
    end = begun + PATIENCE
    while True:
        try:
            if (folder / SOCKET).exists():
                return QueueManager.connect(folder, PATIENCE)
        except MessageException as error:
            if error.reason not in ENDING:
                raise
        try:
            if time.monotonic() >= begun + patience:
                return filtering(QueueManager.open(folder))
        except MessageException as error:
            if error.reason not in ENDING or time.monotonic() >= end:
                raise
        time.sleep(_PAUSE)


def done_once(folder: Path | None, user: str, do: Callable[[Any], Done]) -> Done:
    """Returns what is done with a queue manager; again where its process ended before it was asked for it.

    Where it may have been done, as the answer alone is missing, the error says so: it is not done twice.
    """
    from engine.mq.addresses import CONNECTION_BROKEN
    from engine.mq.connection import UnsentError

    end, patience = time.monotonic() + PATIENCE, 0.0
    while True:
        with reached(folder, user, patience) as manager:
            try:
                return do(manager)
            except UnsentError:
                if time.monotonic() >= end:
                    raise
                patience = PATIENCE if getattr(manager, "is_lasting", False) else 0.0
            except MessageException as error:
                if error.reason == CONNECTION_BROKEN:
                    error.text += "; what was asked may be done, or a part of it: look before you ask again"
                raise
        time.sleep(_PAUSE)


@contextmanager
def served(manager: Any, folder: Path) -> Iterator[None]:
    """Serves a queue manager that is open here on its socket, by a thread of its own; a client needs no serving.

    A `queue-manager stop` that comes by the socket ends this command as SIGTERM does: else it would have a folder that
    nobody could reach.
    """
    from engine.mq.client import Client
    from engine.mq.server import Server

    if isinstance(manager, Client):
        yield
        return
    server, ends = Server(manager, folder, lasting=False), threading.Event()

    def serve() -> None:
        server.serve()
        if not ends.is_set() and callable(signal.getsignal(signal.SIGTERM)):
            os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=serve, name="queue manager's socket", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        server.drain()
        thread.join()


def begin(manager: Any) -> Any:
    """Returns a unit of work of the user whose command this is."""
    from engine.mq.addresses import owner_name

    return manager.work(owner_name(), "penstock")
