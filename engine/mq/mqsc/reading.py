"""Reads a script of MQSC commands: lines joined, comments left out, each command as words with their values."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

LONGEST: Final = 32_768  # characters of one command
_BREAK: Final = ";"
_ENDS: Final = ("END", "EXIT", "QUIT")


@dataclass(frozen=True, slots=True)
class Value:
    """One value in the parentheses of a parameter: as it stands in quotes, in capitals without them.

    `raw` is a value without quotes as it stands.
    """

    text: str
    quoted: bool = False
    raw: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A word of a command, with its values where parentheses follow it; `word` is in capitals."""

    word: str
    values: tuple[Value, ...] | None
    line: int

    @property
    def text(self) -> str:
        """The only value, or an empty text."""
        return self.values[0].text if self.values else ""


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a script: the line that it starts in, its text on one line, and its words."""

    line: int
    text: str
    parameters: tuple[Parameter, ...] = ()
    problem: str = ""  # what is wrong with its words, where they cannot be read


@dataclass(slots=True)
class _Pieces:
    """The text of a command while its lines are joined, and the line that each piece came from."""

    text: str = ""
    starts: list[int] | None = None
    lines: list[int] | None = None

    def add(self, piece: str, line: int) -> None:
        self.starts, self.lines = [*(self.starts or []), len(self.text)], [*(self.lines or []), line]
        self.text += piece

    def line_at(self, offset: int) -> int:
        return (self.lines or [0])[bisect_right(self.starts or [0], offset) - 1]


def read(script: str) -> Iterator[Command]:
    r"""Yields the commands of a script up to `end`; one that cannot be read carries its problem.

    >>> [command.text for command in read("* a comment\nDEFINE QLOCAL(A) +\n   REPLACE\nend\nDISPLAY QMGR")]
    ['DEFINE QLOCAL(A) REPLACE']
    """
    for pieces in _joined(script):
        for start, text in _separated(pieces.text):
            stripped = text.strip()
            if not stripped:
                continue
            if stripped.upper() in _ENDS:
                return
            yield _command(stripped, pieces, start + len(text) - len(text.lstrip()))


def _joined(script: str) -> Iterator[_Pieces]:
    """Yields the text of each run of lines that + or - at their ends hold together."""
    pieces, column = _Pieces(), False
    for number, raw in enumerate(script.split("\n"), 1):
        line = raw.rstrip(" \t\r\f")
        if line.lstrip().startswith("*") or (not line and pieces.text):
            continue
        if pieces.text and not column:
            line = line.lstrip(" \t")
        if line[-1:] in {"+", "-"}:
            pieces.add(line[:-1], number)
            column = line[-1] == "-"
            continue
        pieces.add(line, number)
        yield pieces
        pieces, column = _Pieces(), False
    if pieces.text:
        yield pieces


def _separated(text: str) -> Iterator[tuple[int, str]]:
    """Yields the commands that semicolons outside quotes separate, each with where it starts."""
    start, quoted = 0, False
    for at, character in enumerate(text):
        if character == "'":
            quoted = not quoted
        elif character == _BREAK and not quoted:
            yield start, text[start:at]
            start = at + 1
    yield start, text[start:]


def _command(text: str, pieces: _Pieces, start: int) -> Command:
    line = pieces.line_at(start)
    if len(text) > LONGEST:
        return Command(line, text[:80], problem=f"a command has at most {LONGEST:,} characters; split it")
    try:
        parameters = tuple(_parameters(text, pieces, start))
    except _UnreadableError as error:
        return Command(line, text, problem=str(error))
    return Command(line, text, parameters)


class _UnreadableError(Exception):
    """The words of a command cannot be told apart."""


_WORD: Final = re.compile(r"[^\s(),']+")
_SPACE: Final = re.compile(r"\s*")
_SEPARATION: Final = re.compile(r"[\s,]*")  # any number of blanks and commas, between words and between values
_UNQUOTED: Final = re.compile(r"[^\s(),'\"]+")
_QUOTED: Final = re.compile(r"'((?:[^']|'')*)'")


def _parameters(text: str, pieces: _Pieces, start: int) -> Iterator[Parameter]:
    at = 0
    while at < len(text):
        found = _WORD.match(text, at)
        if found is None:
            raise _UnreadableError(
                f"{text[at]!r} has no place at {text[at : at + 20]!r}; take it out, or name what it is for"
            )
        line = pieces.line_at(start + at)
        at = _after(_SPACE, text, found.end())
        values: tuple[Value, ...] | None = None
        if text[at : at + 1] == "(":
            values, at = _values(text, at + 1, found.group())
        at = _after(_SEPARATION, text, at)
        yield Parameter(found.group().upper(), values, line)


def _after(separation: re.Pattern[str], text: str, at: int) -> int:
    found = separation.match(text, at)
    return found.end() if found else at


def _values(text: str, at: int, word: str) -> tuple[tuple[Value, ...], int]:
    """Returns the values up to the closing parenthesis, which commas or blanks separate, and where it ends."""
    values: list[Value] = []
    while True:
        at = _after(_SEPARATION, text, at)
        following = text[at : at + 1]
        if following == ")":
            return tuple(values), at + 1
        if following == '"':
            raise _UnreadableError(f"{word.upper()} has double quotes; write a text in single quotes")
        found = (_QUOTED if following == "'" else _UNQUOTED).match(text, at)
        if found is None:
            missing = "a closing quote" if following == "'" else "a closing parenthesis"
            raise _UnreadableError(f"{word.upper()} lacks {missing}; write it behind the value")
        quoted = following == "'"
        content = found.group(1).replace("''", "'") if quoted else found.group().upper()
        values.append(Value(content, quoted, content if quoted else found.group()))
        at = found.end()
