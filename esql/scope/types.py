"""The types of expressions as far as they are known before a program runs, and which types go together.

The empty string is the unknown type. Types go by their long names; NULL has the unknown type, for it fits everywhere;
LIST and ROW are types too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from esql import syntax
from esql.cast.conversions import BY_FORMAT, CASTS
from esql.functions import Function, function_catalog
from esql.names.constants import ElementType, NamedConstant
from esql.names.predefined import BrokerProperty, SpecialName
from esql.scope.references import DeclaredRoutine, Reference, Variable, Visit
from esql.values.types import DATES, NUMBERS, SCALARS, STRINGS, fits_integer

Types = dict[int, str]
References = Mapping[int, Reference]
Rule = Callable[[Any, Types, References], str]

UNKNOWN = ""
_EXTRACTED = {"SECOND": "FLOAT", "ISLEAPYEAR": "BOOLEAN"}
_FIXED = {
    syntax.Number: "FLOAT",
    syntax.String: "CHARACTER",
    syntax.HexString: "BLOB",
    syntax.BitString: "BIT",
    syntax.IntervalLiteral: "INTERVAL",
    **dict.fromkeys((syntax.Truth, syntax.Comparison, syntax.Is, syntax.Between, syntax.In, syntax.Like), "BOOLEAN"),
    syntax.Quantified: "BOOLEAN",
    syntax.AsBitstream: "BLOB",
    syntax.Row: "ROW",
    syntax.ListOf: "LIST",
    syntax.InUnits: "INTERVAL",
}


def types_of(visits: Sequence[Visit], references: References) -> Types:
    """Find the types of all expressions; what is inside an expression was visited after it."""
    types: Types = {}
    for visit in reversed(visits):
        node = visit.node
        kind = type(node)
        if kind in _FIXED:
            types[id(node)] = _FIXED[kind]
        elif kind in _RULES:
            types[id(node)] = _RULES[kind](node, types, references)
    return types


def arithmetic(operator: str, left: str, right: str) -> str | None:
    """Give the type of `left operator right`, None where these types do not go together."""
    if UNKNOWN in (left, right):
        return _partly_known(operator, left or right)
    if left in NUMBERS and right in NUMBERS:
        return next(name for name in ("FLOAT", "DECIMAL", "INTEGER") if name in (left, right))
    if "INTERVAL" in (left, right):
        return _with_interval(operator, left, right)
    if operator == "-" and (left == right or is_time_pair(left, right)) and left in DATES:
        return "INTERVAL"
    return None


def _partly_known(operator: str, known: str) -> str | None:
    accepted = NUMBERS | {"INTERVAL", UNKNOWN} | (DATES if operator in "+-" else frozenset())
    return UNKNOWN if known in accepted else None


def _with_interval(operator: str, left: str, right: str) -> str | None:
    other = left if right == "INTERVAL" else right
    if other == "INTERVAL":
        return "INTERVAL" if operator in "+-" else None
    if other in NUMBERS:
        return "INTERVAL" if operator == "*" or (operator == "/" and left == "INTERVAL") else None
    if other in DATES:
        return other if operator == "+" or (operator == "-" and right == "INTERVAL") else None
    return None


def is_time_pair(left: str, right: str) -> bool:
    """Say whether these are a type of date or time and its GMT form."""
    return left.removeprefix("GMT") == right.removeprefix("GMT")


def common(types: Sequence[str]) -> str:
    """Give the type that all of these are, unknown where they differ."""
    return types[0] if types and all(name == types[0] for name in types) else UNKNOWN


def _path(node: syntax.Path, types: Types, references: References) -> str:
    index = node.steps[-1].index if node.steps else node.index
    if isinstance(index, syntax.IndexAll):
        return "LIST"
    if node.index is not None:
        return UNKNOWN
    match references.get(id(node)):
        case Variable() as variable if not node.steps:
            return _of_variable(variable)
        case SpecialName(type=name) | BrokerProperty(type=name) if len(node.steps) == (node.root.upper() == "SQL"):
            return name
        case NamedConstant(type=name) if not node.steps:
            return name
        case ElementType(domain=domain) if len(node.steps) == bool(domain):
            return "INTEGER"
    return UNKNOWN


def _of_variable(variable: Variable) -> str:
    name = variable.type_name
    # a reference stands for the field it points to
    return {"REFERENCE": UNKNOWN, "NAMESPACE": "CHARACTER", "NAME": "CHARACTER"}.get(name, name)


def _unary(node: syntax.Unary, types: Types, references: References) -> str:
    if node.operator == "NOT":
        return "BOOLEAN"
    inner = types.get(id(node.operand), UNKNOWN)
    return inner if inner in NUMBERS or inner == "INTERVAL" else UNKNOWN


def _operation(node: syntax.Operation, types: Types, references: References) -> str:
    if node.operator in ("AND", "OR"):
        return "BOOLEAN"
    operands = [types.get(id(operand), UNKNOWN) for operand in node.operands]
    if node.operator == "||":
        return next((name for name in operands if name in STRINGS), UNKNOWN)
    result = operands[0]
    for operand in operands[1:]:
        result = arithmetic(node.operator, result, operand) or UNKNOWN
    return result


def _case(node: syntax.Case, types: Types, references: References) -> str:
    results = [branch.result for branch in node.branches]
    if node.otherwise is not None:
        results.append(node.otherwise)
    return common([types.get(id(result), UNKNOWN) for result in results])


def _form(node: Any, types: Types, references: References) -> str:
    known = function_catalog.find(syntax.FORMS[type(node)])
    return _of_function(known, getattr(node, known.places[0].name), types)


def _of_function(function: Function, first: syntax.Expression | None, types: Types) -> str:
    if function.result != "same":
        return function.result
    given = types.get(id(first), UNKNOWN)
    return given if given in function.place(0).types else UNKNOWN


def is_of_one(node: syntax.Node) -> bool:
    """Say whether this is a SELECT that goes through single fields only, so that it gives one row at most."""
    return isinstance(node, syntax.Select) and all(_is_single(source.source) for source in node.sources)


def _is_single(node: syntax.Expression) -> bool:
    if not isinstance(node, syntax.Path) or node.root.upper() == "DATABASE":
        return False
    return not isinstance(node.steps[-1].index if node.steps else node.index, syntax.IndexAll)


def _select(node: syntax.Select, types: Types, references: References) -> str:
    columns = [column.expression if isinstance(column, syntax.Column) else None for column in node.columns]
    aggregates = [value for value in (*columns, node.item) if isinstance(value, syntax.Aggregate)]
    if aggregates:
        return types.get(id(aggregates[0]), UNKNOWN)
    return UNKNOWN if is_of_one(node) else "LIST"


def _call(node: syntax.Call, types: Types, references: References) -> str:
    match references.get(id(node)):
        case DeclaredRoutine(node=syntax.Routine(returns=syntax.Returns(type=returned))):
            return UNKNOWN if returned.name == "REFERENCE" else returned.name
        case Function() as function:
            return _of_function(function, node.arguments[0] if node.arguments else None, types)
    return UNKNOWN


_RULES: dict[type, Rule] = {
    syntax.Integer: lambda node, types, references: "INTEGER" if fits_integer(node.value) else "DECIMAL",
    syntax.TypedLiteral: lambda node, types, references: node.type,
    syntax.Path: _path,
    syntax.Unary: _unary,
    syntax.Operation: _operation,
    syntax.Case: _case,
    syntax.Cast: lambda node, types, references: (
        node.type.name if node.type.name not in ("REFERENCE", "NAMESPACE", "NAME") else UNKNOWN
    ),
    **dict.fromkeys(syntax.FORMS, _form),
    syntax.Extract: lambda node, types, references: _EXTRACTED.get(node.part, "INTEGER"),
    syntax.Select: _select,
    syntax.Aggregate: lambda node, types, references: "INTEGER" if node.function == "COUNT" else UNKNOWN,
    syntax.Call: _call,
}


_MOMENTS = frozenset(("TIMESTAMP", "GMTTIMESTAMP"))
# How many sources CAST takes, besides one, to make a type.
_PARTS = {
    "DATE": (3,),
    "TIME": (3,),
    "GMTTIME": (3,),
    "TIMESTAMP": (2, 6),
    "GMTTIMESTAMP": (2, 6),
    "INTERVAL": (2, 3, 4),
}


def can_cast(source: str, target: str, *, by_format: bool = False) -> bool:
    """Say whether CAST makes this target of this source, perhaps by FORMAT; unknown types go with all.

    >>> can_cast("DATE", "INTEGER"), can_cast("", "INTEGER"), can_cast("DATE", "BLOB", by_format=True)
    (False, True, True)
    """
    pair = (source, target)
    return UNKNOWN in pair or (pair in CASTS and (by_format or pair not in BY_FORMAT))


def can_assign(source: str, target: str) -> bool:
    """Say whether a value of one type can be assigned to a variable of another."""
    if target in ("ROW", "LIST"):
        return source in (UNKNOWN, target) or (target == "ROW" and source in SCALARS)
    return source == target or can_cast(source, target)


def can_compare(left: str, right: str) -> bool:
    """Say whether values of these types can be compared."""
    if UNKNOWN in (left, right) or left == right or {left, right} <= NUMBERS:
        return True
    if "CHARACTER" in (left, right):
        return {left, right} <= SCALARS
    if "LIST" in (left, right) or "ROW" in (left, right):
        return {left, right} == {"LIST", "ROW"}
    return is_time_pair(left, right) or {left, right} <= _MOMENTS | {"DATE"}


def part_counts(target: str) -> tuple[int, ...]:
    """Give how many sources CAST takes to make a type."""
    return (1, *_PARTS.get(target, ()))


def common_cast(source: str) -> list[str]:
    """List what CAST can make of a type."""
    return sorted(target for target in SCALARS - {source} if source and can_cast(source, target))
