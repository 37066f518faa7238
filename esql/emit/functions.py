"""Calls of ESQL's own functions -> Python."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from esql import syntax
from esql.emit.emitted_code import BOOLEAN, CHARACTER, Value
from esql.emit.eval_scope import evaluation
from esql.emit.function_body import Body, Expressions
from esql.emit.operations import limited
from esql.emit.paths import counted, found
from esql.emit.python_nodes import all_evaluated, call, choose, constant, every, group, is_none, is_some, name, some
from esql.functions import Function, Parameter, function_catalog

Keywords = Mapping[str, Value]
_NOTHING: Final[Keywords] = MappingProxyType({})


def apply(body: Body, title: str, arguments: Sequence[Value], keywords: Keywords = _NOTHING, **fixed: str) -> Value:
    """A call of a function of the catalogue; NULL for an argument that must not be NULL makes it NULL."""
    known = function_catalog.find(title)
    slot = _slot(body, title, known)
    strict = [not known.place(place).nullable for place, _ in enumerate(arguments)]
    takes_null = {parameter.name for parameter in known.parameters if parameter.nullable}
    strict += [word not in takes_null for word in keywords]
    codes, tests = _tested(body, (*arguments, *keywords.values()), strict)
    parts = codes[: len(arguments)]
    named = [ast.keyword(word, code) for word, code in zip(keywords, codes[len(arguments) :], strict=True)]
    named += [ast.keyword(word, constant(text)) for word, text in fixed.items()]
    if known.takes_invocation:
        named.append(ast.keyword("here", name("here")))
    made: ast.expr = ast.Call(slot, parts, named)
    if known.written.grows:
        made = limited(body, made)
    nullable = bool(tests) or not known.result
    if tests:
        made = choose(some(all_evaluated(tests, ast.BitOr())), constant(None), made)
    return Value(made, _result(known, arguments), nullable=nullable)


def _slot(body: Body, title: str, known: Function) -> ast.expr:
    body.unit.constants.values.setdefault(title, known.body)
    return name(title)


def _result(known: Function, arguments: Sequence[Value]) -> str:
    if known.result != "same":
        return known.result
    first = arguments[0].type
    return first if first in known.place(0).types else ""


def _tested(body: Body, values: Sequence[Value], strict: Sequence[bool]) -> tuple[list[ast.expr], list[ast.expr]]:
    """Arguments, and tests whether those are NULL that must not be.

    Where there are any, all arguments that take work are evaluated before: NULL does not pass over an error behind it.
    """
    if not any(value.nullable and is_strict for value, is_strict in zip(values, strict, strict=True)):
        return [value.code for value in values], []
    codes: list[ast.expr] = []
    tests: list[ast.expr] = []
    for value, is_strict in zip(values, strict, strict=True):
        first, again = body.twice(value)
        codes.append(again)
        if is_strict and (value.nullable or first is not again):
            tests.append(is_none(first))
        elif first is not again:
            tests.append(every([is_none(first), constant(False)]))
    return codes, tests


def function_call(body: Body, node: syntax.Call) -> Value:
    """A function that is written name(arguments)."""
    title = node.name[-1].upper()
    special = _SPECIAL.get(title)
    if special is not None:
        return special(body, node)
    known = function_catalog.find(title)
    arguments = [_argument(body, argument, known.place(index)) for index, argument in enumerate(node.arguments)]
    if known.takes_routine:
        return apply(body, title, arguments, routine=body.routine.node.name if body.routine else "")
    return apply(body, title, arguments)


def _argument(body: Body, node: syntax.Node, parameter: Parameter) -> Value:
    """Returns what is passed for a parameter: a value, or the field or list that it asks for."""
    if parameter.takes == "field":
        code, nullable = _field(body, node)
        return Value(code, nullable=nullable)
    if parameter.takes == "list":
        return Value(body.items(node), nullable=False)
    return body.expression(node)


# functions of fields and lists


def _field(body: Body, node: syntax.Node) -> tuple[ast.expr, bool]:
    """The element that an argument means."""
    if isinstance(node, syntax.Path):
        return found(body, node)
    value = body.tables.lists.get(type(node))
    if value is None:
        return call("field_of", body.expression(node).code), True
    return call("field_of", call("the", body.items(node))), True


def _last_move(body: Body, node: syntax.Call) -> Value:
    resolution = body.unit.resolution
    variable = resolution.variable(node.arguments[0])
    assert variable is not None  # checked
    if variable.role == "for" or resolution.is_scalar_reference(node.arguments[0]):
        return Value(constant(True), BOOLEAN, nullable=False)
    return Value(body.load(variable, "moved"), BOOLEAN, nullable=False)


Special: TypeAlias = Callable[[Body, syntax.Call], Value]


def _counting(question: str, function: Callable[[ast.expr], ast.expr], nothing: object, otherwise: str) -> Special:
    def emit(body: Body, node: syntax.Call) -> Value:
        argument = node.arguments[0]
        type_ = function_catalog.find(node.name[-1].upper()).result
        if isinstance(argument, syntax.Path):
            made = counted(body, argument, question, lambda: constant(nothing))
            if made is not None:
                return Value(function(made), type_, nullable=False)
        made = call(otherwise, body.items(argument))
        if otherwise == "len" and type_ == BOOLEAN:
            made = function(made)
        return Value(made, type_, nullable=False)

    return emit


def _is_one(count: ast.expr) -> ast.expr:
    return ast.Compare(count, [ast.Eq()], [constant(1)])


def the_item(body: Body, node: syntax.Call) -> ast.expr:
    """The first item of a list: a field, a row, a scalar or None."""
    argument = node.arguments[0]
    if isinstance(argument, syntax.Path):
        made = counted(body, argument, "child", lambda: constant(None))
        if made is not None:
            return made
    return call("the", body.items(argument))


def _eval(body: Body, node: syntax.Call) -> Value:
    text = body.expression(node.arguments[0])
    return Value(evaluation(body, node, text, is_expression=True))


def _bitstream(body: Body, node: syntax.AsBitstream) -> Value:
    code, nullable = _field(body, node.source)
    clauses = node.clauses
    said = (("options", clauses.options), ("encoding", clauses.encoding), ("ccsid", clauses.ccsid))
    given = {word: body.expression(part) for word, part in said if part is not None}
    template = [clauses.set, clauses.type, clauses.format]
    if any(part is not None for part in template):
        parts = [constant(None) if part is None else body.expression(part).code for part in template]
        given["template"] = Value(group(parts), nullable=False)
    return apply(body, "ASBITSTREAM", [Value(code, nullable=nullable)], given)


_SPECIAL: Final[Mapping[str, Special]] = {
    "LASTMOVE": _last_move,
    "CARDINALITY": _counting("count", lambda made: made, 0, "len"),
    "EXISTS": _counting("child", is_some, None, "bool"),
    "SINGULAR": _counting("count", _is_one, 0, "len"),
    "THE": lambda body, node: Value(call("value_of", the_item(body, node))),
    "EVAL": _eval,
}


def _form(body: Body, node: Any) -> Value:
    """A function whose arguments are told by words between them."""
    title = syntax.FORMS[type(node)]
    arguments: list[Value] = []
    keywords: dict[str, Value] = {}
    words: dict[str, str] = {}
    for parameter in function_catalog.find(title).parameters:
        given = getattr(node, parameter.name)
        if isinstance(given, syntax.Node):
            value = body.expression(given)
        elif parameter.required:
            value = Value(constant(given), CHARACTER, nullable=False, simple=True)
        else:
            if given not in {None, parameter.default}:
                words[parameter.name] = given
            continue
        if parameter.required:
            arguments.append(value)
        else:
            keywords[parameter.name] = value
    return apply(body, title, arguments, keywords, **words)


EXPRESSIONS: Final[Expressions] = {**dict.fromkeys(syntax.FORMS, _form), syntax.AsBitstream: _bitstream}
