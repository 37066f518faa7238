"""A slow, direct evaluator of expressions: the oracle that compiled expressions are compared with.

The rules of operators are stated again in oracle.py. Casts and functions are those of the product, which have tables of
cases of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from engine.errors import BrokerError
from engine.parser import parser_catalog
from engine.tree.element import Element
from engine.tree.step import step
from esql import syntax
from esql.cast import FAILED, Clauses, Target, attempted_cast, cast, default_of_cast
from esql.functions import Function, function_catalog
from esql.operators import datetimes
from esql.runtime.invocation import Invocation
from esql.runtime.program_library import a_name, index
from esql.values.errors import ValueFailure, wrong_types
from esql.values.literal_contents import integer_or_decimal, read_contents, read_interval, read_number
from esql.values.types import DECIMAL, STRINGS, Bit, Interval, Qualifier, qualifier, type_of
from tests.esql.oracle import NUMBERS, boolean, exact_integer, matches, operate, order, result_of

OPERATORS = {
    "=": lambda order: order == 0,
    "<>": lambda order: order != 0,
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}


@dataclass
class Moved:
    """A reference variable."""

    moved: bool


@dataclass
class Scope:
    """What names mean: roots of trees, values of variables, and the invocation."""

    roots: dict[str, Element]
    values: dict[str, Any] = field(default_factory=dict)
    here: Invocation = field(default_factory=Invocation)
    rules: dict[type, Any] = field(default_factory=lambda: EVALUATORS)


def sample(rules: dict[type, Any] | None = None) -> Scope:
    """What the examples of docstrings and the tables of cases speak of."""
    environment = Element("Environment")
    order = environment.add("Order")
    order.add("Id", 7)
    for item in ("pen", "ink", "cap"):
        order.add("Item", item)
    order.add("Note", "x", namespace="urn:notes")
    root = Element("InputRoot")
    body = root.add("BLOB")
    body.domain = parser_catalog.find("BLOB")
    body.add("BLOB", b"JK")
    now = datetime.fromisoformat("2003-05-23T09:11:12.123456+00:00").astimezone(datetimes.UTC)
    here = Invocation(lambda: now, lambda: timedelta(hours=1))
    return Scope(
        {"Environment": environment, "InputRoot": root},
        {"found": Moved(True), "lost": Moved(False)},
        here,
        rules or EVALUATORS,
    )


def evaluate(expression: syntax.Expression, scope: Scope) -> Any:
    """The value of an expression."""
    return scope.rules[type(expression)](expression, scope)


# Literals


def integer(node: syntax.Integer, _: Scope) -> Any:
    return integer_or_decimal(node.value)


def truth(node: syntax.Truth, _: Scope) -> Any:
    return node.value


def typed(node: syntax.TypedLiteral, _: Scope) -> Any:
    return read_contents(node.type, node.text)


def units(node: syntax.Qualifier) -> Qualifier:
    return qualifier(node.largest, node.smallest)


# Operators


def unary(node: syntax.Unary, scope: Scope) -> Any:
    value = evaluate(node.operand, scope)
    if node.operator == "NOT":
        return {True: False, False: True, None: None}[boolean("NOT", value)]
    if value is None:
        return None
    kind = type_of(value)
    if kind == "INTERVAL":
        return Interval(value.amount if node.operator == "+" else -value.amount, value.qualifier)
    if kind not in NUMBERS:
        raise wrong_types(node.operator, kind)
    if node.operator == "+" or kind == "INTEGER":
        return value if node.operator == "+" else exact_integer("-", 0, value)
    return DECIMAL.minus(value) if kind == "DECIMAL" else -value


def operation(node: syntax.Operation, scope: Scope) -> Any:
    result = evaluate(node.operands[0], scope)
    for operand in node.operands[1:]:
        if node.operator in {"AND", "OR"}:
            result = logical(node.operator, result, operand, scope)
        else:
            result = operate(node.operator, result, evaluate(operand, scope))
    return result


def logical(operator: str, left: Any, right: syntax.Expression, scope: Scope) -> bool | None:
    decisive = operator == "OR"
    one = boolean(operator, left)
    if one is decisive:
        return decisive
    other = boolean(operator, evaluate(right, scope))
    if other is decisive:
        return decisive
    return None if one is None or other is None else not decisive


def comparison(node: syntax.Comparison, scope: Scope) -> bool | None:
    found = order(evaluate(node.left, scope), evaluate(node.right, scope), scope.here)
    return None if found is None else OPERATORS[node.operator](found)


def is_state(node: syntax.Is, scope: Scope) -> bool:
    value = evaluate(node.operand, scope)
    number = isinstance(value, Decimal | float) and not isinstance(value, bool)
    infinite = number and value in {Decimal("Infinity"), Decimal("-Infinity"), float("inf"), float("-inf")}
    nan = number and value != value  # noqa: PLR0124
    states = {
        "NULL": lambda: value is None,
        "UNKNOWN": lambda: boolean("IS UNKNOWN", value) is None,
        "TRUE": lambda: boolean("IS TRUE", value) is True,
        "FALSE": lambda: boolean("IS FALSE", value) is False,
        "INF": lambda: infinite,
        "+INF": lambda: infinite and value > 0,
        "-INF": lambda: infinite and value < 0,
        "NAN": lambda: nan,
        "NUM": lambda: type_of(value) in NUMBERS and not infinite and not nan,
    }
    return bool(states[node.state]()) is not node.negated


def between(node: syntax.Between, scope: Scope) -> bool | None:
    value, low, high = (evaluate(part, scope) for part in (node.operand, node.low, node.high))
    ways = [(low, high), (high, low)] if node.symmetric else [(low, high)]
    results = []
    for least, most in ways:
        sides = order(value, least, scope.here), order(value, most, scope.here)
        if (sides[0] is not None and sides[0] < 0) or (sides[1] is not None and sides[1] > 0):
            results.append(False)
        else:
            results.append(None if None in sides else True)
    found = True if True in results else None if None in results else False
    return negated(found, node.negated)


def negated(value: bool | None, really: bool) -> bool | None:
    return value if value is None or not really else not value


def is_in(node: syntax.In, scope: Scope) -> bool | None:
    value = evaluate(node.operand, scope)
    found: bool | None = False
    for one in [one for choice in node.choices for one in values_of(choice, scope)]:
        place = order(value, one, scope.here)
        if place == 0:
            return negated(True, node.negated)
        found = None if place is None else found
    return negated(found, node.negated)


def like(node: syntax.Like, scope: Scope) -> bool | None:
    value, pattern = evaluate(node.operand, scope), evaluate(node.pattern, scope)
    escape = "\\" if node.escape is None else evaluate(node.escape, scope)
    if value is None or pattern is None or escape is None:
        return None
    if type_of(value) not in STRINGS or type_of(value) != type_of(pattern):
        raise wrong_types("LIKE", type_of(value), type_of(pattern))
    value, pattern, escape = (s.decode("latin-1") if isinstance(s, bytes) else str(s) for s in (value, pattern, escape))
    if len(escape) != 1:
        raise ValueFailure(2456, "S22019", "ESCAPE takes one character", escape)
    return negated(matches(value, pattern, escape), node.negated)


def case(node: syntax.Case, scope: Scope) -> Any:
    operand = None if node.operand is None else evaluate(node.operand, scope)
    for branch in node.branches:
        condition = evaluate(branch.condition, scope)
        if (condition is True) if node.operand is None else (order(operand, condition, scope.here) == 0):
            return evaluate(branch.result, scope)
    return None if node.otherwise is None else evaluate(node.otherwise, scope)


def in_units(node: syntax.InUnits, scope: Scope) -> Any:
    match node.expression:
        case syntax.Operation("-", (left, right)):
            one, other = evaluate(left, scope), evaluate(right, scope)
            if not isinstance(one, Interval) and not isinstance(other, Interval):
                return datetimes.difference(one, other, units(node.qualifier), scope.here.zone)
    return datetimes.in_units(evaluate(node.expression, scope), units(node.qualifier))


# Casts and functions


def cast_call(node: syntax.Cast, scope: Scope) -> Any:
    def optional(part: syntax.Expression | None) -> Any:
        return None if part is None else evaluate(part, scope)

    kind = node.type
    target = Target(kind.name, kind.precision, kind.scale, None if kind.qualifier is None else units(kind.qualifier))
    clauses = Clauses(optional(node.ccsid), optional(node.encoding), optional(node.format))
    convert = cast if node.default is None else attempted_cast
    found = convert(tuple(evaluate(source, scope) for source in node.sources), target, scope.here, clauses)
    return default_of_cast(optional(node.default), target) if found is FAILED else found


def called(name: str, arguments: list[syntax.Expression | None], scope: Scope, **keywords: Any) -> Any:
    found = function_catalog.get(name.upper())
    if found is None:
        raise BrokerError(2420, f"no function called {name}{function_catalog.suggest(name)}")
    while arguments and arguments[-1] is None:
        arguments.pop()
    values = [argument_value(found, place, argument, scope) for place, argument in enumerate(arguments)]
    if found.takes_invocation:
        keywords["here"] = scope.here
    return result_of(found, *values, **keywords)


def argument_value(found: Function, place: int, argument: syntax.Expression | None, scope: Scope) -> Any:
    takes = found.place(place).takes if found.places else "value"
    if takes == "field":
        return element_of(argument, scope)
    if takes == "list":
        return values_of(argument, scope) if found.name == "THE" else members(argument, scope)
    if takes == "reference":
        return scope.values[argument.root]
    return None if argument is None else evaluate(argument, scope)


def call(node: syntax.Call, scope: Scope) -> Any:
    return called(node.name[-1], list(node.arguments), scope)


def position(node: syntax.PositionCall, scope: Scope) -> Any:
    keywords = {"start": node.start, "repeat": node.repeat}
    said = {name: evaluate(part, scope) for name, part in keywords.items() if part is not None}
    return called("POSITION", [node.search, node.source], scope, **said)


def trim(node: syntax.Trim, scope: Scope) -> Any:
    return called("TRIM", [node.source, node.singleton], scope, side=node.side or "BOTH")


def rounded(node: syntax.Round, scope: Scope) -> Any:
    mode = {} if node.mode is None else {"mode": node.mode}
    return called("ROUND", [node.source, node.places], scope, **mode)


def extract(node: syntax.Extract, scope: Scope) -> Any:
    return result_of(function_catalog.find("EXTRACT"), node.part, evaluate(node.source, scope))


def as_bitstream(node: syntax.AsBitstream, scope: Scope) -> Any:
    clauses = node.clauses
    parts = {
        name: None if (part := getattr(clauses, name)) is None else evaluate(part, scope)
        for name in ("options", "encoding", "ccsid", "set", "type", "format")
    }
    template = (parts.pop("set"), parts.pop("type"), parts.pop("format"))
    return called("ASBITSTREAM", [node.source], scope, template=template, **parts)


# Paths


def path(node: syntax.Path, scope: Scope) -> Any:
    if not node.steps and node.root in scope.values:
        return scope.values[node.root]
    if not node.steps and node.root not in scope.roots:
        return called(node.root, [], scope)
    found = element_of(node, scope)
    return None if found is None else found.value


def is_list(node: syntax.Expression) -> bool:
    last = node.steps[-1] if isinstance(node, syntax.Path) and node.steps else None
    return last is not None and isinstance(last.index, syntax.IndexAll)


def members(node: Any, scope: Scope) -> list[Any]:
    """The elements of a list of fields, or the values of any other list."""
    return elements(node, scope) if isinstance(node, syntax.Path) else evaluate(node, scope)


def values_of(node: Any, scope: Scope) -> list[Any]:
    """The values of a list, or the one value of anything else."""
    if is_list(node):
        return [element.value for element in elements(node, scope)]
    found = evaluate(node, scope)
    return found if isinstance(found, list) else [found]


def elements(node: Any, scope: Scope) -> list[Element]:
    parent = element_of(syntax.Path(node.root, node.steps[:-1]), scope)
    return [] if parent is None else parent.every(wanted(node.steps[-1], scope))


def element_of(node: Any, scope: Scope) -> Element | None:
    at: Element | None = scope.roots[node.root]
    for part in node.steps:
        at = None if at is None else below(at, part, scope)
    return at


def below(at: Element, part: syntax.Step, scope: Scope) -> Element | None:
    look = wanted(part, scope)
    match part.index:
        case syntax.IndexAt(number):
            return at.nth(look, index(evaluate(number, scope)))
        case syntax.IndexFromStart(distance):
            return at.nth(look, 1 if distance is None else index(evaluate(distance, scope)))
        case syntax.IndexFromEnd(distance):
            return at.nth_last(look, 1 if distance is None else index(evaluate(distance, scope)))
    return at.child(look)


def wanted(part: syntax.Step, scope: Scope) -> Any:
    def named(name: Any) -> str | None:
        match name:
            case syntax.Name(text):
                return text
            case syntax.ComputedName(expression):
                return a_name(evaluate(expression, scope))
        return None

    namespace = (
        named(part.namespace) if part.namespace is not None else "" if isinstance(part.name, syntax.Name) else None
    )
    return step(named(part.name), namespace)


EVALUATORS: dict[type, Any] = {
    syntax.Integer: integer,
    syntax.Number: lambda node, _: read_number(node.text),
    syntax.String: lambda node, _: node.value,
    syntax.HexString: lambda node, _: bytes.fromhex(node.digits),
    syntax.BitString: lambda node, _: Bit.of(node.digits),
    syntax.Truth: truth,
    syntax.Null: lambda node, _: None,
    syntax.TypedLiteral: typed,
    syntax.IntervalLiteral: lambda node, _: read_interval(node.text, units(node.qualifier)),
    syntax.Unary: unary,
    syntax.Operation: operation,
    syntax.Comparison: comparison,
    syntax.Is: is_state,
    syntax.Between: between,
    syntax.In: is_in,
    syntax.Like: like,
    syntax.Case: case,
    syntax.InUnits: in_units,
    syntax.Cast: cast_call,
    syntax.Call: call,
    syntax.Extract: extract,
    syntax.PositionCall: position,
    syntax.Substring: lambda node, scope: called(
        "SUBSTRING", [node.source, node.start, node.length], scope, preposition=node.preposition
    ),
    syntax.Overlay: lambda node, scope: called(
        "OVERLAY", [node.source, node.replacement, node.start, node.length], scope
    ),
    syntax.Trim: trim,
    syntax.Round: rounded,
    syntax.AsBitstream: as_bitstream,
    syntax.Path: path,
}
