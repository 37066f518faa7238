"""A broker's queue manager: how its queues are made, served and reached, by its processes and by commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, Final

from engine.broker.file_values import as_mqsc
from engine.broker.folder import Folder
from engine.broker.state import BrokerState
from engine.errors import BrokerError, ConfigurationException
from flows.content_filters import filtering

_NOT_AUTHORIZED: Final = 2035
WAIT: Final = 10.0  # seconds that a command waits for a queue manager that restarts
TRANSMIT: Final = "SYSTEM.COLLECTIVE.TRANSMIT.QUEUE"
RECEIVED: Final = "SYSTEM.COLLECTIVE.RECEIVED.QUEUE"
_OWN: Final = (
    *("SYSTEM.RETAINED.PUB.QUEUE", "SYSTEM.ADMIN.STATISTICS.QUEUE", "SYSTEM.ADMIN.ACCOUNTING.QUEUE"),
    RECEIVED,
)


def queue_managers() -> Any:
    """Returns the class of queue managers; its store is imported by those who use it."""
    from engine.mq import QueueManager  # noqa: PLC0415

    return QueueManager


def prepare(folder: Folder) -> None:
    """Import what queue managers are made of, for processes forked from here; raises where a store cannot be read."""
    queue_managers()
    import_module("engine.mq.store.environment").read_format(folder.queues)


@contextmanager
def connected(folder: Folder) -> Iterator[Any]:
    """Reaches the queue manager's process, waiting until it is there."""
    pause, queues = 0.01, None
    while queues is None:
        try:
            queues = queue_managers().connect(folder.queues)
        except (BrokerError, OSError):
            time.sleep(pause)
            pause = min(2 * pause, 0.25)
    try:
        yield queues
    finally:
        with suppress(BrokerError, OSError):
            queues.close()


@contextmanager
def reached(folder: Folder, wait: float = WAIT) -> Iterator[Any]:
    """Gives a command the queue manager: over its socket where the broker runs, else by opening its folder."""
    until = time.monotonic() + wait
    queues = None
    while queues is None:
        if not folder.holder:
            queues = filtering(queue_managers().open(folder.queues))
            break
        try:
            queues = queue_managers().connect(folder.queues, wait)
        except (BrokerError, OSError) as error:
            if isinstance(error, BrokerError) and error.number == _NOT_AUTHORIZED:
                raise
            if time.monotonic() > until:
                text = f"the queue manager of {folder.path} does not answer: {error}; see penstock broker logs"
                raise ConfigurationException(text, number=8093) from error
            time.sleep(0.05)
    try:
        yield queues
    finally:
        queues.close()


def created(folder: Folder, state: BrokerState) -> None:
    """Make the queue manager of a new broker, unless its folder has one."""
    if not folder.queues.is_dir():
        queue_managers().create(folder.queues, name=state.queue_manager)


def define_missing(queues: Any, state: BrokerState) -> list[str]:
    """Define the queues of a broker that are not there; those that are stay as they are. Returns the new ones."""
    there = names_of(queues)
    wanted: dict[str, Mapping[str, str | int]] = dict(state.queues)
    if state.dead_letter_queue:
        wanted.setdefault(state.dead_letter_queue, {})
    new = [name for name in wanted if name not in there]
    for name in sorted(new, key=lambda name: "TARGET" in wanted[name]):  # an alias behind what it stands for
        attributes = {attribute: as_mqsc(attribute, value) for attribute, value in wanted[name].items()}
        kind = str(attributes.pop("TYPE", "QALIAS" if "TARGET" in attributes else "QLOCAL"))
        queues.define(kind, name, attributes)
    for kind, objects in (("TOPIC", state.topics), ("SUB", state.subscriptions)):
        known = {str(row.get(kind, "")) for row in queues.display(kind, "*")} if objects else set()
        for name, said in objects.items():
            if name not in known:
                queues.define(kind, name, dict(said))
    if state.dead_letter_queue not in {row["DEADQ"] for row in queues.display("QMGR", "")}:
        queues.alter("QMGR", "", {"DEADQ": state.dead_letter_queue})
    _settle_collective(queues, there, joins=bool(state.settings.collective))
    return new


def _settle_collective(queues: Any, there: frozenset[str], *, joins: bool) -> None:
    """Have publications be kept for a collective, or no longer."""
    if joins and TRANSMIT not in there:
        for name in (RECEIVED, TRANSMIT):
            queues.define("QLOCAL", name, {"MAXDEPTH": 999_999_999, "MAXMSGL": 104_857_600, "MSGDLVSQ": "FIFO"})
    elif TRANSMIT in there:
        queues.alter("QLOCAL", TRANSMIT, {"PUT": "ENABLED" if joins else "DISABLED"})


def definitions_in(queues: Any, defined: Iterable[str]) -> dict[str, dict[str, str | int]]:
    """Returns the queues and aliases that are there, with the attributes that differ from the defaults.

    Those of the system are only among them where they are `defined` by the broker.
    """
    from engine.mq.attributes import defaults  # noqa: PLC0415

    return {
        row["QUEUE"]: {name: row[name] for name, plain in defaults(kind).items() if row.get(name, plain) != plain}
        for kind in ("QLOCAL", "QALIAS")
        for row in queues.display(kind, "*")
        if row["QUEUE"] in defined or not row["QUEUE"].startswith("SYSTEM.")
    }


def altered(queues: Any, state: BrokerState) -> Iterator[str]:
    """Yields what is said of queues that have other attributes than the broker defines for them."""
    from engine.mq.attributes import checked  # noqa: PLC0415

    there = {str(row["QUEUE"]): row for kind in ("QLOCAL", "QALIAS") for row in queues.display(kind, "*")}
    for queue, attributes in state.queues.items():
        row = there.get(queue, {})
        given = {name: as_mqsc(name, value) for name, value in attributes.items() if name != "TYPE"}
        for name, value in checked(str(row["TYPE"]), given).items() if row else ():
            if row.get(name) != value:
                yield f"the queue {queue} has {name}({row.get(name)}), where the broker's definition says {value}"


def refusal_of(kind: str, name: str, value: str | int) -> str:
    """Returns why a queue cannot have an attribute, or nothing where it can.

    >>> refusal_of("QLOCAL", "MAXDEPTH", 5), refusal_of("QLOCAL", "GET", "OPEN")
    ('', "GET takes one of ENABLED, DISABLED, not 'OPEN' (4005)")
    """
    from engine.mq.attributes import checked  # noqa: PLC0415

    try:
        checked(kind, {name: as_mqsc(name, value)} if name != "TYPE" else {})
    except BrokerError as error:
        return error.text
    return ""


def names_of(queues: Any) -> frozenset[str]:
    """Returns the names of all queues and aliases."""
    aliases = (str(row["QUEUE"]) for row in queues.display("QALIAS", "*"))
    return frozenset((*queues.names(), *aliases))


def missing(queues: Any, wanted: Mapping[str, Iterable[str]], coming: Iterable[str] = ()) -> list[str]:
    """Returns what is to be said of queues that flows name and that are not there, nor about to be defined."""
    there = names_of(queues).union(coming)
    return [
        f"{flow} needs the queue {name}, which is not there: define it with penstock mqsc, or in broker.yaml"
        for flow, names in wanted.items()
        for name in names
        if name not in there
    ]


def messages_in(queues: Any) -> int:
    """Returns how many messages the queues hold, but for those that the broker itself keeps there."""
    rows = queues.display("QLOCAL", "*")
    return sum(int(row["CURDEPTH"]) for row in rows if row["QUEUE"] not in _OWN)


def serve(folder: Folder, ready: Callable[[], None], stopped: Callable[[Callable[[], None]], None]) -> None:
    """Serve the queue manager in this process until it is stopped; `stopped` is given what stops it."""
    server_of: Any = import_module("engine.mq.server").Server
    manager = filtering(queue_managers().open(folder.queues))
    try:
        server = server_of(manager, folder.queues)
        stopped(server.stop)
        ready()
        server.serve()
    finally:
        manager.close()
