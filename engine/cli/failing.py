"""How commands fail: a line on stderr that says where, what and what to do, and an exit code that is not zero."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import typer

from engine.errors import BrokerError, ConfigurationException

FAILED: Final = 1
MISUSED: Final = 2
INTERRUPTED: Final = 130  # as shells have it: 128 and the number of the signal
USAGE: Final[type[Exception]] = typer.BadParameter.__bases__[0]  # wherever this version of Typer has Click's errors


@contextmanager
def failures_shown() -> Iterator[None]:
    """Turn what goes wrong inside into lines on stderr and an exit code."""
    try:
        yield
    except USAGE as error:
        _complain(_misuse(error))
        sys.exit(MISUSED)
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except ConfigurationException as error:
        _show_problems(error)
        sys.exit(FAILED)
    except BrokerError as error:
        _complain(f"penstock: {error}")
        sys.exit(FAILED)
    except OSError as error:
        _complain(f"penstock: {error.filename or 'input'}: {_reason(error)}")
        sys.exit(FAILED)


def _complain(text: str) -> None:
    typer.echo(text, err=True)


def _misuse(error: Any) -> str:
    """What is wrong with a command line; a command that was given nothing shows its help instead."""
    text = str(error.format_message())
    if error.ctx is None or "\n" in text:
        return text
    return f"{error.ctx.command_path}: {text[:1].lower()}{text[1:].rstrip('.')} (see {error.ctx.command_path} --help)"


def _show_problems(error: ConfigurationException) -> None:
    problems = error.problems
    if len(problems) == 1 and not problems[0].source_line:
        _complain(f"penstock: {problems[0]}")
        return
    for problem in problems:
        _complain(problem.render())
    if problems:
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        _complain(f"penstock: {count} in {', '.join(dict.fromkeys(problem.file for problem in problems))}")
    else:
        _complain(f"penstock: {error}")


def _reason(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{reason}; change its permissions, or name another" if isinstance(error, PermissionError) else reason


def existing(path: str) -> Path:
    """A path that must exist."""
    found = Path(path)
    if not path or not found.exists():
        raise ConfigurationException(
            f"{path or 'an empty name'} does not exist: name a file, a directory, or - for standard input"
        )
    return found
