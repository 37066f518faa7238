"""BEGIN … END and handlers -> Python."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from esql import syntax
from esql.emit.function_body import Body, Statements
from esql.emit.loops import after_level, compound_level, labelled
from esql.emit.python_nodes import assign, attribute, call, compare, constant, method, name, set_attribute, when
from esql.emit.unit import EmitError


def compound(body: Body, node: syntax.Compound) -> None:
    """BEGIN … END."""
    level = compound_level(body, node)
    if level is not None:
        body.loops.append(level)
    with body.block() as inside:
        scope(body, node.body)
    for one in inside:
        body.locate(one, node)
    if node.atomic:
        inside = [ast.With([ast.withitem(method("here", "atomic"))], inside or [ast.Pass()])]
    if level is not None:
        body.loops.pop()
        inside = [*labelled(body, node, inside), *after_level(body, level)]
    body.emit(*inside)


def scope(body: Body, statements: Sequence[syntax.Node]) -> None:
    """The statements of a scope, which are a block, a branch or the body of a loop, with the handlers among them."""
    handlers = [one for one in statements if isinstance(one, syntax.DeclareHandler)]
    rest = [one for one in statements if not isinstance(one, syntax.DeclareHandler)]
    if not handlers:
        for one in rest:
            body.statement(one)
        return
    around = _Scope(body, handlers)
    guards, body.guards = body.guards, [around.guard] if around.continues else []
    try:
        inside = body.each(rest)
    finally:
        body.guards = guards
    body.emit(*around.opening())
    body.emit(*(around.tried(inside, "EXIT") if around.exits else inside))


class _Scope:
    """A block with handlers. `busy` says that one is running, so that its own errors are not handled here again."""

    def __init__(self, body: Body, handlers: Sequence[syntax.DeclareHandler]) -> None:
        self.body = body
        self.handlers = handlers
        self.busy = body.fresh("busy")
        self.before = body.fresh("sql")
        self.guards = list(body.guards)
        kinds = {handler.kind for handler in handlers}
        self.continues, self.exits = "CONTINUE" in kinds, "EXIT" in kinds
        self.conditions = body.unit.constant(tuple(_condition(handler) for handler in handlers))

    def opening(self) -> list[ast.stmt]:
        return [assign(self.busy, constant(False)), assign(self.before, attribute("here", "sql"))]

    def guard(self, inside: list[ast.stmt]) -> list[ast.stmt]:
        """A statement that a CONTINUE handler may go on behind."""
        return self.tried(inside, "CONTINUE")

    def tried(self, inside: list[ast.stmt], kind: str) -> list[ast.stmt]:
        """Statements in a try that hands errors to the handlers of one kind."""
        body = self.body
        error, place = body.fresh("error"), body.fresh("place")
        again: list[ast.stmt] = [ast.Raise()]
        found = call("handler_of", name(error), self.conditions)
        made: list[ast.stmt] = again
        for number, handler in reversed(list(enumerate(self.handlers))):
            if handler.kind == kind:
                made = [when(compare(name(place), ast.Eq(), constant(number)), self._handled(handler, error), made)]
        start = assign(place, ast.IfExp(name(self.busy), constant(-1), found))
        clause = ast.ExceptHandler(name("BrokerError"), error, [start, *made])
        return [ast.Try(inside or [ast.Pass()], [clause], [], [])]

    def _handled(self, handler: syntax.DeclareHandler, error: str) -> list[ast.stmt]:
        body = self.body
        body.handled.append(error)
        guards, body.guards = body.guards, self.guards
        try:
            with body.block() as inside:
                body.statement(handler.body)
        finally:
            body.guards = guards
            body.handled.pop()
        for one in inside:
            body.locate(one, handler)
        return [
            assign(self.busy, constant(True)),
            set_attribute(name("here"), "sql", call("sql_state_of", name(error))),
            *inside,
            set_attribute(name("here"), "sql", name(self.before)),
            assign(self.busy, constant(False)),
        ]


def _condition(handler: syntax.DeclareHandler) -> tuple[tuple[str, str, str], ...]:
    return tuple((one.kind, one.text or "", one.escape or "\\") for one in handler.conditions)


def resignal(body: Body, node: syntax.Resignal) -> None:
    """RESIGNAL: the error that a handler was called for goes on."""
    if not body.handled:
        raise EmitError(node, "RESIGNAL stands in a handler only")
    body.emit(ast.Raise(name(body.handled[-1])))


def misplaced(_: Body, node: syntax.DeclareHandler) -> None:
    """A handler that stands for itself, as another handler's statement."""
    raise EmitError(node, "a handler is declared before the statements of its scope")


STATEMENTS: Final[Statements] = MappingProxyType(
    {syntax.Compound: compound, syntax.Resignal: resignal, syntax.DeclareHandler: misplaced}
)
