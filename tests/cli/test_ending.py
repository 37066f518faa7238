"""Commands that are told to end by a signal."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import ROOT

WAITS = """
import sys, time
from tempfile import TemporaryDirectory
from engine.cli import app, main

@app.command()
def wait():
    with TemporaryDirectory() as folder:
        print(folder, flush=True)
        time.sleep(60)

main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_command_that_is_told_to_end_leaves_no_folders(number: signal.Signals) -> None:
    """A command that is interrupted or terminated removes what it has for itself, and its exit code says so."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITS, "wait"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as started:
        assert started.stdout is not None
        folder = Path(started.stdout.readline().strip())
        was_there = folder.is_dir()
        started.send_signal(number)
        _, said = started.communicate(timeout=60)
    assert (was_there, folder.exists(), started.returncode, said) == (True, False, 128 + number, "")
