"""Findings: everything that is wrong with copybooks, gathered while they are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from engine.errors import Place, Problem
from engine.flow.marked_lines import marked

UNFIT: Final = 2066
MOST: Final = 200


class Spot(NamedTuple):
    """A position in a copybook; lines and columns count from 1."""

    file: str
    line: int
    column: int = 0


@dataclass(slots=True)
class Findings:
    """The problems of one reading; `lines` are those of each file that was read, `cut` those not read to their end."""

    lines: dict[str, tuple[str, ...]] = field(default_factory=dict)
    cut: set[tuple[str, int]] = field(default_factory=set)
    found: dict[Problem, None] = field(default_factory=dict)

    def add(self, spot: Spot, text: str, about: str = "") -> None:
        """Note a problem where it stands; `about` is the word of the line to mark."""
        if len(self.found) >= MOST:
            return
        lines = self.lines.get(spot.file, ())
        line = lines[spot.line - 1] if 0 < spot.line <= len(lines) else ""
        if (spot.file, spot.line) in self.cut:
            text += "; of this line columns 73 and on are not read, but in the source format variable"
        place = Place(file=spot.file, line=spot.line, column=max(1, spot.column))
        self.found[marked(place, text, about, UNFIT, line)] = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems, in the order of their places."""
        return tuple(sorted(self.found))
