"""penstock costs plan: what a load needs of processors, instances, memory and disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from engine.cli.shared_options import Json, show
from engine.errors import ConfigurationException

planner = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@planner.command()
def plan(
    flow: Annotated[str, typer.Argument(help="The flow file.")],
    rate: Annotated[float, typer.Option(min=0.001, help="Messages a second.")],
    message: Annotated[Path | None, typer.Option(help="A file with a message like those to come.")] = None,
    size: Annotated[str, typer.Option(help="Bytes of each message, or KiB as in 4k, of XML.  [default: 1k]")] = "",
    persistent: Annotated[bool, typer.Option("--persistent", help="Messages are persistent.")] = False,
    subscribers: Annotated[int, typer.Option(min=0, help="How many subscribers get what is published.")] = 0,
    busy: Annotated[int, typer.Option(min=1, max=100, help="How busy processors may be, in per cent.")] = 70,
    backlog: Annotated[float, typer.Option(min=0, help="Seconds of messages that wait at worst.")] = 3600.0,
    count: Annotated[int, typer.Option("--messages", min=100, help="How many messages are measured.")] = 2000,
    check: Annotated[
        bool, typer.Option("--check", help="Run the flow on a broker as well; exit with 1 if it is off by 20 %.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what a load needs: measure the flow's nodes here, and work out instances, groups, processors, memory, disk.

    Example: penstock costs plan flows/samples/orders/orders.yaml --rate 500 --size 4k --persistent
    """
    from engine.costs.capacity import Load, checked, estimate
    from engine.files.input_files import MOST, NO_MESSAGE, read_file

    if message is not None and size:
        raise ConfigurationException("--message and --size are both given: leave one of them out")
    body = read_file(message, MOST, NO_MESSAGE) if message is not None else _body(size or "1k")
    load = Load(rate, persistent, subscribers, busy / 100, backlog)
    off = 0.0
    if check:
        found, seen, off = checked(flow, body, load, count=count)
        data = found.as_data() | {"observed_microseconds": seen, "off": off}
        said = [f"on a broker: {seen:,.1f} µs for each message, so the plan is off by {off:+.0%}"]
    else:
        found, said = estimate(flow, body, load, count=count), []
        data = found.as_data()
    lines = [*found.lines(load), *said]
    show(data, lines, as_json=as_json)
    raise typer.Exit(1 if abs(off) > 0.2 else 0)


def _body(size: str) -> bytes:
    """A message of XML that has so many bytes."""
    digits = size[:-1] if size[-1:] in "kK" else size
    if not digits.isascii() or not digits.isdigit() or not int(digits):
        raise ConfigurationException(f"--size {size} is no size: write bytes, or KiB as in 4k")
    length = int(digits) * (1024 if size[-1] in "kK" else 1)
    item = b"<Item><Id>1</Id><Text>abcdefghij</Text></Item>"
    return b"<Message>" + item * max(1, (length - 19) // len(item)) + b"</Message>"


class WithPlan(TyperCommand):
    """The command of costs, which hands `plan` on to a command of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] == ["plan"]:
            command = typer.main.get_command(planner)
            code = command.main(args[1:], prog_name="penstock costs plan", standalone_mode=False)
            ctx.exit(code if isinstance(code, int) else 0)
        return super().parse_args(ctx, args)
