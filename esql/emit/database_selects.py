"""SELECT from tables of databases: which of it a database does, in one statement for all tables of one data source."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from engine.databases.statements import Column, Computed, Select, Term
from esql import syntax
from esql.emit.databases import asked_with, of_table, table_names, tables_of
from esql.emit.function_body import Body
from esql.emit.python_nodes import constant, group, method, name
from esql.emit.terms import ImpossibleError, Terms, column_name, correlation_of, is_database, static_names
from esql.scope.references import Variable
from esql.syntax.node import children


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
    tables = tables_of(body, *sources)
    behind = (body.unit.declared.get(id(one)) for one in node.sources[number + count :])
    terms = _terms(body, sources, frozenset(one for one in behind if one is not None))
    test = _test(terms, conditions)
    columns = tuple(Column(title, tables[v]) for v in tables for title in _columns(body, node, v))
    return _asked_of(body, sources, Select(columns, test, rest=bool(conditions)), terms)


def _terms(body: Body, sources: Sequence[syntax.FromItem], later: frozenset[Variable] = frozenset()) -> Terms:
    """The terms of a SELECT of tables."""
    first = sources[0].source
    place = static_names(first if isinstance(first, syntax.Path) else None)
    return Terms(body, tables_of(body, *sources), place, len(sources), later, selects=True)


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
    place = table_names(body, first.source)
    for other in others:
        assert isinstance(other.source, syntax.Path)
        table_names(body, other.source)
    joined = tuple(static_names(one.source) for one in others if isinstance(one.source, syntax.Path))
    statement = of_table(body, replace(select, joined=joined), first, first.source)
    call_ = asked_with(terms, statement, place)
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
        own = title if column.name is None else _plain_name(column.name)
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


def _plain_name(path: syntax.RelativePath) -> str | None:
    """The name behind AS, where it is no more than one; it has the form of steps without a root."""
    match path.steps:
        case (syntax.Step(syntax.Name(text), None, (), None),):
            return text
    return None


def _columns(body: Body, node: syntax.Select, table: Variable | None) -> tuple[str, ...]:
    """The columns that a SELECT speaks of; none where it may want all."""
    if table is None or any(isinstance(column, syntax.AllColumns) for column in node.columns):
        return ()
    names: dict[str, None] = {}
    pending: list[syntax.Node] = [node]
    while pending:
        one = pending.pop()
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
