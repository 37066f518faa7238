"""The command line: a file has its commands in its name; what a command needs is imported when it runs."""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated

import typer
from typer.core import TyperGroup
from typer.main import get_command

from engine.budget import with_room
from engine.cli.command_failures import end_in_order, failures_shown, prepare_streams

app = typer.Typer(
    name="penstock",
    help="Run, examine and measure message flows in the style of WebSphere MQ Integrator.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"penstock {version('penstock')}")
        except PackageNotFoundError:
            typer.echo("penstock, run from its source without being installed")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Run, examine and measure message flows in the style of WebSphere MQ Integrator."""


def commands(name: str = "") -> TyperGroup:
    """Returns the program with all of its commands, or that of a name alone, where the modules' names tell it."""
    modules = [module.name for module in iter_modules(__path__)]
    stem = f"_{name.replace('-', '_')}_"
    own = [module for module in modules if stem in f"_{module}_"]
    for module in own:
        import_module(f"{__name__}.{module}")
    found = _program() if own else None
    if found is None or name not in found.commands:
        for module in modules:
            import_module(f"{__name__}.{module}")
        found = _program()
    return found


def _program() -> TyperGroup:
    found = get_command(app)
    assert isinstance(found, TyperGroup)
    return found


def main() -> None:
    """Run the command that the arguments name; the process ends with its exit code."""
    prepare_streams()
    end_in_order()
    with failures_shown():
        penstock = commands(sys.argv[1] if len(sys.argv) > 1 else "")
        code = with_room(lambda: penstock.main(prog_name="penstock", standalone_mode=False))
        sys.stdout.flush()
        sys.exit(code)
