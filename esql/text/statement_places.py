"""Stretches: the places of a text that its statements take, and the innermost statement at a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

_LONGEST: Final = 1000  # characters of a statement that are told


class Stretch(NamedTuple):
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


def innermost(found: Sequence[Stretch], line: int, column: int) -> Stretch | None:
    """The smallest statement that a place is in; a column of 0 is any."""
    best: Stretch | None = None
    for one in found:
        if one.line > line or one.end_line < line:
            continue
        if column and not (one.line, one.column) <= (line, column) < (one.end_line, one.end_column):
            continue
        best = one
    return best
