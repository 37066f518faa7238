"""Commands in forked processes that are killed, told to end, or have no room, at a write of their own choosing."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import NamedTuple, NoReturn

from engine.cli import main
from tests.engine.mq.system_calls import Call, traced

_LONGEST = 60  # seconds, after which a command has hung

# What is done at a call that writes, given its number from 0 on: True goes on, False kills, a signal is sent.
Fault = Callable[[int], bool | signal.Signals]


class Left(NamedTuple):
    """What a command left: its exit code or minus the signal that ended it, its calls that write, and its stderr."""

    code: int
    calls: int
    err: str


def run(arguments: list[str], fault: Fault = lambda _: True, *, room: int | None = None, closed: bool = False) -> Left:
    """Runs a command in a fork of this process; `room` is how large its files may grow.

    What it prints goes nowhere; with `closed`, it has no standard output.
    """
    calls = -1

    def note(call: Call) -> bool | signal.Signals:
        nonlocal calls
        calls += 1
        return fault(calls)

    reading, writing = os.pipe()  # which has room for what a command says, and is no file that could be too large
    with open(reading, encoding="utf-8") as said:
        status = traced(lambda: _command(arguments, writing, room, closed=closed), note, names=True)
        os.close(writing)
        return Left(os.waitstatus_to_exitcode(status), calls + 1, said.read())


def _command(arguments: list[str], said: int, room: int | None, *, closed: bool) -> NoReturn:
    """Makes this process one that has just started with these arguments, and ends it as the command does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(said, 2)
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
    sys.stdout = TextIOWrapper(open(1, "wb", closefd=False), encoding="utf-8")  # noqa: SIM115
    if closed:
        os.close(1)
        sys.stdout = None  # type: ignore[assignment]  # as Python does it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_LONGEST)
    if room is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    sys.argv = ["penstock", *arguments]
    code: object = 1
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(code if isinstance(code, int) else 0)


def killed_at(number: int) -> Fault:
    """Kills a command as it is about to make a call."""
    return lambda call: call < number


def told_at(number: int, *signals: signal.Signals) -> Fault:
    """Sends signals to a command, one at each call from a number on."""
    return lambda call: signals[call - number] if 0 <= call - number < len(signals) else True
