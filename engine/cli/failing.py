"""How commands fail: a line on stderr that says where, what and what to do, and an exit code that is not zero."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from engine.errors import BrokerError, ConfigurationException


@contextmanager
def failures_shown() -> Iterator[None]:
    """Turn what goes wrong inside into lines on stderr and an exit code."""
    try:
        yield
    except ConfigurationException as error:
        for problem in error.problems:
            typer.echo(problem.render(), err=True)
        typer.echo(f"penstock: {error}", err=True)
    except BrokerError as error:
        typer.echo(f"penstock: {error}", err=True)
    except OSError as error:
        typer.echo(f"penstock: {error.filename or 'input'}: {error.strerror or error}", err=True)
    else:
        return
    sys.exit(1)


def existing(path: str) -> Path:
    """A path that must exist."""
    found = Path(path)
    if not found.exists():
        raise ConfigurationException(f"{path} does not exist: name a file, a directory, or - for standard input")
    return found
