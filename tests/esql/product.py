"""The evaluator's rules with the operators of the product in place of the oracle's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from esql import syntax
from esql.operators import comparison as comparisons
from esql.operators import datetimes
from esql.operators import numeric_and_string as arithmetic
from tests.esql.evaluator import Scope, evaluate, units, values_of
from tests.esql.lists import ORACLE

ARITHMETIC = {"+": arithmetic.add, "-": arithmetic.subtract, "*": arithmetic.multiply, "/": arithmetic.divide}
COMPARISON = {
    "=": comparisons.equal,
    "<>": comparisons.unequal,
    "<": comparisons.less,
    "<=": comparisons.less_or_equal,
    ">": comparisons.greater,
    ">=": comparisons.greater_or_equal,
}


def joined(operator: str, join: Callable[[Any], bool | None]) -> Callable[[Any, Any], bool | None]:
    return lambda left, right: join([comparisons.boolean(operator, side) for side in (left, right)])


LOGIC = {"AND": joined("AND", comparisons.and_all), "OR": joined("OR", comparisons.or_all)}


def unary(node: syntax.Unary, scope: Scope) -> Any:
    operate = {"NOT": comparisons.not_, "-": arithmetic.negate, "+": arithmetic.affirm}[node.operator]
    return operate(evaluate(node.operand, scope))


def operation(node: syntax.Operation, scope: Scope) -> Any:
    join: Any = {**ARITHMETIC, "||": arithmetic.concatenate, **LOGIC}[node.operator]
    result = evaluate(node.operands[0], scope)
    for operand in node.operands[1:]:
        if (node.operator == "AND" and result is False) or (node.operator == "OR" and result is True):
            return result
        result = join(result, evaluate(operand, scope))
    return result


def comparison(node: syntax.Comparison, scope: Scope) -> bool | None:
    left, right = evaluate(node.left, scope), evaluate(node.right, scope)
    return COMPARISON[node.operator](left, right, scope.here.zone)


def is_state(node: syntax.Is, scope: Scope) -> Any:
    value = evaluate(node.operand, scope)
    return comparisons.is_not_state(value, node.state) if node.negated else comparisons.is_state(value, node.state)


def between(node: syntax.Between, scope: Scope) -> bool | None:
    test = comparisons.between_symmetric if node.symmetric else comparisons.between
    parts = [evaluate(part, scope) for part in (node.operand, node.low, node.high)]
    return negated(test(*parts, scope.here.zone), node.negated)


def is_in(node: syntax.In, scope: Scope) -> bool | None:
    choices = [value for choice in node.choices for value in values_of(choice, scope)]
    return negated(comparisons.is_in(evaluate(node.operand, scope), choices, scope.here.zone), node.negated)


def like(node: syntax.Like, scope: Scope) -> bool | None:
    escape = () if node.escape is None else (evaluate(node.escape, scope),)
    return negated(arithmetic.like(evaluate(node.operand, scope), evaluate(node.pattern, scope), *escape), node.negated)


def negated(value: bool | None, really: bool) -> bool | None:
    return comparisons.not_(value) if really else value


def in_units(node: syntax.InUnits, scope: Scope) -> Any:
    match node.expression:
        case syntax.Operation("-", (left, right)):
            one, other = evaluate(left, scope), evaluate(right, scope)
            if not any(type(side).__name__ == "Interval" for side in (one, other)):
                return datetimes.difference(one, other, units(node.qualifier), scope.here.zone)
    return datetimes.in_units(evaluate(node.expression, scope), units(node.qualifier))


def case(node: syntax.Case, scope: Scope) -> Any:
    operand = None if node.operand is None else evaluate(node.operand, scope)
    for branch in node.branches:
        condition = evaluate(branch.condition, scope)
        if (condition if node.operand is None else comparisons.equal(operand, condition, scope.here.zone)) is True:
            return evaluate(branch.result, scope)
    return None if node.otherwise is None else evaluate(node.otherwise, scope)


PRODUCT: dict[type, Any] = {
    **ORACLE,
    syntax.Unary: unary,
    syntax.Operation: operation,
    syntax.Comparison: comparison,
    syntax.Is: is_state,
    syntax.Between: between,
    syntax.In: is_in,
    syntax.Like: like,
    syntax.InUnits: in_units,
    syntax.Case: case,
}
