"""Operators and CAST -> Python: known types inline, unknown ones by the functions of esql.operators and esql.cast."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from esql import syntax
from esql.cast import Target
from esql.emit.emitted_code import BOOLEAN, CHARACTER, INTEGER, Value, known
from esql.emit.function_body import Body, Conditions, Expressions, refused
from esql.emit.integer_formulas import formula_of
from esql.emit.python_nodes import (
    all_evaluated,
    attribute,
    call,
    choose,
    compare,
    constant,
    every,
    group,
    is_some,
    method,
    name,
    negated,
    some,
    walrus,
)
from esql.values.types import INTEGER_HIGH, qualifier

LONGEST_INLINE: Final = 24  # a chain with more terms is folded over a tuple, for Python's compiler nests each operator
_JOINED_AT_ONCE: Final = 4  # texts, before their length is looked at

_FUNCTIONS: Final[Mapping[str, str]] = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "||": "concatenate",
}
_NUMBERS: Final = ("INTEGER", "DECIMAL", "FLOAT")


def _operation(body: Body, node: syntax.Operation) -> Value:
    """Two or more operands joined by one operator."""
    if node.operator in {"AND", "OR"}:
        return _logical(body, node)
    if node.operator == "||":
        return _joined(body, node)
    if len(node.operands) > LONGEST_INLINE:
        return _folded(body, node)
    value = body.expression(node.operands[0])
    for operand in node.operands[1:]:
        value = _applied(body, node.operator, value, body.expression(operand))
    return value


def _applied(body: Body, operator: str, left: Value, right: Value) -> Value:
    formula = formula_of(body, operator, left, right)
    if formula is not None:
        return formula
    made = call(_FUNCTIONS[operator], left.code, right.code)
    return Value(made, _result(left.type, right.type), nullable=left.nullable or right.nullable)


def _result(left: str, right: str) -> str:
    if left in _NUMBERS and right in _NUMBERS:
        return max(left, right, key=_NUMBERS.index)
    return ""


def _folded(body: Body, node: syntax.Operation) -> Value:
    values = [body.expression(operand) for operand in node.operands]
    made = call("reduce", name(_FUNCTIONS[node.operator]), group([value.code for value in values]))
    type_ = INTEGER if all(value.type == INTEGER for value in values) else ""
    return Value(made, type_)


def _joined(body: Body, node: syntax.Operation) -> Value:
    """`||`: texts are joined at once; no result is longer than the limit."""
    values = [body.expression(operand) for operand in node.operands]
    if len(values) > LONGEST_INLINE or any(value.type != CHARACTER for value in values):
        return _joined_any(body, values)
    tests: list[ast.expr] = []
    parts: list[ast.expr] = []
    for value in values:
        first, again = body.twice(value)
        parts.append(again)
        if value.nullable or not value.simple:
            tests.append(is_some(first))
    made = parts[0]
    for place in range(1, len(parts), _JOINED_AT_ONCE):
        for part in parts[place : place + _JOINED_AT_ONCE]:
            made = ast.BinOp(made, ast.Add(), part)
        made = limited(body, made)
    nullable = any(value.nullable for value in values)
    if tests:
        made = choose(every(all_evaluated(tests, ast.BitAnd())), made, constant(None))
    return Value(made, CHARACTER, nullable=nullable)


def _joined_any(body: Body, values: list[Value]) -> Value:
    if len(values) <= _JOINED_AT_ONCE + 1:
        whole = values[0].code
        for value in values[1:]:
            whole = call("concatenate", whole, value.code)
    else:
        whole = call("joined", name("here"), group([value.code for value in values]))
    type_ = CHARACTER if all(value.type == CHARACTER for value in values) else ""
    return Value(method("here", "limited", whole), type_)


def limited(body: Body, whole: ast.expr) -> ast.expr:
    """A string that is not NULL, seen to be no longer than the limit."""
    held = body.fresh()
    longest = body.local("longest", lambda: attribute("here", "longest"))
    test = compare(call("len", walrus(held, whole)), ast.LtE(), longest)
    return choose(test, name(held), method("here", "long", name(held)))


def _logical(body: Body, node: syntax.Operation) -> Value:
    """AND and OR: the first operand that decides ends it; otherwise one that is UNKNOWN makes it UNKNOWN."""
    deciding = node.operator == "OR"
    tests: list[ast.expr] = []
    unknown: list[ast.expr] = []
    for operand in node.operands:
        value = body.truth(operand, node.operator)
        first, again = body.twice(value)
        tests.append(compare(first, ast.Is(), constant(deciding)))
        if value.nullable:
            unknown.append(compare(again, ast.Is(), constant(None)))
    otherwise: ast.expr = constant(not deciding)
    if unknown:
        otherwise = choose(some(unknown), constant(None), otherwise)
    return Value(choose(some(tests), constant(deciding), otherwise), BOOLEAN, nullable=bool(unknown))


def _logical_condition(body: Body, node: syntax.Operation) -> ast.expr | None:
    """AND and OR where only TRUE counts."""
    if node.operator not in {"AND", "OR"}:
        return None
    kind = ast.And() if node.operator == "AND" else ast.Or()
    # an operand behind one that is UNKNOWN is still evaluated, for an error in it is not to be passed over
    if node.operator == "AND" and not all(_harmless(body, operand) for operand in node.operands[1:]):
        return None
    return ast.BoolOp(kind, [body.condition(operand) for operand in node.operands])


def _harmless(body: Body, node: syntax.Node) -> bool:
    """Returns whether evaluating an operand cannot fail, so that it may be left out."""
    match node:
        case syntax.Comparison(_, left, right):
            return _is_plain(body, left) and _is_plain(body, right) and _type(body, left) == _type(body, right) != ""
        case syntax.Operation("AND" | "OR", operands):
            return all(_harmless(body, operand) for operand in operands)
    return isinstance(node, syntax.Truth)


def _is_plain(body: Body, node: syntax.Node) -> bool:
    variable = body.unit.resolution.variable(node)
    is_scalar = variable is not None and isinstance(node, syntax.Path) and not node.steps and variable.role == "local"
    return is_scalar or isinstance(node, syntax.Integer | syntax.String)


def _type(body: Body, node: syntax.Node) -> str:
    return body.unit.resolution.type_of(node)


def _unary(body: Body, node: syntax.Unary) -> Value:
    if node.operator == "NOT":
        return _not(body, node)
    if isinstance(node.operand, syntax.Integer) and node.operator == "-" and node.operand.value <= INTEGER_HIGH + 1:
        return known(body, -node.operand.value)
    value = body.expression(node.operand)
    if value.type == INTEGER and node.operator == "+":
        return value
    function = "negate" if node.operator == "-" else "affirm"
    type_ = value.type if value.type in _NUMBERS else ""
    return Value(call(function, value.code), type_, nullable=value.nullable)


def _not(body: Body, node: syntax.Unary) -> Value:
    value = body.truth(node.operand, "NOT")
    if not value.nullable:
        return Value(negated(value.code), BOOLEAN, nullable=False)
    first, again = body.held(value.code)
    return Value(choose(is_some(first), negated(again), constant(None)), BOOLEAN)


def _not_condition(body: Body, node: syntax.Unary) -> ast.expr | None:
    """NOT where only TRUE counts: what stands behind it is FALSE."""
    return body.condition(node.operand, wanted=False) if node.operator == "NOT" else None


def _in_units(body: Body, node: syntax.InUnits) -> Value:
    units = qualifier(node.qualifier.largest, node.qualifier.smallest)
    inner = node.expression
    if isinstance(inner, syntax.Operation) and inner.operator == "-" and len(inner.operands) == 2:
        left, right = (body.expression(operand) for operand in inner.operands)
        made = call("subtract_in_units", left.code, right.code, body.unit.constant(units), zone(body))
        return Value(made, "INTERVAL")
    made = call("in_units", body.expression(inner).code, body.unit.constant(units))
    return Value(made, "INTERVAL")


def zone(body: Body) -> ast.expr:
    """The invocation's displacement from GMT, for functions that ask for it."""
    return body.local("zone", lambda: attribute("here", "zone"))


def target_of(node: syntax.DataType) -> Target:
    """A type as casts take it."""
    units = None if node.qualifier is None else qualifier(node.qualifier.largest, node.qualifier.smallest)
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
    if node.default is None:
        return Value(call("cast", *made), target.name)
    first, again = body.held(call("attempted_cast", *made))
    default = call("default_of_cast", body.expression(node.default).code, body.unit.constant(target))
    return Value(choose(compare(first, ast.Is(), name("FAILED")), default, again), target.name)


def assigned(body: Body, value: Value, target: Target, *, explicit: bool = False) -> Value:
    """A value as a variable of a type holds it."""
    if value.type == target.name and (not explicit or target.units is None) and target.name != "INTERVAL":
        return value
    if isinstance(value.code, ast.Constant) and value.code.value is None:
        return Value(value.code, target.name, simple=True)
    return Value(call("assign", value.code, body.unit.constant(target), name("here")), target.name)


EXPRESSIONS: Final[Expressions] = {
    syntax.Operation: _operation,
    syntax.Unary: _unary,
    syntax.InUnits: _in_units,
    syntax.Aggregate: refused("Aggregate has no value here"),
    syntax.Cast: cast,
}
CONDITIONS: Final[Conditions] = {syntax.Operation: _logical_condition, syntax.Unary: _not_condition}
