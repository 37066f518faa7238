"""Problems of a program: each at a piece of its text, and all of them as one error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.errors import Problem

if TYPE_CHECKING:
    from esql.text.position import Position

SYNTAX: Final = 2401


def problem_at(
    at: Position, text: str, file: str, source_line: str, number: int = SYNTAX, kind: str = "syntax"
) -> Problem:
    """A problem at a piece of a program; of a piece of several lines, what stands on the first is marked."""
    last = at.end_column if at.end_line == at.line else len(source_line) + 1
    return Problem(file, at.line, at.column, number, text, source_line, max(1, last - at.column), kind)


class SyntaxProblems(Exception):
    """All problems of some programs."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(problem.render() for problem in self.problems)
