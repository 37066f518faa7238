"""Trace of a program: statements before they run; at debug level values, and what is assigned."""

from __future__ import annotations

import ast
import re
from typing import Final

from esql import syntax
from esql.emit.emitted_code import Value
from esql.emit.function_body import Body
from esql.emit.python_nodes import call, constant, do, name
from esql.format import format_expression, format_statement

LONGEST: Final = 1000  # characters of a statement or an expression that are written
_UNTRACED: Final = (syntax.Empty, syntax.DeclareHandler)
_HERE: Final = "here"


def is_debug(body: Body) -> bool:
    """Returns whether values are told."""
    return body.unit.trace == "debug"


def statement(body: Body, node: syntax.Node) -> None:
    """Say which statement comes next."""
    if body.unit.trace and isinstance(node, syntax.Statement) and not isinstance(node, _UNTRACED):
        text = " ".join(format_statement(node).split())
        place = _place(body, node.position.line, node.position.column)
        body.emit(do(call("trace_statement", name(_HERE), place, _text(text))))


def value(body: Body, node: syntax.Node, found: Value) -> Value:
    """An expression that says what it has come to; literals say nothing."""
    if not is_debug(body) or isinstance(found.code, ast.Constant):
        return found
    text = format_expression(node)  # type: ignore[arg-type]  # what an expression is emitted from
    operator, operands = _operation(node)
    at = _operator_place(body, node, operator, operands)
    place = (name(_HERE), _place(body, *at), _text(text))
    if operands or isinstance(node, syntax.Path):
        parts = constant(tuple(map(format_expression, operands)))
        traced = call("trace_value", *place, parts, constant(operator), found.code)
    else:
        traced = call("trace_finished", call("trace_started", *place), found.code)
    return Value(traced, found.type, nullable=found.nullable)


def assigned(body: Body, function: str, target: syntax.Path, value: Value) -> Value:
    """A value that a variable or a field is given, which says so by `trace_stored` or `trace_given`."""
    if not is_debug(body):
        return value
    traced = call(function, name(_HERE), _text(format_expression(target)), value.code)
    return Value(traced, value.type, nullable=value.nullable)


def copied(body: Body, source: syntax.Node, target: syntax.Path, code: ast.expr) -> ast.expr:
    """Returns what a field is given with all that is below it, which says so."""
    if not is_debug(body):
        return code
    texts = (format_expression(source), format_expression(target))  # type: ignore[arg-type]  # an expression
    return call("trace_copied", name(_HERE), *map(_text, texts), code)


def untraced(code: ast.expr) -> ast.expr:
    """An expression without what it says of itself."""
    match code:
        case ast.Call(func=ast.Name(id="trace_value" | "trace_finished"), args=[*_, inner]):
            return inner
    return code


def _operation(node: syntax.Node) -> tuple[str, tuple[syntax.Expression, ...]]:
    """The operator of an operation that is written between its operands, and these."""
    match node:
        case syntax.Operation(operator=operator, operands=operands):
            return operator, operands
        case syntax.Comparison(operator=operator, left=left, right=right):
            return operator, (left, right)
    return "", ()


def _operator_place(
    body: Body, node: syntax.Node, operator: str, operands: tuple[syntax.Expression, ...]
) -> tuple[int, int]:
    """The line and column of an expression: where its first operator is, if it has one, as the product counts."""
    at = node.position
    if operands:
        left, right = (one.position for one in operands[:2])
        for number in range(left.end_line, right.line + 1):
            line = body.unit.lines[number - 1] if 0 < number <= len(body.unit.lines) else ""
            start = left.end_column - 1 if number == left.end_line else 0
            found = re.compile(re.escape(operator), re.IGNORECASE).search(line, start)
            if found:
                return number, found.start() + 1
    return at.line, at.column


def _text(text: str) -> ast.expr:
    return constant(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")


def _place(body: Body, line: int, column: int) -> ast.expr:
    """The routine as the product names it, and the line and column in it, both from 1."""
    routine = body.routine
    if routine is None:
        return constant(f"('', '{line}.{column}')")
    module = "" if routine.module is None else f"{routine.module.name}."
    first = routine.node.position.line
    title = ".".join((*routine.schema, ""))
    return constant(f"('{title or '.'}{module}{routine.node.name}', '{line - first + 1}.{column}')")
