"""LIKE: texts held against patterns of % and _, in time that grows with text and pattern only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

_ANY: Final = "%"


def matcher(pattern: str, escape: str = "") -> Callable[[str], bool]:
    """Returns a test for texts that a pattern describes; each piece between two % is looked for once, from the left.

    >>> fits = matcher("12%3")
    >>> fits("123"), fits("12993"), fits("1234")
    (True, True, False)
    """
    pieces = [_compiled(piece) for piece in _pieces(pattern, escape)]
    if len(pieces) == 1:
        only = pieces[0]
        return lambda text: only.fullmatch(text) is not None
    first, *middle, last = pieces
    ending = _length(pattern, escape)

    def fits(text: str) -> bool:
        begun = first.match(text)
        if begun is None:
            return False
        at = begun.end()
        for piece in middle:
            found = piece.search(text, at)
            if found is None:
                return False
            at = found.end()
        start = len(text) - ending
        return start >= at and last.fullmatch(text, start) is not None

    return fits


def _characters(pattern: str, escape: str) -> Iterator[tuple[str, bool]]:
    """Yields the characters of a pattern, each with True where it is a wildcard."""
    escaped = False
    for character in pattern:
        if not escaped and escape and character == escape:
            escaped = True
            continue
        yield character, not escaped and character in "%_"
        escaped = False


def _pieces(pattern: str, escape: str) -> list[list[tuple[str, bool]]]:
    """Returns what stands between the % of a pattern."""
    pieces: list[list[tuple[str, bool]]] = [[]]
    for character, wild in _characters(pattern, escape):
        if wild and character == _ANY:
            pieces.append([])
        else:
            pieces[-1].append((character, wild))
    return pieces


def _compiled(piece: list[tuple[str, bool]]) -> re.Pattern[str]:
    """Returns a piece as an expression without repetition, so that nothing in it can be tried twice."""
    return re.compile("".join("." if wild else re.escape(character) for character, wild in piece), re.DOTALL)


def _length(pattern: str, escape: str) -> int:
    return len(_pieces(pattern, escape)[-1])
