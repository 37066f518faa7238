"""penstock subscribe: publications onto a queue, or as they come onto standard output."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from engine.cli import app
from engine.cli.queue_manager_access import KeyStore, Reach, User, reached
from engine.cli.shared_options import Selector
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.work import Arrival

_TOPIC: Final = "mqps.Top"
_RETAINED: Final = "mqps.Ret"


@app.command()
def subscribe(
    topic: Annotated[str, typer.Argument(help="The topic, with + for one level and # for any number, or without.")],
    queue: Annotated[
        str, typer.Option(help="The queue that publications go to; one is made where none is named.")
    ] = "",
    durable: Annotated[str, typer.Option(metavar="NAME", help="Subscribe for good, by this name.")] = "",
    selector: Selector = "",
    point: Annotated[str, typer.Option(help="The subscription point.")] = "",
    count: Annotated[int | None, typer.Option(min=1, help="How many publications at most; otherwise all.")] = None,
    wait: Annotated[
        float | None, typer.Option(min=0, help="Seconds that are waited for each; otherwise without end.")
    ] = None,
    queue_manager: Reach = None,
    user: User = "",
    _key_store: KeyStore = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a publication as a line of JSON.")] = False,
) -> None:
    """Subscribe to a topic.

    With --durable this ends at once, and publications go to the queue until `DELETE SUB(NAME)` in MQSC ends that.
    Otherwise they are printed as they come, what is retained first, and the subscription ends with this command.

    Example: penstock subscribe prices/# --json --count 2 --wait 10 --queue-manager qm
    """
    attributes: dict[str, Any] = {"TOPICSTR": topic, "SELECTOR": selector, "SUBPOINT": point}
    attributes |= {"DEST": queue} if queue else {"DESTCLAS": "MANAGED"}
    if durable:
        if count is not None or wait is not None:
            raise ConfigurationException("--durable ends at once: leave --count and --wait out, and get from the queue")
        with reached(queue_manager, user) as manager:
            manager.define("SUB", durable, attributes, replace=True)
        return
    if queue:
        raise ConfigurationException("--queue goes with --durable NAME: give both, or none to print publications")
    name = f"penstock subscribe {os.getpid()} {os.urandom(8).hex()}"
    with reached(queue_manager, user) as manager:
        manager.define("SUB", name, attributes | {"PSPROP": "MSGPROP", "DURABLE": "NO"})
        try:
            _print(manager, str(manager.display("SUB", name)[0]["DEST"]), count, wait, as_json=as_json)
        finally:
            manager.delete("SUB", name)


def _print(manager: Any, queue: str, count: int | None, wait: float | None, *, as_json: bool) -> None:
    """Print publications as they come; each is taken off its queue once it is printed."""
    work, printed = manager.work(), 0
    while count is None or printed < count:
        arrival = work.get(queue, wait=-1.0 if wait is None else wait)
        if arrival is None:
            return
        try:
            sys.stdout.buffer.write(_form(arrival, as_json=as_json))
            sys.stdout.buffer.flush()
        except BaseException:
            work.back_out()
            raise
        work.commit()
        printed += 1


def _form(arrival: Arrival, *, as_json: bool) -> bytes:
    """Returns a publication as it is printed: a line of JSON with its topic, or its body, which ends a line."""
    from engine.mq.message_json import to_object
    from engine.mq.properties import split

    if not as_json:
        body = split(*arrival)[2]
        return body if body.endswith(b"\n") else body + b"\n"
    found = to_object(*arrival)
    properties: Any = found["properties"]
    said = {"topic": properties.pop(_TOPIC, ""), "retained": properties.pop(_RETAINED, False)}
    return json.dumps(said | found, ensure_ascii=False).encode() + b"\n"
