"""Failures of commands: a line on stderr that says where, what and what to do, and an exit code that is not zero.

Errors of standard output name it, and no descriptor of a standard stream is left for another file.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn, TextIO

import typer

from engine.errors import BrokerError, ConfigurationException, Problem, has_left_debugger, reason
from engine.files.input_files import REMEDY, read_file, read_stream
from engine.files.output_files import NamedOutput

FAILED: Final = 1
MISUSED: Final = 2
INTERRUPTED: Final = 130  # as shells have it: 128 and the number of the signal
USAGE: Final[type[Exception]] = typer.BadParameter.__bases__[0]  # wherever this version of Typer has Click's errors


@contextmanager
def failures_shown() -> Iterator[None]:
    """Turn what goes wrong inside into lines on stderr and an exit code."""
    try:
        yield
    except USAGE as error:
        _complain(_misuse(error))
        sys.exit(MISUSED)
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except ConfigurationException as error:
        _show_problems(error)
        if "--json" in sys.argv:
            _give_problems(error)
        sys.exit(FAILED)
    except BrokerError as error:
        _complain(f"penstock: {error}")
        sys.exit(FAILED)
    except OSError as error:
        _complain_of_file(error)
        sys.exit(FAILED)
    except Exception as error:  # a fault of this program: whoever wants to see all of it asks Python
        if has_left_debugger(error):
            sys.exit(INTERRUPTED)
        if sys.flags.dev_mode:
            raise
        _complain(f"penstock: {_fault(error)}")
        sys.exit(FAILED)


def end_in_order() -> None:
    """Have this process remove its folders and stop what it has started when it is told to end, as when it ends."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _ended)


def _ended(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)


def visible(text: str) -> str:
    r"""A line of text in which what a terminal would obey, or cannot show, is written as its number.

    >>> visible("a" + chr(27) + "[31m")
    'a\\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\t" else c.encode("unicode_escape").decode() for c in text)


def _complain(text: str) -> None:
    typer.echo("\n".join(map(visible, text.split("\n"))), err=True)


def _complain_of_file(error: OSError) -> None:
    if error.filename == STANDARD_OUTPUT:
        give_up_output()
        _complain(f"penstock: {STANDARD_OUTPUT} cannot be written: {error.strerror}")
    else:
        where = error.filename or "a file"
        _complain(f"penstock: {where}: {reason(error, 'make its folder, or name another')}")


def _misuse(error: Any) -> str:
    """Returns what is wrong with a command line; a command that was given nothing shows its help instead."""
    text = str(error.format_message())
    if "\n" in text:
        return text
    command = "penstock" if error.ctx is None else error.ctx.command_path
    return f"{command}: {text[:1].lower()}{text[1:].rstrip('.')} (see {command} --help)"


def _fault(error: Exception) -> str:
    """Returns what is to be told of a fault that nobody foresaw: what it is, and where it was found."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "nowhere"
    said = " ".join(str(error).split())
    return (
        f"a fault in penstock itself, {type(error).__name__} at {where}: {said:.200};"
        " report it, with what the same command shows with PYTHONDEVMODE=1"
    )


def _show_problems(error: ConfigurationException) -> None:
    problems = error.problems
    if len(problems) == 1 and not problems[0].source_line:
        _complain(f"penstock: {problems[0]}")
        return
    for problem in problems:
        _complain(problem.render())
    if problems:
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        _complain(f"penstock: {count} in {', '.join(dict.fromkeys(problem.file for problem in problems))}")
    else:
        _complain(f"penstock: {error}")


def _give_problems(error: ConfigurationException) -> None:
    """Print on stdout as data what stderr says in words, so that who asked for JSON reads some in any case."""
    import json
    from dataclasses import asdict

    place = error.place
    problems = error.problems or (Problem(place.file, place.line, place.column, error.number, error.text),)
    typer.echo(json.dumps({"problems": [asdict(problem) for problem in problems]}, indent=2))


def existing(path: str, accepted: str = "a file") -> Path:
    """Returns a path that must exist; `accepted` says what the command takes there."""
    found = Path(path)
    try:
        is_there = bool(path) and bool(found.stat())
    except (FileNotFoundError, NotADirectoryError):
        is_there = False
    if not is_there:
        raise ConfigurationException(f"{path or 'an empty name'} does not exist: name {accepted}")
    return found


OR_STANDARD_INPUT: Final = "a file, or - for standard input"


def read_input(file: str, what: str, most: int, remedy: str = REMEDY, *, shown: str = "standard input") -> bytes:
    """Returns the bytes of a file, or of standard input for -; `what` it holds, errors call standard input `shown`."""
    if file == "-":
        return read_stream(standard_input(what), shown, most, remedy)
    return read_file(existing(file, OR_STANDARD_INPUT), most, remedy)


def standard_input(what: str, otherwise: str = "name a file") -> BinaryIO:
    """Returns standard input for bytes; where it is closed, the error says what it would hold, and what else to do."""
    if sys.stdin is None:
        raise ConfigurationException(f"standard input is closed: pipe {what} into it, or {otherwise}")
    return sys.stdin.buffer


def made_folder(folder: Path, what: str) -> Path:
    """Returns a folder that is made where it is not there; `what` is to be in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ConfigurationException(f"{folder} cannot hold {what}: name a directory, not a file") from error
    return folder


STANDARD_OUTPUT: Final = "standard output"
_WAYS: Final = (os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)  # such that what was closed still cannot be used


def prepare_streams() -> None:
    """Holds the descriptors that are closed, and lets writing to a closed or a full standard output fail by its name.

    Were descriptor 1 left free, the next file to be opened would get it, and Java would print into that.
    """
    for descriptor, way in enumerate(_WAYS):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, way)  # gets the lowest number that is free
    shown: TextIO | None = sys.stdout
    if shown is None or _is_plain(shown):
        raw = NamedOutput(1, STANDARD_OUTPUT, closes=False)
        by_lines = isinstance(shown, TextIOWrapper) and (shown.line_buffering or shown.write_through)
        encoding = "utf-8" if shown is None else shown.encoding
        sys.stdout = TextIOWrapper(BufferedWriter(raw), encoding=encoding, line_buffering=by_lines)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what a terminal cannot show is shown by its number
            stream.reconfigure(errors="backslashreplace")


def _is_plain(shown: object) -> bool:
    """Returns True for Python's own standard output, not for one that a test has put in its place."""
    if type(shown) is not TextIOWrapper:
        return False
    raw = getattr(shown.buffer, "raw", shown.buffer)  # Python was told to buffer nothing, or it does
    return type(raw) is FileIO and raw.fileno() == 1


def give_up_output() -> None:
    """Drops what standard output did not take, so that Python does not try it again as it ends."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
