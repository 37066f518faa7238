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

_STATES: Final = frozenset(("NULL", "UNKNOWN", "TRUE", "FALSE"))
_ALIKE: Final = frozenset(("UPPER", "UCASE", "LOWER", "LCASE", "LENGTH", "ABS", "ABSVAL", "COALESCE", "NULLIF"))


class _ImpossibleError(Exception):
    """A piece of syntax that a database cannot be asked to work out."""

    def __init__(self, node: syntax.Node) -> None:
        super().__init__(node)
        self.node = node


@dataclass(slots=True)
class _Terms:
    """What is said of the columns of tables, by their numbers, and the values that are bound.

    `later` are the names of lists behind these tables, whose items are not known yet. A SELECT can work out in memory
    what databases may do in another way, so its functions are those that all of them have alike.
    """

    body: Body
    tables: Mapping[Variable, int]
    later: frozenset[Variable] = frozenset()
    selects: bool = False
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
        return bool(self.tables) and _mentions(self.body, node, frozenset(self.tables))

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
    table = terms.body.unit.resolution.of(node)
    if title is None or not isinstance(table, Variable):
        raise _ImpossibleError(node)
    return Column(title, terms.tables[table])


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
    if node.state not in _STATES:
        raise _ImpossibleError(node)
    return Computed(f"IS {'NOT ' if node.negated else ''}{node.state}", (terms.of(node.operand),))


def _call(terms: _Terms, node: syntax.Call) -> Term:
    is_own = isinstance(terms.body.unit.resolution.of(node), DeclaredRoutine)
    if is_own or (terms.selects and node.name[-1].upper() not in _ALIKE):
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
    terms = _Terms(body, _tables_of(body, node))
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
    terms = _Terms(body, _tables_of(body, node))
    try:
        condition = None if node.condition is None else terms.of(node.condition)
    except _ImpossibleError as error:
        raise _refused(error) from error
    place = _table(body, node.table)
    body.emit(do(asked(body, _of_table(body, Delete(condition), node, node.table), place, terms.bound())))


def _correlation_of(body: Body, node: syntax.Node) -> Variable | None:
    """The name by which a statement speaks of its table; None if it does not."""
    return body.unit.declared.get(id(node))


def _tables_of(body: Body, *nodes: syntax.Node) -> dict[Variable, int]:
    """The names by which a statement speaks of its tables, with the tables' numbers."""
    found = ((_correlation_of(body, node), number) for number, node in enumerate(nodes))
    return {variable: number for variable, number in found if variable is not None}


# SELECT


def run_of_tables(body: Body, node: syntax.Select, number: int) -> int:
    """How many sources of a SELECT, from the n-th on, are tables of one data source that one statement can join.

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
    wanted = [_columns(body, node, _correlation_of(body, one)) for one in (first, other)]
    return all(all(place) for place in places) and sources[0] == sources[1] and all(wanted)


def rows_selected(
    body: Body, node: syntax.Select, number: int, count: int, conditions: list[syntax.Expression]
) -> ast.expr:
    """The rows of so many tables of a SELECT; conditions that the database tests are taken off the list."""
    sources = node.sources[number : number + count]
    tables = _tables_of(body, *sources)
    behind = (body.unit.declared.get(id(one)) for one in node.sources[number + count :])
    terms = _Terms(body, tables, frozenset(one for one in behind if one is not None), selects=True)
    test = _test(terms, conditions)
    columns = tuple(Column(title, tables[v]) for v in tables for title in _columns(body, node, v))
    return _asked_of(body, sources, Select(columns, test, rest=bool(conditions)), terms)


def _test(terms: _Terms, conditions: list[syntax.Expression]) -> Term | None:
    """The conditions that a database can test, which are taken off the list, as one."""
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
    return found[0] if len(found) == 1 else Computed("AND", tuple(found)) if found else None


def _asked_of(body: Body, sources: Sequence[syntax.FromItem], select: Select, terms: _Terms) -> ast.Call:
    """The call that does a SELECT: `execute` for the rows of a table, `joined` for those of several."""
    first, *others = sources
    assert isinstance(first.source, syntax.Path)
    place = _table(body, first.source)
    for other in others:
        assert isinstance(other.source, syntax.Path)
        _table(body, other.source)
    joined = tuple(static_names(one.source) for one in others if isinstance(one.source, syntax.Path))
    statement = _of_table(body, replace(select, joined=joined), first, first.source)
    call_ = asked(body, statement, place, terms.bound())
    return method(name("here"), "joined", *call_.args) if joined else call_


def aggregate_asked(body: Body, node: syntax.Select, aggregate: syntax.Aggregate) -> ast.expr | None:
    """The call that has a database work out an aggregate; None where some of it has to be done in memory."""
    if run_of_tables(body, node, 0) != len(node.sources):
        return None
    terms = _Terms(body, _tables_of(body, *node.sources), selects=True)
    conditions = conjuncts(node.condition)
    operand = aggregate.operand
    if operand is not None and not terms.mentions(operand):
        return None
    try:
        operands = () if operand is None else (terms.of(operand),)
    except _ImpossibleError:
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
    table = _correlation_of(body, node.sources[0])
    names: list[tuple[str, str]] = []
    for column in node.columns:
        if not isinstance(column, syntax.Column) or column.insert or table is None:
            return None
        title = column_name(column.expression) if isinstance(column.expression, syntax.Path) else None
        own = title if column.name is None else _plain_name(column.name)
        if title is None or own is None or body.unit.resolution.of(column.expression) is not table:
            return None
        names.append((title, own))
    terms = _Terms(body, _tables_of(body, node.sources[0]), selects=True)
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
