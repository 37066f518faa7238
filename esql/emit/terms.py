"""Terms that a database evaluates for a statement: columns, operators and functions on them, and parameters."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from engine.databases.driver import ColumnType
from engine.databases.statements import Column, Computed, Converted, Parameter, Term
from esql import syntax
from esql.emit.function_body import Body
from esql.emit.python_nodes import group
from esql.scope.references import DeclaredRoutine, Variable
from esql.scope.syntax_children import children

_STATES: Final = frozenset(("NULL", "UNKNOWN", "TRUE", "FALSE"))
_KINDS: Final = MappingProxyType(
    {
        **{name: name.lower() for name in ("INTEGER", "FLOAT", "DECIMAL", "BOOLEAN", "DATE", "TIME", "TIMESTAMP")},
        "CHARACTER": "text",
    }
)
_SIDES: Final = MappingProxyType({"LEADING": "LTRIM", "TRAILING": "RTRIM"})
_ALIKE: Final = frozenset(("UPPER", "UCASE", "LOWER", "LCASE", "LENGTH", "ABS", "ABSVAL", "COALESCE", "NULLIF"))


class ImpossibleError(Exception):
    """A piece of syntax that a database cannot be asked to work out."""

    def __init__(self, node: syntax.Node) -> None:
        super().__init__(node)
        self.node = node


@dataclass(slots=True)
class Terms:
    """The terms of a statement on the columns of tables, by the tables' numbers, and the values that are bound to it.

    `later` are the names of lists behind these tables, whose items are not known yet. A SELECT can work out in memory
    what databases may do in another way, so its functions are those that all of them have alike.
    """

    body: Body
    tables: Mapping[Variable, int]
    later: frozenset[Variable] = frozenset()
    selects: bool = False
    values: list[syntax.Node] = field(default_factory=list)

    def of(self, node: syntax.Node) -> Term:
        """Returns an expression as a term; a part that mentions no column becomes a parameter."""
        if not self.mentions(node):
            if self.later and mentions(self.body, node, self.later):
                raise ImpossibleError(node)
            self.values.append(node)
            return Parameter(len(self.values) - 1)
        made = _TERMS.get(type(node))
        if made is None:
            raise ImpossibleError(node)
        return made(self, node)

    def mentions(self, node: syntax.Node) -> bool:
        """Returns True where a column stands in an expression."""
        return bool(self.tables) and mentions(self.body, node, frozenset(self.tables))

    def bound(self) -> ast.expr:
        """The values, worked out in the order in which they stand."""
        return group([self.body.expression(node).code for node in self.values])


def mentions(body: Body, node: syntax.Node, variables: frozenset[Variable]) -> bool:
    """Returns True where any of these names stands in an expression."""
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, syntax.Path) and body.unit.resolution.of(one) in variables:
            return True
        pending.extend(children(one))
    return False


# terms


def _column(terms: Terms, node: syntax.Path) -> Term:
    title = column_name(node)
    table = terms.body.unit.resolution.of(node)
    if title is None or not isinstance(table, Variable):
        raise ImpossibleError(node)
    return Column(title, terms.tables[table])


def column_name(node: syntax.Path) -> str | None:
    """The column that a path `T.NAME` means; None where it says anything else."""
    match node:
        case syntax.Path(index=None, steps=(syntax.Step(syntax.Name(text), None, (), None),)):
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
    is_own = isinstance(terms.body.unit.resolution.of(node), DeclaredRoutine)
    if is_own or (terms.selects and node.name[-1].upper() not in _ALIKE):
        raise ImpossibleError(node)
    return Computed(node.name[-1].upper(), tuple(terms.of(argument) for argument in node.arguments))


def _in(terms: Terms, node: syntax.In) -> Term:
    """IN of values; how many a list has is not known before the program runs."""
    if any(terms.body.unit.resolution.type_of(choice) == "LIST" for choice in node.choices):
        raise ImpossibleError(node)
    return _computed("IN", "operand", "choices")(terms, node)


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
    if node.start is not None or node.count is not None:
        raise ImpossibleError(node)
    return Computed("POSITION", (terms.of(node.source), terms.of(node.search)))


def _round(terms: Terms, node: syntax.Round) -> Term:
    if node.mode is not None:
        raise ImpossibleError(node)
    return _computed("ROUND", "source", "places")(terms, node)


_TERMS: Final[Mapping[type, Callable[[Terms, Any], Term]]] = MappingProxyType(
    {
        syntax.Path: _column,
        syntax.Unary: _computed("", "operand"),
        syntax.Operation: _computed("", "operands"),
        syntax.Comparison: _computed("", "left", "right"),
        syntax.Is: _is,
        syntax.Between: _computed("BETWEEN", "operand", "low", "high"),
        syntax.In: _in,
        syntax.Like: _computed("LIKE", "operand", "pattern", "escape"),
        syntax.Call: _call,
        syntax.Substring: _substring,
        syntax.Overlay: _changing(_computed("OVERLAY", "source", "replacement", "start", "length")),
        syntax.Case: _changing(_case),
        syntax.Cast: _changing(_cast),
        syntax.Trim: _changing(_trim),
        syntax.PositionCall: _changing(_position),
        syntax.Round: _changing(_round),
    }
)
