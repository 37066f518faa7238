"""The command line: one command a file; what a command needs is imported when it runs."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from engine.cli.app import app
from engine.cli.failing import failures_shown


def main() -> None:
    """Run the command that the arguments name; the process ends with its exit code."""
    for module in iter_modules(__path__, f"{__name__}."):
        import_module(module.name)
    with failures_shown():
        app()
