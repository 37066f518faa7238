"""Marking: a problem with its source line, made safe to be shown."""

from __future__ import annotations

import linecache
from typing import Final

from engine.errors import Place, Problem

LONGEST_SHOWN_LINE: Final = 200


def marked(place: Place, text: str, about: str, number: int, line: str) -> Problem:
    """A problem with its source line, its column moved to the word that it is about."""
    if len(line) > LONGEST_SHOWN_LINE:
        line = ""
    start = line.find(about, place.column - 1) if about else -1
    column, width = (start + 1, len(about)) if start >= 0 else (place.column, 1)
    return Problem(place.file, place.line, column, number, _printable(text), _printable(line.rstrip()), width)


def _printable(text: str) -> str:
    """A text without what a terminal would obey; as many characters, so that columns stay."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def line_of_file(place: Place) -> str:
    """The line of a place, as its file has it now."""
    linecache.checkcache(place.file)
    return linecache.getline(place.file, place.line)
