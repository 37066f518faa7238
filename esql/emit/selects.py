"""SELECT, ROW, LIST and quantified predicates -> Python: a function inside the function, with a loop for each list."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from esql import syntax
from esql.emit import tracing
from esql.emit.databases import aggregate_asked, conjuncts, rows_as_asked, rows_selected, run_of_tables
from esql.emit.emitted_code import BOOLEAN, Value
from esql.emit.function_body import Body, Expressions, called, refused
from esql.emit.functions import the_item
from esql.emit.path_steps import step_of
from esql.emit.paths import found
from esql.emit.python_nodes import assign, call, constant, do, group, method, name, when
from esql.emit.sql_terms import aggregate_of, is_database
from esql.names.predefined import Correlation
from esql.scope.references import DeclaredRoutine, Variable

_AGGREGATES: Final = {"COUNT": "count", "MAX": "maximum", "MIN": "minimum", "SUM": "total"}


def is_list(node: syntax.Node) -> bool:
    """Returns whether an expression is a list by its form."""
    match node:
        case syntax.Path(steps=(*_, syntax.Step(index=syntax.IndexAll()))) | syntax.Path(index=syntax.IndexAll()):
            return True
        case syntax.ListOf():
            return True
        case syntax.Select():
            return aggregate_of(node) is None
    return False


def is_the(node: syntax.Node) -> bool:
    """Returns True for a call of THE."""
    return isinstance(node, syntax.Call) and [title.upper() for title in node.name] == ["THE"]


def is_complex(body: Body, node: syntax.Node) -> bool:
    """Returns whether an expression gives a field, a row or a list, with what is below it, rather than a value."""
    match node:
        case syntax.Row() | syntax.ListOf() | syntax.PassthruCall():
            return True
        case syntax.Select():
            return aggregate_of(node) is None
        case syntax.Call():
            if is_the(node):
                return True
            routine = body.unit.resolution.of(node)
            returns = routine.node.returns if isinstance(routine, DeclaredRoutine) else None
            return returns is not None and returns.type.name in {"ROW", "REFERENCE", "LIST"}
        case syntax.Path():
            return _is_field(body, node)
    return False


def _is_field(body: Body, node: syntax.Path) -> bool:
    if node.steps or node.index is not None:
        return isinstance(body.unit.resolution.of(node), Variable | Correlation)
    match body.unit.resolution.of(node):
        case Variable() as variable:
            return variable.type_name in {"REFERENCE", "ROW", ""}
        case Correlation():
            return True
    return False


def complex_value(body: Body, node: syntax.Node) -> ast.expr:
    """A field, a row, a list or a scalar: whatever an expression gives, with what is below it."""
    if is_list(node):
        return body.items(node)
    match node:
        case syntax.Row():
            return _built(body, node, node.columns)
        case syntax.PassthruCall():  # a list where one item is wanted
            return call("the", body.items(node))
        case syntax.Path() if _is_field(body, node):
            variable = body.unit.resolution.variable(node)
            if variable is not None and not node.steps and variable.role in {"for", "select", "quantified"}:
                return body.load(variable)
            return found(body, node)[0]
        case syntax.Call() if is_the(node):
            return the_item(body, node)
        case syntax.Call():
            return _unwrapped(body.expression(node).code)
    return body.expression(node).code


def any_value(body: Body, node: syntax.Node) -> ast.expr:
    """A value, or a field, a row or a list with what is below it."""
    return complex_value(body, node) if is_complex(body, node) else body.expression(node).code


def _unwrapped(code: ast.expr) -> ast.expr:
    """A call's result as it is, not only its value."""
    code = tracing.untraced(code)
    if isinstance(code, ast.Call) and isinstance(code.func, ast.Name) and code.func.id == "value_of":
        return code.args[0]
    return code


# SELECT


def _select_list(body: Body, node: syntax.Select) -> Value:
    if aggregate_of(node) is not None:
        return Value(ast.List([_select_value(body, node).code], ast.Load()), "LIST")
    asked = None if tracing.is_debug(body) else rows_as_asked(body, node)
    if asked is not None:
        return Value(asked, "LIST", nullable=False)
    return Value(_query(body, node, lambda inner: _result(inner, node)), "LIST", nullable=False)


def _select_value(body: Body, node: syntax.Select) -> Value:
    """A SELECT as one value: an aggregate, or the first item."""
    aggregate = aggregate_of(node)
    if aggregate is None:
        return Value(call("value_of", call("the", _select_list(body, node).code)))

    asked = None if tracing.is_debug(body) else aggregate_asked(body, node, aggregate)
    if asked is not None:
        return Value(asked)

    def counted(inner: Body) -> ast.expr:
        if aggregate.operand is None:
            return constant(True)
        return inner.expression(aggregate.operand).code

    return Value(call(_AGGREGATES[aggregate.function], _query(body, node, counted)))


def _query(body: Body, node: syntax.Select, result: Callable[[Body], ast.expr]) -> ast.expr:
    """A function that loops through the lists and gathers a result for each combination that the condition takes."""
    inner = body.nested()
    rows = inner.fresh("rows")
    asks = any(is_database(inner, source.source) for source in node.sources)
    conditions = conjuncts(node.condition) if asks else [node.condition] if node.condition is not None else []
    with inner.block() as innermost:
        _sources(inner, node, 0, lambda: inner.emit(do(method(rows, "append", result(inner)))), conditions)
    inner.emit(assign(rows, ast.List([], ast.Load())), *innermost, ast.Return(name(rows)))
    return body.define(inner, node)


def _sources(
    inner: Body, node: syntax.Select, place: int, gather: Callable[[], None], conditions: list[syntax.Expression]
) -> None:
    if place == len(node.sources):
        _tested(inner, conditions, gather)
        return
    source = node.sources[place]
    count = run_of_tables(inner, node, place)
    slots = [inner.slot(_item_of(inner, one)) for one in node.sources[place : place + max(count, 1)]]
    items = rows_selected(inner, node, place, count, conditions) if count else inner.items(source.source)
    with inner.block() as each:
        inner.emit(*_turn(inner, node))
        _sources(inner, node, place + len(slots), gather, conditions)
    names: list[ast.expr] = [ast.Name(slot, ast.Store()) for slot in slots]
    target = names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())
    inner.emit(ast.For(target, items, each, []))


def _turn(inner: Body, node: syntax.Node) -> list[ast.stmt]:
    """Count a turn of a loop in a function inside the function, which hands it to the invocation itself."""
    made = called()
    inner.locate(made, node)
    return made


def _tested(inner: Body, conditions: list[syntax.Expression], gather: Callable[[], None]) -> None:
    if not conditions:
        gather()
        return
    test = inner.condition(conditions[0])
    with inner.block() as taken:
        _tested(inner, conditions[1:], gather)
    inner.emit(when(test, taken))


def _item_of(inner: Body, source: syntax.FromItem) -> Variable:
    """The correlation name of a list, or one that nothing refers to."""
    return inner.unit.declared.setdefault(id(source), Variable("", None, "select", source))


def _result(inner: Body, node: syntax.Select) -> ast.expr:
    if node.item is not None:
        return any_value(inner, node.item)
    return _built(inner, node, node.columns)


def _built(body: Body, node: syntax.Node, columns: tuple[syntax.Column | syntax.AllColumns, ...]) -> ast.expr:
    inner = body.nested()
    made = inner.fresh("row")
    inner.emit(assign(made, call("new_row")))
    for place, column in enumerate(columns):
        with inner.block() as emitted:
            inner.emit(_column(inner, node, column, place, made))
        inner.locate(emitted, column)
        inner.emit(*emitted)
    inner.emit(ast.Return(name(made)))
    return body.define(inner, node)


def _column(
    inner: Body, node: syntax.Node, column: syntax.Column | syntax.AllColumns, place: int, made: str
) -> ast.stmt:
    if isinstance(column, syntax.AllColumns):
        sources = [inner.load(_item_of(inner, source)) for source in getattr(node, "sources", ())]
        return do(call("add_all", name(made), *sources))
    expression = column.expression
    if column.name is None and _is_all_of(expression):
        variable = inner.unit.resolution.variable(expression)
        if variable is not None and variable.role == "select":
            return do(call("add_all", name(made), inner.load(variable)))
    value = any_value(inner, expression)
    if column.name is None:
        return do(call("add_named", name(made), constant(_own_name(expression) or f"Column{place}"), value))
    steps = [step_of(inner, step) for step in column.name.steps]
    return do(call("add_column", name(made), group(steps), value))


def _is_all_of(expression: syntax.Node) -> bool:
    """`T.*`: all that is in an item."""
    match expression:
        case syntax.Path(index=None, steps=(syntax.Step(syntax.AnyName(), None, (), None),)):
            return True
    return False


def _own_name(expression: syntax.Node) -> str:
    """The name that a column without AS has by its form."""
    if isinstance(expression, syntax.Path):
        last = expression.steps[-1].name if expression.steps else None
        return last.text if isinstance(last, syntax.Name) else expression.root if not expression.steps else ""
    return ""


# ROW and LIST as values, quantified predicates


def _list_items(body: Body, node: syntax.ListOf) -> Value:
    return Value(ast.List([any_value(body, one) for one in node.elements], ast.Load()), "LIST", nullable=False)


def _quantified(body: Body, node: syntax.Quantified) -> Value:
    inner = body.nested()
    variable = inner.unit.declared.get(id(node))
    slot = inner.fresh("v") if variable is None else inner.slot(variable)
    items = inner.items(node.source)
    held = inner.fresh("truths")
    with inner.block() as each:
        inner.emit(*_turn(inner, node))
        value = inner.truth(node.condition, node.quantifier)
        inner.emit(do(method(held, "append", value.code)))
    loop = ast.For(ast.Name(slot, ast.Store()), items, each, [])
    inner.emit(assign(held, ast.List([], ast.Load())), loop, ast.Return(name(held)))
    function = "and_all" if node.quantifier == "ALL" else "or_all"
    return Value(call(function, body.define(inner, node)), BOOLEAN)


EXPRESSIONS: Final[Expressions] = {
    syntax.Select: _select_value,
    syntax.Row: refused("a ROW is no value: assign it to a field"),
    syntax.ListOf: refused("a LIST is no value: assign it to field[]"),
    syntax.Quantified: _quantified,
}
LISTS: Final[Expressions] = {syntax.Select: _select_list, syntax.ListOf: _list_items}
