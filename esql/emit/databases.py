"""Statements of databases -> data that is known now, and Python for the values that are bound when they are done."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from engine.databases.statements import (
    Column,
    Commit,
    Computed,
    Delete,
    Insert,
    Parameter,
    Passthru,
    Rollback,
    Select,
    Statement,
    Term,
    Update,
)
from esql import syntax
from esql.emit.body import Body, Expressions, Statements
from esql.emit.code import call, constant, do, group, method, name
from esql.emit.unit import EmitError
from esql.emit.value import Value
from esql.predefined import Correlation
from esql.scope.children import children
from esql.scope.references import DeclaredRoutine, Variable


class _ImpossibleError(Exception):
    """A piece of syntax that a database cannot be asked to work out."""

    def __init__(self, node: syntax.Node) -> None:
        super().__init__(node)
        self.node = node


@dataclass(slots=True)
class _Terms:
    """What is said of the columns of one table, and the values that are bound."""

    body: Body
    table: Variable | None
    later: frozenset[Variable] = frozenset()
    values: list[syntax.Node] = field(default_factory=list)

    def of(self, node: syntax.Node) -> Term:
        """What the database is asked: columns, what is worked out of them, and values for everything else."""
        if not self.mentions(node):
            if self.later and _mentions(self.body, node, self.later):
                raise _ImpossibleError(node)
            self.values.append(node)
            return Parameter(len(self.values) - 1)
        made = _TERMS.get(type(node))
        if made is None:
            raise _ImpossibleError(node)
        return made(self, node)

    def mentions(self, node: syntax.Node) -> bool:
        """Whether a column stands in an expression."""
        return self.table is not None and _mentions(self.body, node, frozenset((self.table,)))

    def bound(self) -> ast.expr:
        """The values, worked out in the order in which they stand."""
        return group([self.body.expression(node).code for node in self.values])


def _mentions(body: Body, node: syntax.Node, variables: frozenset[Variable]) -> bool:
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, syntax.Path) and body.unit.resolution.of(one) in variables:
            return True
        pending.extend(children(one))
    return False


# terms


def _column(terms: _Terms, node: syntax.Path) -> Term:
    title = column_name(node)
    if title is None:
        raise _ImpossibleError(node)
    return Column(title)


def column_name(node: syntax.Path) -> str | None:
    """The column that a path `T.NAME` means; None where it says anything else."""
    match node:
        case syntax.Path(index=None, steps=(syntax.Step(syntax.Name(text), None, (), None),)):
            return text
    return None


def _computed(operator: str, *parts: str) -> Callable[[_Terms, Any], Term]:
    """An operator whose operands stand in these fields; it starts with NOT where the syntax says so."""

    def made(terms: _Terms, node: Any) -> Term:
        said = operator or node.operator
        if getattr(node, "symmetric", False):
            said += " SYMMETRIC"
        if getattr(node, "negated", False):
            said = f"NOT {said}"
        operands: list[syntax.Node] = []
        for part in parts:
            found = getattr(node, part)
            operands += found if isinstance(found, tuple) else [] if found is None else [found]
        return Computed(said, tuple(terms.of(operand) for operand in operands))

    return made


def _is(terms: _Terms, node: syntax.Is) -> Term:
    return Computed(f"IS {'NOT ' if node.negated else ''}{node.state}", (terms.of(node.operand),))


def _call(terms: _Terms, node: syntax.Call) -> Term:
    if isinstance(terms.body.unit.resolution.of(node), DeclaredRoutine):
        raise _ImpossibleError(node)
    return Computed(node.name[-1].upper(), tuple(terms.of(argument) for argument in node.arguments))


def _substring(terms: _Terms, node: syntax.Substring) -> Term:
    if node.preposition != "FROM":
        raise _ImpossibleError(node)
    return _computed("SUBSTRING", "source", "start", "length")(terms, node)


_TERMS: Final[Mapping[type, Callable[[_Terms, Any], Term]]] = MappingProxyType(
    {
        syntax.Path: _column,
        syntax.Unary: _computed("", "operand"),
        syntax.Operation: _computed("", "operands"),
        syntax.Comparison: _computed("", "left", "right"),
        syntax.Is: _is,
        syntax.Between: _computed("BETWEEN", "operand", "low", "high"),
        syntax.In: _computed("IN", "operand", "choices"),
        syntax.Like: _computed("LIKE", "operand", "pattern", "escape"),
        syntax.Call: _call,
        syntax.Substring: _substring,
    }
)


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


def static_names(path: syntax.Path | None) -> tuple[str, ...]:
    """The names behind Database that the program says; one that is computed is empty."""
    steps = () if path is None else path.steps
    return tuple(step.name.text if isinstance(step.name, syntax.Name) else "" for step in steps)


def _of_table(body: Body, statement: Any, node: syntax.Node, path: syntax.Path | None) -> Any:
    """A statement with the names of its table, and the place where it stands."""
    at = (body.unit.file, node.position.line, node.position.column)
    return replace(statement, table=static_names(path), at=at)


def is_database(body: Body, node: syntax.Node) -> bool:
    """Whether a path leads to a database."""
    reference = body.unit.resolution.of(node)
    return isinstance(node, syntax.Path) and isinstance(reference, Correlation) and reference.name == "Database"


def _table(body: Body, path: syntax.Path) -> ast.expr:
    if not is_database(body, path) or not 1 <= len(path.steps) <= 3:
        text = "a table is named Database.table, Database.schema.table or Database.datasource.schema.table"
        raise EmitError(path, text)
    return names_of(body, path)


def asked(body: Body, statement: Statement, place: ast.expr, values: ast.expr) -> ast.Call:
    """The call that does a statement and gives its rows."""
    return method(name("here"), "execute", body.unit.constant(statement), place, values)


def _refused(error: _ImpossibleError) -> EmitError:
    text = "a database cannot work this out for its columns: use other operators or functions, or PASSTHRU"
    return EmitError(error.node, text)


def insert(body: Body, node: syntax.Insert) -> None:
    """INSERT INTO."""
    values = group([body.expression(value).code for value in node.values])
    body.emit(
        do(asked(body, _of_table(body, Insert(node.columns), node, node.table), _table(body, node.table), values))
    )


def update(body: Body, node: syntax.Update) -> None:
    """UPDATE."""
    terms = _Terms(body, _correlation_of(body, node))
    try:
        changes = tuple((_changed(change), terms.of(change.source)) for change in node.changes)
        condition = None if node.condition is None else terms.of(node.condition)
    except _ImpossibleError as error:
        raise _refused(error) from error
    place = _table(body, node.table)
    body.emit(do(asked(body, _of_table(body, Update(changes, condition), node, node.table), place, terms.bound())))


def _changed(change: syntax.ColumnChange) -> str:
    """The column that SET of an UPDATE names, alone or behind the correlation name."""
    path = change.column
    title = path.root if not path.steps and path.index is None else column_name(path)
    if not title:
        raise EmitError(path, "a column of UPDATE is a plain name")
    return title


def delete_from(body: Body, node: syntax.DeleteFrom) -> None:
    """DELETE FROM."""
    terms = _Terms(body, _correlation_of(body, node))
    try:
        condition = None if node.condition is None else terms.of(node.condition)
    except _ImpossibleError as error:
        raise _refused(error) from error
    place = _table(body, node.table)
    body.emit(do(asked(body, _of_table(body, Delete(condition), node, node.table), place, terms.bound())))


def _correlation_of(body: Body, node: syntax.Node) -> Variable | None:
    """The name by which a statement speaks of its table; None if it does not."""
    return body.unit.declared.get(id(node))


# SELECT


def rows_selected(body: Body, node: syntax.Select, number: int, conditions: list[syntax.Expression]) -> ast.expr:
    """The rows of the n-th table of a SELECT; conditions that the database tests are taken off the list."""
    source = node.sources[number]
    table = _correlation_of(body, source)
    behind = (body.unit.declared.get(id(one)) for one in node.sources[number + 1 :])
    later = frozenset(one for one in behind if one is not None)
    assert isinstance(source.source, syntax.Path)
    place = _table(body, source.source)
    terms = _Terms(body, table, later)
    found: list[Term] = []
    for condition in list(conditions):
        before = len(terms.values)
        if not terms.mentions(condition):
            continue
        try:
            found.append(terms.of(condition))
        except _ImpossibleError:
            del terms.values[before:]
        else:
            conditions.remove(condition)
    test = found[0] if len(found) == 1 else Computed("AND", tuple(found)) if found else None
    columns = tuple(Column(one) for one in _columns(body, node, table))
    statement = _of_table(body, Select(columns, test, rest=bool(conditions)), source, source.source)
    return asked(body, statement, place, terms.bound())


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
