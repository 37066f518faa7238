"""Conversions that there are between types: by CAST, by assignment, and for a comparison."""

from __future__ import annotations

from esql.scope.types import UNKNOWN, is_time_pair
from esql.values.types import DATES, NUMBERS, SCALARS, STRINGS

_TIMES = frozenset(("TIME", "GMTTIME"))
_MOMENTS = frozenset(("TIMESTAMP", "GMTTIMESTAMP"))
_CASTS = {
    "BOOLEAN": frozenset(("BOOLEAN", "CHARACTER")),
    "INTEGER": NUMBERS | STRINGS | {"INTERVAL"},
    "FLOAT": NUMBERS | {"CHARACTER", "INTERVAL"},
    "DECIMAL": NUMBERS | {"CHARACTER", "INTERVAL"},
    "CHARACTER": SCALARS,
    "BIT": STRINGS | {"INTEGER"},
    "BLOB": STRINGS | {"INTEGER"},
    "DATE": _MOMENTS | {"DATE", "CHARACTER"},
    "TIME": _TIMES | _MOMENTS | {"CHARACTER"},
    "GMTTIME": _TIMES | _MOMENTS | {"CHARACTER"},
    "TIMESTAMP": DATES | {"CHARACTER"},
    "GMTTIMESTAMP": DATES | {"CHARACTER"},
    "INTERVAL": NUMBERS | {"INTERVAL", "CHARACTER"},
}
# How many sources CAST takes, besides one, to make a type.
_PARTS = {
    "DATE": (3,),
    "TIME": (3,),
    "GMTTIME": (3,),
    "TIMESTAMP": (2, 6),
    "GMTTIMESTAMP": (2, 6),
    "INTERVAL": (2, 3, 4),
}


def can_cast(source: str, target: str) -> bool:
    """Say whether CAST makes this target of this source; unknown types go with all.

    >>> can_cast("DATE", "INTEGER"), can_cast("", "INTEGER")
    (False, True)
    """
    return UNKNOWN in (source, target) or target in _CASTS.get(source, frozenset())


def can_assign(source: str, target: str) -> bool:
    """Say whether a value of one type can be assigned to a variable of another."""
    if target in ("ROW", "LIST"):
        return source in (UNKNOWN, target) or (target == "ROW" and source in SCALARS)
    return source == target or can_cast(source, target)


def can_compare(left: str, right: str) -> bool:
    """Say whether values of these types can be compared."""
    if UNKNOWN in (left, right) or left == right or {left, right} <= NUMBERS:
        return True
    if "CHARACTER" in (left, right):
        return {left, right} <= SCALARS
    if "LIST" in (left, right) or "ROW" in (left, right):
        return {left, right} == {"LIST", "ROW"}
    return is_time_pair(left, right) or {left, right} <= _MOMENTS | {"DATE"}


def part_counts(target: str) -> tuple[int, ...]:
    """Give how many sources CAST takes to make a type."""
    return (1, *_PARTS.get(target, ()))


def common_cast(source: str) -> list[str]:
    """List what CAST can make of a type."""
    return sorted(_CASTS.get(source, frozenset()) - {source})
