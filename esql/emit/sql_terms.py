"""Terms that a database evaluates for a statement: columns, operators and functions on them, and parameters."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal, TypeVar

from engine.databases.driver import ColumnType
from engine.databases.statements import Column, Computed, Converted, Names, Parameter, Query, Term
from esql import syntax
from esql.emit.function_body import Body
from esql.emit.python_nodes import call, group
from esql.emit.variable_analysis import walk
from esql.names.predefined import Correlation
from esql.scope.deployed_routines import evaluates
from esql.scope.references import DeclaredRoutine, Variable

_T = TypeVar("_T", bound=Term)
_STATES: Final = frozenset(("NULL", "UNKNOWN", "TRUE", "FALSE"))
_KINDS: Final = {
    **{name: name.lower() for name in ("INTEGER", "FLOAT", "DECIMAL", "BOOLEAN", "DATE", "TIME", "TIMESTAMP")},
    "CHARACTER": "text",
}
_SIDES: Final = {"LEADING": "LTRIM", "TRAILING": "RTRIM"}
_ALIKE: Final = frozenset(("UPPER", "UCASE", "LOWER", "LCASE", "LENGTH", "ABS", "ABSVAL", "COALESCE", "NULLIF"))


class ImpossibleError(Exception):
    """A piece of syntax that a database cannot be asked to work out."""

    def __init__(self, node: syntax.Node) -> None:
        super().__init__(node)
        self.node = node


@dataclass(slots=True)
class Terms:
    """The terms of a statement on the columns of tables, by the tables' numbers, and the values that are bound to it.

    `place` are the names of the statement's own table that are known now, and `count` is the number of tables that it
    names itself; those of queries in it are `nested`. `later` are the names of lists behind these tables, whose items
    are not known yet. A SELECT can work out in memory what databases may do in another way, so its functions are those
    that all of them have alike. `lists` are the numbers of those values that are lists.
    """

    body: Body
    tables: Mapping[Variable, int]
    place: Names
    count: int = 1
    later: frozenset[Variable] = frozenset()
    selects: bool = False
    values: list[syntax.Node] = field(default_factory=list)
    lists: set[int] = field(default_factory=set)
    nested: list[Names] = field(default_factory=list)

    def of(self, node: syntax.Node) -> Term:
        """Returns an expression as a term; a part that mentions no column becomes a parameter."""
        if not self.mentions(node):
            return self.parameter(node)
        made = _TERMS.get(type(node))
        if made is None:
            raise ImpossibleError(node)
        return made(self, node)

    def parameter(self, node: syntax.Node, *, is_list: bool = False) -> Parameter:
        """Returns the parameter that is bound to the value, or the list, that the program works out itself."""
        if self.mentions(node) or (self.later and mentions(self.body, node, self.later)):
            raise ImpossibleError(node)
        if is_list:
            self.lists.add(len(self.values))
        self.values.append(node)
        return Parameter(len(self.values) - 1, is_list)

    def attempted(self, make: Callable[[], _T]) -> _T | None:
        """Returns a term, or None where the database cannot be asked for it, and nothing is left of the attempt."""
        values, nested = len(self.values), len(self.nested)
        try:
            return make()
        except ImpossibleError:
            del self.values[values:], self.nested[nested:]
            self.lists.difference_update(range(values, max(self.lists, default=0) + 1))
            return None

    def mentions(self, node: syntax.Node) -> bool:
        """Returns True where a column stands in an expression, or may stand in the text of an EVAL."""
        if self.selects and any(map(evaluates, walk([node]))):
            return True
        return bool(self.tables) and mentions(self.body, node, frozenset(self.tables))

    def bound(self) -> ast.expr:
        """The values, worked out in the order in which they stand."""
        return group([self._bound(number, node) for number, node in enumerate(self.values)])

    def _bound(self, number: int, node: syntax.Node) -> ast.expr:
        if number in self.lists:
            return call("joined_items", self.body.items(node))
        return self.body.expression(node).code

    def within(self, node: syntax.Select) -> tuple[Terms, tuple[int, ...]]:
        """Returns the terms of a query in this statement, with the numbers of its tables."""
        tables, numbers = dict(self.tables), []
        for source in node.sources:
            names = static_names(source.source) if isinstance(source.source, syntax.Path) else ()
            if not is_database(self.body, source.source) or not all(names) or _source(names) != _source(self.place):
                raise ImpossibleError(source)
            numbers.append(self.count + len(self.nested))
            self.nested.append(names)
            variable = correlation_of(self.body, source)
            if variable is not None:
                tables[variable] = numbers[-1]
        return replace(self, tables=tables), tuple(numbers)


def static_names(path: syntax.Path | None) -> tuple[str, ...]:
    """The names behind Database that the program says; one that is computed is empty."""
    steps = () if path is None else path.steps
    return tuple(step.name.text if isinstance(step.name, syntax.Name) else "" for step in steps)


def is_database(body: Body, node: syntax.Node) -> bool:
    """Returns True for a path that leads to a database."""
    reference = body.unit.resolution.of(node)
    return isinstance(node, syntax.Path) and isinstance(reference, Correlation) and reference.name == "Database"


def correlation_of(body: Body, node: syntax.Node) -> Variable | None:
    """The name by which a statement speaks of its table; None if it does not."""
    return body.unit.declared.get(id(node))


def aggregate_of(node: syntax.Select) -> syntax.Aggregate | None:
    """The aggregate that a SELECT consists of."""
    match node:
        case syntax.Select(columns=(syntax.Column(expression=syntax.Aggregate() as aggregate),)):
            return aggregate
        case syntax.Select(item=syntax.Aggregate() as aggregate):
            return aggregate
    return None


def mentions(body: Body, node: syntax.Node, variables: frozenset[Variable]) -> bool:
    """Returns True where any of these names stands in an expression."""
    return any(isinstance(one, syntax.Path) and body.unit.resolution.of(one) in variables for one in walk([node]))


def _source(names: Names) -> str | None:
    """The data source that the names of a table begin with, empty where they name none; None where it is computed."""
    return "" if len(names) < 3 else names[0] or None


# terms


def _column(terms: Terms, node: syntax.Path) -> Term:
    title = column_name(node)
    table = terms.body.unit.resolution.of(node)
    if title is None or not isinstance(table, Variable):
        raise ImpossibleError(node)
    return Column(title, terms.tables[table])


def column_name(node: syntax.Path) -> str | None:
    """The column that a path `T.NAME` means; None where it says anything else."""
    return plain_name(node.steps) if node.index is None else None


def plain_name(steps: tuple[syntax.Step, ...]) -> str | None:
    """The name that steps are, where they are no more than one."""
    match steps:
        case (syntax.Step(syntax.Name(text), None, (), None),):
            return text
    return None


def _computed(operator: str, *parts: str) -> Callable[[Terms, Any], Term]:
    """An operator whose operands stand in these fields; it starts with NOT where the syntax says so."""

    def made(terms: Terms, node: Any) -> Term:
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


def _is(terms: Terms, node: syntax.Is) -> Term:
    if node.state not in _STATES:
        raise ImpossibleError(node)
    return Computed(f"IS {'NOT ' if node.negated else ''}{node.state}", (terms.of(node.operand),))


def _call(terms: Terms, node: syntax.Call) -> Term:
    title = node.name[-1].upper()
    match title, node.arguments:
        case "EXISTS" | "THE" as kind, (syntax.Select() as select,):
            return _query(terms, kind, select)
    is_own = isinstance(terms.body.unit.resolution.of(node), DeclaredRoutine)
    if is_own or (terms.selects and title not in _ALIKE):
        raise ImpossibleError(node)
    return Computed(title, tuple(terms.of(argument) for argument in node.arguments))


def _in(terms: Terms, node: syntax.In) -> Term:
    """IN of values, of lists, which are worked out before, and of queries of columns."""
    found: list[Computed] = []
    rest: list[syntax.Node] = []
    for choice in node.choices:
        query = terms.attempted(partial(_choices, terms, node.operand, choice))
        if query is None:
            rest.append(choice)
        else:
            found.append(query)
    if rest:
        operand = terms.of(node.operand)
        is_list = terms.body.unit.resolution.type_of
        choices = (terms.parameter(one, is_list=True) if is_list(one) == "LIST" else terms.of(one) for one in rest)
        found.append(Computed("IN", (operand, *choices)))
    if node.negated:
        found = [replace(one, operator="NOT IN") for one in found]
    return found[0] if len(found) == 1 else Computed("AND" if node.negated else "OR", tuple(found))


def _choices(terms: Terms, operand: syntax.Node, choice: syntax.Node) -> Computed:
    """IN of the column that a query gives."""
    if not isinstance(choice, syntax.Select) or aggregate_of(choice) is not None:
        raise ImpossibleError(choice)
    value, query = terms.of(operand), _query(terms, "IN", choice)
    if not all(isinstance(one, Column | Parameter) for one in (value, query.wanted)):
        raise ImpossibleError(choice)  # SQLite compares some of what it has computed in a way of its own
    return Computed("IN", (value, query))


def _query(terms: Terms, kind: Literal["EXISTS", "IN", "THE"], node: syntax.Select) -> Query:
    inner, numbers = terms.within(node)
    wanted = None
    if kind != "EXISTS":
        wanted = _wanted(inner, node)
        if isinstance(wanted, Parameter):
            raise ImpossibleError(node)
    elif aggregate_of(node) is not None:  # it gives a row in any case
        raise ImpossibleError(node)
    return Query(kind, numbers, wanted, None if node.condition is None else inner.of(node.condition))


def _wanted(inner: Terms, node: syntax.Select) -> Term:
    """Returns the term that a query selects: an aggregate, an item, or its only column."""
    match aggregate_of(node):
        case syntax.Aggregate() as aggregate:
            return Computed(aggregate.function, () if aggregate.operand is None else (inner.of(aggregate.operand),))
    match node:
        case syntax.Select(item=item) if item is not None:
            return inner.of(item)
        case syntax.Select(columns=(syntax.Column(expression=expression),)):
            return inner.of(expression)
    raise ImpossibleError(node)


def _substring(terms: Terms, node: syntax.Substring) -> Term:
    if node.preposition != "FROM":
        raise ImpossibleError(node)
    return _computed("SUBSTRING", "source", "start", "length")(terms, node)


def _changing(make: Callable[[Terms, Any], Term]) -> Callable[[Terms, Any], Term]:
    """A term that databases work out in ways of their own, which a SELECT had better do in memory."""

    def made(terms: Terms, node: Any) -> Term:
        if terms.selects:
            raise ImpossibleError(node)
        return make(terms, node)

    return made


def _case(terms: Terms, node: syntax.Case) -> Term:
    operands: list[Term] = []
    for branch in node.branches:
        test = terms.of(branch.condition)
        operands.append(test if node.operand is None else Computed("=", (terms.of(node.operand), test)))
        operands.append(terms.of(branch.result))
    if node.otherwise is not None:
        operands.append(terms.of(node.otherwise))
    return Computed("CASE", tuple(operands))


def _cast(terms: Terms, node: syntax.Cast) -> Term:
    clauses = (node.ccsid, node.encoding, node.format, node.default)
    kind = _KINDS.get(node.type.name)
    if kind is None or len(node.sources) != 1 or any(clause is not None for clause in clauses):
        raise ImpossibleError(node)
    return Converted(terms.of(node.sources[0]), ColumnType(kind, node.type.scale, node.type.precision))


def _trim(terms: Terms, node: syntax.Trim) -> Term:
    operands = (node.source,) if node.singleton is None else (node.source, node.singleton)
    return Computed(_SIDES.get(node.side or "", "TRIM"), tuple(map(terms.of, operands)))


def _position(terms: Terms, node: syntax.PositionCall) -> Term:
    if node.start is not None or node.repeat is not None:
        raise ImpossibleError(node)
    return Computed("POSITION", (terms.of(node.source), terms.of(node.search)))


def _round(terms: Terms, node: syntax.Round) -> Term:
    if node.mode is not None:
        raise ImpossibleError(node)
    return _computed("ROUND", "source", "places")(terms, node)


_TERMS: Final[Mapping[type, Callable[[Terms, Any], Term]]] = {
    syntax.Path: _column,
    syntax.Unary: _computed("", "operand"),
    syntax.Operation: _computed("", "operands"),
    syntax.Comparison: _computed("", "left", "right"),
    syntax.Is: _is,
    syntax.Between: _computed("BETWEEN", "operand", "low", "high"),
    syntax.In: _in,
    syntax.Like: _computed("LIKE", "operand", "pattern", "escape"),
    syntax.Call: _call,
    syntax.Select: lambda terms, node: _query(terms, "THE", node),  # where one value is wanted
    syntax.Substring: _substring,
    syntax.Overlay: _changing(_computed("OVERLAY", "source", "replacement", "start", "length")),
    syntax.Case: _changing(_case),
    syntax.Cast: _changing(_cast),
    syntax.Trim: _changing(_trim),
    syntax.PositionCall: _changing(_position),
    syntax.Round: _changing(_round),
}
