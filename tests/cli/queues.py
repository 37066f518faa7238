"""Queue managers as tests of commands use them: made in a folder, and served by a process."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.mq import QueueManager
from tests.cli.command_line import PROGRAM, ROOT


def made(folder: Path, *queues: str) -> Path:
    """Make a queue manager with persistent queues."""
    QueueManager.create(folder, name="QM1")
    with QueueManager.open(folder) as manager:
        for queue in queues:
            manager.define("QLOCAL", queue, {"DEFPSIST": "YES"})
    return folder


def started(*arguments: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a command that goes on, and wait for its line with `ready`."""
    environment = os.environ | {"PENSTOCK_QUEUE_MANAGER": str(folder)}
    pipe = subprocess.PIPE
    process = subprocess.Popen([*PROGRAM, *arguments], cwd=ROOT, stdout=pipe, stderr=pipe, env=environment)
    assert process.stdout is not None
    late = threading.Timer(60, process.kill)
    late.start()
    line = process.stdout.readline()
    late.cancel()
    assert b"ready" in line, (line, process.communicate(timeout=60))
    return process


@contextmanager
def running(*arguments: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command that goes on, which ends with exit code 0 at SIGTERM."""
    process = started(*arguments, folder=folder)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=30)
    assert process.returncode in {0, -signal.SIGKILL}, (output, errors)


def command(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    environment = os.environ | {"PENSTOCK_QUEUE_MANAGER": str(folder)}
    return subprocess.run(
        [*PROGRAM, *arguments],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )


def lines(text: str) -> list[dict[str, object]]:
    """Returns the messages of lines of JSON."""
    return [json.loads(line) for line in text.splitlines()]


def eventually(condition, seconds: float = 15.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
