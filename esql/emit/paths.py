"""Field references -> Python: straight-line look-ups, and the creation of what is written to."""

from __future__ import annotations

import ast
from typing import Final

from engine.tree.step import Step
from esql import syntax
from esql.emit.cached_elements import key_of
from esql.emit.emitted_code import EmitError, Value, is_literal, known, literal
from esql.emit.function_body import Body, Expressions
from esql.emit.path_steps import is_known, known_step, number_of, step_of
from esql.emit.python_nodes import attribute, call, choose, constant, every, is_some, method, name, some, walrus
from esql.names.constants import ElementType, NamedConstant
from esql.names.predefined import BrokerProperty, Correlation, SpecialName
from esql.scope.references import Reference, Variable

_TREES: Final = {
    "InputRoot": "input_root",
    "Root": "input_root",
    "OutputRoot": "output_root",
    "InputLocalEnvironment": "input_local_environment",
    "LocalEnvironment": "local_environment",
    "OutputLocalEnvironment": "output_local_environment",
    "InputExceptionList": "input_exceptions",
    "ExceptionList": "input_exceptions",
    "OutputExceptionList": "output_exceptions",
    "Environment": "environment",
}
_ITEMS: Final = frozenset(("for", "select", "quantified"))


class Chain:
    """A look-up under way: tests that must hold, and where it has come to."""

    __slots__ = ("at", "body", "held", "nullable", "tests")

    def __init__(self, body: Body, at: ast.expr, *, nullable: bool) -> None:
        self.body = body
        self.at = at
        self.nullable = nullable
        self.tests: list[ast.expr] = []
        self.held = ""

    def settle(self) -> ast.expr:
        """The element it has come to, in a form that may be written again; a missing one fails the tests."""
        if self.nullable:
            if isinstance(self.at, ast.Name):
                self.tests.append(is_some(self.at))
            else:
                self.held = self.held or self.body.fresh()
                self.tests.append(is_some(walrus(self.held, self.at)))
                self.at = name(self.held)
            self.nullable = False
        return self.at

    def down(self, access: ast.expr) -> None:
        """Go one step down."""
        self.at, self.nullable = access, True

    def over(self, result: ast.expr, otherwise: ast.expr) -> ast.expr:
        """The result where the tests hold."""
        return choose(every(self.tests), result, otherwise) if self.tests else result


def chain_to(body: Body, path: syntax.Path, steps: tuple[syntax.Step, ...], remembered: int | None = None) -> Chain:
    """The look-up of a path's first steps; it starts at the last place on the way that is remembered."""
    for length in range(len(steps) if remembered is None else remembered, 0, -1):
        slot = body.memory.get(key_of(body, path, steps[:length]))
        if slot is not None:
            chain = _from_memory(body, path, steps[:length], slot)
            break
    else:
        chain, length = _from_root(body, path), 0
    for node in steps[length:]:
        owner = chain.settle()
        chain.down(_child(body, owner, node))
    return chain


def _from_memory(body: Body, path: syntax.Path, steps: tuple[syntax.Step, ...], slot: str) -> Chain:
    """A place that is remembered, or looked up now."""
    before = chain_to(body, path, steps, len(steps) - 1)
    body.local(slot, lambda: constant(None))
    found_ = walrus(slot, before.over(before.at, constant(None)))
    chain = Chain(body, name(slot), nullable=False)
    chain.tests.append(some([is_some(name(slot)), is_some(found_)]))
    return chain


def _from_root(body: Body, path: syntax.Path) -> Chain:
    at, nullable = root_of(body, path)
    chain = Chain(body, at, nullable=nullable)
    if path.index is not None and not isinstance(path.index, syntax.IndexAll):
        chain.down(call("sibling", chain.settle(), *_place(body, path.index)))
    return chain


def _child(body: Body, owner: ast.expr, node: syntax.Step) -> ast.expr:
    wanted = step_of(body, node)
    match node.index:
        case None | syntax.IndexFromStart(None):
            return method(owner, "child", wanted)
        case syntax.IndexAt() | syntax.IndexFromStart() as index:
            return method(owner, "nth", wanted, _number(body, index))
        case syntax.IndexFromEnd() as index:
            return method(owner, "nth_last", wanted, _number(body, index))
    raise EmitError(node, "a list can only stand at the end of a path: name one of its fields by [n]")


def _place(body: Body, index: syntax.Index) -> tuple[ast.expr, ast.expr]:
    """A subscript of a reference itself: how far, and whether from the end."""
    if isinstance(index, syntax.IndexAll):
        raise EmitError(index, "a list has no place of its own")
    return _number(body, index), constant(isinstance(index, syntax.IndexFromEnd))


def _number(body: Body, index: syntax.Index | None) -> ast.expr:
    """The number of a subscript, from the start or from the end; 1 where it says none."""
    number = index.number if isinstance(index, syntax.IndexAt) else getattr(index, "distance", None)
    return constant(1) if number is None else number_of(body, number)


def root_of(body: Body, path: syntax.Path) -> tuple[ast.expr, bool]:
    """The element that a path starts at, and whether it may be missing."""
    reference = body.unit.resolution.of(path)
    match reference:
        case Variable():
            return _variable_root(body, path, reference)
        case Correlation():
            return _correlation(body, path, reference)
    raise EmitError(path, f"{path.root} is no field: a path starts at a tree, a reference, a row or a correlation name")


def sure_root(body: Body, path: syntax.Path) -> ast.expr:
    """The element that a path starts at; a missing one is an error."""
    at, nullable = root_of(body, path)
    return call("existing", at, constant(path.root)) if nullable else at


def _variable_root(body: Body, path: syntax.Path, variable: Variable) -> tuple[ast.expr, bool]:
    if variable.role == "table":
        raise EmitError(path, f"{path.root} is a table: there is no database here")
    if variable.role in _ITEMS:
        source = getattr(variable.declaration, "source", None)
        if isinstance(source, syntax.Path):
            return body.load(variable), False
        return call("field_of", body.load(variable)), True
    if variable.type_name in {"REFERENCE", "ROW"}:
        return body.load(variable), False
    raise EmitError(path, f"{path.root} is a variable of type {variable.type_name}, not a field")


def _correlation(body: Body, path: syntax.Path, found: Correlation) -> tuple[ast.expr, bool]:
    if found.name == "Database":
        raise EmitError(
            path, "a table of a database is no field: it can stand in SELECT and in statements of databases"
        )
    attr = _TREES[found.tree]
    if body.kind and body.kind != "COMPUTE" and attr == "input_local_environment":
        attr = "local_environment"
    tree: ast.expr
    if attr.startswith("output") and _yields(body):
        tree = attribute("here", attr)
    else:
        tree = body.local(attr, lambda: attribute("here", attr))
    if found.name in {"Body", "InputBody"}:
        return body.local("input_body", lambda: attribute(attribute("here", attr), "last_child")), True
    if found.name in {"Properties", "InputProperties"}:
        wanted = body.unit.step("Properties")
        return body.local("input_properties", lambda: method(attribute("here", attr), "child", wanted)), True
    return tree, False


def _yields(body: Body) -> bool:
    top = body
    while top.outer is not None:
        top = top.outer
    return top.yields


def found(body: Body, path: syntax.Path) -> tuple[ast.expr, bool]:
    """The element that a path leads to, None where there is none, and whether that may be."""
    chain = chain_to(body, path, path.steps)
    nullable = chain.nullable or bool(chain.tests)
    return chain.over(chain.at, constant(None)), nullable


def last_step(body: Body, path: syntax.Path) -> Step | None:
    """The last step of a path, where it is a name known now without a subscript, and leads to no remembered place."""
    if not path.steps or body.memory.get(key_of(body, path, path.steps)) is not None:
        return None
    node = path.steps[-1]
    if not (node.index is None or (isinstance(node.index, syntax.IndexFromStart) and node.index.distance is None)):
        return None
    known_ = known_step(body, node) if is_known(body, node) else None
    return None if known_ is None or known_.name is None else known_


def peeked(body: Body, path: syntax.Path) -> tuple[ast.expr, ast.expr]:
    """Returns what the last step of a path leads to, as `peek` finds it, None where nothing is; and its parent."""
    chain = chain_to(body, path, path.steps[:-1])
    above = chain.settle()
    return chain.over(call("peek", above, step_of(body, path.steps[-1])), constant(None)), above


def listed(body: Body, path: syntax.Path) -> Value:
    """The list that a path with [] at its end stands for; without, that of the one field it leads to."""
    made = counted(body, path, "every", lambda: ast.List([], ast.Load()))
    if made is None:
        made = call("items_of", found(body, path)[0])
    return Value(made, "LIST", nullable=False)


def counted(body: Body, path: syntax.Path, question: str, nothing: object) -> ast.expr | None:
    """Returns the answer of `every`, `count` or `child` for the fields that a path with [] means; None without []."""
    if path.steps and isinstance(path.steps[-1].index, syntax.IndexAll):
        chain = chain_to(body, path, path.steps[:-1])
        owner = chain.settle()
        asked = method(owner, question, step_of(body, path.steps[-1]))
        return chain.over(asked, nothing())  # type: ignore[operator]  # a maker of Python
    if not path.steps and isinstance(path.index, syntax.IndexAll):
        variable = body.unit.resolution.variable(path)
        if variable is not None and variable.role in _ITEMS | {"table"}:
            return None
        siblings = call("siblings", root_of(body, path)[0])
        if question == "every":
            return siblings
        return call("len", siblings) if question == "count" else call("the", siblings)
    return None


def ensured(body: Body, path: syntax.Path, steps: tuple[syntax.Step, ...] | None = None) -> ast.expr:
    """The element that a path, or only some steps of it, leads to, created with all on its way where it is missing."""
    wanted = path.steps if steps is None else steps
    slot = body.memory.get(key_of(body, path, wanted))
    if slot is not None:
        body.local(slot, lambda: constant(None))
        made = walrus(slot, ensured_step(body, ensured(body, path, wanted[:-1]), wanted[-1]))
        return choose(is_some(name(slot)), name(slot), made)
    if wanted:
        return ensured_step(body, ensured(body, path, wanted[:-1]), wanted[-1])
    at = sure_root(body, path)
    if path.index is not None:
        at = call("existing", call("sibling", at, *_place(body, path.index)), constant(path.root))
    return at


def nodes(body: Body) -> ast.expr:
    """The counter of elements that statements make."""
    return body.local("nodes", lambda: attribute("here", "nodes"))


def is_nameless(body: Body, path: syntax.Path) -> bool:
    """Returns whether the last step of a path is `*`, so that it does not say what a new field is called."""
    last = path.steps[-1] if path.steps else None
    return last is not None and not is_known(body, last) and not isinstance(last.name, syntax.ComputedName)


def ensured_like(body: Body, path: syntax.Path, source: ast.expr) -> ast.expr:
    """The same; where the last step is `*`, a field that is missing is created with the name of the source."""
    if not is_nameless(body, path):
        return ensured(body, path)
    last = path.steps[-1]
    if isinstance(last.index, syntax.IndexFromEnd | syntax.IndexAll):
        return ensured(body, path)
    number = _number(body, last.index)
    return call("ensure_like", ensured(body, path, path.steps[:-1]), step_of(body, last), number, source)


def ensured_step(body: Body, owner: ast.expr, node: syntax.Step) -> ast.expr:
    """One step down to a field that is created where it is missing: without a name where only its type is said."""
    wanted = step_of(body, node)
    if not is_known(body, node) and not isinstance(node.name, syntax.ComputedName) and not node.types:
        return _ensured_of_any_name(body, owner, node)
    match node.index:
        case None | syntax.IndexFromStart(None):
            return method(owner, "ensure", wanted)
        case syntax.IndexAt() | syntax.IndexFromStart() as index:
            return call("ensure_nth", owner, wanted, _number(body, index), nodes(body))
        case syntax.IndexFromEnd() as index:
            return call("ensure_last", owner, wanted, _number(body, index))
    raise EmitError(node, "a list can be assigned to only as a whole, at the end of a path")


def _ensured_of_any_name(body: Body, owner: ast.expr, node: syntax.Step) -> ast.expr:
    """One step down by `*`: to a field that is there, or a new one where the domain says what such are called."""
    if isinstance(node.index, syntax.IndexFromEnd | syntax.IndexAll):
        return call("existing", _child(body, owner, node), constant("*"))
    return call("ensure_any", owner, step_of(body, node), _number(body, node.index))


def path_value(body: Body, path: syntax.Path) -> Value:
    """Returns what a name, or a field reference, gives in an expression."""
    reference = body.unit.resolution.of(path)
    if isinstance(reference, BrokerProperty | SpecialName) or (not path.steps and path.index is None):
        value = _bare(body, path, reference)
        if value is not None:
            return value
    if isinstance(reference, ElementType):
        return known(body, reference.number)
    first = counted(body, path, "child", lambda: constant(None))
    if first is not None:
        return Value(call("value_of", first))
    chain = chain_to(body, path, path.steps)
    owner = chain.settle()
    return Value(chain.over(attribute(owner, "value"), constant(None)))


def _bare(body: Body, path: syntax.Path, reference: Reference | None) -> Value | None:
    """The value of a name without steps."""
    match reference:
        case Variable() if reference.role in _ITEMS:
            return Value(call("value_of", body.load(reference)))
        case Variable() if reference.type_name not in {"REFERENCE", "ROW", ""}:
            return variable_value(body, reference)
        case SpecialName():
            return _special(body, path, reference)
        case BrokerProperty():
            return Value(method("here", "property", constant(reference.name)))
        case NamedConstant():
            return Value(constant(reference.value), reference.type, nullable=False, simple=True)
        case Correlation(name="Database"):
            raise EmitError(path, "Database has no value: name a table of it")
    return None


def known_constant(body: Body, variable: Variable) -> Value | None:
    """The value of a constant with a literal of its type, which needs no place in a program; None for any other."""
    initial = getattr(variable.declaration, "initial", None)
    if not variable.is_fixed or variable.lifetime is not None or initial is None or not is_literal(initial):
        return None
    value = known(body, literal(initial))
    return value if value.type == variable.type_name or variable.type_name in {"NAMESPACE", "NAME"} else None


def variable_value(body: Body, variable: Variable) -> Value:
    """The value of a scalar variable; that of a constant with a literal is known now."""
    constant_value = known_constant(body, variable)
    if constant_value is not None:
        return constant_value
    type_ = "CHARACTER" if variable.type_name in {"NAMESPACE", "NAME"} else variable.type_name
    code, is_steady = body.load(variable), variable not in body.given_by_calls
    if not is_steady:  # what it has here counts, not what a call further on in the expression gives it
        code = walrus(body.fresh(), code)
    value = Value(code, type_, nullable=variable not in body.never_null, simple=is_steady)
    if variable in body.settled:
        value.small = body.small(variable)
    return value


_STATES: Final = {
    "SQLCODE": "sqlcode",
    "SQLSTATE": "sqlstate",
    "SQLERRORTEXT": "sqlerrortext",
    "SQLNATIVEERROR": "sqlnativeerror",
}


def _special(body: Body, path: syntax.Path, reference: SpecialName) -> Value:
    if reference.name in _STATES:
        made = attribute(attribute("here", "sql"), _STATES[reference.name])
        return Value(made, reference.type, nullable=False)
    return body.tables.expressions[syntax.Call](body, syntax.Call((reference.name,), (), position=path.position))


EXPRESSIONS: Final[Expressions] = {syntax.Path: path_value}
LISTS: Final[Expressions] = {syntax.Path: listed}
