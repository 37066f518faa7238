"""Arithmetic: + - * / over numbers, intervals, dates and times; NULL in, NULL out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final, TypeAlias

from esql.operators import datetimes
from esql.runtime.invocation import Zone
from esql.values.errors import division_by_zero, overflow, wrong_types
from esql.values.literals import shown
from esql.values.types import DECIMAL, INTEGER_HIGH, INTEGER_LOW, Interval, Qualifier, Value, fits_integer, type_of

_Operation: TypeAlias = Callable[[Any, Any], Value]
_Table: TypeAlias = Mapping[tuple[type, type], _Operation]


def _fitting(operator: str, exact: Callable[[int, int], int]) -> _Operation:
    def operate(left: int, right: int) -> int:
        result = exact(left, right)
        if fits_integer(result):
            return result
        raise overflow(operator, str(left), str(right), "INTEGER")

    return operate


def _quotient(left: int, right: int) -> int:
    if right == 0:
        raise division_by_zero(str(left))
    result = abs(left) // abs(right)
    return result if (left < 0) == (right < 0) else -result


def _float(operator: str, operate: Callable[[float, float], float]) -> _Operation:
    def checked(left: float | Decimal, right: float | Decimal) -> float:
        one, other = float(left), float(right)
        result = operate(one, other)
        if math.isinf(result) and math.isfinite(one) and math.isfinite(other):
            raise overflow(operator, shown(left), shown(right), "FLOAT")
        return result

    return checked


def _divided(left: float, right: float) -> float:
    if right == 0.0:
        raise division_by_zero(shown(left))
    return left / right


def _decimal(operator: str, operate: Callable[[Decimal | int, Decimal | int], Decimal]) -> _Operation:
    def checked(left: Decimal | int, right: Decimal | int) -> Decimal:
        result = operate(left, right)
        if result.is_infinite() and Decimal(left).is_finite() and Decimal(right).is_finite():
            raise overflow(operator, shown(left), shown(right), "DECIMAL")
        return result

    return checked


def _decimal_quotient(left: Decimal | int, right: Decimal | int) -> Decimal:
    if right == 0:
        raise division_by_zero(shown(left))
    return DECIMAL.divide(left, right)


def _numbers(integer: _Operation, decimal: _Operation, floating: _Operation) -> dict[tuple[type, type], _Operation]:
    """The implicit casts of numbers: INTEGER gives way to DECIMAL, and both to FLOAT."""
    ranks = {int: integer, Decimal: decimal, float: floating}
    order = list(ranks)
    return {(one, two): ranks[max(one, two, key=order.index)] for one in order for two in order}


def _swapped(operation: _Operation) -> _Operation:
    return lambda left, right: operation(right, left)


_NUMBERS: Final = (int, float, Decimal)
_MOMENTS: Final = (date, time, datetime)

_ADD: Final[_Table] = {
    **_numbers(_fitting("+", lambda a, b: a + b), _decimal("+", DECIMAL.add), _float("+", lambda a, b: a + b)),
    (Interval, Interval): datetimes.add_intervals,
    **{(kind, Interval): datetimes.shift for kind in _MOMENTS},
    **{(Interval, kind): _swapped(datetimes.shift) for kind in _MOMENTS},
}
_SUBTRACT: Final[_Table] = {
    **_numbers(_fitting("-", lambda a, b: a - b), _decimal("-", DECIMAL.subtract), _float("-", lambda a, b: a - b)),
    (Interval, Interval): lambda left, right: datetimes.add_intervals(left, datetimes.negated(right)),
    **{(kind, Interval): lambda left, right: datetimes.shift(left, datetimes.negated(right)) for kind in _MOMENTS},
    **{(one, two): datetimes.refuse_bare_difference for one in _MOMENTS for two in _MOMENTS},
}
_MULTIPLY: Final[_Table] = {
    **_numbers(_fitting("*", lambda a, b: a * b), _decimal("*", DECIMAL.multiply), _float("*", lambda a, b: a * b)),
    **{(Interval, kind): datetimes.scale for kind in _NUMBERS},
    **{(kind, Interval): _swapped(datetimes.scale) for kind in _NUMBERS},
}
_DIVIDE: Final[_Table] = {
    **_numbers(_fitting("/", _quotient), _decimal("/", _decimal_quotient), _float("/", _divided)),
    **{(Interval, kind): datetimes.divide for kind in _NUMBERS},
}


def _operate(table: _Table, operator: str, left: Value, right: Value) -> Value:
    if left is None or right is None:
        return None
    operation = table.get((type(left), type(right)))
    if operation is None:
        raise wrong_types(operator, type_of(left), type_of(right))
    return operation(left, right)


def add(left: Value, right: Value) -> Value:
    """The sum.

    >>> add(1, 2), add(1, Decimal("1.50")), add(1, None)
    (3, Decimal('2.50'), None)
    """
    if type(left) is int and type(right) is int:
        result = left + right
        if INTEGER_LOW <= result <= INTEGER_HIGH:
            return result
    return _operate(_ADD, "+", left, right)


def subtract(left: Value, right: Value) -> Value:
    """The difference; that of dates and times needs units and is datetimes.difference.

    >>> subtract(1, 2), subtract(date(2000, 3, 1), Interval(86_400_000_000, datetimes.DAY))
    (-1, datetime.date(2000, 2, 29))
    """
    if type(left) is int and type(right) is int:
        result = left - right
        if INTEGER_LOW <= result <= INTEGER_HIGH:
            return result
    return _operate(_SUBTRACT, "-", left, right)


def subtract_in_units(left: Value, right: Value, units: Qualifier, zone: Zone) -> Value:
    """`(left - right) units` of dates and times, or of intervals."""
    if isinstance(left, Interval) or isinstance(right, Interval):
        return datetimes.in_units(subtract(left, right), units)
    return datetimes.difference(left, right, units, zone)


def multiply(left: Value, right: Value) -> Value:
    """The product.

    >>> multiply(6, 7), multiply(Decimal("1.5"), Decimal("2.25"))
    (42, Decimal('3.375'))
    """
    if type(left) is int and type(right) is int:
        result = left * right
        if INTEGER_LOW <= result <= INTEGER_HIGH:
            return result
    return _operate(_MULTIPLY, "*", left, right)


def divide(left: Value, right: Value) -> Value:
    """The quotient; that of two INTEGERs is truncated.

    >>> divide(-7, 2), divide(Decimal(1), 8), divide(1, 4.0)
    (-3, Decimal('0.125'), 0.25)
    """
    if type(left) is int and type(right) is int and left >= 0 and right > 0:
        return left // right
    return _operate(_DIVIDE, "/", left, right)


def negate(value: Value) -> Value:
    """The value with the other sign.

    >>> negate(5), negate(Decimal("1.0"))
    (-5, Decimal('-1.0'))
    """
    kind = type(value)
    if kind is int:
        if value == INTEGER_LOW:
            raise overflow("-", "0", str(value), "INTEGER")
        return -value
    if value is None:
        return None
    if kind is Decimal:
        return DECIMAL.minus(value)
    if kind is float:
        return -value
    if kind is Interval:
        return datetimes.negated(value)
    raise wrong_types("-", type_of(value))


def affirm(value: Value) -> Value:
    """The value behind a plus sign.

    >>> affirm(5)
    5
    """
    if value is None or isinstance(value, Interval) or type(value) in _NUMBERS:
        return value
    raise wrong_types("+", type_of(value))
