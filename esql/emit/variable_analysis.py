"""Analysis of the variables of a function: which are never NULL, and which statements look into SHARED trees.

Without BEGIN ATOMIC each statement and each condition that may look into such a tree is alone with it: others may
change it in between, but nobody finds it half changed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from esql import syntax
from esql.emit.emitted_code import is_literal
from esql.emit.python_nodes import method, name
from esql.functions import function_catalog
from esql.scope.references import DeclaredRoutine, Variable
from esql.syntax.node import children

if TYPE_CHECKING:
    from esql.emit.function_body import Body


def walk(statements: Iterable[syntax.Node]) -> Iterator[syntax.Node]:
    """All pieces of syntax in statements, themselves among them."""
    pending = list(statements)
    while pending:
        node = pending.pop()
        yield node
        pending.extend(children(node))


def given(body: Body, node: syntax.Node) -> Iterator[tuple[Variable, syntax.Node | None]]:
    """The variables that a piece of syntax gives something, and what; None is anything."""
    resolution = body.unit.resolution
    match node:
        case syntax.Declare(names, initial=initial, lifetime=lifetime):
            for name in names:
                variable = body.unit.named.get((id(node), name))
                if variable is not None:
                    yield variable, None if lifetime else initial
        case syntax.SetStatement(target, source) if not target.steps:
            variable = resolution.variable(target)
            if variable is not None:
                yield variable, source
        case syntax.Call() | syntax.CallStatement():
            given = (*node.arguments, getattr(node, "target", None))
            routine = resolution.of(node)
            for argument in given if isinstance(routine, DeclaredRoutine) else given[-1:]:
                variable = resolution.variable(argument)
                if variable is not None:
                    yield variable, None


def given_by_calls(body: Body, nodes: Iterable[syntax.Node]) -> set[Variable]:
    """The variables that calls in expressions give their outputs, in the middle of a statement."""
    of = body.unit.resolution
    called = ((node, of.of(node)) for node in nodes if isinstance(node, syntax.Call))
    outputs = (
        of.variable(node.arguments[index])
        for node, routine in called
        if isinstance(routine, DeclaredRoutine)
        for index in routine.outputs
    )
    return {variable for variable in outputs if variable is not None}


_TYPES: Final = frozenset(("INTEGER", "DECIMAL", "FLOAT", "CHARACTER"))


def never_null(body: Body, nodes: Sequence[syntax.Node]) -> frozenset[Variable]:
    """The variables; a function with handlers has none, for a handler may go on behind a DECLARE that failed."""
    if any(isinstance(node, syntax.DeclareHandler | syntax.Eval) for node in nodes):
        return frozenset()
    sources: dict[Variable, list[syntax.Node | None]] = {}
    for node in nodes:
        for variable, source in given(body, node):
            sources.setdefault(variable, []).append(source)
    known = {variable for variable in sources if variable.type_name in _TYPES and body.is_local(variable)}
    known = {variable for variable in known if variable.role in {"local", "text"}}
    if any(isinstance(node, syntax.Iterate) for node in nodes):  # which may pass over what UNTIL looks at
        repeated = [one for node in nodes if isinstance(node, syntax.Repeat) for one in node.body]
        known -= {variable for one in repeated if isinstance(one, syntax.Declare) for variable, _ in given(body, one)}
    while True:
        left = {one for one in known if all(_is_something(body, source, known) for source in sources[one])}
        if left == known:
            return frozenset(known)
        known = left


def _is_something(body: Body, source: syntax.Node | None, known: set[Variable]) -> bool:
    match source:
        case None:
            return False
        case syntax.Path(steps=(), index=None):
            return body.unit.resolution.variable(source) in known
        case syntax.Operation("+" | "-" | "*" | "/" | "||", operands):
            return all(_is_something(body, operand, known) for operand in operands)
        case syntax.Unary("-" | "+", operand):
            return _is_something(body, operand, known)
        case syntax.Call(name=(title,)):
            found = function_catalog.get(title.upper())
            return found is not None and bool(found.result) and {one.takes for one in found.places} == {"list"}
    return is_literal(source) and not isinstance(source, syntax.Null) and source != syntax.Truth(None)


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
    if not emitted or isinstance(node, _OF_STATEMENTS) or not _looks_into(body, node) or sends(emitted):
        return emitted
    return [ast.With([ast.withitem(method("here", "atomic"))], emitted)]


def expression_alone(body: Body, node: syntax.Node, code: ast.expr) -> ast.expr:
    """Returns the Python of a condition or a list, which holds the lock if it may look into a SHARED tree.

    One that PROPAGATEs, or calls what gives a variable something, cannot be the function of its own that this takes.
    """
    if not _looks_into(body, node) or sends([code]) or _gives_variables(body, code):
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


def _gives_variables(body: Body, code: ast.expr) -> bool:
    slots = set(body.slots.values())
    return any(isinstance(part, ast.NamedExpr) and part.target.id in slots for part in ast.walk(code))


def sends(emitted: Iterable[ast.AST]) -> bool:
    """Returns True where emitted Python may PROPAGATE."""
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for one in emitted for part in ast.walk(one))
