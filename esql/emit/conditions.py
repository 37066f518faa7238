"""Comparisons, those of lists and rows among them, other predicates, and CASE -> Python."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from esql import syntax
from esql.emit.emitted_code import BOOLEAN, CHARACTER, INTEGER, EmitError, Value
from esql.emit.function_body import Body, Conditions, Expressions
from esql.emit.operations import zone
from esql.emit.python_nodes import call, choose, constant, every, group, is_none, is_some, method, negated, some
from esql.emit.selects import complex_value, is_complex, is_list

_OPERATORS: Final[Mapping[str, tuple[ast.cmpop, str]]] = {
    "=": (ast.Eq(), "equal"),
    "<>": (ast.NotEq(), "unequal"),
    "<": (ast.Lt(), "less"),
    "<=": (ast.LtE(), "less_or_equal"),
    ">": (ast.Gt(), "greater"),
    ">=": (ast.GtE(), "greater_or_equal"),
}


def _comparison(body: Body, node: syntax.Comparison) -> Value:
    if _is_whole(body, node):
        return _whole_comparison(body, node)
    left, right = body.expression(node.left), body.expression(node.right)
    if not _inline(left, right):
        made = call(_OPERATORS[node.operator][1], left.code, right.code, zone(body))
        return Value(made, BOOLEAN, nullable=left.nullable or right.nullable)
    tests, test = _compared(body, node.operator, left, right, is_none)
    if not tests:
        return Value(test, BOOLEAN, nullable=False)
    return Value(choose(some(tests), constant(None), test), BOOLEAN)


def _comparison_condition(body: Body, node: syntax.Comparison) -> ast.expr | None:
    """A comparison where only TRUE counts."""
    if _is_whole(body, node):
        return None
    return comparison_test(body, node.operator, body.expression(node.left), body.expression(node.right))


def comparison_test(body: Body, operator: str, left: Value, right: Value) -> ast.expr:
    """Returns whether a comparison is TRUE."""
    if not _inline(left, right):
        # True is true in Python; False and None are not
        return call(_OPERATORS[operator][1], left.code, right.code, zone(body))
    tests, test = _compared(body, operator, left, right, is_some)
    return every([*tests, test])


def _inline(left: Value, right: Value) -> bool:
    return left.type == right.type and left.type in {INTEGER, CHARACTER}


def _compared(
    body: Body, operator: str, left: Value, right: Value, test: type | object
) -> tuple[list[ast.expr], ast.expr]:
    """The tests of the operands, and the comparison of what is there."""
    tests: list[ast.expr] = []
    parts: list[ast.expr] = []
    working: list[ast.expr] = []
    for value in (left, right):
        first, again = body.twice(value)
        parts.append(again)
        if isinstance(first, ast.NamedExpr):
            working.append(test(first))  # type: ignore[operator]  # is_none or is_some
        elif value.nullable:
            tests.append(test(first))  # type: ignore[operator]
    if len(working) == 2:
        joins = ast.BitOr() if test is is_none else ast.BitAnd()
        working = [ast.BinOp(working[0], joins, working[1])]
    return [*working, *tests], _test(operator, parts[0], parts[1], left.type)


def _test(operator: str, left: ast.expr, right: ast.expr, type_: str) -> ast.expr:
    if type_ == INTEGER:
        return ast.Compare(left, [_OPERATORS[operator][0]], [right])
    if operator in {"=", "<>"}:
        trimmed = ast.Compare(_trimmed(left), [ast.Eq()], [_trimmed(right)])
        same = some([ast.Compare(left, [ast.Eq()], [right]), trimmed])
        return same if operator == "=" else negated(same)
    return ast.Compare(_trimmed(left), [_OPERATORS[operator][0]], [_trimmed(right)])


def _trimmed(text: ast.expr) -> ast.expr:
    """Blanks at the end of a CHARACTER do not count."""
    if isinstance(text, ast.Constant):
        return constant(str(text.value).rstrip(" "))
    return method(text, "rstrip", constant(" "))


def _is(body: Body, node: syntax.Is) -> Value:
    value = body.expression(node.operand)
    if node.state == "NULL":
        test = is_some if node.negated else is_none
        return Value(test(value.code), BOOLEAN, nullable=False)
    function = "is_not_state" if node.negated else "is_state"
    return Value(call(function, value.code, constant(node.state)), BOOLEAN, nullable=False)


def _between(body: Body, node: syntax.Between) -> Value:
    function = "between_symmetric" if node.symmetric else "between"
    values = [body.expression(part) for part in (node.operand, node.low, node.high)]
    made = call(function, *(value.code for value in values), zone(body))
    return _maybe_not(made, node.negated, any(value.nullable for value in values))


def _in(body: Body, node: syntax.In) -> Value:
    """`operand [NOT] IN (choices)`; a choice that is a list stands for its items."""
    value = body.expression(node.operand)
    if any(type(choice) in body.tables.lists and is_list(choice) for choice in node.choices):
        choices: ast.expr = call("joined_items", *(_choice(body, choice) for choice in node.choices))
    else:
        choices = group([body.expression(choice).code for choice in node.choices])
    return _maybe_not(call("is_in", value.code, choices, zone(body)), node.negated, nullable=True)


def _choice(body: Body, node: syntax.Node) -> ast.expr:
    if is_list(node):
        return body.items(node)
    return ast.List([body.expression(node).code], ast.Load())


def _like(body: Body, node: syntax.Like) -> Value:
    parts = [node.operand, node.pattern, *([] if node.escape is None else [node.escape])]
    made = call("like", *(body.expression(part).code for part in parts))
    return _maybe_not(made, node.negated, nullable=True)


def _maybe_not(made: ast.expr, is_negated: bool, nullable: bool) -> Value:
    if is_negated:
        made = call("not_", made)
    return Value(made, BOOLEAN, nullable=nullable)


def _case(body: Body, node: syntax.Case) -> Value:
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


EXPRESSIONS: Final[Expressions] = {
    syntax.Case: _case,
    syntax.Comparison: _comparison,
    syntax.Is: _is,
    syntax.Between: _between,
    syntax.In: _in,
    syntax.Like: _like,
}
CONDITIONS: Final[Conditions] = {
    syntax.Comparison: _comparison_condition,
    syntax.Is: lambda body, node: _is(body, node).code,  # always TRUE or FALSE
}


def _is_whole(body: Body, node: syntax.Comparison) -> bool:
    """Returns whether a comparison is one of lists, or of rows, by the form of its sides."""
    return any(is_list(side) or _is_row(body, side) for side in (node.left, node.right))


def _is_row(body: Body, node: syntax.Node) -> bool:
    if isinstance(node, syntax.Row):
        return True
    variable = body.unit.resolution.variable(node)
    return variable is not None and variable.type_name == "ROW" and isinstance(node, syntax.Path) and not node.steps


def _whole_comparison(body: Body, node: syntax.Comparison) -> Value:
    """`list = list`, `row = row` and the same with `<>`."""
    if node.operator not in {"=", "<>"}:
        raise EmitError(node, f"{node.operator} does not take lists or rows: only = and <> do")
    sides = (node.left, node.right)
    if any(is_list(side) for side in sides):
        alone = next((side for side in sides if not is_list(side)), None)
        if alone is not None:
            raise EmitError(alone, "a list is compared with a list: write LIST{…} or field[]")
        made = call("same_lists", *(body.items(side) for side in sides), zone(body))
    else:
        made = call("same_rows", *(_field(body, side) for side in sides), zone(body))
    return Value(call("not_", made) if node.operator == "<>" else made, BOOLEAN)


def _field(body: Body, node: syntax.Node) -> ast.expr:
    if not is_complex(body, node):
        raise EmitError(node, "a row is compared with a row or a field")
    return complex_value(body, node)
