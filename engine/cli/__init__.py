"""The command line: a command is in the file named after it, or in that of a table; it imports what it needs."""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Annotated, Final

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

# The files of commands that stand together in one, which is called after what they are about.
_TOGETHER: Final = MappingProxyType(
    {
        **dict.fromkeys(("decode", "encode"), "record_conversion"),
        **dict.fromkeys(("put", "publish", "subscribe"), "puts_and_publications"),
        **dict.fromkeys(("get", "browse", "purge"), "gets"),
        **dict.fromkeys(("data-source", "transactions"), "databases"),
        **dict.fromkeys(("stats", "top", "queue"), "statistics"),
        **dict.fromkeys(("deploy", "undeploy", "rollback"), "deployed_flows"),
        **dict.fromkeys(("change-properties", "report-properties", "trace"), "deployed_flows"),
    }
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
    own = [_TOGETHER[name]] if name in _TOGETHER else [module for module in modules if stem in f"_{module}_"]
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
