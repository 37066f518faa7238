"""Logic of three values: AND, OR, NOT over TRUE, FALSE and UNKNOWN."""

from __future__ import annotations

from esql.values.errors import wrong_types
from esql.values.types import Value, type_of


def _truth(operator: str, value: Value) -> bool | None:
    if value is None or value is True or value is False:
        return value
    raise wrong_types(operator, type_of(value))


def and_(left: Value, right: Value) -> bool | None:
    """`left AND right`; a right side that is not to be evaluated after FALSE is the caller's matter.

    >>> and_(True, None), and_(False, None), and_(True, True)
    (None, False, True)
    """
    one, other = _truth("AND", left), _truth("AND", right)
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def or_(left: Value, right: Value) -> bool | None:
    """`left OR right`.

    >>> or_(True, None), or_(False, None), or_(False, False)
    (True, None, False)
    """
    one, other = _truth("OR", left), _truth("OR", right)
    if one is True or other is True:
        return True
    return None if one is None or other is None else False


def not_(value: Value) -> bool | None:
    """`NOT value`.

    >>> not_(True), not_(None)
    (False, None)
    """
    one = _truth("NOT", value)
    return None if one is None else not one
