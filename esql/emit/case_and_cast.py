"""CASE and CAST -> Python."""

from __future__ import annotations

import ast
from types import MappingProxyType
from typing import Final

from esql import syntax
from esql.cast import Target
from esql.emit.conditions import comparison_test
from esql.emit.emitted_value import Value
from esql.emit.function_body import Body, Expressions
from esql.emit.operations import units_of
from esql.emit.python_nodes import call, choose, constant, group, name


def case(body: Body, node: syntax.Case) -> Value:
    """CASE: the result of the first branch whose condition is TRUE."""
    results = [body.expression(branch.result) for branch in node.branches]
    otherwise = Value(constant(None)) if node.otherwise is None else body.expression(node.otherwise)
    tests = _tests(body, node)
    made = otherwise.code
    for test, result in zip(reversed(tests), reversed(results), strict=True):
        made = choose(test, result.code, made)
    everything = [*results, otherwise]
    types = {value.type for value in everything if not _is_null(value)}
    type_ = types.pop() if len(types) == 1 else ""
    return Value(made, type_, nullable=any(value.nullable for value in everything))


def _is_null(value: Value) -> bool:
    return isinstance(value.code, ast.Constant) and value.code.value is None


def _tests(body: Body, node: syntax.Case) -> list[ast.expr]:
    if node.operand is None:
        return [body.condition(branch.condition) for branch in node.branches]
    operand = body.expression(node.operand)
    first, again = body.twice(operand)
    tests: list[ast.expr] = []
    for branch in node.branches:
        left = Value(again if tests else first, operand.type, nullable=operand.nullable, simple=bool(tests))
        tests.append(comparison_test(body, "=", left, body.expression(branch.condition)))
    return tests


def target_of(node: syntax.DataType) -> Target:
    """A type as casts take it."""
    units = None if node.qualifier is None else units_of(node.qualifier)
    return Target(node.name, node.precision, node.scale, units)


def cast(body: Body, node: syntax.Cast) -> Value:
    """`CAST(sources AS type …)`."""
    target = target_of(node.type)
    sources = [body.expression(source) for source in node.sources]
    clauses = [node.ccsid, node.encoding, node.format]
    is_plain = all(part is None for part in clauses) and node.default is None
    if is_plain and len(sources) == 1 and target.precision is None and target.units is None:
        return assigned(body, sources[0], target, explicit=True)
    made: list[ast.expr] = [group([source.code for source in sources]), body.unit.constant(target), name("here")]
    if not is_plain:
        parts = [constant(None) if part is None else body.expression(part).code for part in clauses]
        made.append(call("Clauses", *parts))
    if node.default is not None:
        nothing = ast.arguments([], [], None, [], [], None, [])
        body.memory.paused += 1
        made.append(ast.Lambda(nothing, body.expression(node.default).code))
        body.memory.paused -= 1
    return Value(call("cast", *made), target.name)


def assigned(body: Body, value: Value, target: Target, *, explicit: bool = False) -> Value:
    """A value as a variable of a type holds it."""
    if value.type == target.name and (not explicit or target.units is None) and target.name != "INTERVAL":
        return value
    if isinstance(value.code, ast.Constant) and value.code.value is None:
        return Value(value.code, target.name, simple=True)
    return Value(call("assign", value.code, body.unit.constant(target), name("here")), target.name)


EXPRESSIONS: Final[Expressions] = MappingProxyType({syntax.Case: case, syntax.Cast: cast})
