"""What a program that is traced says of itself: each statement before it runs, and each value that it comes to."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from esql import syntax
from esql.emit.code import constant, do, method, name
from esql.emit.value import Value
from esql.format import format_expression, format_statement

if TYPE_CHECKING:
    from esql.emit.body import Body

LONGEST: Final = 1000  # characters of a statement or an expression that are written
_UNTRACED: Final = (syntax.Empty, syntax.DeclareHandler)


def statement(body: Body, node: syntax.Node) -> None:
    """Say which statement comes next."""
    if body.unit.trace and isinstance(node, syntax.Statement) and not isinstance(node, _UNTRACED):
        text = " ".join(format_statement(node).split())
        body.emit(do(method(name("here"), "trace_statement", *_place(body, node), _text(text))))


def value(body: Body, node: syntax.Node, found: Value) -> Value:
    """An expression that says what it has come to; literals say nothing."""
    if body.unit.trace != "debug" or isinstance(found.code, ast.Constant):
        return found
    text = format_expression(node)  # type: ignore[arg-type]  # what an expression is emitted from
    traced = method(name("here"), "trace_value", *_place(body, node), _text(text), found.code)
    return Value(traced, found.type, nullable=found.nullable)


def _text(text: str) -> ast.expr:
    return constant(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")


def _place(body: Body, node: syntax.Node) -> tuple[ast.expr, ast.expr]:
    """The routine as the product names it, and the line and column in it, both from 1."""
    routine, at = body.routine, node.position
    if routine is None:
        return constant(""), constant(f"{at.line}.{at.column}")
    module = "" if routine.module is None else f"{routine.module.name}."
    first = routine.node.position.line
    title = ".".join((*routine.schema, ""))
    return constant(f"{title or '.'}{module}{routine.node.name}"), constant(f"{at.line - first + 1}.{at.column}")
