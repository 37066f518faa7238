"""Calls of routines, in expressions and as statements, and RETURN, THROW, LOG, PROPAGATE and EVAL -> Python.

Arguments go in by value; OUT and INOUT come back in a tuple behind the result.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Final

from engine.databases.statements import Procedure
from esql import syntax
from esql.cast import Target
from esql.emit.assignments import UNTYPED, give_code, give_list, give_variable
from esql.emit.databases import data_source
from esql.emit.emitted_code import EmitError, Value
from esql.emit.eval_scope import contents_of, evaluation, passed
from esql.emit.function_body import Body, Expressions, Statements, handed_in
from esql.emit.functions import function_call
from esql.emit.operations import assigned, target_of
from esql.emit.paths import ensured, found, sure_root
from esql.emit.python_nodes import (
    attribute,
    call,
    choose,
    constant,
    do,
    group,
    is_some,
    item,
    method,
    name,
    walrus,
)
from esql.emit.selects import complex_value, is_complex, is_the
from esql.scope.references import DeclaredRoutine, Variable
from esql.values.types import SCALARS


def _invoke(body: Body, node: syntax.Call | syntax.CallStatement, routine: DeclaredRoutine) -> tuple[ast.expr, str]:
    """Returns a call in Python, and its type; of a routine with outputs it gives a tuple, the result first."""
    parameters = routine.node.parameters
    moved: list[ast.expr] = []
    # behind those for parameters stand the lists that result sets go to
    arguments = [_argument(body, *pair, moved) for pair in zip(node.arguments, parameters, strict=False)]
    returns = routine.node.returns
    type_ = returns.type.name if returns is not None and returns.type.name in SCALARS else ""
    if isinstance(routine.node.body, syntax.External):
        return _external(body, node, routine, arguments), ""
    emitted = body.unit.routines[routine]
    if all(isinstance(one, ast.Constant) for one in moved):
        moved = []  # each is there, as routines suppose
    depth = ast.BinOp(name("depth"), ast.Add(), constant(1))
    made: ast.expr = call(emitted.slot, name("here"), depth, *arguments, *moved)
    if emitted.yields:
        made = ast.YieldFrom(made)
        body.yields = True
    return made, type_


def _result_sets(routine: DeclaredRoutine) -> int:
    """Returns how many result sets a stored procedure gives."""
    return routine.node.result_sets or 0 if isinstance(routine.node.body, syntax.External) else 0


def _external(
    body: Body, node: syntax.Call | syntax.CallStatement, routine: DeclaredRoutine, arguments: Sequence[ast.expr]
) -> ast.expr:
    language = routine.node.language or "DATABASE"
    outside = routine.node.body
    assert isinstance(outside, syntax.External)
    if language == "DATABASE":
        return _procedure(body, node, routine, outside, arguments)
    return method("here", "external", constant(language), constant(outside.name), group(arguments))


def _procedure(
    body: Body,
    node: syntax.Call | syntax.CallStatement,
    routine: DeclaredRoutine,
    outside: syntax.External,
    arguments: Sequence[ast.expr],
) -> ast.expr:
    """The call of a stored procedure: it answers like a routine, outputs behind the result."""
    directions = tuple(parameter.direction or "IN" for parameter in routine.node.parameters)
    given = [one for one, direction in zip(arguments, directions, strict=True) if direction != "OUT"]
    database, schema = (node.database, node.schema) if isinstance(node, syntax.CallStatement) else (None, None)
    statement = Procedure(outside.name, directions, routine.node.returns is not None, _result_sets(routine))
    place = group(data_source(body, database, schema))
    return method("here", "procedure", body.unit.constant(statement), place, group(given))


def _argument(body: Body, node: syntax.Node, parameter: syntax.Parameter, moved: list[ast.expr]) -> ast.expr:
    """Returns what is passed for a parameter; that a reference found its field is added to `moved`."""
    if parameter.direction == "OUT" and parameter.type.name not in {"ROW", "REFERENCE"}:
        return constant(None)
    if parameter.type.name == "REFERENCE":
        code, is_there = _reference_to(body, node)
        moved.append(is_there)
        return code
    if parameter.type.name in SCALARS:
        return assigned(body, body.expression(node), target_of(parameter.type)).code
    if parameter.type.name in {"NAMESPACE", "NAME"}:
        return assigned(body, body.expression(node), Target("CHARACTER")).code
    if isinstance(node, syntax.Path):
        return _row(body, node, parameter.direction or "IN")
    return call("field_of", call("the", body.items(node)))


def _row(body: Body, node: syntax.Path, direction: str) -> ast.expr:
    """A field as a row: one that is missing is made where the routine may fill it, and is an empty row elsewhere."""
    if direction != "IN" and node.steps:
        return ensured(body, node)
    return _found_or(body, node, lambda: call("new_row"))[0]


def _found_or(body: Body, node: syntax.Path, otherwise: Callable[[], ast.expr]) -> tuple[ast.expr, ast.expr]:
    """A field, or where it is missing something else; and behind that the test that it was there."""
    code, nullable = found(body, node)
    if not nullable:
        return code, constant(True)
    first, again = body.held(code)
    return choose(is_some(first), again, otherwise()), is_some(again)


def _reference_to(body: Body, node: syntax.Node) -> tuple[ast.expr, ast.expr]:
    """Returns what a reference to a field points to: the field, or where it is missing, the root of its path."""
    if not isinstance(node, syntax.Path):
        raise EmitError(node, "a REFERENCE takes a field reference")
    return _found_or(body, node, lambda: sure_root(body, node))


def _call_value(body: Body, node: syntax.Call) -> Value:
    routine = body.unit.resolution.of(node)
    if not isinstance(routine, DeclaredRoutine):
        return function_call(body, node)
    if _result_sets(routine):
        text = f"{routine.node.name} gives result sets, which an expression has no place for: use CALL … INTO"
        raise EmitError(node, text)
    code, type_ = _invoke(body, node, routine)
    if routine.outputs:
        held = body.fresh()
        stores = [
            _stored(body, node.arguments[index], item(name(held), place + 1))
            for place, index in enumerate(routine.outputs)
        ]
        code = item(group([walrus(held, code), *stores, item(name(held), 0)]), -1)
    if not type_:
        return Value(call("value_of", code))
    return Value(code, type_)


def _stored(body: Body, node: syntax.Node, value: ast.expr) -> ast.expr:
    """Give an output of a call in an expression to the variable that was named for it."""
    variable = body.unit.resolution.variable(node)
    if variable is None or not isinstance(node, syntax.Path) or node.steps or variable.type_name not in SCALARS:
        raise EmitError(node, "a call in an expression can give its outputs to variables only: use CALL … INTO")
    if body.is_local(variable) and body.outer is not None:
        raise EmitError(node, "a call in a SELECT or ROW gives no outputs to variables of the routine: use CALL … INTO")
    target = target_of(variable.type)  # type: ignore[arg-type]  # a scalar has a type
    return body.stored(variable, assigned(body, Value(value), target).code)


def _call_statement(body: Body, node: syntax.CallStatement) -> None:
    routine = body.unit.resolution.of(node)
    if not isinstance(routine, DeclaredRoutine):
        value = function_call(body, syntax.Call(node.name, node.arguments, position=node.position))
        _give(body, node.target, value.code)
        return
    if (node.database or node.schema) and routine.node.language != "DATABASE":
        raise EmitError(node, "IN and EXTERNAL SCHEMA belong to calls of routines LANGUAGE DATABASE: leave them out")
    code, _ = _invoke(body, node, routine)
    sets = node.arguments[len(routine.node.parameters) :]
    if not routine.outputs and not sets:
        _give(body, node.target, code)
        return
    held = body.hold(code)
    if node.target is not None:
        _give(body, node.target, item(name(held), 0))
    for place, index in enumerate(routine.outputs):
        argument = node.arguments[index]
        assert isinstance(argument, syntax.Path)  # checked
        _output(body, routine.node.parameters[index], argument, item(name(held), place + 1))
    for place, argument in enumerate(sets, 1 + len(routine.outputs)):
        if not isinstance(argument, syntax.Path):
            raise EmitError(argument, "a result set goes to a field with []")
        give_list(body, argument, item(name(held), place))


def _output(body: Body, parameter: syntax.Parameter, argument: syntax.Path, code: ast.expr) -> None:
    variable = body.unit.resolution.variable(argument)
    if parameter.type.name == "REFERENCE":
        if variable is not None and variable.is_reference and not argument.steps:
            body.emit(body.store(variable, choose(is_some(code), code, body.load(variable))))
        return
    if parameter.type.name == "ROW":
        return  # a row is one element, which the routine has changed
    _give(body, argument, code)


def _give(body: Body, target: syntax.Path | None, code: ast.expr) -> None:
    if target is None:
        body.emit(do(code))
        return
    variable = body.unit.resolution.variable(target)
    if variable is not None and variable.type_name not in UNTYPED and not target.steps:
        give_variable(body, variable, Value(code))
    else:
        give_code(body, target, code, function="give", always=False)


def _return(body: Body, node: syntax.Return) -> None:
    """RETURN; from within a loop, its turns are handed in."""
    if body.loops:
        body.emit(*handed_in(body))
    body.emit(ast.Return(_returned(body, node.result)))


def _returned(body: Body, result: syntax.Expression | None) -> ast.expr:
    """Returns what a function of Python returns: the result, and behind it the outputs of a routine that has any."""
    code: ast.expr = constant(None)
    routine = None if body.routine is None else body.routine.node
    if result is not None:
        returns = None if routine is None else routine.returns
        is_whole = routine is None and isinstance(result, syntax.Row | syntax.ListOf | syntax.Select)
        if (is_whole and is_complex(body, result)) or (returns is not None and returns.type.name in UNTYPED):
            code = complex_value(body, result)
        elif routine is None and is_the(result):
            code = call("row_or_value", complex_value(body, result))
        else:
            value = body.expression(result)
            code = value.code if returns is None else assigned(body, value, target_of(returns.type)).code
    return with_outputs(body, code)


def with_outputs(body: Body, result: ast.expr) -> ast.expr:
    """A result with the outputs of the routine behind it."""
    outputs = () if body.routine is None else body.routine.outputs
    if not outputs or body.routine is None:
        return result
    parameters = [body.routine.node.parameters[index] for index in outputs]
    return group([result, *(body.load(parameter_variable(body, parameter)) for parameter in parameters)])


def parameter_variable(body: Body, parameter: syntax.Parameter) -> Variable:
    """The variable that a parameter declares."""
    known = body.unit.declared.get(id(parameter))
    if known is None:
        known = Variable(parameter.name, parameter.type, "parameter", parameter)
        body.unit.declared[id(parameter)] = known
    return known


# THROW and LOG


def _clauses(body: Body, node: syntax.Throw | syntax.Log) -> list[ast.expr]:
    parts = [node.severity, node.catalog, node.message]
    made = [constant(None) if part is None else body.expression(part).code for part in parts]
    return [*made, group([body.expression(value).code for value in node.values or ()])]


def _log(body: Body, node: syntax.Log) -> None:
    flags = [constant(node.trace), constant(node.full), constant(node.exception)]
    body.emit(do(method("here", "log", *_clauses(body, node), *flags)))


# PROPAGATE and EVAL


def _propagate(body: Body, node: syntax.Propagate) -> None:
    """PROPAGATE: the message goes on its way inside the yield."""
    target = node.terminal if node.label is None else node.label
    to = [constant("out") if target is None else body.expression(target).code, constant(node.label is not None)]
    trees = [
        constant(None) if part is None else _tree(body, part)
        for part in (node.environment, node.message, node.exception)
    ]
    keeps = constant(node.delete == "NONE")
    body.yields = True
    if node.finalize != "NONE":
        body.emit(do(call("finalize", attribute("here", "output_root"))))
    sent = method("here", "propagated", *to, *trees, keeps)
    body.emit(do(ast.Yield(sent)))


def _tree(body: Body, node: syntax.Node) -> ast.expr:
    if isinstance(node, syntax.Path):
        return found(body, node)[0]
    if is_complex(body, node):
        return complex_value(body, node)
    raise EmitError(node, "PROPAGATE … MESSAGE, ENVIRONMENT and EXCEPTION take a field reference")


def _eval(body: Body, node: syntax.Eval) -> None:
    """EVAL: the text is compiled when it is known, and runs with the variables that are in sight."""
    variables = passed(body, node)
    text = body.expression(node.text)
    held = body.hold(evaluation(body, node, text, is_expression=False))
    for place, (variable, what) in enumerate(contents_of(variables)):
        if not variable.is_fixed:
            body.emit(body.store(variable, item(name(held), place), what))


EXPRESSIONS: Final[Expressions] = {syntax.Call: _call_value}
STATEMENTS: Final[Statements] = {
    syntax.CallStatement: _call_statement,
    syntax.Return: _return,
    syntax.Throw: lambda body, node: body.emit(ast.Raise(method("here", "thrown", *_clauses(body, node)))),
    syntax.Log: _log,
    syntax.Propagate: _propagate,
    syntax.Eval: _eval,
}
