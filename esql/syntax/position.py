"""Where a piece of syntax stands in its text, and what every node of the syntax tree has."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Position:
    """A stretch of text; lines and columns count from 1, the end is the place after the last character."""

    line: int
    column: int
    end_line: int
    end_column: int


NOWHERE = Position(0, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A piece of syntax; two are equal when they say the same, wherever they stand."""

    position: Position = field(default=NOWHERE, compare=False, repr=False)
