"""penstock publish: a message to all who subscribe to a topic."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from typing import Annotated

import typer

from engine.cli import app
from engine.cli.command_failures import OR_STANDARD_INPUT, existing
from engine.cli.put import Options
from engine.cli.queue_manager_access import KeyStore, Reach, User, begin, reached
from engine.cli.shared_options import Json
from engine.errors import ConfigurationException


@app.command()
def publish(
    topic: Annotated[str, typer.Argument(help="The topic, such as prices/NYSE/XYZ.")],
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="A file with the message; - is standard input.")] = "",
    text: Annotated[str | None, typer.Option(help="The body, in place of a file.")] = None,
    retain: Annotated[
        bool, typer.Option("--retain", help="Keep it for those who subscribe later, in place of the one before.")
    ] = False,
    point: Annotated[str, typer.Option(help="The subscription point.")] = "",
    persistent: Annotated[bool, typer.Option("--persistent", help="It is on disk before this ends.")] = False,
    priority: Annotated[int | None, typer.Option(help="0 to 9; otherwise the topic's default.")] = None,
    expiry: Annotated[float | None, typer.Option(help="Seconds after which it may be discarded.")] = None,
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME=VALUE", help="A property, which is text; may be given several times."),
    ] = None,
    queue_manager: Reach = None,
    user: User = "",
    _key_store: KeyStore = None,
    as_json: Json = False,
) -> None:
    """Publish a message.

    That nobody subscribes to its topic is no error.

    Example: penstock publish prices/NYSE/XYZ --text 120 --retain --queue-manager qm
    """
    from engine.descriptor import Descriptor

    options = Options(persistent, priority, expiry, "", "", "", tuple(properties or ()))
    options.check()
    body = _body(file, text)
    given = options.message("", Descriptor(priority=-1, persistence=2), body)
    with reached(queue_manager, user) as manager, closing(begin(manager)) as work:
        published = work.publish(topic, given.descriptor, given.body, retain=retain, point=point)
        work.commit()
    if as_json:
        typer.echo(json.dumps({"topic": topic, "retained": retain, "msg_id": published.msg_id.hex()}))


def _body(file: str, text: str | None) -> bytes:
    """Returns the body that is given in one of the ways there are; where none is, it is empty."""
    from engine.files.input_files import MOST, NO_MESSAGE, read_file, read_stream

    if text is not None and file:
        raise ConfigurationException("--text and a file are both given: leave one of them out")
    if text is not None:
        return text.encode("utf-8", "surrogateescape")
    if file == "-":
        if sys.stdin is None:
            raise ConfigurationException("standard input is closed: pipe a message into it, or name a file")
        return read_stream(sys.stdin.buffer, "standard input", MOST, NO_MESSAGE)
    return read_file(existing(file, OR_STANDARD_INPUT), MOST, NO_MESSAGE) if file else b""
