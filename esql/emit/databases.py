"""Statements of databases -> data that is known now, and Python for the values that are bound when they are done."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from engine.databases.statements import (
    Commit,
    Delete,
    Insert,
    Passthru,
    Rollback,
    Select,
    Statement,
    Update,
)
from esql import syntax
from esql.emit.emitted_value import Value
from esql.emit.function_body import Body, Expressions, Statements
from esql.emit.python_nodes import call, constant, do, group, method, name
from esql.emit.terms import ImpossibleError, Terms, column_name, correlation_of, is_database, static_names
from esql.emit.unit import EmitError
from esql.scope.references import Variable

# where, what, with which values


def names_of(body: Body, path: syntax.Path | None) -> ast.expr:
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


def of_table(body: Body, statement: Any, node: syntax.Node, path: syntax.Path | None) -> Any:
    """A statement with the names of its table, and the place where it stands."""
    at = (body.unit.file, node.position.line, node.position.column)
    return replace(statement, table=static_names(path), at=at)


def table_names(body: Body, path: syntax.Path) -> ast.expr:
    """The names of a table, of which some may be computed; raises where they are too few or too many."""
    if not is_database(body, path) or not 1 <= len(path.steps) <= 3:
        text = "a table is named Database.table, Database.schema.table or Database.datasource.schema.table"
        raise EmitError(path, text)
    return names_of(body, path)


def asked(body: Body, statement: Statement, place: ast.expr, values: ast.expr) -> ast.Call:
    """The call that does a statement and gives its rows."""
    return method(name("here"), "execute", body.unit.constant(statement), place, values)


def asked_with(terms: Terms, statement: Select | Update | Delete, place: ast.expr) -> ast.Call:
    """The call that does a statement with terms; lists among their values are put in as they are at the time."""
    call_ = asked(terms.body, replace(statement, nested=tuple(terms.nested)), place, terms.bound())
    if terms.lists:
        call_.args = [ast.Starred(call("with_lists", *call_.args), ast.Load())]
    return call_


def _refused(error: ImpossibleError) -> EmitError:
    text = "a database cannot work this out for its columns: use other operators or functions, or PASSTHRU"
    return EmitError(error.node, text)


def insert(body: Body, node: syntax.Insert) -> None:
    """INSERT INTO."""
    values = group([body.expression(value).code for value in node.values])
    body.emit(
        do(
            asked(
                body,
                of_table(body, Insert(node.columns), node, node.table),
                table_names(body, node.table),
                values,
            )
        )
    )


def update(body: Body, node: syntax.Update) -> None:
    """UPDATE."""
    terms = Terms(body, tables_of(body, node), static_names(node.table))
    try:
        changes = tuple((_changed(change), terms.of(change.source)) for change in node.changes)
        condition = None if node.condition is None else terms.of(node.condition)
    except ImpossibleError as error:
        raise _refused(error) from error
    place = table_names(body, node.table)
    body.emit(do(asked_with(terms, of_table(body, Update(changes, condition), node, node.table), place)))


def _changed(change: syntax.ColumnChange) -> str:
    """The column that SET of an UPDATE names, alone or behind the correlation name."""
    path = change.column
    title = path.root if not path.steps and path.index is None else column_name(path)
    if not title:
        raise EmitError(path, "a column of UPDATE is a plain name")
    return title


def delete_from(body: Body, node: syntax.DeleteFrom) -> None:
    """DELETE FROM."""
    terms = Terms(body, tables_of(body, node), static_names(node.table))
    try:
        condition = None if node.condition is None else terms.of(node.condition)
    except ImpossibleError as error:
        raise _refused(error) from error
    place = table_names(body, node.table)
    body.emit(do(asked_with(terms, of_table(body, Delete(condition), node, node.table), place)))


def tables_of(body: Body, *nodes: syntax.Node) -> dict[Variable, int]:
    """The names by which a statement speaks of its tables, with the tables' numbers."""
    found = ((correlation_of(body, node), number) for number, node in enumerate(nodes))
    return {variable: number for variable, number in found if variable is not None}


# PASSTHRU, COMMIT and ROLLBACK


def passthru(body: Body, node: syntax.Passthru) -> None:
    """PASSTHRU as a statement."""
    body.emit(do(_passed(body, node)))


def passthru_call(body: Body, node: syntax.PassthruCall) -> Value:
    """PASSTHRU as an expression."""
    return Value(call("value_of", call("the", _passed(body, node))))


def passthru_list(body: Body, node: syntax.PassthruCall) -> Value:
    """PASSTHRU as a list of rows."""
    return Value(_passed(body, node), "LIST")


def _passed(body: Body, node: syntax.Passthru | syntax.PassthruCall) -> ast.expr:
    values = [body.expression(node.sql).code]
    if len(node.values) == 1 and body.unit.resolution.type_of(node.values[0]) == "LIST":
        values.append(ast.Starred(call("joined_items", body.items(node.values[0])), ast.Load()))
    else:
        values += [body.expression(value).code for value in node.values]
    return asked(body, Passthru(), _source(body, node.database), group(values))


def _source(body: Body, path: syntax.Path | None) -> ast.expr:
    if path is not None and (not is_database(body, path) or len(path.steps) > 1):
        raise EmitError(path, "a data source is named Database.datasource")
    return names_of(body, path)


def commit(body: Body, node: syntax.Commit | syntax.Rollback) -> None:
    """COMMIT and ROLLBACK."""
    statement = Commit() if isinstance(node, syntax.Commit) else Rollback()
    body.emit(do(asked(body, statement, _source(body, node.database), group(()))))


def data_source(body: Body, path: syntax.Path | None, schema: syntax.Expression | None) -> Sequence[ast.expr]:
    """The data source and the schema of a procedure that is called; empty where none is named."""
    source = ast.Subscript(_source(body, path), ast.Constant(0), ast.Load()) if path is not None else constant("")
    named = constant("") if schema is None else call("a_name", body.expression(schema).code)
    return source, named


STATEMENTS: Final[Statements] = MappingProxyType(
    {
        syntax.Insert: insert,
        syntax.Update: update,
        syntax.DeleteFrom: delete_from,
        syntax.Passthru: passthru,
        syntax.Commit: commit,
        syntax.Rollback: commit,
    }
)
EXPRESSIONS: Final[Expressions] = MappingProxyType({syntax.PassthruCall: passthru_call})
LISTS: Final[Expressions] = MappingProxyType({syntax.PassthruCall: passthru_list})
