"""Logs: processes of a broker hand their lines to its supervisor, which writes them to files that it rotates."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Final

from engine.broker.folder import Folder

NAME: Final = "broker.log"
_LARGEST: Final = 8 << 20
_KEPT: Final = 5
_LONGEST: Final = 4000  # bytes that a pipe takes whole, whoever else writes to it
_LOOKS: Final = 0.2  # seconds between looks at a log that is followed
_IN_WORDS: Final = re.compile(r"(\d{4}-\S+) ([A-Z]+) +(.*?)\[(\d*)\] (.*)")
_TRACE_LARGEST: Final = 4 << 20


class Handed(logging.Handler):
    """Writes each record as a line of JSON to a descriptor that all processes of a broker share."""

    def __init__(self, descriptor: int, part: str) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._part = part

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += f": {type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
        line = entry(self._part, record.levelname, text, record.created)
        data = json.dumps(line, ensure_ascii=False).encode(errors="backslashreplace")
        while len(data) > _LONGEST:
            line["text"] = line["text"][: len(line["text"]) // 2] + "…"
            data = json.dumps(line, ensure_ascii=False).encode(errors="backslashreplace")
        try:
            os.write(self._descriptor, data + b"\n")
        except OSError:  # the supervisor is gone, and this process will be
            return


def entry(part: str, level: str, text: str, at: float | None = None) -> dict[str, Any]:
    """Returns a line of the log as data."""
    moment = datetime.now(UTC) if at is None else datetime.fromtimestamp(at, UTC)
    return {
        "at": moment.isoformat(timespec="milliseconds"),
        "level": level,
        "part": part,
        "process": os.getpid(),
        "text": text,
    }


def hand_to(descriptor: int, part: str) -> None:
    """Have all that this process logs, and what it writes to its standard streams, go to a descriptor."""
    root = logging.getLogger()
    root.handlers[:] = [Handed(descriptor, part)]
    root.setLevel(logging.INFO)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    sys.stdout = sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115


class Log:
    """The log of a broker, as its supervisor writes it."""

    def __init__(self, folder: Folder, form: str) -> None:
        folder.log.mkdir(exist_ok=True)
        self._handler = RotatingFileHandler(
            folder.log / NAME, maxBytes=_LARGEST, backupCount=_KEPT, encoding="utf-8", errors="backslashreplace"
        )
        self._handler.setFormatter(logging.Formatter("%(message)s"))
        self.form = form
        self._rest = b""

    def tell(self, text: str, level: str = "INFO", part: str = "supervisor") -> None:
        """Write a line of the supervisor's own."""
        self._write(entry(part, level, text))

    def take(self, data: bytes) -> None:
        """Write the lines that processes have handed over."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in filter(None, lines):
            self._write(_read(line))

    def _write(self, said: dict[str, Any]) -> None:
        text = json.dumps(said, ensure_ascii=False) if self.form == "json" else in_words(said)
        self._handler.emit(logging.LogRecord(NAME, logging.INFO, "", 0, text, None, None))


def _read(line: bytes) -> dict[str, Any]:
    """A line as data; one that no handler has written is what a process wrote to its standard streams."""
    try:
        said = json.loads(line)
        if isinstance(said, dict) and {"at", "level", "part", "text"} <= said.keys():
            return said
    except ValueError:
        pass
    return entry("process", "ERROR", line.decode(errors="replace"))


def in_words(said: dict[str, Any]) -> str:
    r"""Returns a line of the log for people.

    >>> in_words({"at": "2026-01-02T03:04:05Z", "level": "INFO", "part": "default", "process": 7, "text": "x\ny"})
    '2026-01-02T03:04:05Z INFO    default[7] x\\ny'
    """
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in said["text"])
    return f"{said['at']} {said['level']:7} {said['part']}[{said.get('process', '')}] {text}"


def as_data(line: str) -> dict[str, Any]:
    """Returns a line of the log as data, in whichever of its forms it is.

    >>> as_data("2026-01-02T03:04:05Z INFO    default[7] x")["text"]
    'x'
    """
    found = _IN_WORDS.fullmatch(line)
    if found is None:
        return _read(line.encode(errors="replace"))
    at, level, part, process, text = found.groups()
    return {"at": at, "level": level, "part": part, "process": int(process) if process else None, "text": text}


def lines_of(folder: Folder, *, newest: int = 0) -> Iterator[str]:
    """Yields the lines of a broker's log, oldest first; with `newest` 1 only those of files that were put aside."""
    for number in range(_KEPT, newest - 1, -1):
        file = folder.log / (f"{NAME}.{number}" if number else NAME)
        if file.is_file():
            with file.open(encoding="utf-8", errors="replace") as opened:
                yield from (line.rstrip("\n") for line in opened)


def followed(folder: Folder) -> Generator[str, None, None]:
    """Yields the lines of a broker's log, and those that are written to it, without end."""
    yield from lines_of(folder, newest=1)
    file = folder.log / NAME
    while not file.is_file():  # the broker has never run
        time.sleep(_LOOKS)
    opened = file.open(encoding="utf-8", errors="replace")
    try:
        while True:
            if line := opened.readline():
                yield line.rstrip("\n")
                continue
            time.sleep(_LOOKS)
            if file.is_file() and file.stat().st_ino != os.fstat(opened.fileno()).st_ino:
                opened.close()
                opened = file.open(encoding="utf-8", errors="replace")
    finally:
        opened.close()


class TraceFile(logging.Handler):
    """Writes the user trace of a flow to a file that its workers share; a full one is kept beside."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        file.parent.mkdir(exist_ok=True)
        self.setFormatter(logging.Formatter("%(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        moment = datetime.fromtimestamp(record.created)  # as the product writes it: local time
        head = f"{moment:%Y-%m-%d %H:%M:%S.%f}  {os.getpid()}  UserTrace  "
        data = (head + self.format(record) + "\n").encode(errors="backslashreplace")
        handle = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if os.fstat(handle).st_size > _TRACE_LARGEST:
                self._file.replace(self._file.with_suffix(".old"))
            os.write(handle, data)
        finally:
            os.close(handle)
