"""Findings of a pass, before they are given their file and line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from esql.scope import Resolution
from esql.scope.types import can_cast
from esql.syntax import Node
from esql.text import ANY_NUMBER, one_of
from esql.values.types import DATES, NUMBERS, STRINGS

# IBM's numbers where its own message says the same
NAME_NUMBER = 2432
OPERATOR_NUMBER = 2420
FILTER_RESULT_NUMBER = 4003
TERMINAL_NUMBER = 4009


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem at a piece of syntax, or at a word of it; the kind is name, type or flow.

    One that does not stop a program is worth telling, and the program runs all the same.
    """

    node: Node
    kind: str
    text: str
    number: int = ANY_NUMBER
    word: str = ""
    stops: bool = True


_GROUPS = ((NUMBERS, "a number"), (STRINGS, "a string"), (DATES, "a date or time"))
Pass = Callable[[Resolution], Iterator[Finding]]


def a(type_name: str) -> str:
    """Name a type with its article.

    >>> a("INTEGER"), a("ROW")
    ('an INTEGER', 'a ROW')
    """
    return f"{'an' if type_name[:1] in 'AEIO' else 'a'} {type_name}"


def accepted_types(types: frozenset[str]) -> str:
    """Name the types that something takes, in few words.

    >>> accepted_types(frozenset(("INTEGER", "FLOAT", "DECIMAL", "INTERVAL")))
    'a number or an INTERVAL'
    """
    groups = [words for group, words in _GROUPS if group <= types]
    grouped = frozenset[str]().union(*(group for group, words in _GROUPS if words in groups))
    return one_of([*groups, *(a(name) for name in sorted(types - grouped))])


def unaccepted(accepted: frozenset[str], given: str) -> str:
    """Say that something takes these types and not the one that it is given, and whether CAST helps.

    >>> unaccepted(frozenset(("INTEGER",)), "CHARACTER")
    'an INTEGER here, and this is a CHARACTER: CAST it'
    """
    advice = ": CAST it" if any(can_cast(given, name) for name in accepted) else ""
    return f"{accepted_types(accepted)} here, and this is {a(given)}{advice}"
