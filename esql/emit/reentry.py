"""EVAL: what the text that is compiled at run time is given of the variables around it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from esql import syntax
from esql.emit.code import constant, group, method
from esql.emit.paths import variable_value
from esql.scope.references import Variable

if TYPE_CHECKING:
    from esql.emit.body import Body
    from esql.emit.value import Value


# A variable that a text is given: its name, and its type as it was declared. It is a constant of the code, so it is
# plain data: (name, type, precision, scale, largest and smallest field of an INTERVAL).
Given: TypeAlias = tuple[str, str, int | None, int | None, str | None, str | None]


def declared(given: Sequence[Given]) -> tuple[syntax.Declare, ...]:
    """The declarations of the variables that a text is given.

    >>> declared([("x", "INTERVAL", None, None, "DAY", None)])[0].type.qualifier.largest
    'DAY'
    """
    return tuple(syntax.Declare((one[0],), _type(one)) for one in given)


def _type(given: Given) -> syntax.DataType:
    _, name, precision, scale, largest, smallest = given
    units = None if largest is None else syntax.Qualifier(largest, smallest)
    return syntax.DataType(name, precision, scale, units)


def _given(variable: Variable) -> Given:
    of = variable.type or syntax.DataType("")
    units = (None, None) if of.qualifier is None else (of.qualifier.largest, of.qualifier.smallest)
    return (variable.name, of.name, of.precision, of.scale, *units)


def in_sight(body: Body, node: syntax.Node) -> list[Variable]:
    """The variables that a text may use, inner ones before those they hide."""
    for visit in body.unit.resolution.each(type(node)):
        if visit.node is node:
            seen: dict[str, Variable] = {}
            for variable in visit.place.scope.visible():
                if _is_there(body, variable, node):
                    seen.setdefault(variable.name, variable)
            return list(seen.values())
    return []


def _is_there(body: Body, variable: Variable, node: syntax.Node) -> bool:
    """Whether a variable is declared in front of the text, and of a kind that can be given."""
    at, here = variable.declaration.position, node.position
    if variable.type is None or variable.role == "for":
        return False
    if variable.role in {"module", "schema", "parameter"}:
        return variable.lifetime != "SHARED" or variable.type_name != "REFERENCE"
    return (at.line, at.column) < (here.line, here.column)


def contents_of(variables: Sequence[Variable]) -> list[tuple[Variable, str]]:
    """What is given of variables, and comes back: of a reference also whether it moved."""
    return [(variable, what) for variable in variables for what in (("", "moved") if variable.is_reference else ("",))]


def evaluation(body: Body, text: Value, variables: Sequence[Variable], *, is_expression: bool) -> ast.expr:
    """The call that compiles a text and runs it."""
    given = tuple(_given(variable) for variable in variables)
    loaded = [_loaded(body, variable, what) for variable, what in contents_of(variables)]
    return method(
        "here",
        "evaluate_text",
        text.code,
        constant(body.kind),
        body.unit.constant(given),
        group(loaded),
        constant(is_expression),
    )


def _loaded(body: Body, variable: Variable, what: str) -> ast.expr:
    if what or variable.type_name in {"REFERENCE", "ROW"}:
        return body.load(variable, what)
    return variable_value(body, variable).code
