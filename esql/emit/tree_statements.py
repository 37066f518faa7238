"""CREATE, MOVE, ATTACH, DETACH and DELETE -> Python."""

from __future__ import annotations

import ast
from typing import Final

from esql import syntax
from esql.emit.emitted_code import EmitError
from esql.emit.function_body import Body, Statements
from esql.emit.path_steps import step_of
from esql.emit.paths import ensured, found, nodes
from esql.emit.python_nodes import assign, call, constant, do, group, is_some, method, name, set_attribute, when
from esql.scope.references import Variable


def _create(body: Body, node: syntax.CreateField) -> None:
    """`CREATE FIELD target …` and `CREATE placement OF target …`."""
    domain = None if node.domain is None else _kept(body, body.expression(node.domain).code)
    value = None if node.value is None else _kept(body, body.expression(node.value).code)
    source = None if node.source is None else _kept(body, found(body, node.source)[0])
    parse = None if node.parse is None else [_kept(body, part) for part in _parse_parts(body, node.parse)]
    made = body.fresh()
    body.emit(do(method(nodes(body), "made")))
    named = any((node.name, node.namespace, node.type, node.identity, node.repeat, node.placement is None))
    if source is not None and not named:
        created = call("create_from", ensured(body, node.target), constant(node.placement), source, nodes(body))
        body.emit(assign(made, created))
        source = None
    else:
        body.emit(assign(made, _created(body, node)))
    if domain is not None and parse is None:
        body.emit(do(call("set_domain", name("here"), name(made), domain)))
    if parse is not None:
        body.emit(do(call("parse", name("here"), name(made), domain or constant(None), *parse)))
    if value is not None:
        body.emit(set_attribute(name(made), "value", value))
    if source is not None:
        given = do(call("set_field", name(made), source, nodes(body)))
        body.emit(when(is_some(source), [given]))
    if node.alias is not None:
        _point(body, node, made)


def _kept(body: Body, code: ast.expr) -> ast.expr:
    """A value in a local, so that it is known before anything is created."""
    if isinstance(code, ast.Name | ast.Constant):
        return code
    held = body.hold(code)
    return name(held)


def _parse_parts(body: Body, node: syntax.Parse) -> list[ast.expr]:
    clauses = node.clauses
    parts = [
        node.bits,
        *(clauses.options, clauses.encoding, clauses.ccsid, clauses.set, clauses.type, clauses.format),
    ]
    return [constant(None) if part is None else body.expression(part).code for part in parts]


def _created(body: Body, node: syntax.CreateField) -> ast.expr:
    if node.placement is None:
        return _ensured_as(body, node, ensured(body, node.target))
    target = ensured(body, node.target)
    placement = constant(node.placement)
    if node.repeat:
        return call("create_repeat", target, placement)
    if node.identity is not None:
        return call("create_identity", target, placement, _identity(body, node.identity))
    parts = [
        constant(None) if part is None or isinstance(part, syntax.AnyName) else _word(body, part)
        for part in (node.name, node.namespace)
    ]
    type_ = constant(None) if node.type is None else call("index", body.expression(node.type).code)
    return call("create", target, placement, *parts, type_)


def _ensured_as(body: Body, node: syntax.CreateField, target: ast.expr) -> ast.expr:
    """CREATE FIELD with NAME, NAMESPACE, TYPE or IDENTITY: the field is given them."""
    changes = [("set_name", node.name), ("set_namespace", node.namespace), ("set_type", node.type)]
    if node.repeat:
        raise EmitError(
            node, "CREATE FIELD names its field itself: REPEAT goes with PREVIOUSSIBLING OF and NEXTSIBLING OF"
        )
    said = [(title, part) for title, part in changes if part is not None and not isinstance(part, syntax.AnyName)]
    if not said and node.identity is None:
        return target
    held = body.hold(target)
    if node.identity is not None:
        body.emit(do(call("identify", name(held), _identity(body, node.identity))))
    for title, part in said:
        body.emit(do(call(title, name(held), body.expression(part).code)))
    return name(held)


def _identity(body: Body, node: syntax.RelativePath) -> ast.expr:
    if len(node.steps) != 1:
        raise EmitError(node, "IDENTITY names one field: (type)namespace:name")
    return step_of(body, node.steps[0])


def _word(body: Body, node: syntax.Node) -> ast.expr:
    if isinstance(node, syntax.String):
        return constant(node.value)
    return call("a_name", body.expression(node).code)


def _point(body: Body, node: syntax.CreateField, made: str) -> None:
    """AS: a reference moves to what was created."""
    variable = body.unit.resolution.variable(node)
    assert variable is not None  # checked
    body.emit(body.store(variable, name(made)), body.store(variable, constant(True), "moved"))


# MOVE


def _reference(body: Body, path: syntax.Path) -> Variable:
    variable = body.unit.resolution.variable(path)
    assert variable is not None  # checked
    return variable


def _move(body: Body, variable: Variable, target: ast.expr) -> None:
    """A reference goes where it is sent, and stays where it is when nothing is there."""
    held = body.fresh()
    body.emit(
        assign(held, target),
        body.store(variable, is_some(name(held)), "moved"),
        when(is_some(name(held)), [body.store(variable, name(held))]),
    )


def _move_by(body: Body, node: syntax.MoveBy) -> None:
    variable = _reference(body, node.reference)
    is_any = not (node.identity or node.name or node.namespace or node.type)
    if node.direction == "NEXTSIBLING" and is_any:
        _move(body, variable, ast.Attribute(body.load(variable), "next_sibling", ast.Load()))
        return
    arguments = [body.load(variable), constant(node.direction)]
    if not is_any:
        arguments.append(_step(body, node))
    _move(body, variable, call("move", *arguments))


def _step(body: Body, node: syntax.MoveBy) -> ast.expr:
    if node.identity is not None:
        return step_of(body, node.identity.steps[0])
    title = constant(None) if node.name is None else _word(body, node.name)
    if isinstance(node.namespace, syntax.AnyName) or (node.namespace is None and node.name is None):
        namespace: ast.expr = constant(None)
    else:
        namespace = constant("") if node.namespace is None else _word(body, node.namespace)
    types: ast.expr = group(())
    if node.type is not None:
        types = call("types_of", constant(None), body.expression(node.type).code)
    return call("step_of", title, namespace, types)


def _move_repeat(body: Body, node: syntax.MoveRepeat) -> None:
    """`MOVE reference direction REPEAT [TYPE] [NAME]`; without either, both must be the same."""
    variable = _reference(body, node.reference)
    neither = not node.same_type and not node.same_name
    same = constant(node.same_type or neither), constant(node.same_name or neither)
    _move(body, variable, call("move_repeat", body.load(variable), constant(node.direction), *same))


# DELETE, ATTACH, DETACH


def _delete(body: Body, node: syntax.DeleteField) -> None:
    """`DELETE FIELD target` and `DELETE placement OF target`."""
    code = found(body, node.target)[0]
    if node.placement is None:
        body.emit(do(call("delete", code)))
    else:
        body.emit(do(call("delete_from", code, constant(node.placement))))


def _existing(body: Body, path: syntax.Path) -> ast.expr:
    return call("existing", found(body, path)[0], constant(path.root))


def _attach(body: Body, node: syntax.Attach) -> None:
    source = _existing(body, node.source)
    body.emit(do(call("attach", source, ensured(body, node.target), constant(node.placement))))


STATEMENTS: Final[Statements] = {
    syntax.CreateField: _create,
    syntax.MoveTo: lambda body, node: _move(body, _reference(body, node.reference), found(body, node.target)[0]),
    syntax.MoveBy: _move_by,
    syntax.MoveRepeat: _move_repeat,
    syntax.DeleteField: _delete,
    syntax.Detach: lambda body, node: body.emit(do(call("detach", _existing(body, node.source)))),
    syntax.Attach: _attach,
}
