"""The steps of a path, and its subscripts, as Python: constants where they are known now."""

from __future__ import annotations

import ast
from typing import NamedTuple

from engine.tree.step import Step, Types, step
from esql import syntax
from esql.emit.emitted_code import INTEGER, EmitError, is_literal, literal
from esql.emit.function_body import Body
from esql.emit.python_nodes import call, choose, constant, is_some
from esql.names.constants import ElementType
from esql.names.predefined import XML_PREFIXES
from esql.scope.references import Variable


class Known(NamedTuple):
    """A name or namespace that is known now; None means any."""

    text: str | None


def step_of(body: Body, node: syntax.Step) -> ast.expr:
    """A step: a constant, or made at run time where a name, a namespace or a type is computed."""
    title = _name(body, node)
    namespace = _namespace(body, node)
    types = _types(body, node)
    if isinstance(title, Known) and isinstance(namespace, Known) and isinstance(types, tuple):
        return body.unit.step(title.text, namespace.text, types)
    return call("step_of", _written(body, title), _written(body, namespace), _types_written(body, types))


def known_step(body: Body, node: syntax.Step) -> Step | None:
    """A step whose name, namespace and types are known now; nothing is emitted for one with computed parts."""
    if _is_computed(body, node):
        return None
    title, namespace, types = _name(body, node), _namespace(body, node), _types(body, node)
    if isinstance(title, Known) and isinstance(namespace, Known) and isinstance(types, tuple):
        return step(title.text, namespace.text, types)
    return None


def _is_computed(body: Body, node: syntax.Step) -> bool:
    """Returns True where a part of a step is an expression, or a type that is no constant."""
    parts = (node.name, node.namespace)
    if any(isinstance(part, syntax.ComputedName) and not isinstance(part.expression, syntax.String) for part in parts):
        return True
    return any(not isinstance(body.unit.resolution.of(clause), ElementType) for clause in node.types)


def is_known(body: Body, node: syntax.Step) -> bool:
    """Returns whether a step leads to a name that is known now, so that what it leads to can be created."""
    match node.name:
        case syntax.Name():
            return isinstance(_name(body, node), Known)
        case syntax.ComputedName(expression):
            return isinstance(expression, syntax.String)
    return False


def _name(body: Body, node: syntax.Step) -> Known | ast.expr:
    match node.name:
        case syntax.Name(text):
            alias = body.unit.resolution.of(node.name)
            return _constant(body, alias, node) if isinstance(alias, Variable) else Known(text)
        case syntax.ComputedName(expression):
            return _computed(body, expression)
    return Known(None)


def _namespace(body: Body, node: syntax.Step) -> Known | ast.expr:
    match node.namespace:
        case syntax.Name(text):
            prefix = body.unit.resolution.of(node.namespace)
            return (
                _constant(body, prefix, node) if isinstance(prefix, Variable) else Known(XML_PREFIXES.get(text, text))
            )
        case syntax.ComputedName(expression):
            return _computed(body, expression)
        case syntax.AnyName():
            return Known(None)
    return Known("" if isinstance(node.name, syntax.Name | syntax.ComputedName) else None)


def _computed(body: Body, expression: syntax.Node) -> Known | ast.expr:
    if isinstance(expression, syntax.String):
        return Known(expression.value)
    return body.expression(expression).code


def _constant(body: Body, variable: Variable, node: syntax.Node) -> Known | ast.expr:
    """Returns what a NAMESPACE or NAME constant stands for."""
    initial = getattr(variable.declaration, "initial", None)
    if initial is not None and is_literal(initial) and variable.is_fixed and variable.lifetime != "EXTERNAL":
        text = literal(initial)
        if isinstance(text, str):
            return Known(text)
        raise EmitError(node, f"{variable.name} is a constant for names, but no CHARACTER")
    return body.load(variable)


def _types(body: Body, node: syntax.Step) -> Types | list[ast.expr]:
    known: Types = ()
    computed: list[ast.expr] = []
    for clause in node.types:
        constant_type = body.unit.resolution.of(clause)
        if isinstance(constant_type, ElementType):
            known += constant_type.types
        else:
            computed.append(body.expression(clause).code)
    if not computed:
        return known
    return [constant(None) if not known else _pairs(known), *computed]


def _pairs(types: Types) -> ast.expr:
    return ast.Tuple([ast.Tuple([constant(a), constant(b)], ast.Load()) for a, b in types], ast.Load())


def _written(body: Body, part: Known | ast.expr) -> ast.expr:
    return constant(part.text) if isinstance(part, Known) else call("a_name", part)


def _types_written(body: Body, types: Types | list[ast.expr]) -> ast.expr:
    if isinstance(types, list):
        return call("types_of", *types)
    return _pairs(types)


def number_of(body: Body, node: syntax.Node) -> ast.expr:
    """A subscript: an INTEGER that is not NULL."""
    if isinstance(node, syntax.Integer):
        return constant(node.value)
    value = body.expression(node)
    if value.type == INTEGER and not value.nullable:
        return value.code
    if value.type == INTEGER and value.simple:
        return choose(is_some(value.code), value.code, call("index", value.code))
    return call("index", value.code)
