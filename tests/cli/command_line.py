"""The command line as tests call it: in this process, or in one of its own where signals and pipes count."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
import typer
from typer.main import get_command

from engine.cli import app, main

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", "from engine.cli import main; main()")


class Ended(NamedTuple):
    """What a command left."""

    code: int
    out: str
    err: str


def penstock(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ended:
    """Run a command in this process."""
    before, sys.argv = sys.argv, ["penstock", *arguments]
    try:
        with pytest.raises(SystemExit) as ended, patch("engine.cli.get_command", _built):
            main()
    finally:
        sys.argv = before
    code = ended.value.code
    return Ended(code if isinstance(code, int) else 0, *capsys.readouterr())


def _built(app: typer.Typer) -> Any:
    """Returns the program with all commands that are known by now; to build it again takes longer than most of them."""
    groups = (group.typer_instance for group in app.registered_groups)
    return _build(len(app.registered_commands), sum(len(group.registered_commands) for group in groups if group))


@cache
def _build(_commands: int, _in_groups: int) -> Any:
    return get_command(app)


def process(*arguments: str) -> subprocess.Popen[bytes]:
    """Start a command in a process of its own."""
    pipe = subprocess.PIPE
    return subprocess.Popen([*PROGRAM, *arguments], cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe)
