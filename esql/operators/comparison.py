"""Comparison with the implicit casts, BETWEEN, IN, IS, and AND, OR, NOT over TRUE, FALSE and UNKNOWN."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final, TypeAlias

from esql.operators import datetimes
from esql.runtime.invocation import Zone, local_zone
from esql.values.errors import cast_failure, wrong_types
from esql.values.literal_contents import UnreadableError, read_interval_literal, read_literal
from esql.values.literals import shown
from esql.values.types import Bit, Interval, Value, is_gmt, type_of


def boolean(operator: str, value: Value) -> bool | None:
    """A value that must be a BOOLEAN."""
    if value is None or value is True or value is False:
        return value
    raise wrong_types(operator, type_of(value))


def and_all(truths: Collection[bool | None]) -> bool | None:
    """AND of some truths, and FOR ALL: TRUE for none.

    >>> and_all([True, None]), and_all([None, False]), and_all([])
    (None, False, True)
    """
    if False in truths:
        return False
    return None if None in truths else True


def or_all(truths: Collection[bool | None]) -> bool | None:
    """OR of some truths, and FOR ANY: FALSE for none.

    >>> or_all([False, None]), or_all([None, True]), or_all([])
    (None, True, False)
    """
    if True in truths:
        return True
    return None if None in truths else False


def not_(value: Value) -> bool | None:
    """`NOT value`.

    >>> not_(True), not_(None)
    (False, None)
    """
    one = boolean("NOT", value)
    return None if one is None else not one


_Pair: TypeAlias = tuple[Any, Any]
_Cast: TypeAlias = Callable[[Any, Any, Zone], _Pair]

_EXACT: Final = frozenset((int, bytes, bool))
_ORDERED: Final = frozenset((int, str, bytes, bool, date))


def _numbers(left: Any, right: Any, _: Zone) -> _Pair:
    """INTEGER gives way to DECIMAL, and both to FLOAT."""
    if isinstance(left, float) or isinstance(right, float):
        return float(left), float(right)
    return Decimal(left), Decimal(right)


def _local(left: Any, right: Any, zone: Zone) -> _Pair:
    """GMT kinds and DATEs become local TIMEs and TIMESTAMPs, where the other side is one."""
    if is_gmt(left) and is_gmt(right):
        return left, right
    return datetimes.local(left, zone), datetimes.local(right, zone)


def _dated(left: Any, right: Any, zone: Zone) -> _Pair:
    """A DATE beside a TIMESTAMP is its midnight."""
    return tuple(  # type: ignore[return-value]  # two in, two out
        datetimes.local(side, zone) if isinstance(side, datetime) else datetime.combine(side, time())
        for side in (left, right)
    )


def _intervals(left: Interval, right: Interval, _: Zone) -> _Pair:
    if left.qualifier.has_months != right.qualifier.has_months:
        raise wrong_types("of comparison", f"INTERVAL {left.qualifier}", f"INTERVAL {right.qualifier}")
    return left.amount, right.amount


def _read(text: str, like: Any, zone: Zone) -> Any:
    """A CHARACTER cast to the type of what it is compared with."""
    kind = type_of(like)
    try:
        if isinstance(like, Interval):
            return read_interval_literal(text)
        value = read_literal(kind, text)
    except UnreadableError as error:
        raise cast_failure(shown(text), "CHARACTER", kind, error.why, error.sqlstate) from error
    return datetimes.settled(value, zone, gmt=is_gmt(like))


_NUMBERS: Final = (int, float, Decimal)
_OTHERS: Final = (bool, *_NUMBERS, bytes, Bit, date, time, datetime, Interval)
_CASTS: Final[Mapping[tuple[type, type], _Cast]] = {
    **{(one, two): _numbers for one in _NUMBERS for two in _NUMBERS},
    **{(kind, kind): lambda left, right, _: (left, right) for kind in (int, float, Decimal, bytes, bool, date)},
    **{(kind, str): lambda left, right, zone: _pair(left, _read(right, left, zone), zone) for kind in _OTHERS},
    **{(str, kind): lambda left, right, zone: _pair(_read(left, right, zone), right, zone) for kind in _OTHERS},
    (str, str): lambda left, right, _: (left.rstrip(" "), right.rstrip(" ")),  # blanks at the end do not count
    (Bit, Bit): lambda left, right, _: (left.digits, right.digits),
    (Interval, Interval): _intervals,
    (time, time): _local,
    (datetime, datetime): _local,
    (date, datetime): _dated,
    (datetime, date): _dated,
}


def _pair(left: Any, right: Any, zone: Zone) -> _Pair:
    """Two values as they are compared: of one type, and in the order that Python gives them."""
    if left is None or right is None:
        return None, None
    cast = _CASTS.get((type(left), type(right)))
    if cast is None:
        raise wrong_types("of comparison", type_of(left), type_of(right))
    return cast(left, right, zone)


def _is_nan(value: Any) -> bool:
    return value.is_nan() if isinstance(value, Decimal) else isinstance(value, float) and math.isnan(value)


def compare(left: Value, right: Value, zone: Zone = local_zone) -> int | None:
    """-1, 0 or 1 as the left side is smaller, equal or greater; None where one is NULL. NAN is above all numbers.

    >>> compare("a ", "a"), compare(b"a", b"ab"), compare(2, "10"), compare(1, None)
    (0, -1, -1, None)
    """
    kind = type(left)
    if kind is type(right) and kind in _ORDERED:
        one, other = (left.rstrip(" "), right.rstrip(" ")) if kind is str else (left, right)
        return int(one > other) - int(one < other)
    one, other = _pair(left, right, zone)
    if one is None or other is None:
        return None
    if _is_nan(one) or _is_nan(other):
        return int(_is_nan(one)) - int(_is_nan(other))
    if one == other:
        return 0
    return -1 if one < other else 1


def equal(left: Value, right: Value, zone: Zone = local_zone) -> bool | None:
    """`left = right`.

    >>> equal("hello", "hello  "), equal(1, None), equal(1, 1.0)
    (True, None, True)
    """
    kind = type(left)
    if kind is type(right):
        if kind is str:
            return bool(left == right or left.rstrip(" ") == right.rstrip(" "))
        if kind in _EXACT:
            return bool(left == right)
    order = compare(left, right, zone)
    return None if order is None else order == 0


def unequal(left: Value, right: Value, zone: Zone = local_zone) -> bool | None:
    """`left <> right`.

    >>> unequal("a", "b"), unequal(None, None)
    (True, None)
    """
    same = equal(left, right, zone)
    return None if same is None else not same


def less(left: Value, right: Value, zone: Zone = local_zone) -> bool | None:
    """`left < right`.

    >>> less(1, 2), less("B", "a")
    (True, True)
    """
    if type(left) is int and type(right) is int:
        return left < right
    order = compare(left, right, zone)
    return None if order is None else order < 0


def less_or_equal(left: Value, right: Value, zone: Zone = local_zone) -> bool | None:
    """`left <= right`."""
    if type(left) is int and type(right) is int:
        return left <= right
    order = compare(left, right, zone)
    return None if order is None else order <= 0


def greater(left: Value, right: Value, zone: Zone = local_zone) -> bool | None:
    """`left > right`."""
    if type(left) is int and type(right) is int:
        return left > right
    order = compare(left, right, zone)
    return None if order is None else order > 0


def greater_or_equal(left: Value, right: Value, zone: Zone = local_zone) -> bool | None:
    """`left >= right`."""
    if type(left) is int and type(right) is int:
        return left >= right
    order = compare(left, right, zone)
    return None if order is None else order >= 0


def between(value: Value, low: Value, high: Value, zone: Zone = local_zone) -> bool | None:
    """`value BETWEEN low AND high`: the order of the limits counts.

    >>> between(2, 1, 3), between(2, 3, 1), between(0, 1, None)
    (True, False, False)
    """
    return and_all((greater_or_equal(value, low, zone), less_or_equal(value, high, zone)))


def between_symmetric(value: Value, low: Value, high: Value, zone: Zone = local_zone) -> bool | None:
    """`value BETWEEN SYMMETRIC low AND high`: the limits may stand in either order.

    >>> between_symmetric(2, 3, 1)
    True
    """
    return or_all((between(value, low, high, zone), between(value, high, low, zone)))


def is_in(value: Value, choices: Iterable[Value], zone: Zone = local_zone) -> bool | None:
    """`value IN (choices)`: TRUE if one is equal, else UNKNOWN if one is NULL.

    >>> is_in(1, (2, 1, None)), is_in(1, (2, None)), is_in(1, ())
    (True, None, False)
    """
    unknown = False
    for choice in choices:
        same = equal(value, choice, zone)
        if same:
            return True
        unknown = unknown or same is None
    return None if unknown else False


def _is_truth(wanted: bool | None) -> Callable[[Value], bool]:
    def test(value: Value) -> bool:
        if value is not None and type(value) is not bool:
            raise wrong_types(f"IS {'UNKNOWN' if wanted is None else str(wanted).upper()}", type_of(value))
        return value is wanted

    return test


def _is_infinite(value: Value) -> bool:
    if isinstance(value, Decimal):
        return value.is_infinite()
    return isinstance(value, float) and math.isinf(value)


def _is_number(value: Value) -> bool:
    return type(value) in _NUMBERS and not _is_infinite(value) and not _is_nan(value)


_STATES: Final[Mapping[str, Callable[[Value], bool]]] = {
    "NULL": lambda value: value is None,
    "TRUE": _is_truth(True),
    "FALSE": _is_truth(False),
    "UNKNOWN": _is_truth(None),
    "INF": _is_infinite,
    "+INF": lambda value: _is_infinite(value) and value > 0,
    "-INF": lambda value: _is_infinite(value) and value < 0,
    "NAN": _is_nan,
    "NUM": _is_number,
}


def is_state(value: Value, state: str) -> bool:
    """`value IS state`, which is never UNKNOWN.

    >>> is_state(None, "NULL"), is_state(Decimal("-Infinity"), "INF"), is_state("12", "NUM"), is_state(None, "UNKNOWN")
    (True, True, False, True)
    """
    return _STATES[state](value)


def is_not_state(value: Value, state: str) -> bool | None:
    """`value IS NOT state`."""
    return not_(_STATES[state](value))
