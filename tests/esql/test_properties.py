"""What must hold of all values: round trips, orders, and the operators against the oracle."""

from __future__ import annotations

import math
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import BrokerError
from esql.cast import Clauses, Target, cast
from esql.operators import comparison as comparisons
from esql.operators import datetimes
from esql.operators import numeric_and_string as arithmetic
from esql.read import read_expression
from esql.runtime.invocation import Invocation
from esql.values.literals import to_literal
from esql.values.types import type_of
from tests.esql import oracle, strategies
from tests.esql.evaluator import evaluate, sample
from tests.esql.expressions import expressions
from tests.esql.lists import ORACLE
from tests.esql.product import ARITHMETIC, COMPARISON, PRODUCT

HERE = Invocation(displace=lambda: timedelta(hours=1))
SCOPE = sample()


def outcome(operate: Any, *arguments: Any) -> Any:
    """A result with its type, or the SQLSTATE of the error."""
    try:
        result = operate(*arguments)
    except BrokerError as error:
        return getattr(error, "sqlstate", error.number)
    return (type_of(result), "NAN" if isinstance(result, float | Decimal) and result != result else result)  # noqa: PLR0124


def target_of(value: Any) -> Target:
    return Target(type_of(value), units=getattr(value, "qualifier", None))


@given(strategies.values.filter(lambda value: value is not None and type_of(value) not in {"FLOAT", "DECIMAL"}))
def test_character_and_back(value: Any) -> None:
    """CAST AS CHARACTER loses nothing: the cast back gives the value."""
    text = cast((value,), Target("CHARACTER"), HERE)
    assert value == cast((text,), target_of(value), HERE)


@given(strategies.decimals)
def test_decimal_to_character_and_back(value: Decimal) -> None:
    """A DECIMAL comes back with its value, and with its scale where that is not in front of the point."""
    back = cast((cast((value,), Target("CHARACTER"), HERE),), Target("DECIMAL"), HERE)
    assert value == back
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and -30 < exponent <= 0:
        assert exponent == back.as_tuple().exponent


@given(strategies.floats)
def test_float_to_character_and_back(value: float) -> None:
    """A FLOAT comes back to fifteen digits behind the point of its mantissa."""
    back = cast((cast((value,), Target("CHARACTER"), HERE),), Target("FLOAT"), HERE)
    assert math.isclose(value, back, rel_tol=1e-15, abs_tol=5e-324)


@given(strategies.values)
def test_literal_and_back(value: Any) -> None:
    """A literal that is printed reads as the value."""
    back = evaluate(read_expression(to_literal(value), "literal"), SCOPE)
    if isinstance(value, float):
        assert math.isclose(value, back, rel_tol=1e-15, abs_tol=5e-324) or type_of(back) == "DECIMAL"
    elif isinstance(value, Decimal) and value.is_nan():
        assert back.is_nan()
    else:
        assert value == back


@pytest.mark.parametrize(
    "pattern",
    ["yyyy-MM-dd HH:mm:ss.SSSSSS", "yyyyMMddHHmmssSSSSSS", "d MMMM yyyy, h:m:s.SSSSSS a", "SSSSSS ss mm kk DDD yyyy"],
)
@given(value=strategies.timestamps)
def test_timestamp_format_and_back(pattern: str, value: Any) -> None:
    """A FORMAT with all fields loses nothing."""
    clauses = Clauses(format=pattern)
    text = cast((value,), Target("CHARACTER"), HERE, clauses)
    assert value == cast((text,), Target("TIMESTAMP"), HERE, clauses)


@given(strategies.gmt_timestamps, st.sampled_from(["I", "IU", "yyyy-MM-dd'T'HH:mm:ss.SSSZZZ"]))
def test_zones_and_back(value: Any, pattern: str) -> None:
    """A FORMAT with a zone means the same moment in GMT and in local time."""
    value, clauses = value.replace(microsecond=123000), Clauses(format=pattern)
    local = datetimes.local(value, HERE.zone)
    texts = [cast((moment,), Target("CHARACTER"), HERE, clauses) for moment in (value, local)]
    for text in texts:
        assert value == cast((text,), Target("GMTTIMESTAMP"), HERE, clauses)
        assert local == cast((text,), Target("TIMESTAMP"), HERE, clauses)


@pytest.mark.parametrize(
    "pattern", ["#,##0.00####;(#,##0.00####)", "0.000000", "#,##,##0.000000:groupsep=.:decsep=,", "*x#,##0.000000 EUR"]
)
@given(number=st.integers(-(10**15), 10**15))
def test_number_format_and_back(pattern: str, number: int) -> None:
    """A FORMAT with as many places as a number has loses nothing."""
    value, clauses = Decimal(number).scaleb(-6), Clauses(format=pattern)
    text = cast((value,), Target("CHARACTER"), HERE, clauses)
    assert value == cast((text,), Target("DECIMAL"), HERE, clauses)


@given(st.integers(-(10**9), 10**9), st.integers(-30, 30))
def test_scientific_format_and_back(mantissa: int, exponent: int) -> None:
    """A FORMAT with an exponent loses nothing while its digits suffice."""
    value = Decimal(mantissa).scaleb(exponent)
    for pattern in ("0.############E0", "##0.############E+00"):
        text = cast((value,), Target("CHARACTER"), HERE, Clauses(format=pattern))
        assert value == cast((text,), Target("DECIMAL"), HERE, Clauses(format=pattern))


@pytest.mark.parametrize("kind", list(strategies.BY_TYPE))
@given(data=st.data())
def test_comparison_is_a_total_order(kind: str, data: st.DataObject) -> None:
    """Within a type any two values are ordered, the order turns with its sides, and it is transitive."""
    drawn = data.draw(st.tuples(*[strategies.BY_TYPE[kind]] * 3))
    if kind == "INTERVAL" and len({value.qualifier.has_months for value in drawn}) > 1:
        return
    one, two, three = drawn
    assert comparisons.compare(one, two) == -comparisons.compare(two, one)
    assert comparisons.compare(one, one) == 0
    if comparisons.compare(one, two) <= 0 and comparisons.compare(two, three) <= 0:
        assert comparisons.compare(one, three) <= 0


@given(st.sampled_from(["+", "-", "*", "/"]), strategies.values, strategies.values)
def test_arithmetic_is_that_of_the_oracle(operator: str, left: Any, right: Any) -> None:
    """Arithmetic has the value and type, or the error, that the plain rules give."""
    assert outcome(oracle.operate, operator, left, right) == outcome(ARITHMETIC[operator], left, right)


@given(st.sampled_from(["+", "-", "*", "/"]), strategies.integers, strategies.integers)
def test_integers_are_exact_or_fail(operator: str, left: int, right: int) -> None:
    """INTEGER arithmetic is Python's, or an error where 64 bits are too few."""
    assert outcome(oracle.operate, operator, left, right) == outcome(ARITHMETIC[operator], left, right)


@given(st.sampled_from(list(COMPARISON)), strategies.values, strategies.values)
def test_comparison_is_that_of_the_oracle(operator: str, left: Any, right: Any) -> None:
    """Comparison has the truth value, or the error, that the plain rules give."""

    def plainly(left: Any, right: Any) -> bool | None:
        sides = {"=": (0,), "<>": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}[operator]
        found = oracle.order(left, right, HERE)
        return None if found is None else found in sides

    assert outcome(plainly, left, right) == outcome(COMPARISON[operator], left, right, HERE.zone)


@given(strategies.values, strategies.values)
def test_concatenation_is_that_of_the_oracle(left: Any, right: Any) -> None:
    """`||` joins strings of one type and refuses all else."""
    assert outcome(oracle.operate, "||", left, right) == outcome(arithmetic.concatenate, left, right)


@given(st.text("ab%_\\", max_size=7), st.text("ab%_\\", max_size=7), st.sampled_from("\\!a"))
def test_like_is_that_of_the_naive_matcher(text: str, pattern: str, escape: str) -> None:
    """LIKE finds what trying every way finds."""
    assert oracle.matches(text, pattern, escape) == arithmetic.like(text, pattern, escape)


@given(st.text("a\x80%_\\", max_size=7), st.text("a\x80%_\\", max_size=7), st.sampled_from("\\!a"))
def test_like_of_bytes_is_that_of_the_naive_matcher(text: str, pattern: str, escape: str) -> None:
    """LIKE of BLOBs looks at bytes as LIKE of CHARACTERs does at characters, also with an escape in CHARACTER."""
    value, of_bytes = text.encode("latin-1"), pattern.encode("latin-1")
    assert arithmetic.like(value, of_bytes, escape) is arithmetic.like(value, of_bytes, escape.encode())
    assert oracle.matches(text, pattern, escape) == arithmetic.like(value, of_bytes, escape)


def test_like_takes_no_long_way() -> None:
    """Many % over a long text that does not match cost no more than a look at the text for each."""
    assert arithmetic.like("a" * 20_000 + "b", "%a" * 200 + "%c") is False
    assert arithmetic.like("a" * 20_000, "%" + "a_" * 200 + "%b%") is False


@given(st.dates(), st.dates())
def test_difference_and_sum(one: Any, other: Any) -> None:
    """(a - b) DAY added to b is a."""
    assert one == arithmetic.add(other, datetimes.difference(one, other, datetimes.DAY))


@given(strategies.values, st.sampled_from(sorted(strategies.BY_TYPE)))
def test_casts_fail_in_the_words_of_esql(value: Any, kind: str) -> None:
    """Any cast of any value gives a value of the type, NULL, or an error with a SQLSTATE."""
    units = datetimes.DAY if kind == "INTERVAL" else None
    found = outcome(cast, (value,), Target(kind, units=units), HERE)
    assert found[0] in {"NULL", kind} or found.startswith("S22")


@given(strategies.texts, st.text("yMdHhmsSaEeDFwWkKGzZIT'-: .U", max_size=10), st.sampled_from(["DATE", "TIMESTAMP"]))
def test_any_datetime_format_is_refused_or_works(text: str, pattern: str, kind: str) -> None:
    """No text and no pattern leads to anything but a value or an error with a SQLSTATE."""
    for value, target in ((text, kind), (HERE.local_now, "CHARACTER")):
        found = outcome(cast, (value,), Target(target), HERE, Clauses(format=pattern))
        assert found[0] == target or found.startswith("S22")


@given(st.text("0123456789.,-+E()' ", max_size=10), st.text("#0,.;'*%E+-x()", max_size=10), strategies.decimals)
def test_any_number_format_is_refused_or_works(text: str, pattern: str, number: Decimal) -> None:
    """No text, number or pattern leads to anything but a value or an error with a SQLSTATE."""
    for value, target in ((text, "DECIMAL"), (number, "CHARACTER")):
        found = outcome(cast, (value,), Target(target), HERE, Clauses(format=pattern))
        assert found[0] == target or found.startswith("S22")


@given(strategies.decimals, strategies.decimals)
def test_decimal_sums_and_products_are_exact(left: Decimal, right: Decimal) -> None:
    """A sum, difference or product that has at most 34 digits is exact, with the scale that the manual gives it."""
    scales = [-int(side.as_tuple().exponent) for side in (left, right)]
    if max(abs(scale) for scale in scales) > 40:
        return
    cases = (
        (arithmetic.add, Fraction(left) + Fraction(right), max(scales)),
        (arithmetic.subtract, Fraction(left) - Fraction(right), max(scales)),
        (arithmetic.multiply, Fraction(left) * Fraction(right), sum(scales)),
    )
    for operate, exact, scale in cases:
        if abs(exact * 10**scale if scale >= 0 else exact / 10**-scale) < 10**34:
            assert (exact, -scale) == (Fraction(found := operate(left, right)), found.as_tuple().exponent)


@given(strategies.decimals, strategies.decimals.filter(bool))
def test_decimal_quotients_are_the_nearest(left: Decimal, right: Decimal) -> None:
    """A quotient is off by at most half of its 34th digit."""
    found = arithmetic.divide(left, right)
    if found and max(abs(side.adjusted()) for side in (left, right)) < 1000:
        error = abs(Fraction(found) - Fraction(left) / Fraction(right))
        assert error <= Fraction(5) * Fraction(10) ** (found.adjusted() - 34)


@given(expressions)
def test_expressions_have_the_oracle_s_value(expression: Any) -> None:
    """Whole expressions have the value, or the error, that the plain rules give."""
    assert outcome(evaluate, expression, sample(ORACLE)) == outcome(evaluate, expression, sample(PRODUCT))
