"""penstock get, browse and purge: messages off a queue, those that stay there, and a queue without its messages."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli import app
from engine.cli.command_failures import made_folder
from engine.cli.queue_manager_access import ENDING, PATIENCE, KeyStore, Reach, User, begin, done_once, reached
from engine.cli.shared_options import CorrelId, GroupId, Json, MsgId, Selector, selection
from engine.errors import ConfigurationException, MessageException
from engine.files.output_files import write_new_file

if TYPE_CHECKING:
    from engine.work import Arrival, Selection, UnitOfWork


Take = Callable[["Arrival"], None]
Form = Callable[["Arrival"], bytes]


@app.command()
def get(
    queue: Annotated[str, typer.Argument(help="The queue.")],
    count: Annotated[int | None, typer.Option(min=1, help="How many messages at most; otherwise one.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All messages, until there is none.")] = False,
    wait: Annotated[float, typer.Option(help="Seconds that are waited for each message that is not there.")] = 0.0,
    msg_id: MsgId = "",
    correl_id: CorrelId = "",
    group_id: GroupId = "",
    selector: Selector = "",
    output: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write a file a message there, in place of printing it.")
    ] = None,
    queue_manager: Reach = None,
    user: User = "",
    _key_store: KeyStore = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a message as a line of JSON, or write its file so.")
    ] = False,
) -> None:
    """Take messages off a queue.

    Each is committed once it is printed, or its file synced: what is killed, or meets a full disk, loses none. A queue
    that is empty prints nothing.

    Example: penstock get ORDERS --all --queue-manager qm
    """
    if everything and count is not None:
        raise ConfigurationException("--count and --all exclude each other: give one of them")
    if not wait >= 0:  # which what is no number is not either
        raise ConfigurationException(f"--wait {wait} is no number of seconds: it is 0 or more")
    wanted = selection(msg_id, correl_id, group_id, selector)
    take = printer(json_line if as_json else body_line) if output is None else _writer(_folder(output), as_json=as_json)
    left, patience = None if everything else count or 1, 0.0
    waits = Waits(wait)
    while left is None or left > 0:  # again where the queue manager's process ended while nothing was in hand
        with reached(queue_manager, user, patience) as manager:
            taken, more = _take_some(begin(manager), queue, wanted, take, left, waits)
            lasting = getattr(manager, "is_lasting", False)
        if not more:
            return
        left = None if left is None else left - taken
        patience = min(PATIENCE, waits.left) if lasting else 0.0  # for a process that may be started again


class Waits:
    """The seconds that are waited for a message, from one process of the queue manager to the next."""

    __slots__ = ("_end", "_patient", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.begin()

    def begin(self) -> None:
        """Begin to wait for the next message."""
        self._end = time.monotonic() + self._seconds
        self._patient = time.monotonic() + PATIENCE

    @property
    def goes_on(self) -> bool:
        """True while a process that ends is no reason to end: another command may have had the folder for a moment."""
        return time.monotonic() < max(self._end, self._patient)

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._end - time.monotonic()) if self._seconds else 0.0


def _take_some(
    work: UnitOfWork, queue: str, wanted: Selection, take: Take, most: int | None, waits: Waits
) -> tuple[int, bool]:
    """Take messages; returns how many, and True where the connection ended while more are wanted."""
    taken = 0
    while most is None or taken < most:
        try:
            arrival = work.get(queue, wanted, wait=waits.left)
        except MessageException as error:
            if error.reason == 2063:
                work.commit()  # the message is on the error queue
            if error.reason in ENDING and waits.goes_on:
                time.sleep(0.05)
                return taken, True
            raise
        if arrival is None:
            break
        hand_on(work, arrival, take)
        waits.begin()
        taken += 1
    return taken, False


def hand_on(work: UnitOfWork, arrival: Arrival, take: Take) -> None:
    """Have a message taken, and commit its unit; it is backed out where that fails."""
    try:
        take(arrival)
    except BaseException:
        work.back_out()
        raise
    work.commit()


def printer(form: Form) -> Take:
    """Returns what prints a message in a form, so that it is out when it is committed."""
    out = sys.stdout.buffer

    def take(arrival: Arrival) -> None:
        out.write(form(arrival))
        out.flush()

    return take


def json_line(arrival: Arrival) -> bytes:
    """Returns a message as a line of JSON."""
    from engine.mq.message_json import to_line

    return f"{to_line(*arrival)}\n".encode()


def body_line(arrival: Arrival) -> bytes:
    """Returns the body of a message, which ends a line."""
    body = _body(arrival)
    return body if body.endswith(b"\n") else body + b"\n"


def _body(arrival: Arrival) -> bytes:
    from engine.mq.properties import split

    return split(*arrival)[2]


def _folder(name: str) -> Path:
    if not name:
        raise ConfigurationException("--output is empty: name a directory")
    return Path(name)


def _writer(folder: Path, *, as_json: bool) -> Take:
    made_folder(folder, "messages")

    def take(arrival: Arrival) -> None:
        data = json_line(arrival) if as_json else _body(arrival)
        write_new_file(folder, arrival.descriptor.msg_id.hex(), ".json" if as_json else "", data)

    return take


@app.command()
def browse(
    queue: Annotated[str, typer.Argument(help="The queue.")],
    selector: Selector = "",
    queue_manager: Reach = None,
    user: User = "",
    _key_store: KeyStore = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a message as a line of JSON.")] = False,
) -> None:
    """Show the messages of a queue in the order in which they would be got.

    Example: penstock browse ORDERS --json
    """
    out, form = sys.stdout.buffer, json_line if as_json else body_line
    with reached(queue_manager, user) as manager:
        for arrival in manager.cursor(queue, selector):
            out.write(form(arrival))
    out.flush()


@app.command()
def purge(
    queue: Annotated[str, typer.Argument(help="The queue.")],
    queue_manager: Reach = None,
    as_json: Json = False,
) -> None:
    """Remove the messages of a queue.

    Example: penstock purge ORDERS --queue-manager qm
    """
    removed: int = done_once(queue_manager, "", lambda manager: manager.purge(queue))
    if as_json:
        typer.echo(json.dumps({"queue": queue, "removed": removed}))
    else:
        typer.echo(f"{queue}: {removed:,} removed")
