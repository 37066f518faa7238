"""Statements of a program with a SHARED tree -> Python that no other invocation of the flow interrupts.

Without BEGIN ATOMIC each statement and each condition that may look into such a tree is alone with it: others may
change it in between, but nobody finds it half changed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from esql import syntax
from esql.emit.assigned_variables import walk
from esql.emit.python_nodes import method, name
from esql.scope.references import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from esql.emit.function_body import Body

_TREES: Final = frozenset(("ROW", "REFERENCE", "LIST"))
_OF_STATEMENTS: Final = (
    *(syntax.Compound, syntax.If, syntax.CaseStatement, syntax.While, syntax.Repeat, syntax.Loop, syntax.For),
    *(syntax.DeclareHandler, syntax.Propagate, syntax.Eval),
)


def is_shared_tree(variable: Variable) -> bool:
    """Returns True where a variable holds a tree that all invocations of a flow have in common."""
    return variable.lifetime == "SHARED" and variable.type_name in _TREES


def statement_alone(body: Body, node: syntax.Node, emitted: list[ast.stmt]) -> list[ast.stmt]:
    """Returns the Python of a statement, which holds the lock if it may look into a SHARED tree."""
    if not emitted or isinstance(node, _OF_STATEMENTS) or not _looks_into(body, node) or _sends(emitted):
        return emitted
    return [ast.With([ast.withitem(method("here", "atomic"))], emitted)]


def expression_alone(body: Body, node: syntax.Node, code: ast.expr) -> ast.expr:
    """Returns the Python of a condition or a list, which holds the lock if it may look into a SHARED tree."""
    if not _looks_into(body, node) or _sends([code]):
        return code
    without = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return method(name("here"), "alone", ast.Lambda(without, code))


def _looks_into(body: Body, node: syntax.Node) -> bool:
    """Returns True where a piece of syntax names a variable that is a SHARED tree, or may refer to one."""
    if not body.unit.shares_trees:
        return False
    paths = (one for one in walk([node]) if isinstance(one, syntax.Path))
    known = (body.unit.resolution.variable(path) for path in paths)
    return any(variable is not None and variable.type_name in {*_TREES, ""} for variable in known)


def _sends(emitted: Iterable[ast.AST]) -> bool:
    """Returns True where emitted Python may PROPAGATE; such Python does not hold the lock."""
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for one in emitted for part in ast.walk(one))
