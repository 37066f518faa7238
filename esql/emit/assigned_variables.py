"""The parts of a function that give variables values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from esql import syntax
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
