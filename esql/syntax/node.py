"""The base of each piece of syntax: its position in the text."""

from dataclasses import dataclass, field

from esql.text.source import Position

NOWHERE = Position(0, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A piece of syntax; two are equal when they say the same, wherever they stand."""

    position: Position = field(default=NOWHERE, compare=False, repr=False)
