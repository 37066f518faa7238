"""Body: one Python function while it is being emitted, and how its turns of loops and calls are counted."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from engine.budget import pay
from esql import syntax
from esql.emit import tracing
from esql.emit.emitted_code import BOOLEAN, EmitError, Unit, Value
from esql.emit.integer_formulas import looked_at
from esql.emit.python_nodes import (
    LOAD,
    STORE,
    assign,
    attribute,
    call,
    compare,
    constant,
    do,
    function,
    item,
    locate,
    method,
    name,
    walrus,
    when,
)
from esql.emit.variable_analysis import expression_alone, statement_alone
from esql.scope.references import DeclaredRoutine, Variable

Expressions: TypeAlias = Mapping[type, Callable[["Body", Any], Value]]
Conditions: TypeAlias = Mapping[type, Callable[["Body", Any], ast.expr | None]]
Statements: TypeAlias = Mapping[type, Callable[["Body", Any], None]]


def refused(text: str) -> Callable[[Body, syntax.Node], Any]:
    """Returns what stands for syntax that has no code where it is emitted."""

    def emit(_: Body, node: syntax.Node) -> Any:
        raise EmitError(node, text)

    return emit


@dataclass(frozen=True, slots=True)
class Tables:
    """The functions that emit each class of syntax."""

    expressions: Expressions
    conditions: Conditions
    lists: Expressions
    statements: Statements
    plan: Callable[[Body, Any], Any]
    forgotten: Callable[[Body, Any, Any], list[str]]
    scope: Callable[[Body, Sequence[Any]], None]


@dataclass(slots=True)
class Level:
    """A loop around the place that is being emitted, and the loops further out that jumps inside it lead to."""

    node: object
    flag: str = ""
    jumps: set[int] = field(default_factory=set)
    exits: list[Level] = field(default_factory=list)


# Puts what a statement has become into a try, with the CONTINUE handlers of the block around it.
Guard: TypeAlias = Callable[[list[ast.stmt]], list[ast.stmt]]

_STEPS = 50  # that one expression is worth to the budget of a message whose program calls EVAL
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_UNGUARDED = (syntax.Compound, syntax.DeclareHandler, syntax.Empty)


@dataclass(slots=True)
class Body:
    """A function being emitted, with the statements of the block that is open."""

    unit: Unit
    tables: Tables
    kind: str
    routine: DeclaredRoutine | None = None
    yields: bool = False
    statements: list[ast.stmt] = field(default_factory=list)
    prologue: dict[str, ast.expr] = field(default_factory=dict)
    slots: dict[Variable, str] = field(default_factory=dict)
    loops: list[Level] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    outer: Body | None = None
    names: list[int] = field(default_factory=lambda: [0])
    handled: list[str] = field(default_factory=list)
    memory: dict[Any, str] = field(default_factory=dict)
    parts: dict[int, Any] = field(default_factory=dict)
    never_null: frozenset[Variable] = frozenset()
    settled: frozenset[Variable] = frozenset()
    given_by_calls: frozenset[Variable] = frozenset()
    has_handlers: bool = True

    # what is emitted

    def expression(self, node: syntax.Node) -> Value:
        """The value of an expression."""
        pay(_STEPS)
        emit = self.tables.expressions.get(type(node))
        if emit is None:
            raise EmitError(node, f"{type(node).__name__} is no expression here")
        value = emit(self, node)
        if self.unit.trace:
            value = tracing.value(self, node, value)
        return value.located(lambda tree: self.locate(tree, node))

    def condition(self, node: syntax.Node, wanted: bool = True) -> ast.expr:
        """A test in Python whether an expression is TRUE, or whether it is FALSE; UNKNOWN is neither."""
        emit = self.tables.conditions.get(type(node)) if wanted and not tracing.is_debug(self) else None
        test = None if emit is None else emit(self, node)
        if test is None:
            test = compare(self.truth(node, "IF").code, ast.Is(), constant(wanted))
        test = expression_alone(self, node, test)
        self.locate(test, node)
        return test

    def truth(self, node: syntax.Node, operator: str) -> Value:
        """The value of an expression that must be a BOOLEAN."""
        value = self.expression(node)
        if value.type == BOOLEAN:
            return value
        checked = ast.Call(name("boolean"), [ast.Constant(operator), value.code], [])
        return Value(checked, BOOLEAN, nullable=value.nullable)

    def items(self, node: syntax.Node) -> ast.expr:
        """A list in Python of what an expression is a list of."""
        emit = self.tables.lists.get(type(node))
        value: ast.expr = call("items_of", self.expression(node).code) if emit is None else emit(self, node).code
        self.locate(value, node)
        return value

    def statement(self, node: syntax.Node) -> None:
        """Emit a statement into the open block."""
        emit = self.tables.statements.get(type(node))
        if emit is None:
            raise EmitError(node, f"{type(node).__name__} is no statement here")
        if self.unit.trace:
            with self.block() as said:
                tracing.statement(self, node)
            self.locate(said, node)
            self.statements.extend(said)
        if not self.guards:
            before = len(self.statements)
            self._emit_alone(emit, node)
            self._forget(node)
            self.locate(self.statements[before:], node)
            return
        with self.block() as inner:
            self._emit_alone(emit, node)
        self.locate(inner, node)
        if isinstance(node, _UNGUARDED):
            self.statements.extend(inner)
            return
        wrapped = self.guards[-1](inner) if inner else []
        self.locate(wrapped, node)
        self.statements.extend(wrapped)

    def _emit_alone(self, emit: Callable[[Body, Any], None], node: syntax.Node) -> None:
        if not self.unit.shares_trees:
            emit(self, node)
            return
        with self.block() as inner:
            emit(self, node)
        self.statements.extend(statement_alone(self, node, inner))

    def _forget(self, node: syntax.Node) -> None:
        """Let go of the remembered places that a statement may have moved."""
        slots = self.forgotten(node)
        if slots and not isinstance(self.statements[-1] if self.statements else None, _ENDS):
            self.emit(ast.Assign([ast.Name(slot, STORE) for slot in slots], ast.Constant(None)))

    def forgotten(self, node: syntax.Node) -> list[str]:
        """The remembered places that a statement may have moved."""
        return self.tables.forgotten(self, self.memory, node)

    def each(self, nodes: Sequence[syntax.Node]) -> list[ast.stmt]:
        """The statements of a block of their own."""
        with self.block() as inner:
            self.tables.scope(self, nodes)
        return inner

    @contextmanager
    def block(self) -> Iterator[list[ast.stmt]]:
        """Open a block: what is emitted goes there until it is closed."""
        kept, self.statements = self.statements, []
        try:
            yield self.statements
        finally:
            self.statements = kept

    def emit(self, *made: ast.stmt) -> None:
        """Add statements of Python to the open block."""
        self.statements.extend(made)

    def locate(self, made: ast.AST | Sequence[ast.AST], node: syntax.Node) -> None:
        """Say that Python comes from a piece of syntax."""
        for tree in (made,) if isinstance(made, ast.AST) else made:
            locate(tree, node.position, self.unit.lines)

    # names

    def fresh(self, prefix: str = "t") -> str:
        """A local name that nothing else has."""
        self.names[0] += 1
        return f"{prefix}{self.names[0]}"

    def local(self, title: str, make: Callable[[], ast.expr]) -> ast.Name:
        """A local that is set when the function starts, where anything uses it; functions inside see it too."""
        top = self
        while top.outer is not None:
            top = top.outer
        if title not in top.prologue:
            top.prologue[title] = make()
        return name(title)

    def hold(self, code: ast.expr) -> str:
        """Give a value to a local of its own, in front of what is emitted next; returns its name."""
        held = self.fresh()
        self.emit(assign(held, code))
        return held

    def held(self, code: ast.expr) -> tuple[ast.expr, ast.expr]:
        """An expression that is evaluated once: how it is written first, and how again."""
        if isinstance(code, ast.Name | ast.Constant):
            return code, code
        kept = self.fresh()
        return walrus(kept, code), name(kept)

    def twice(self, value: Value) -> tuple[ast.expr, ast.expr]:
        """Returns a value that is evaluated once: how it is written first, and how again."""
        return (value.code, value.code) if value.simple else self.held(value.code)

    def slot(self, variable: Variable) -> str:
        """The local name of a variable."""
        known = self.slots.get(variable)
        if known is None:
            known = self.slots[variable] = self.fresh("v")
        return known

    def moved(self, variable: Variable) -> str:
        """The local that says whether the last move of a reference succeeded."""
        return self.slot(variable).replace("v", "m", 1)

    def small(self, variable: Variable) -> str:
        """The local that says whether a variable that is settled is there and small."""
        title = self.slot(variable).replace("v", "w", 1)
        self.local(title, lambda: ast.Constant(False))
        return title

    def load(self, variable: Variable, what: str = "") -> ast.expr:
        """The content of a variable, or `moved` of a reference."""
        if self.is_local(variable):
            return name(self.moved(variable) if what else self.slot(variable))
        return item(self._storage(variable), self.unit.place(variable, what))

    def store(self, variable: Variable, value: ast.expr, what: str = "") -> ast.stmt:
        """A statement that gives a variable its content."""
        if variable in self.settled:
            return assign(self.small(variable), looked_at(self.slot(variable), value))
        if self.is_local(variable):
            return assign(self.moved(variable) if what else self.slot(variable), value)
        place = ast.Subscript(self._storage(variable), ast.Constant(self.unit.place(variable, what)), STORE)
        return ast.Assign([place], value)

    def stored(self, variable: Variable, value: ast.expr) -> ast.expr:
        """An expression that gives a scalar variable its content."""
        if self.is_local(variable):
            return walrus(self.slot(variable), value)
        return method(self._storage(variable), "__setitem__", constant(self.unit.place(variable)), value)

    def _storage(self, variable: Variable) -> ast.expr:
        title = "shared" if variable.lifetime == "SHARED" else "variables"
        return self.local(title, lambda: attribute("here", title))

    # the function as a whole

    def nested(self) -> Body:
        """A function inside this one, which sees its locals."""
        return Body(
            self.unit,
            self.tables,
            self.kind,
            self.routine,
            slots=self.slots,
            outer=self,
            names=self.names,
            never_null=self.never_null,
            settled=self.settled,
            given_by_calls=self.given_by_calls,
        )

    def define(self, inner: Body, node: syntax.Node) -> ast.expr:
        """Put a function inside this one in front of the statement that is being emitted; the answer is its call."""
        title = self.fresh("f")
        made = function(title, [], inner.statements)
        self.locate(made, node)
        self.emit(made)
        invoked: ast.expr = ast.Call(ast.Name(title, LOAD), [], [])
        if inner.yields:
            self.yields = True
            invoked = ast.YieldFrom(invoked)
        return invoked

    def opening(self) -> list[ast.stmt]:
        """The statements that set the locals of the prologue."""
        return [assign(title, value) for title, value in self.prologue.items()]

    def is_local(self, variable: Variable) -> bool:
        """Returns True where a variable lives in the function that declares it; routines see those around them."""
        if variable.lifetime == "SHARED" or variable in self.unit.stored:
            return False
        return variable.role not in {"module", "schema"} and (variable.role != "text" or self.unit.text_is_local)


def tick(body: Body) -> list[ast.stmt]:
    """Count a turn of a loop; after as many as the invocation has said, it says how many there may be next."""
    ticks = body.local("ticks", lambda: constant(0)).id
    quantum = body.local("quantum", lambda: attribute("here", "quantum")).id
    spent: list[ast.stmt] = [assign(quantum, method("here", "spend", name(ticks))), assign(ticks, constant(0))]
    more = ast.AugAssign(ast.Name(ticks, ast.Store()), ast.Add(), constant(1))
    return [more, when(compare(name(ticks), ast.Gt(), name(quantum)), spent)]


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
