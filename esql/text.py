"""The text of a program: its bytes decoded, positions in it, problems found there, and the statements at places."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from engine.errors import Problem
from esql.runtime.limits import VARIABLE, limits_around

SYNTAX: Final = 2401
ANY_NUMBER: Final = 2402  # of all that is wrong with a program for which IBM has no number of its own


def problem_at(
    at: Position, text: str, file: str, source_line: str, number: int = SYNTAX, kind: str = "syntax"
) -> Problem:
    """A problem at a piece of a program; of a piece of several lines, what stands on the first is marked."""
    last = at.end_column if at.end_line == at.line else len(source_line) + 1
    return Problem(file, at.line, at.column, number, text, source_line, max(1, last - at.column), kind)


def one_of(words: list[str]) -> str:
    """Join words by commas and, before the last, or.

    >>> one_of(["A", "B", "C"])
    'A, B or C'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def split_lines(text: str) -> tuple[str, ...]:
    """Returns the lines of a text as ESQL counts them; a position counts from 1."""
    return tuple(_LINE_END.split(text))


class SyntaxProblems(Exception):
    """All problems of some programs."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(problem.render() for problem in self.problems)


@dataclass(frozen=True, slots=True)
class Position:
    """A span of text; lines and columns count from 1, the end is the place after the last character."""

    line: int
    column: int
    end_line: int
    end_column: int


_WIDEST = 4  # bytes of a character
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x19\x1b-\x1f]")  # which no editor writes into a text
_BINARY = "this is no text, but binary: name a file of ESQL"  # each byte would be a problem of its own
_LINE_END = re.compile(r"\r\n|\r|\n")
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class Source:
    """A text with a name; knows the line and column of every offset, and collects problems."""

    __slots__ = ("_reported", "_starts", "last_lines", "name", "problems", "text", "unreliable")

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.problems: list[Problem] = []
        self._reported: set[int] = set()
        # the lines on which what has a problem ends
        self.last_lines: list[int] = []
        # lines with a problem that is likely to look like others
        self.unreliable: set[int] = set()
        self._starts = [0, *(end.end() for end in _LINE_END.finditer(text))]

    def position(self, start: int, end: int) -> Position:
        """Give the position of the text from offset start up to, without, end."""
        first = bisect_right(self._starts, start)
        last = first if end <= start else bisect_right(self._starts, end - 1)
        return Position(first, start - self._starts[first - 1] + 1, last, max(start, end) - self._starts[last - 1] + 1)

    def of(self, context: Any) -> Position:
        """Give the position of a rule's context."""
        return self.position(context.start.start, context.stop.stop + 1)

    def line_of(self, offset: int) -> int:
        """Give the number of the line that an offset is in."""
        return bisect_right(self._starts, offset)

    def line_end(self, offset: int) -> int:
        """Give the offset at which the line of an offset ends, before its line end."""
        found = _LINE_END.search(self.text, offset)
        return found.start() if found else len(self.text)

    def problem(self, start: int, end: int, text: str) -> None:
        """Write down a problem, the first one only at each place."""
        position = self.position(start, end)
        if position.line in self.unreliable:
            return
        if start in self._reported:
            return
        self._reported.add(start)
        self.last_lines.append(position.end_line)
        begin = self._starts[position.line - 1]
        self.problems.append(problem_at(position, text, self.name, self.text[begin : self.line_end(begin)]))

    def problem_at(self, context: Any, text: str) -> None:
        """Write down a problem with all of a rule's context."""
        self.problem(context.start.start, context.stop.stop + 1, text)


def check_length(sources: Iterable[tuple[str, bytes | str]]) -> None:
    """Raise a problem for texts that are longer than a program may be, without reading more of them.

    >>> check_length([("a.esql", "SET OutputRoot = InputRoot;")])
    """
    longest = limits_around().text
    problems = [one for name, data in sources if len(data) > longest for one in decode(data, name).problems]
    if problems:
        raise SyntaxProblems(tuple(problems))


def decode(data: bytes | str, name: str) -> Source:
    """Decode the bytes of a file: UTF-8, or what its byte order mark says; a mark is not part of the text."""
    longest = limits_around().text
    if len(data) > longest * _WIDEST:
        return _without_text(name, _too_long(f"more than {longest}", longest))
    source = _decoded(data, name)
    length = len(source.text)
    return source if length <= longest else _without_text(name, _too_long(str(length), longest))


def _too_long(length: str, longest: int) -> str:
    advice = f"split it into files, or raise the limit by {VARIABLE}=text=NUMBER"
    return f"the program has {length} characters, and {longest} is the limit: {advice}"


def _without_text(name: str, problem: str) -> Source:
    source = Source("", name)
    source.problem(0, 1, problem)
    return source


def _decoded(data: bytes | str, name: str) -> Source:
    if isinstance(data, str):
        return Source(data.removeprefix("\ufeff"), name)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode(data[len(mark) :], encoding, name)
    return _decode(data, "utf-8", name)


def _decode(data: bytes, encoding: str, name: str) -> Source:
    try:
        text = data.decode(encoding)
        return _without_text(name, _BINARY) if "\0" in text else Source(text, name)
    except UnicodeDecodeError as error:
        text = data.decode(encoding, errors="replace")
        if _CONTROL.search(text):
            return _without_text(name, _BINARY)
        source = Source(text, name)
        at = len(data[: error.start].decode(encoding, errors="replace"))
        advice = "save the file as UTF-8, or as UTF-16 with a byte order mark"
        source.problem(at, at + 1, f"this is not a character in {encoding.upper()}: {advice}")
        return source


_LONGEST: Final = 1000  # characters of a statement that are told


class StatementSpan(NamedTuple):
    """A statement from its first place to the one behind it, and the routine that it is of, with its first line."""

    line: int
    column: int
    end_line: int
    end_column: int
    routine: str = ""
    first: int = 1

    @property
    def position(self) -> str:
        """The line in the routine and the column, as the product writes them."""
        return f"{self.line - self.first + 1}.{self.column}"

    def text(self, lines: Sequence[str]) -> str:
        """The statement in one line, cut where it is long."""
        found = [lines[at] for at in range(self.line - 1, min(self.end_line, len(lines)))]
        if found:
            found[-1] = found[-1][: self.end_column - 1] if self.end_line <= len(lines) else found[-1]
            found[0] = found[0][self.column - 1 :]
        text = " ".join(" ".join(found).split())
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def innermost_statement(found: Sequence[StatementSpan], line: int, column: int) -> StatementSpan | None:
    """The smallest statement that a place is in; a column of 0 is any."""
    best: StatementSpan | None = None
    for one in found:
        if one.line > line or one.end_line < line:
            continue
        if column and not (one.line, one.column) <= (line, column) < (one.end_line, one.end_column):
            continue
        best = one
    return best
