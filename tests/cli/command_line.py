"""The command line as tests call it: in this process, or in one of its own where signals and pipes count."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from engine.cli import main

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
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        sys.argv = before
    code = ended.value.code
    return Ended(code if isinstance(code, int) else 0, *capsys.readouterr())


def process(*arguments: str) -> subprocess.Popen[bytes]:
    """Start a command in a process of its own."""
    pipe = subprocess.PIPE
    return subprocess.Popen([*PROGRAM, *arguments], cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe)  # noqa: S603
