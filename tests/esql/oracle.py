"""The rules of operators, as plainly as they can be said: numbers are fractions, LIKE tries every way."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import Any

from esql.cast import Target, cast
from esql.functions import Function
from esql.operators import datetimes
from esql.runtime.invocation import Invocation
from esql.values.errors import cast_failure, division_by_zero, overflow, wrong_types
from esql.values.literal_contents import UnreadableError, read_interval_literal
from esql.values.types import DECIMAL, Bit, Interval, fits_integer, type_of

NUMBERS = ("INTEGER", "DECIMAL", "FLOAT")
TIMES = ("TIME", "GMTTIME")
TIMESTAMPS = ("TIMESTAMP", "GMTTIMESTAMP")


def boolean(operator: str, value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise wrong_types(operator, type_of(value))


def operate(operator: str, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    kinds = (type_of(left), type_of(right))
    if operator == "||":
        if kinds[0] != kinds[1] or kinds[0] not in {"CHARACTER", "BLOB", "BIT"}:
            raise wrong_types("||", *kinds)
        return Bit.of(left.digits + right.digits) if kinds[0] == "BIT" else left + right
    if kinds[0] in NUMBERS and kinds[1] in NUMBERS:
        return arithmetic(operator, left, right)
    return temporal(operator, left, right, kinds)


def arithmetic(operator: str, left: Any, right: Any) -> Any:
    """Numbers: exact as fractions, then brought into the type of the result."""
    if isinstance(left, float) or isinstance(right, float):
        one, other = float(left), float(right)
        if operator == "/" and other == 0:
            raise division_by_zero(str(left))
        result = {"+": lambda: one + other, "-": lambda: one - other, "*": lambda: one * other}.get(
            operator, lambda: one / other
        )()
        if abs(result) == float("inf") and abs(one) != float("inf") and abs(other) != float("inf"):
            raise overflow(operator, str(left), str(right), "FLOAT")
        return result
    if operator == "/" and right == 0:
        raise division_by_zero(str(left))
    if isinstance(left, int) and isinstance(right, int):
        return exact_integer(operator, left, right)
    result = getattr(DECIMAL, {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}[operator])(left, right)
    if result.is_infinite() and Decimal(left).is_finite() and Decimal(right).is_finite():
        raise overflow(operator, str(left), str(right), "DECIMAL")
    return result


def exact_integer(operator: str, left: int, right: int) -> int:
    exact = Fraction(left), Fraction(right)
    result = {"+": sum, "-": lambda p: p[0] - p[1], "*": lambda p: p[0] * p[1], "/": lambda p: p[0] / p[1]}[operator](
        exact
    )
    whole = int(result)  # towards zero
    if not fits_integer(whole):
        raise overflow(operator, str(left), str(right), "INTEGER")
    return whole


def temporal(operator: str, left: Any, right: Any, kinds: tuple[str, str]) -> Any:
    """Dates, times and intervals."""
    datelike = {"DATE", *TIMES, *TIMESTAMPS}
    match operator, *kinds:
        case "+" | "-", "INTERVAL", "INTERVAL":
            other = right if operator == "+" else datetimes.negated(right)
            return datetimes.add_intervals(left, other)
        case "+" | "-", kind, "INTERVAL" if kind in datelike:
            return datetimes.shift(left, right if operator == "+" else datetimes.negated(right))
        case "+", "INTERVAL", kind if kind in datelike:
            return datetimes.shift(right, left)
        case "*" | "/", "INTERVAL", kind if kind in NUMBERS:
            return datetimes.scale(left, right) if operator == "*" else datetimes.divide(left, right)
        case "*", kind, "INTERVAL" if kind in NUMBERS:
            return datetimes.scale(right, left)
    raise wrong_types(operator, *kinds)


def order(left: Any, right: Any, here: Invocation) -> int | None:
    """-1, 0 or 1, by the implicit casts of comparisons; None for NULL."""
    if left is None or right is None:
        return None
    kinds = type_of(left), type_of(right)
    if kinds[0] != kinds[1] and "CHARACTER" in kinds:
        left, right = like_the_other(left, right, here), like_the_other(right, left, here)
        return order(left, right, here)
    one, other = comparable(left, right, kinds, here)
    if isinstance(one, float | Decimal) and (one != one or other != other):  # noqa: PLR0124 - NAN is not itself
        return int(one != one) - int(other != other)  # noqa: PLR0124
    return (one > other) - (one < other)


def like_the_other(value: Any, other: Any, here: Invocation) -> Any:
    if not isinstance(value, str):
        return value
    if isinstance(other, Interval):
        try:
            return read_interval_literal(value)
        except UnreadableError as error:
            raise cast_failure(value, "CHARACTER", "INTERVAL", error.why, error.sqlstate) from error
    return cast((value,), Target(type_of(other)), here)


def comparable(left: Any, right: Any, kinds: tuple[str, str], here: Invocation) -> tuple[Any, Any]:
    both = set(kinds)
    if both <= set(NUMBERS):
        return (float(left), float(right)) if "FLOAT" in both else (Decimal(left), Decimal(right))
    if both == {"CHARACTER"}:
        return left.rstrip(" "), right.rstrip(" ")
    if both == {"BIT"}:
        return left.digits, right.digits
    if both == {"INTERVAL"} and left.qualifier.has_months == right.qualifier.has_months:
        return left.amount, right.amount
    if both <= {"DATE", *TIMESTAMPS} or both <= set(TIMES):
        return instant(left, len(both) > 1, here), instant(right, len(both) > 1, here)
    if len(both) == 1 and both != {"INTERVAL"}:
        return left, right
    raise wrong_types("of comparison", *kinds)


def instant(value: Any, mixed: bool, here: Invocation) -> Any:
    if not mixed:
        return value
    if type(value) is date:
        return datetime.combine(value, time())
    return datetimes.local(value, here.zone)


def matches(text: str, pattern: str, escape: str) -> bool:
    """Whether a text has a pattern, by trying every way."""
    if not pattern:
        return not text
    if pattern[0] == escape and len(pattern) > 1:
        return text[:1] == pattern[1] and matches(text[1:], pattern[2:], escape)
    if pattern[0] == "%":
        return any(matches(text[at:], pattern[1:], escape) for at in range(len(text) + 1))
    return bool(text) and pattern[0] in {"_", text[0]} and matches(text[1:], pattern[1:], escape)


def result_of(found: Function, *arguments: Any, **keywords: Any) -> Any:
    """The result of a function, which is NULL where an argument is, unless its parameter takes that."""
    strict = {parameter.name for parameter in found.parameters if not parameter.nullable}
    null = {found.place(index).name for index, value in enumerate(arguments) if value is None}
    null |= {name for name, value in keywords.items() if value is None}
    return None if strict & null else found.body(*arguments, **keywords)
