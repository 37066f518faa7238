"""Answers of commands: messages with AMQ numbers, objects they display, and the form in which they print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_COLUMN: Final = 40
_NUMBERS: Final = ("No", "One")


class Answer(NamedTuple):
    """The answer of one command; `objects` are those displayed, as their attributes in order.

    `code` is the number of the message, such as AMQ8006I; `failed` says that the command did nothing. An answer that
    came as JSON is `Answer(*values)` again.
    """

    line: int
    command: str
    code: str
    text: str
    objects: tuple[tuple[tuple[str, str | int | bool], ...], ...] = ()
    failed: bool = False
    syntax: bool = False  # it failed because it could not be read

    def __str__(self) -> str:
        """Returns the answer as lines, without the command."""
        if not self.objects:
            return f"{self.code}: {self.text}"
        return "\n".join("\n".join((f"{self.code}: {self.text}", *lines_of(one))) for one in self.objects)


def lines_of(attributes: Sequence[tuple[str, str | int | bool]]) -> Iterator[str]:
    r"""Yields the lines of one displayed object, two attributes a line where they fit.

    >>> print("\n".join(lines_of([("QUEUE", "Q1"), ("TYPE", "QLOCAL"), ("CURDEPTH", 3), ("SHARE", True)])))
       QUEUE(Q1)                               TYPE(QLOCAL)
       CURDEPTH(3)                             SHARE
    """
    left = ""
    for name, value in attributes:
        shown = spelled(name, value)
        if left and len(left) < _COLUMN and len(shown) <= _COLUMN:
            yield f"   {left:<{_COLUMN}}{shown}"
            left = ""
            continue
        if left:
            yield f"   {left}"
        left = shown
    if left:
        yield f"   {left}"


def spelled(name: str, value: str | int | bool) -> str:
    """Returns an attribute as DISPLAY prints it: NAME(VALUE), NAME or NONAME for one that is set or not.

    >>> spelled("MAXDEPTH", 5), spelled("SHARE", False), spelled("DESCR", "")
    ('MAXDEPTH(5)', 'NOSHARE', 'DESCR( )')
    """
    if isinstance(value, bool):
        return name if value else f"NO{name}"
    return f"{name}({' ' if value == '' else value})"


def printed(answers: Sequence[Answer], queue_manager: str) -> Iterator[str]:
    """Yields what runmqsc prints for a script: each command with its line, what it answered, and the counts."""
    yield f"Starting MQSC for queue manager {queue_manager}."
    for answer in answers:
        yield f"{answer.line:6d} : {answer.command}"
        yield str(answer)
    wrong = sum(answer.syntax for answer in answers)
    refused = sum(answer.failed and not answer.syntax for answer in answers)
    yield f"{_count(len(answers), 'MQSC command')} read."
    yield f"{_count(wrong, 'command')} {'has' if wrong == 1 else 'have'} a syntax error."
    if refused:
        yield f"{_count(refused, 'valid MQSC command')} could not be processed."
    else:
        yield "All valid MQSC commands were processed."


def _count(number: int, noun: str) -> str:
    word = _NUMBERS[number] if number < len(_NUMBERS) else str(number)
    return f"{word} {noun}{'' if number == 1 else 's'}"
