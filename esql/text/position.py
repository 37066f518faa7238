"""Position: the stretch of a text that a piece of syntax stands in."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Position:
    """A stretch of text; lines and columns count from 1, the end is the place after the last character."""

    line: int
    column: int
    end_line: int
    end_column: int
