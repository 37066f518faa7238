"""INTEGER variables that are set outside loops alone and used inside: their size is looked at once."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from esql import syntax
from esql.emit.assigned_variables import given, walk
from esql.emit.emitted_value import INTEGER
from esql.emit.python_nodes import compare, constant, every, is_some, name, walrus

if TYPE_CHECKING:
    from esql.emit.function_body import Body
    from esql.scope.references import Variable

SMALL: Final = 2**30 - 1  # what Python keeps in one digit, and so compares fastest
_LOOPS: Final = (syntax.While, syntax.Repeat, syntax.Loop, syntax.For)
_ARITHMETIC: Final = frozenset(("+", "-", "*"))


def settled(body: Body, statements: Iterable[syntax.Node]) -> frozenset[Variable]:
    """The variables; a function with handlers has none, for a handler may go on behind what gave one something."""
    nodes = list(walk(statements))
    if any(isinstance(node, syntax.DeclareHandler | syntax.Eval) for node in nodes):
        return frozenset()
    looped = [node for loop in nodes if isinstance(loop, _LOOPS) for node in walk([loop])]
    changing = {variable for node in looped for variable, _ in given(body, node)}
    changing |= {
        variable
        for node in nodes
        if not isinstance(node, syntax.Declare | syntax.SetStatement)
        for variable, _ in given(body, node)
    }
    used = {
        body.unit.resolution.variable(operand)
        for node in looped
        if isinstance(node, syntax.Operation) and node.operator in _ARITHMETIC
        for operand in node.operands
        if isinstance(operand, syntax.Path) and not operand.steps
    }
    return frozenset(
        variable
        for variable in used
        if variable is not None
        and variable not in changing
        and variable.type_name == INTEGER
        and variable.role in {"local", "text"}
        and body.is_local(variable)
    )


def looked_at(slot: str, value: ast.expr) -> ast.expr:
    """A local is given a value: whether that is there and small."""
    some = is_some(walrus(slot, value))
    high = compare(name(slot), ast.Lt(), constant(SMALL))
    return every([some, high, compare(name(slot), ast.Gt(), constant(-SMALL))])
