"""SET and DECLARE -> Python."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from esql import syntax
from esql.emit import tracing
from esql.emit.emitted_code import INTEGER, EmitError, Value
from esql.emit.function_body import Body, Statements
from esql.emit.integer_formulas import Formula, given_to
from esql.emit.operations import assigned, target_of
from esql.emit.path_steps import step_of
from esql.emit.paths import (
    ensured,
    ensured_like,
    found,
    is_nameless,
    known_constant,
    last_step,
    nodes,
    peeked,
    root_of,
    sure_root,
)
from esql.emit.python_nodes import (
    call,
    choose,
    constant,
    do,
    is_none,
    is_some,
    method,
    name,
    set_attribute,
    when,
)
from esql.emit.selects import any_value, complex_value, is_complex, is_list
from esql.scope.references import Variable
from esql.scope.types import is_of_one

UNTYPED: Final = frozenset(("REFERENCE", "ROW", "", "LIST"))


def _set_statement(body: Body, node: syntax.SetStatement) -> None:
    target, variable = node.target, body.unit.resolution.variable(node.target)
    if node.attribute is not None:
        _set_attribute(body, node)
    elif variable is not None and variable.type_name not in UNTYPED and not target.steps:
        _set_variable(body, variable, target, node.source)
    elif is_list(target):
        _set_list(body, node)
    else:
        _give_field(body, target, node.source)


def _set_variable(body: Body, variable: Variable, target: syntax.Path, source: syntax.Node) -> None:
    value = tracing.assigned(body, "trace_stored", target, body.expression(source))
    made = None
    if variable.type_name == INTEGER and isinstance(value.formula, Formula) and body.is_local(variable):
        direct = not body.has_handlers and variable not in body.settled
        made = given_to(body, body.slot(variable), value.formula) if direct else None
    if made is None:
        give_variable(body, variable, value)
        return
    body.locate(made, source)
    body.emit(*made)


def give_variable(body: Body, variable: Variable, value: Value) -> None:
    """Give a scalar variable a value, cast to its type."""
    assert variable.type is not None
    if variable.type_name in {"NAMESPACE", "NAME"}:
        body.emit(body.store(variable, value.code))
        return
    body.emit(body.store(variable, assigned(body, value, target_of(variable.type)).code))


def _set_list(body: Body, node: syntax.SetStatement) -> None:
    has_items = is_list(node.source) or isinstance(node.source, syntax.PassthruCall)
    give_list(
        body, node.target, body.items(node.source) if has_items else call("items_of", any_value(body, node.source))
    )


def give_list(body: Body, target: syntax.Path, items: ast.expr) -> None:
    """Give field[] the items of a list."""
    if not target.steps:
        raise EmitError(target, "a list is assigned to field[], not to a reference")
    held = body.hold(items)
    owner = ensured(body, target, target.steps[:-1])
    body.emit(do(call("set_list", owner, step_of(body, target.steps[-1]), name(held), nodes(body))))


def _set_attribute(body: Body, node: syntax.SetStatement) -> None:
    value = tracing.assigned(body, "trace_stored", node.target, body.expression(node.source)).code
    held = body.hold(value)
    target = ensured(body, node.target)
    if node.attribute == "VALUE":
        body.emit(set_attribute(target, "value", name(held)))
        return
    title = {"TYPE": "set_type", "NAME": "set_name", "NAMESPACE": "set_namespace"}[str(node.attribute)]
    body.emit(do(call(title, target, name(held))))


def _give_field(body: Body, target: syntax.Path, source: syntax.Node) -> None:
    """Give a field what an expression gives; NULL, or a field that is not there, deletes it."""
    if is_of_one(source):
        give_code(body, target, call("the", body.items(source)), function="give", always=False)
        return
    if not is_complex(body, source):
        _give_scalar(body, target, tracing.assigned(body, "trace_given", target, body.expression(source)))
        return
    if not tracing.is_debug(body) and _copy_child(body, target, source):
        return
    code = tracing.copied(body, source, target, complex_value(body, source))
    if isinstance(source, syntax.Row):
        body.emit(do(call("set_field", ensured(body, target), code, nodes(body))))
        return
    always = False  # but a tree, a reference and a row always are there
    if isinstance(source, syntax.Path) and not source.steps and source.index is None:
        always = not root_of(body, source)[1]
    function = "set_field" if isinstance(source, syntax.Path) and _is_element(body, source) else "give"
    give_code(body, target, code, function=function, always=always)


def _copy_child(body: Body, target: syntax.Path, source: syntax.Node) -> bool:
    """`SET a.x = b.y`, where neither field is a remembered place; False where it is not of that form."""
    if not isinstance(source, syntax.Path):
        return False
    wanted, asked = last_step(body, target), last_step(body, source)
    if wanted is None or asked is None or wanted.types or asked.types:
        return False
    code, above = peeked(body, source)
    held = body.hold(code)
    parent = ensured(body, target, target.steps[:-1])
    steps = [step_of(body, path.steps[-1]) for path in (target, source)]
    given = do(call("set_child", parent, steps[0], name(held), above, steps[1], nodes(body)))
    _unless_null(body, target, name(held), [given])
    return True


def _give(body: Body, target: syntax.Path, value: ast.expr) -> ast.stmt:
    """Give a field, created where it is missing, a value that is not NULL."""
    if last_step(body, target) is None:
        return set_attribute(ensured(body, target), "value", value)
    parent = ensured(body, target, target.steps[:-1])
    return do(call("give_child", parent, step_of(body, target.steps[-1]), value, nodes(body)))


def _is_element(body: Body, path: syntax.Path) -> bool:
    variable = body.unit.resolution.variable(path)
    items = variable is not None and variable.role in {"for", "select", "quantified"}
    return bool(path.steps) or not items


def give_code(body: Body, target: syntax.Path, code: ast.expr, *, function: str, always: bool) -> None:
    """Give a field what Python code gives."""
    if always and not is_nameless(body, target):
        body.emit(do(call(function, ensured(body, target), code, nodes(body))))
        return
    held = body.hold(code)
    given = do(call(function, ensured_like(body, target, name(held)), name(held), nodes(body)))
    if always:
        body.emit(given)
    else:
        _unless_null(body, target, name(held), [given])


def _unless_null(body: Body, target: syntax.Path, value: ast.expr, given: list[ast.stmt]) -> None:
    body.emit(when(is_none(value), _deleted(body, target), given))


def _deleted(body: Body, target: syntax.Path) -> list[ast.stmt]:
    """Delete a field, after what is on the way to it has been made: a target is gone to before its value counts."""
    way = target.steps[:-1]
    if way and last_step(body, target) is not None:
        return [do(call("delete_child", ensured(body, target, way), step_of(body, target.steps[-1])))]
    made = [do(ensured(body, target, way))] if way else []
    return [*made, do(call("delete", found(body, target)[0]))]


def _give_scalar(body: Body, target: syntax.Path, value: Value) -> None:
    if isinstance(value.code, ast.Constant) and value.code.value is None:
        body.emit(*_deleted(body, target))
        return
    if not value.nullable and value.simple:
        body.emit(_give(body, target, value.code))
        return
    kept = value.code
    if not value.simple:
        held = body.hold(value.code)
        kept = name(held)
    given = _give(body, target, kept)
    if value.nullable:
        _unless_null(body, target, kept, [given])
    else:
        body.emit(given)


# DECLARE


def _declare(body: Body, node: syntax.Declare) -> None:
    """`DECLARE names type [initial]`: each time it is reached the variable starts anew, but for a SHARED one."""
    for variable in _declared(body, node):
        if body.guards:
            _prepare(body, node, variable)
        initialize(body, node, variable)


def _declared(body: Body, node: syntax.Declare) -> Iterator[Variable]:
    """The variables that a DECLARE starts where it is reached."""
    if node.lifetime == "SHARED" or body.unit.resolution.scalar_behind(node):
        return
    for title in node.names:
        variable = body.unit.named.get((id(node), title))
        if variable is None:
            variable = Variable(title, node.type, "local", node, node.lifetime, node.constant)
            body.unit.named[id(node), title] = variable
        if body.is_local(variable) or variable.role == "text":
            yield variable


def prepare(body: Body, statements: Iterable[syntax.Node]) -> None:
    """Prepare the variables of DECLAREs that may fail, or not be reached, before something looks at them."""
    for node in statements:
        if isinstance(node, syntax.Declare):
            for variable in _declared(body, node):
                _prepare(body, node, variable)


def _prepare(body: Body, node: syntax.Declare, variable: Variable) -> None:
    """Have a variable without a value, an empty row, or a reference that points to the top of its path."""
    if variable.type_name == "ROW":
        body.emit(body.store(variable, call("new_row")))
    elif not variable.is_reference:
        if known_constant(body, variable) is None:
            body.emit(body.store(variable, constant(None)))
    elif isinstance(node.initial, syntax.Path) and not root_of(body, node.initial)[1]:
        body.emit(body.store(variable, root_of(body, node.initial)[0]), body.store(variable, constant(False), "moved"))


def initialize(body: Body, node: syntax.Declare, variable: Variable) -> None:
    """Give a variable what it starts with."""
    if variable.type_name == "REFERENCE":
        _initialize_reference(body, node, variable)
    elif variable.type_name == "ROW":
        body.emit(body.store(variable, call("new_row")))
        if node.initial is not None:
            body.emit(do(call("give", body.load(variable), any_value(body, node.initial), nodes(body))))
    elif known_constant(body, variable) is None:
        _initialize_scalar(body, node, variable)


def _initialize_scalar(body: Body, node: syntax.Declare, variable: Variable) -> None:
    value = Value(constant(None), simple=True) if node.initial is None else body.expression(node.initial)
    if node.lifetime == "EXTERNAL":
        held = body.hold(method("here", "external_value", constant(variable.name)))
        test = is_some(name(held))
        value = Value(ast.IfExp(test, name(held), value.code))
    give_variable(body, variable, value)


def _initialize_reference(body: Body, node: syntax.Declare, variable: Variable) -> None:
    if isinstance(node.initial, syntax.Call) and is_complex(body, node.initial):
        given = call("existing", complex_value(body, node.initial), constant(".".join(node.initial.name)))
        body.emit(body.store(variable, given), body.store(variable, constant(True), "moved"))
        return
    if node.initial is None or not isinstance(node.initial, syntax.Path):
        raise EmitError(node, f"{variable.name} needs a field to start at: DECLARE {variable.name} REFERENCE TO …")
    code, nullable = found(body, node.initial)
    if not nullable:
        body.emit(body.store(variable, code), body.store(variable, constant(True), "moved"))
        return
    held = body.hold(code)
    body.emit(body.store(variable, is_some(name(held)), "moved"))
    body.emit(body.store(variable, choose(is_some(name(held)), name(held), sure_root(body, node.initial))))


STATEMENTS: Final[Statements] = {syntax.SetStatement: _set_statement, syntax.Declare: _declare}
