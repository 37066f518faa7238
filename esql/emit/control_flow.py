"""IF, CASE, loops, the jumps between them, BEGIN … END and its handlers -> Python."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from typing import Final

from esql import syntax
from esql.emit.assignments import prepare
from esql.emit.conditions import comparison_test
from esql.emit.emitted_code import Value
from esql.emit.function_body import Body, Level, Statements, handed_in, refused, tick
from esql.emit.python_nodes import (
    assign,
    attribute,
    call,
    compare,
    constant,
    method,
    name,
    negated,
    set_attribute,
    when,
)
from esql.emit.variable_analysis import expression_alone

_LEAVE: Final = 1
_ITERATE: Final = 2
_MOST_NESTED: Final = 50


def _branches(
    body: Body,
    tests: Sequence[tuple[ast.expr, syntax.IfBranch | syntax.CaseStatementBranch]],
    otherwise: tuple[syntax.Statement, ...] | None,
) -> None:
    """Branches of which one is taken. Python nests each in the one before it: many of them go in groups."""
    last = [] if otherwise is None else body.each(otherwise)
    if len(tests) <= _MOST_NESTED:
        body.emit(*_nested(body, tests, last))
        return
    taken = body.fresh("taken")
    body.emit(assign(taken, constant(False)))
    for start in range(0, len(tests), _MOST_NESTED):
        group = _nested(body, tests[start : start + _MOST_NESTED], [assign(taken, constant(False))])
        body.emit(when(negated(name(taken)), [assign(taken, constant(True)), *group]))
    body.emit(when(negated(name(taken)), last))


def _nested(
    body: Body,
    tests: Sequence[tuple[ast.expr, syntax.IfBranch | syntax.CaseStatementBranch]],
    last: list[ast.stmt],
) -> list[ast.stmt]:
    made = last
    for test, branch in reversed(tests):
        one = when(test, body.each(branch.body), made)
        body.locate(one, branch)
        made = [one]
    return made


def _case(body: Body, node: syntax.CaseStatement) -> None:
    """CASE as a statement; where nothing fits and there is no ELSE, nothing is done."""
    operand: Value | None = None
    if node.operand is not None:
        value = body.expression(node.operand)
        held = body.hold(expression_alone(body, node.operand, value.code))
        operand = Value(name(held), value.type, nullable=value.nullable, simple=True)
    _branches(body, [(_case_test(body, operand, branch), branch) for branch in node.branches], node.otherwise)


def _case_test(body: Body, operand: Value | None, branch: syntax.CaseStatementBranch) -> ast.expr:
    if operand is None:
        return body.condition(branch.condition)
    test = comparison_test(body, "=", operand, body.expression(branch.condition))
    body.locate(test, branch.condition)
    return test


# loops


def _while(body: Body, node: syntax.While) -> None:
    test = body.condition(node.condition)
    _loop(body, node, node.body, lambda inside: ast.While(test, inside, []))


def _repeat(body: Body, node: syntax.Repeat) -> None:
    """REPEAT: the condition is looked at after each turn, an iterated one too."""
    if body.unit.resolution.visits.get(syntax.Iterate):  # it may come to the condition before a DECLARE
        prepare(body, node.body)
    first = body.fresh("first")
    body.emit(assign(first, constant(True)))
    with body.block() as before:
        test = body.condition(node.condition)
    body.emit(*before)
    again = ast.BoolOp(ast.Or(), [name(first), ast.UnaryOp(ast.Not(), test)])
    start: list[ast.stmt] = [assign(first, constant(False))]
    _loop(body, node, node.body, lambda inside: ast.While(again, [*start, *inside], []))


def _for(body: Body, node: syntax.For) -> None:
    """FOR: the reference goes through the fields of a list."""
    variable = body.unit.declared.get(id(node))
    slot = body.fresh("v") if variable is None else body.slot(variable)
    items = call("each", expression_alone(body, node.source, body.items(node.source)))
    _loop(body, node, node.body, lambda inside: ast.For(ast.Name(slot, ast.Store()), items, inside, []))


def _loop(body: Body, node: syntax.Statement, statements: tuple[syntax.Statement, ...], make: object) -> None:
    level = Level(node)
    body.loops.append(level)
    forgotten = body.forgotten(node) if isinstance(node, syntax.For) else []
    start: list[ast.stmt] = [assign(slot, constant(None)) for slot in forgotten]
    inside = [*tick(body), *start, *body.each(statements)]
    body.loops.pop()
    made = make(inside)  # type: ignore[operator]  # from the body of a loop to the loop
    body.locate(made, node)
    body.emit(made, *([] if body.loops else handed_in(body)), *_after(body, level))


# jumps


def _jump(body: Body, node: syntax.Leave | syntax.Iterate, kind: int) -> None:
    block = body.unit.resolution.of(node)
    target = next(level for level in body.loops if level.node is block)
    if target is body.loops[-1]:
        body.emit(ast.Break() if kind == _LEAVE else ast.Continue())
        return
    if not target.flag:
        target.flag = body.fresh("jump")
        body.local(target.flag, lambda: constant(0))
    target.jumps.add(kind)
    innermost = body.loops[-1]
    if target not in innermost.exits:
        innermost.exits.append(target)
    body.emit(assign(target.flag, constant(kind)), ast.Break())


def _after(body: Body, level: Level) -> list[ast.stmt]:
    """Returns what follows a loop that jumps lead out of, further than its own end."""
    made: list[ast.stmt] = []
    for target in level.exits:
        around = body.loops[-1]
        if around is not target:
            made.append(when(name(target.flag), [ast.Break()]))
            if target not in around.exits:
                around.exits.append(target)
            continue
        reset = assign(target.flag, constant(0))
        if _ITERATE in target.jumps:
            test = compare(name(target.flag), ast.Eq(), constant(_ITERATE))
            made.append(when(test, [reset, ast.Continue()]))
        if _LEAVE in target.jumps:
            made.append(when(name(target.flag), [reset, ast.Break()]))
    return made


def _compound(body: Body, node: syntax.Compound) -> None:
    level = Level(node) if id(node) in body.unit.jumped else None
    if level is not None:
        body.loops.append(level)
    with body.block() as inside:
        scope(body, node.body)
    body.locate(inside, node)
    if node.atomic:
        inside = [ast.With([ast.withitem(method("here", "atomic"))], inside or [ast.Pass()])]
    if level is not None:
        body.loops.pop()
        once: ast.stmt = ast.While(constant(True), [*inside, ast.Break()], [])  # what LEAVE names is a loop of one turn
        inside = [once, *_after(body, level)]
    body.emit(*inside)


def scope(body: Body, statements: Sequence[syntax.Node]) -> None:
    """The statements of a scope, which are a block, a branch or the body of a loop, with the handlers among them."""
    handlers = [one for one in statements if isinstance(one, syntax.DeclareHandler)]
    rest = [one for one in statements if not isinstance(one, syntax.DeclareHandler)]
    if not handlers:
        for one in rest:
            body.statement(one)
        return
    prepare(
        body, statements[: max(place for place, one in enumerate(statements) if isinstance(one, syntax.DeclareHandler))]
    )
    around = _Scope(body, handlers)
    guards, body.guards = body.guards, [partial(around.tried, kind="CONTINUE")] if around.continues else []
    try:
        inside = body.each(rest)
    finally:
        body.guards = guards
    body.emit(*around.opening())
    body.emit(*(around.tried(inside, kind="EXIT") if around.exits else inside))


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
        said = [[(one.kind, one.text or "", one.escape or "\\") for one in each.conditions] for each in handlers]
        self.conditions = body.unit.constant(tuple(map(tuple, said)))

    def opening(self) -> list[ast.stmt]:
        return [assign(self.busy, constant(False)), assign(self.before, attribute("here", "sql"))]

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
        body.locate(inside, handler)
        start = [
            assign(self.busy, constant(True)),
            set_attribute(name("here"), "sql", call("sql_status_of", name(error))),
        ]
        # a handler may end by LEAVE, ITERATE or RETURN as well
        end = [set_attribute(name("here"), "sql", name(self.before)), assign(self.busy, constant(False))]
        return [*start, ast.Try(inside or [ast.Pass()], [], [], [*end])]


STATEMENTS: Final[Statements] = {
    syntax.If: lambda body, node: _branches(
        body, [(body.condition(branch.condition), branch) for branch in node.branches], node.otherwise
    ),
    syntax.CaseStatement: _case,
    syntax.While: _while,
    syntax.Loop: lambda body, node: _loop(body, node, node.body, lambda inside: ast.While(constant(True), inside, [])),
    syntax.Repeat: _repeat,
    syntax.For: _for,
    syntax.Leave: lambda body, node: _jump(body, node, _LEAVE),
    syntax.Iterate: lambda body, node: _jump(body, node, _ITERATE),
    syntax.Empty: lambda body, node: None,
    syntax.Compound: _compound,
    # the error that a handler was called for goes on
    syntax.Resignal: lambda body, node: body.emit(ast.Raise(name(body.handled[-1]))),
    syntax.DeclareHandler: refused("a handler is declared before the statements of its scope"),
}
