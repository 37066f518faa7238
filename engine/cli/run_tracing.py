"""The user trace and the local error log that `penstock run` writes while a flow works."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.runtime.user_trace import UserTrace

TRACE_LEVELS = ("none", "normal", "debug")


def tracer(level: str) -> UserTrace | None:
    """Returns the writer of the user trace at this level; None for `none`."""
    from engine.runtime.user_trace import UserTrace

    if level not in TRACE_LEVELS:
        raise ConfigurationException(f"--trace {level} is no level: it is one of {', '.join(TRACE_LEVELS)}")
    return None if level == "none" else UserTrace("debug" if level == "debug" else "normal")


@contextmanager
def tracing(*, wanted: bool) -> Iterator[None]:
    """Have the user trace on stderr while something runs."""
    if not wanted:
        yield
        return
    import logging

    from engine.runtime.user_trace import TraceFormatter

    log, handler = logging.getLogger("penstock"), logging.StreamHandler()
    handler.setFormatter(TraceFormatter())
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(logging.NOTSET)
        log.removeHandler(handler)


@contextmanager
def local_errors() -> Iterator[list[str]]:
    """Have the lines of the local error log in a list while something runs."""
    import logging

    lines: list[str] = []
    log, handler = logging.getLogger("penstock.localerror"), logging.Handler(logging.INFO)
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]  # all it does
    log.addHandler(handler)
    before = log.level
    log.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        log.setLevel(before)
        log.removeHandler(handler)
