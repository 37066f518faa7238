"""Strategies that draw expressions of each kind of type, which mostly have values and sometimes fail."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from esql import syntax
from esql.values.literals import date_text, decimal_text, float_text, time_text, timestamp_text
from esql.values.types import Interval, type_of
from tests.esql import strategies


def literal(value: Any) -> syntax.Expression:
    """The syntax of a value; a negative number is one behind a minus sign."""
    kind = type_of(value)
    plain = PLAIN.get(kind)
    if plain is not None:
        return plain(value)
    if kind in {"INTEGER", "FLOAT"}:
        number = syntax.Integer(abs(value)) if kind == "INTEGER" else syntax.Number(float_text(abs(value)))
        return syntax.Unary("-", number) if value < 0 else number
    return syntax.TypedLiteral(kind, CONTENTS.get(kind, timestamp_text)(value))


def interval_literal(value: Interval) -> syntax.Expression:
    units = value.qualifier
    return syntax.IntervalLiteral(str(value), syntax.Qualifier(units.largest, units.smallest))


PLAIN: dict[str, Any] = {
    "NULL": lambda _: syntax.Null(),
    "BOOLEAN": syntax.Truth,
    "CHARACTER": syntax.String,
    "BLOB": lambda value: syntax.HexString(value.hex().upper()),
    "BIT": lambda value: syntax.BitString(value.digits),
    "INTERVAL": interval_literal,
}
CONTENTS: dict[str, Any] = {"DECIMAL": decimal_text, "DATE": date_text, "TIME": time_text, "GMTTIME": time_text}


def pairs(items: Any) -> Any:
    return st.lists(items, min_size=2, max_size=3).map(tuple)


nulls = st.just(syntax.Null())
small = st.integers(-20, 20) | strategies.integers
number_literals = (small | strategies.decimals | st.integers(-99, 99).map(lambda n: n / 4)).map(literal) | nulls
text_literals = (st.text("ab %1", max_size=4) | st.integers(-9, 99).map(str)).map(literal) | nulls
truth_literals = (st.booleans() | st.none()).map(literal)
day_literals = (strategies.dates | strategies.timestamps).map(literal) | nulls
numbers = st.deferred(lambda: number_literals | number_operations)
texts = st.deferred(lambda: text_literals | text_operations)
truths = st.deferred(lambda: truth_literals | comparisons | truth_operations)
days = st.deferred(lambda: day_literals | day_operations)

number_operations = st.one_of(
    st.builds(syntax.Operation, st.sampled_from("+-*/"), pairs(numbers)),
    st.builds(syntax.Unary, st.sampled_from("+-"), numbers),
    st.builds(lambda one: syntax.Call(("ABS",), (one,)), numbers),
    st.builds(lambda one, other: syntax.Call(("COALESCE",), (one, other)), numbers, numbers),
    st.builds(lambda text: syntax.Call(("LENGTH",), (text,)), texts),
    st.builds(lambda text: syntax.Cast((text,), syntax.DataType("INTEGER"), default=syntax.Integer(0)), texts),
    st.builds(
        lambda test, one, other: syntax.Case(None, (syntax.CaseBranch(test, one),), other), truths, numbers, numbers
    ),
)
text_operations = st.one_of(
    st.builds(syntax.Operation, st.just("||"), pairs(texts)),
    st.builds(lambda text: syntax.Call(("UPPER",), (text,)), texts),
    st.builds(syntax.Substring, texts, st.just("FROM"), st.integers(-2, 5).map(literal)),
    st.builds(lambda one: syntax.Cast((one,), syntax.DataType("CHARACTER")), numbers),
)
comparisons = st.one_of(
    *(
        st.builds(syntax.Comparison, st.sampled_from(("=", "<>", "<", "<=", ">", ">=")), kind, kind)
        for kind in (numbers, texts, days)
    ),
    st.builds(syntax.Comparison, st.sampled_from("=<>"), numbers, texts),
    st.builds(syntax.Between, numbers, numbers, numbers, st.booleans(), st.booleans()),
    st.builds(syntax.In, numbers, pairs(numbers), st.booleans()),
    st.builds(syntax.Is, numbers, st.sampled_from(("NULL", "NUM", "INF", "NAN", "+INF", "-INF")), st.booleans()),
    st.builds(syntax.Is, truths, st.sampled_from(("NULL", "TRUE", "FALSE", "UNKNOWN")), st.booleans()),
    st.builds(syntax.Like, texts, texts, negated=st.booleans()),
)
truth_operations = st.one_of(
    st.builds(syntax.Operation, st.sampled_from(("AND", "OR")), pairs(truths)),
    st.builds(syntax.Unary, st.just("NOT"), truths),
)
day_operations = st.builds(
    lambda operator, day, interval: syntax.Operation(operator, (day, literal(interval))),
    st.sampled_from("+-"),
    days,
    strategies.intervals,
)
expressions = numbers | texts | truths | days
