"""Pieces of Python's syntax tree, made short, and where they stand in the text of a program."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import reduce
from typing import Final

from esql.syntax import Position

LOAD: Final = ast.Load()
STORE: Final = ast.Store()
_PLACED: Final = (ast.expr, ast.stmt, ast.excepthandler, ast.arg, ast.keyword, ast.alias)  # nodes with line and column


def name(text: str) -> ast.Name:
    """A generated name or one of the library; never a user's."""
    return ast.Name(text, LOAD)


def constant(value: object) -> ast.Constant:
    """A value that Python writes as a literal."""
    return ast.Constant(value)  # type: ignore[arg-type]  # one that Python writes as a literal


def attribute(owner: ast.expr | str, attr: str) -> ast.Attribute:
    """`owner.attr`."""
    return ast.Attribute(name(owner) if isinstance(owner, str) else owner, attr, LOAD)


def call(function: ast.expr | str, *arguments: ast.expr) -> ast.Call:
    """`function(arguments)`."""
    return ast.Call(name(function) if isinstance(function, str) else function, list(arguments), [])


def method(owner: ast.expr | str, attr: str, *arguments: ast.expr) -> ast.Call:
    """`owner.attr(arguments)`."""
    return call(attribute(owner, attr), *arguments)


def walrus(target: str, value: ast.expr) -> ast.NamedExpr:
    """`(target := value)`."""
    return ast.NamedExpr(ast.Name(target, STORE), value)


def compare(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> ast.Compare:
    """`left operator right`."""
    return ast.Compare(left, [operator], [right])


def is_none(value: ast.expr) -> ast.Compare:
    """`value is None`."""
    return compare(_told_by_identity(value), ast.Is(), ast.Constant(None))


def is_some(value: ast.expr) -> ast.Compare:
    """`value is not None`."""
    return compare(_told_by_identity(value), ast.IsNot(), ast.Constant(None))


def _told_by_identity(value: ast.expr) -> ast.expr:
    """A literal that is not NULL as one that Python does not warn of where identity is asked for."""
    is_literal = isinstance(value, ast.Constant) and value.value is not None
    return ast.Constant(True) if is_literal else value


def all_evaluated(tests: Sequence[ast.expr], join: ast.operator) -> list[ast.expr]:
    """The tests, first those that take work, joined by & or | into one: none of these is passed over."""
    working = [test for test in tests if any(isinstance(part, ast.NamedExpr) for part in ast.walk(test))]
    joined = [reduce(lambda left, right: ast.BinOp(left, join, right), working)] if working else []
    return [*joined, *(test for test in tests if test not in working)]


def every(tests: Sequence[ast.expr]) -> ast.expr:
    """`a and b and …`; nothing is True."""
    if not tests:
        return ast.Constant(True)
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), list(tests))


def some(tests: Sequence[ast.expr]) -> ast.expr:
    """`a or b or …`; nothing is False."""
    if not tests:
        return ast.Constant(False)
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), list(tests))


def negated(test: ast.expr) -> ast.expr:
    """`not test`."""
    return ast.UnaryOp(ast.Not(), test)


def choose(test: ast.expr, then: ast.expr, otherwise: ast.expr) -> ast.IfExp:
    """`then if test else otherwise`."""
    return ast.IfExp(test, then, otherwise)


def group(items: Sequence[ast.expr]) -> ast.Tuple:
    """`(a, b, …)`."""
    return ast.Tuple(list(items), LOAD)


def item(owner: ast.expr, index: int) -> ast.Subscript:
    """`owner[index]`."""
    return ast.Subscript(owner, ast.Constant(index), LOAD)


def assign(target: str, value: ast.expr) -> ast.Assign:
    """`target = value`."""
    return ast.Assign([ast.Name(target, STORE)], value)


def set_attribute(owner: ast.expr, attr: str, value: ast.expr) -> ast.Assign:
    """`owner.attr = value`."""
    return ast.Assign([ast.Attribute(owner, attr, STORE)], value)


def do(value: ast.expr) -> ast.Expr:
    """An expression as a statement."""
    return ast.Expr(value)


def when(test: ast.expr, body: list[ast.stmt], otherwise: list[ast.stmt] | None = None) -> ast.If:
    """`if test: body else: otherwise`."""
    return ast.If(test, body or [ast.Pass()], otherwise or [])


def function(title: str, parameters: Sequence[str], body: list[ast.stmt]) -> ast.FunctionDef:
    """`def title(parameters): body`."""
    arguments = ast.arguments([], [ast.arg(parameter) for parameter in parameters], None, [], [], None, [])
    return ast.FunctionDef(title, arguments, body or [ast.Pass()], [])


def locate(tree: ast.AST, at: Position, lines: Sequence[str] = ()) -> None:
    """Say where a tree stands in the text; pieces of it that have been told already keep their places."""
    line, end_line = max(at.line, 1), max(at.end_line, at.line, 1)
    start, end = _bytes(lines, line, at.column), _bytes(lines, end_line, at.end_column)
    if end_line == line:
        end = max(end, start)
    pending = [tree]
    while pending:
        node = pending.pop()
        if hasattr(node, "lineno"):
            continue
        if isinstance(node, _PLACED):
            node.lineno, node.end_lineno = line, end_line
            node.col_offset, node.end_col_offset = start, end
        if isinstance(node, ast.Attribute) and end_line != line:
            # Python counts an attribute to its last line, where it supposes the name; a first line is all that it gets
            first = lines[line - 1] if line <= len(lines) else ""
            node.end_lineno, node.end_col_offset = line, max(start, _bytes(lines, line, len(first) + 1))
        pending.extend(ast.iter_child_nodes(node))


def _bytes(lines: Sequence[str], line: int, column: int) -> int:
    """Python counts columns in bytes of UTF-8."""
    before = max(column - 1, 0)
    if line > len(lines) or lines[line - 1].isascii():
        return before
    return len(lines[line - 1][:before].encode("utf-8", "surrogatepass"))
