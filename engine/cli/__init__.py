"""The command line: one command a file; what a command needs is imported when it runs."""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules

from typer import Typer

from engine.cli.app import app
from engine.cli.failing import end_in_order, failures_shown
from engine.cli.standard_streams import prepare_streams
from engine.room import with_room


def commands() -> Typer:
    """Returns the application with all of its commands."""
    for module in iter_modules(__path__, f"{__name__}."):
        import_module(module.name)
    return app


def main() -> None:
    """Run the command that the arguments name; the process ends with its exit code."""
    prepare_streams()
    end_in_order()
    with failures_shown():
        penstock = commands()
        code = with_room(lambda: penstock(prog_name="penstock", standalone_mode=False))
        sys.stdout.flush()
        sys.exit(code)
