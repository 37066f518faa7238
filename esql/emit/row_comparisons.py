"""Comparison of lists and of rows, as wholes -> Python."""

from __future__ import annotations

import ast

from esql import syntax
from esql.emit.emitted_value import BOOLEAN, Value
from esql.emit.function_body import Body
from esql.emit.operations import zone
from esql.emit.python_nodes import call
from esql.emit.selects import complex_value, is_complex, is_list
from esql.emit.unit import EmitError


def is_whole(body: Body, node: syntax.Comparison) -> bool:
    """Returns whether a comparison is one of lists, or of rows, by the form of its sides."""
    return any(is_list(side) or _is_row(body, side) for side in (node.left, node.right))


def _is_row(body: Body, node: syntax.Node) -> bool:
    if isinstance(node, syntax.Row):
        return True
    variable = body.unit.resolution.variable(node)
    return variable is not None and variable.type_name == "ROW" and isinstance(node, syntax.Path) and not node.steps


def whole_comparison(body: Body, node: syntax.Comparison) -> Value:
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
