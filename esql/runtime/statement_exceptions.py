"""The exceptions that a failure leaves at each statement on its way out of a program, as the product has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from engine.errors import BrokerError, Insert, Place
from esql.text.statement_places import Stretch, innermost
from esql.values.errors import CAST, CHARACTER_CASTS, ValueFailure

STATEMENT: Final = 2488
EXPRESSION: Final = 2439
_NUMBER: Final = 2  # the insert type of numbers
_MOST: Final = 50  # statements that are told of one failure
_SENDING: Final = ("PROPAGATE", "EVAL")
_CASTS: Final = frozenset((*CHARACTER_CASTS.values(), CAST))  # these say themselves what could not be evaluated


class Spot(NamedTuple):
    """A place in a file that code was at when it failed."""

    file: str
    line: int
    column: int


def rethrown(
    spots: Sequence[Spot], statements: Mapping[str, Sequence[Stretch]], files: Mapping[str, Sequence[str]]
) -> list[BrokerError]:
    """One for each statement that a failure has left, outermost first; a statement that called itself counts once."""
    left: list[tuple[Spot, Stretch]] = []
    for spot in spots:
        stretch = innermost(statements.get(spot.file, ()), spot.line, spot.column)
        if stretch is not None and (not left or left[-1][1] != stretch):
            left.append((spot, stretch))
    return [_of_statement(spot.file, stretch, files[spot.file]) for spot, stretch in left[-_MOST:]]


def until_sent(errors: Sequence[BrokerError]) -> list[BrokerError]:
    """Those up to the statement that sent a message on, behind which another node failed."""
    found = []
    for error in errors:
        found.append(error)
        if error.inserts[2].text.upper().startswith(_SENDING):
            break
    return found


def evaluated(error: BrokerError, spot: Spot, statements: Mapping[str, Sequence[Stretch]]) -> list[BrokerError]:
    """What an operation on values adds: the expression that it was part of, by its line in the routine and column."""
    if not isinstance(error, ValueFailure) or error.number in _CASTS:
        return []
    stretch = innermost(statements.get(spot.file, ()), spot.line, spot.column)
    first = 1 if stretch is None else stretch.first
    inserts = (Insert(str(spot.line - first + 1), _NUMBER), Insert(str(spot.column), _NUMBER))
    place = Place(file=spot.file, line=spot.line, column=spot.column)
    return [BrokerError(EXPRESSION, "error evaluating expression", *inserts, place=place)]


def _of_statement(file: str, stretch: Stretch, lines: Sequence[str]) -> BrokerError:
    place = Place(file=file, line=stretch.line, column=stretch.column)
    inserts = (stretch.routine, stretch.position, stretch.text(lines))
    return BrokerError(STATEMENT, "Error detected, rethrowing", *inserts, place=place)
