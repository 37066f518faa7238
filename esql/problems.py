"""What is wrong with a program: where, what, what to do."""

from dataclasses import dataclass

from esql.syntax import Position


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a program, found before it runs."""

    position: Position
    text: str
    file: str
    source_line: str
    number: str = "BIP2401"
    kind: str = "syntax"
    stops: bool = True  # whether the program cannot run before this is mended

    def render(self) -> str:
        """Give the place and the text on one line, the source line below, and carets under the piece that is meant."""
        at = self.position
        before = self.source_line[: at.column - 1]
        last = at.end_column - 1 if at.end_line == at.line else len(self.source_line)
        blank = "".join("\t" if letter == "\t" else " " for letter in before)
        carets = "^" * max(1, last - len(before))
        place = f"{self.number} {self.file}:{at.line}:{at.column}: {self.text}"
        return f"{place}\n    {self.source_line}\n    {blank}{carets}"


class SyntaxProblems(Exception):
    """All syntax problems of one text."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(problem.render() for problem in self.problems)
