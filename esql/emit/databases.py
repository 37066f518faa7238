"""Statements of databases -> data that is known now, and Python for the values that are bound when they are done.

Of a SELECT the database does as much as it can, in one statement for all tables of one data source.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from engine.databases.statements import (
    Column,
    Commit,
    Computed,
    Delete,
    Insert,
    Passthru,
    Rollback,
    Select,
    Statement,
    Term,
    Update,
)
from esql import syntax
from esql.emit.emitted_code import EmitError, Value
from esql.emit.function_body import Body, Expressions, Statements
from esql.emit.python_nodes import call, constant, do, group, method, name
from esql.emit.sql_terms import (
    ImpossibleError,
    Terms,
    column_name,
    correlation_of,
    is_database,
    plain_name,
    static_names,
)
from esql.scope.deployed_routines import evaluates
from esql.scope.references import Variable
from esql.syntax.node import children

# where, what, with which values


def _names_of(body: Body, path: syntax.Path | None) -> ast.expr:
    """The names behind Database, of which some may be computed."""
    parts: list[ast.expr] = []
    for step in () if path is None else path.steps:
        match step.name:
            case syntax.Name(text):
                parts.append(constant(text))
            case syntax.ComputedName(expression):
                parts.append(call("a_name", body.expression(expression).code))
            case _:
                raise EmitError(step, "a table is named by names and {expressions}")
    return group(parts)


def _of_table(body: Body, statement: Any, node: syntax.Node, path: syntax.Path | None) -> Any:
    """A statement with the names of its table, and the place where it stands."""
    at = (body.unit.file, node.position.line, node.position.column)
    return replace(statement, table=static_names(path), at=at)


def _table_names(body: Body, path: syntax.Path) -> ast.expr:
    """The names of a table, of which some may be computed; raises where they are too few or too many."""
    if not is_database(body, path) or not 1 <= len(path.steps) <= 3:
        text = "a table is named Database.table, Database.schema.table or Database.datasource.schema.table"
        raise EmitError(path, text)
    return _names_of(body, path)


def _asked(body: Body, statement: Statement, place: ast.expr, values: ast.expr) -> ast.Call:
    """The call that does a statement and gives its rows."""
    return method(name("here"), "execute", body.unit.constant(statement), place, values)


def _asked_with(terms: Terms, statement: Select | Update | Delete, place: ast.expr) -> ast.Call:
    """The call that does a statement with terms; lists among their values are put in as they are at the time."""
    call_ = _asked(terms.body, replace(statement, nested=tuple(terms.nested)), place, terms.bound())
    if terms.lists:
        call_.args = [ast.Starred(call("with_lists", *call_.args), ast.Load())]
    return call_


def _insert(body: Body, node: syntax.Insert) -> None:
    values = group([body.expression(value).code for value in node.values])
    statement = _of_table(body, Insert(node.columns), node, node.table)
    body.emit(do(_asked(body, statement, _table_names(body, node.table), values)))


def _change(body: Body, node: syntax.Update | syntax.DeleteFrom) -> None:
    """UPDATE and DELETE FROM, of which all is the database's to work out."""
    terms = Terms(body, _tables_of(body, node), static_names(node.table))
    try:
        changed = node.changes if isinstance(node, syntax.Update) else ()
        changes = tuple((_changed(change), terms.of(change.source)) for change in changed)
        condition = None if node.condition is None else terms.of(node.condition)
    except ImpossibleError as error:
        text = "a database cannot work this out for its columns: use other operators or functions, or PASSTHRU"
        raise EmitError(error.node, text) from error
    statement = Update(changes, condition) if isinstance(node, syntax.Update) else Delete(condition)
    place = _table_names(body, node.table)
    body.emit(do(_asked_with(terms, _of_table(body, statement, node, node.table), place)))


def _changed(change: syntax.ColumnChange) -> str:
    """The column that SET of an UPDATE names, alone or behind the correlation name."""
    path = change.column
    title = path.root if not path.steps and path.index is None else column_name(path)
    if not title:
        raise EmitError(path, "a column of UPDATE is a plain name")
    return title


def _tables_of(body: Body, *nodes: syntax.Node) -> dict[Variable, int]:
    """The names by which a statement speaks of its tables, with the tables' numbers."""
    found = ((correlation_of(body, node), number) for number, node in enumerate(nodes))
    return {variable: number for variable, number in found if variable is not None}


# PASSTHRU, COMMIT and ROLLBACK


def _passed(body: Body, node: syntax.Passthru | syntax.PassthruCall) -> ast.expr:
    values = [body.expression(node.sql).code]
    if len(node.values) == 1 and body.unit.resolution.type_of(node.values[0]) == "LIST":
        values.append(ast.Starred(call("joined_items", body.items(node.values[0])), ast.Load()))
    else:
        values += [body.expression(value).code for value in node.values]
    return _asked(body, Passthru(), _source(body, node.database), group(values))


def _source(body: Body, path: syntax.Path | None) -> ast.expr:
    if path is not None and (not is_database(body, path) or len(path.steps) > 1):
        raise EmitError(path, "a data source is named Database.datasource")
    return _names_of(body, path)


def _commit(body: Body, node: syntax.Commit | syntax.Rollback) -> None:
    statement = Commit() if isinstance(node, syntax.Commit) else Rollback()
    body.emit(do(_asked(body, statement, _source(body, node.database), group(()))))


def data_source(body: Body, path: syntax.Path | None, schema: syntax.Expression | None) -> Sequence[ast.expr]:
    """The data source and the schema of a procedure that is called; empty where none is named."""
    source = ast.Subscript(_source(body, path), ast.Constant(0), ast.Load()) if path is not None else constant("")
    named = constant("") if schema is None else call("a_name", body.expression(schema).code)
    return source, named


STATEMENTS: Final[Statements] = {
    syntax.Insert: _insert,
    syntax.Update: _change,
    syntax.DeleteFrom: _change,
    syntax.Passthru: lambda body, node: body.emit(do(_passed(body, node))),
    syntax.Commit: _commit,
    syntax.Rollback: _commit,
}
EXPRESSIONS: Final[Expressions] = {
    syntax.PassthruCall: lambda body, node: Value(call("value_of", call("the", _passed(body, node))))
}
LISTS: Final[Expressions] = {syntax.PassthruCall: lambda body, node: Value(_passed(body, node), "LIST")}


def run_of_tables(body: Body, node: syntax.Select, number: int) -> int:
    """Returns the number of sources of a SELECT, from the n-th on, that are tables that one statement can join.

    More than one only where all names are known now, and all columns that are wanted of each.
    """
    count = 0
    for source in node.sources[number:]:
        if not is_database(body, source.source) or (count and not _joins(body, node, node.sources[number], source)):
            break
        count += 1
    return count


def _joins(body: Body, node: syntax.Select, first: syntax.FromItem, other: syntax.FromItem) -> bool:
    places = [static_names(one.source) for one in (first, other) if isinstance(one.source, syntax.Path)]
    sources = [place[0] if len(place) == 3 else "" for place in places]
    wanted = [_columns(body, node, correlation_of(body, one)) for one in (first, other)]
    return all(all(place) for place in places) and sources[0] == sources[1] and all(wanted)


def rows_selected(
    body: Body, node: syntax.Select, number: int, count: int, conditions: list[syntax.Expression]
) -> ast.expr:
    """The rows of so many tables of a SELECT; conditions that the database tests are taken off the list."""
    sources = node.sources[number : number + count]
    tables = _tables_of(body, *sources)
    behind = (body.unit.declared.get(id(one)) for one in node.sources[number + count :])
    terms = _terms(body, sources, frozenset(one for one in behind if one is not None))
    test = _test(terms, conditions)
    columns = tuple(Column(title, tables[v]) for v in tables for title in _columns(body, node, v))
    return _asked_of(body, sources, Select(columns, test, rest=bool(conditions)), terms)


def _terms(body: Body, sources: Sequence[syntax.FromItem], later: frozenset[Variable] = frozenset()) -> Terms:
    """The terms of a SELECT of tables."""
    first = sources[0].source
    place = static_names(first if isinstance(first, syntax.Path) else None)
    return Terms(body, _tables_of(body, *sources), place, len(sources), later, selects=True)


def _test(terms: Terms, conditions: list[syntax.Expression]) -> Term | None:
    """The conditions that a database can test, which are taken off the list, as one."""
    found: list[Term] = []
    for condition in list(conditions):
        term = terms.attempted(partial(terms.of, condition)) if terms.mentions(condition) else None
        if term is not None:
            found.append(term)
            conditions.remove(condition)
    return found[0] if len(found) == 1 else Computed("AND", tuple(found)) if found else None


def _asked_of(body: Body, sources: Sequence[syntax.FromItem], select: Select, terms: Terms) -> ast.Call:
    """The call that does a SELECT: `execute` for the rows of a table, `joined` for those of several."""
    first, *others = sources
    assert isinstance(first.source, syntax.Path)
    place = _table_names(body, first.source)
    for other in others:
        assert isinstance(other.source, syntax.Path)
        _table_names(body, other.source)
    joined = tuple(static_names(one.source) for one in others if isinstance(one.source, syntax.Path))
    statement = _of_table(body, replace(select, joined=joined), first, first.source)
    call_ = _asked_with(terms, statement, place)
    return method(name("here"), "joined", *call_.args) if joined else call_


def aggregate_asked(body: Body, node: syntax.Select, aggregate: syntax.Aggregate) -> ast.expr | None:
    """The call that has a database work out an aggregate; None where some of it has to be done in memory."""
    if run_of_tables(body, node, 0) != len(node.sources):
        return None
    terms = _terms(body, node.sources)
    conditions = conjuncts(node.condition)
    operand = aggregate.operand
    if operand is not None and not terms.mentions(operand):
        return None
    try:
        operands = () if operand is None else (terms.of(operand),)
    except ImpossibleError:
        return None
    test = _test(terms, conditions)
    if conditions:
        return None
    select = Select((Computed(aggregate.function, operands),), test)
    call_ = _asked_of(body, node.sources, select, terms)
    return method(name("here"), "aggregate", *call_.args)


def rows_as_asked(body: Body, node: syntax.Select) -> ast.expr | None:
    """The call that gives the rows of a SELECT as the database does; None where they have to be made of them."""
    if len(node.sources) != 1 or node.item is not None or not is_database(body, node.sources[0].source):
        return None
    table = correlation_of(body, node.sources[0])
    names: list[tuple[str, str]] = []
    for column in node.columns:
        if not isinstance(column, syntax.Column) or column.insert or table is None:
            return None
        title = column_name(column.expression) if isinstance(column.expression, syntax.Path) else None
        own = title if column.name is None else plain_name(column.name.steps)
        if title is None or own is None or body.unit.resolution.of(column.expression) is not table:
            return None
        names.append((title, own))
    terms = _terms(body, node.sources)
    conditions = conjuncts(node.condition)
    test = _test(terms, conditions)
    if conditions:
        return None
    select = Select(tuple(Column(title) for title, _ in names), test)
    call_ = _asked_of(body, node.sources, select, terms)
    return method(name("here"), "rows_named", *call_.args, group([constant(own) for _, own in names]))


def _columns(body: Body, node: syntax.Select, table: Variable | None) -> tuple[str, ...]:
    """The columns that a SELECT speaks of; none where it may want all."""
    if table is None or any(isinstance(column, syntax.AllColumns) for column in node.columns):
        return ()
    names: dict[str, None] = {}
    pending: list[syntax.Node] = [node]
    while pending:
        one = pending.pop()
        if evaluates(one):
            return ()
        if isinstance(one, syntax.Path) and body.unit.resolution.of(one) is table:
            title = column_name(one)
            if title is None:
                return ()
            names[title] = None
        pending.extend(reversed(children(one)))
    return tuple(names)


def conjuncts(condition: syntax.Expression | None) -> list[syntax.Expression]:
    """The conditions that all must be TRUE for a whole one to be."""
    if condition is None:
        return []
    if isinstance(condition, syntax.Operation) and condition.operator == "AND":
        return [part for operand in condition.operands for part in conjuncts(operand)]
    return [condition]
