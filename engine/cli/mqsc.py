"""penstock mqsc: a script of MQSC commands against a queue manager."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from engine.cli import app
from engine.cli.command_failures import FAILED, read_input, visible
from engine.cli.queue_manager_access import Reach, done_once
from engine.cli.shared_options import Json, show
from engine.errors import ConfigurationException

_LARGEST: Final = 64 << 20  # bytes of a script
_REMEDY: Final = "no script has so many"


@app.command()
def mqsc(
    script: Annotated[str, typer.Argument(metavar="FILE|-", help="A script of commands, or - for standard input.")],
    queue_manager: Reach = None,
    as_json: Json = False,
) -> None:
    """Define, change, delete and show queues by MQSC commands, and print what runmqsc prints.

    A command that fails leaves out what it asked for and nothing else; the exit code then is not zero.

    Example: echo "DEFINE QLOCAL(ORDERS) MAXDEPTH(1000)" | penstock mqsc - --queue-manager /var/mq/QM
    """
    from engine.mq.mqsc import Answer, printed

    text = _text(script)
    said, name = done_once(queue_manager, "", lambda manager: (manager.mqsc(text), manager.name))
    answers = [Answer(*answer) for answer in said]
    found = [{**answer._asdict(), "objects": [dict(one) for one in answer.objects]} for answer in answers]
    show(found, ("\n".join(map(visible, line.split("\n"))) for line in printed(answers, name)), as_json=as_json)
    failed = [answer for answer in answers if answer.failed]
    for answer in failed:
        typer.echo(visible(f"penstock: {script}:{answer.line}: {answer.code}: {answer.text}"), err=True)
    if failed:
        raise typer.Exit(FAILED)


def _text(script: str) -> str:
    """Returns the text of a script, whichever way its lines end."""
    try:
        return read_input(script, "a script", _LARGEST, _REMEDY).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ConfigurationException(f"{script} is no text in UTF-8 (byte {error.start}): save it as UTF-8") from None
