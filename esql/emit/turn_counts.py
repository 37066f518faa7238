"""Turns of loops and calls -> Python: they are counted in a local, and now and then the invocation is told of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from esql.emit.python_nodes import assign, attribute, compare, constant, do, method, name, when

if TYPE_CHECKING:
    from esql.emit.function_body import Body


def tick(body: Body) -> list[ast.stmt]:
    """Count a turn of a loop; after as many as the invocation has said, it says how many there may be next."""
    ticks = body.local("ticks", lambda: constant(0)).id
    quantum = body.local("quantum", lambda: attribute("here", "quantum")).id
    spent: list[ast.stmt] = [assign(quantum, method("here", "spend", name(ticks))), assign(ticks, constant(0))]
    return [_more(ast.Name(ticks, ast.Store())), when(compare(name(ticks), ast.Gt(), name(quantum)), spent)]


def handed_in(body: Body) -> list[ast.stmt]:
    """Hand the turns in that the function has counted for itself, before it goes on behind a loop or ends in one."""
    if body.outer is not None or "ticks" not in body.prologue:
        return []
    return [_turned(name("ticks")), assign("ticks", constant(0))]


def called() -> list[ast.stmt]:
    """Count the call of a routine as a turn."""
    test = compare(attribute("here", "turned"), ast.Gt(), attribute("here", "quantum"))
    return [_turned(constant(1)), when(test, [do(method("here", "spend", constant(0)))])]


def _turned(number: ast.expr) -> ast.stmt:
    return ast.AugAssign(ast.Attribute(name("here"), "turned", ast.Store()), ast.Add(), number)


def _more(ticks: ast.Name) -> ast.stmt:
    return ast.AugAssign(ticks, ast.Add(), constant(1))
