"""Watching: one attempt of a target held to time and memory, and what is wrong with it, if anything."""

from __future__ import annotations

import resource
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

from engine.errors import BrokerError
from tests.fuzz.target import Target

LONGEST: Final = 5.0  # seconds of processor time
LARGEST: Final = 1 << 30  # bytes of memory, beyond what there was before
_ROOT: Final = Path(__file__).resolve().parents[2]


class Hang(BaseException):
    """An attempt that takes longer than any may."""


class Finding(NamedTuple):
    """What is wrong: a key by which it is known again, and what is told of it."""

    key: str
    text: str


def limit_memory() -> None:
    """Let this process have so much more memory than it has, and no more: what takes it gets a MemoryError."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + LARGEST
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def wrong_with(target: Target, data: bytes, *, seconds: float = LONGEST) -> Finding | None:
    """What is wrong with what a target does with some bytes."""
    try:
        with _timed(seconds):
            target.attempt(data)
    except BrokerError:
        return None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a Hang and an exit are findings too
        return Finding(f"{target.name} {type(error).__name__} {_place(error)}", _told(error))
    return None


@contextmanager
def _timed(seconds: float) -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise Hang(f"it takes more than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _place(error: BaseException) -> str:
    """The innermost line of the project that an error came through; of a hang only the module, as lines differ."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if _ROOT in path.parents and ".venv" not in path.parts and "fuzz" not in path.parent.parts[-1:]:
            name = path.relative_to(_ROOT)
            return str(name) if isinstance(error, Hang) else f"{name}:{frame.lineno}"
    return "elsewhere"


def _told(error: BaseException) -> str:
    lines = traceback.format_exception(error)
    return "".join(lines)[-4000:]
