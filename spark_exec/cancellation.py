"""Endings: a run on Spark that a signal ends stops at once, with Java and its workers, and says what it leaves."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final, TypeAlias

import psutil

from engine.files.output_files import write_file

if TYPE_CHECKING:
    from spark_exec.prepared_transactions import Decisions
    from spark_exec.summary import Summary

MANIFEST: Final = "_manifest.json"
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_JAVA_ENDS: Final = 3.0  # seconds that Java gets to remove its folders
_ERRORS: Final = 2  # the descriptor of standard error

Manifest: TypeAlias = Callable[[str], str]


@dataclass(slots=True)
class Ending:
    """The state of a run when it is ended: its output, its summary so far, and the function that makes its manifest."""

    output: str
    summary: Summary | None = None
    manifest: Manifest | None = None
    decisions: Decisions | None = None

    def leave(self, why: str) -> str:
        """Removes the round that is not complete, and writes the manifest; returns what is there, in words."""
        summary = self.summary
        if summary is None or self.manifest is None:
            with suppress(OSError):
                Path(self.output).rmdir()  # which was made before anything ran
            return "nothing has been written"
        complete = f"{summary.rounds} complete round{'' if summary.rounds == 1 else 's'}"
        if "://" in self.output:
            return f"{self.output} holds {complete}, and a part of round={summary.rounds}, and no {MANIFEST}"
        own = self.decisions
        if own is None or own.decided < summary.rounds:
            shutil.rmtree(Path(self.output) / f"round={summary.rounds}", ignore_errors=True)
        write_file(Path(self.output) / MANIFEST, self.manifest(why))
        advice = f"; penstock spark resolve {self.output} ends what databases have prepared for it" if own else ""
        return f"{self.output} holds {complete} of a run that was broken off, and {MANIFEST} says so{advice}"


@contextmanager
def ended_at_once(ending: Ending) -> Iterator[Callable[[], None]]:
    """Ends this process, Java and its workers at a signal while a block runs; yields what takes the signals again.

    PySpark takes SIGINT for itself as it starts; while Java does, standard error is a pipe to a thread of this process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return

    shown = _standard_error()

    def end(number: int, _: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        name = signal.Signals(number).name
        _end_others()
        try:
            said = ending.leave(name)
        except OSError as error:
            said = f"{ending.output} holds what had been written: {error.strerror}"
        with suppress(OSError):
            os.write(shown, f"penstock: ended by {name}: {said}\n".encode(errors="backslashreplace"))
        os._exit(128 + number)  # what waits for Java further up would wait for ever, or complain of it

    before = [(each, signal.getsignal(each)) for each in _SIGNALS]

    def take() -> None:
        for each in _SIGNALS:
            signal.signal(each, end)

    take()
    try:
        yield take
    finally:
        for each, handler in before:
            signal.signal(each, handler)
        if shown != _ERRORS:
            os.close(shown)


def _standard_error() -> int:
    """Returns a descriptor of standard error as it is now, whatever it is made to be later."""
    try:
        return os.dup(_ERRORS)
    except OSError:
        return _ERRORS


def _end_others() -> None:
    """Ends the processes that this one has started, and those that they have: Java in order, if it is quick."""
    own = psutil.Process()
    family = own.children(recursive=True)
    java = list(filter(_is_java, family))
    for process in family:
        _send(process, signal.SIGTERM if process in java else signal.SIGKILL)
    psutil.wait_procs(java, timeout=_JAVA_ENDS)
    for process in (*family, *own.children(recursive=True)):
        _send(process, signal.SIGKILL)


def _is_java(process: psutil.Process) -> bool:
    try:
        return str(process.name()).startswith("java")
    except psutil.Error:  # it has ended meanwhile
        return False


def _send(process: psutil.Process, number: signal.Signals) -> None:
    with suppress(psutil.Error):
        process.send_signal(number)
