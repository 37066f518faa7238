"""The start of a broker: its supervisor in the place of this process, or in a session of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final, NoReturn

from engine.broker.channel import failure
from engine.broker.folder import Folder
from engine.errors import ConfigurationException

RUNS: Final = 8018
_PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from engine.broker.supervisor import main; main(*sys.argv[1:])"
)
_ENDS_WITHIN: Final = 30.0


def start_here(folder: Folder, *, as_json: bool = False) -> NoReturn:
    """Become the broker's supervisor; this does not return."""
    check_start(folder)
    command = supervisor_command(folder.path, "", "json" if as_json else "")
    sys.stdout.flush()
    os.execv(command[0], command)  # noqa: S606  # the process that was asked to start the broker is what it runs in


def start_apart(folder: Folder) -> list[str]:
    """Start the broker's supervisor in a session of its own; returns what it says, last that all of it is ready."""
    check_start(folder)
    read, write = os.pipe()
    folder.log.mkdir(exist_ok=True)
    log = (folder.log / "start.log").open("ab")
    try:
        command = supervisor_command(folder.path, str(write))
        process = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[write], start_new_session=True
        )
    finally:
        os.close(write)
        log.close()
    with os.fdopen(read, encoding="utf-8", errors="replace") as answers:
        lines = [line.strip() for line in answers]
    if lines and " is ready" in lines[-1]:
        threading.Thread(target=process.wait, daemon=True).start()  # it is buried, should it end before this process
        return lines
    process.wait(_ENDS_WITHIN)
    said = lines[-1].removeprefix("penstock: ") if lines else f"the broker did not start: see {folder.log}"
    raise failure(said)


def check_start(folder: Folder) -> None:
    """Refuse to start a broker that runs."""
    if pid := folder.holder:
        raise ConfigurationException(f"the broker in {folder.path} runs already, as process {pid}", number=RUNS)


def supervisor_command(path: Path, *more: str) -> list[str]:
    """Returns the command that runs a supervisor with this Python and this Penstock, wherever it is called."""
    root = Path(__file__).resolve().parent.parent.parent
    return [sys.executable, "-P", "-c", _PROGRAM, str(root), str(path), *more]
