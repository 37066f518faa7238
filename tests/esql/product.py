"""The evaluator's rules with the operators of the product in place of the oracle's."""

from __future__ import annotations

from typing import Any

from esql import operators, syntax
from tests.esql.evaluator import Scope, evaluate, units, values_of
from tests.esql.lists import ORACLE

ARITHMETIC = {"+": operators.add, "-": operators.subtract, "*": operators.multiply, "/": operators.divide}
COMPARISON = {
    "=": operators.equal,
    "<>": operators.unequal,
    "<": operators.less,
    "<=": operators.less_or_equal,
    ">": operators.greater,
    ">=": operators.greater_or_equal,
}


def unary(node: syntax.Unary, scope: Scope) -> Any:
    operate = {"NOT": operators.not_, "-": operators.negate, "+": operators.affirm}[node.operator]
    return operate(evaluate(node.operand, scope))


def operation(node: syntax.Operation, scope: Scope) -> Any:
    join: Any = {**ARITHMETIC, "||": operators.concatenate, "AND": operators.and_, "OR": operators.or_}[node.operator]
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
    return operators.is_not_state(value, node.state) if node.negated else operators.is_state(value, node.state)


def between(node: syntax.Between, scope: Scope) -> bool | None:
    test = operators.between_symmetric if node.symmetric else operators.between
    parts = [evaluate(part, scope) for part in (node.operand, node.low, node.high)]
    return negated(test(*parts, scope.here.zone), node.negated)


def is_in(node: syntax.In, scope: Scope) -> bool | None:
    choices = [value for choice in node.choices for value in values_of(choice, scope)]
    return negated(operators.is_in(evaluate(node.operand, scope), choices, scope.here.zone), node.negated)


def like(node: syntax.Like, scope: Scope) -> bool | None:
    escape = () if node.escape is None else (evaluate(node.escape, scope),)
    return negated(operators.like(evaluate(node.operand, scope), evaluate(node.pattern, scope), *escape), node.negated)


def negated(value: bool | None, really: bool) -> bool | None:
    return operators.not_(value) if really else value


def in_units(node: syntax.InUnits, scope: Scope) -> Any:
    match node.expression:
        case syntax.Operation("-", (left, right)):
            one, other = evaluate(left, scope), evaluate(right, scope)
            if not any(type(side).__name__ == "Interval" for side in (one, other)):
                return operators.difference(one, other, units(node.qualifier), scope.here.zone)
    return operators.in_units(evaluate(node.expression, scope), units(node.qualifier))


def case(node: syntax.Case, scope: Scope) -> Any:
    operand = None if node.operand is None else evaluate(node.operand, scope)
    for branch in node.branches:
        condition = evaluate(branch.condition, scope)
        if (condition if node.operand is None else operators.equal(operand, condition, scope.here.zone)) is True:
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
