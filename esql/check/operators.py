"""Checks of operators, conditions, SELECT and functions with forms of their own: the types of their operands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from engine.catalog import did_you_mean
from esql import syntax
from esql.check.findings import FILTER_RESULT_NUMBER, OPERATOR_NUMBER, Finding, a, unaccepted
from esql.functions import function_catalog
from esql.scope import Resolution
from esql.scope.types import arithmetic, can_cast, can_compare, common_cast, part_counts
from esql.text import ANY_NUMBER, one_of
from esql.values.types import DATES, NUMBERS, SCALARS, STRINGS

Findings = Iterator[Finding]
_TRUTH = frozenset(("BOOLEAN",))
_TEXT = frozenset(("CHARACTER",))


def operands(found: Resolution) -> Findings:
    """Operands of types that an operator or function does not take."""
    for kind, rule in _RULES.items():
        for visit in found.each(kind):
            yield from rule(visit.node, found)


def conditions(found: Resolution) -> Findings:
    """Conditions that are not BOOLEAN."""
    for visit in found.each(*_CONDITIONAL):
        condition: syntax.Expression | None = visit.node.condition  # type: ignore[attr-defined]  # each has one
        if condition is not None:
            yield from _is_truth(condition, found)
    for visit in found.each(syntax.Case, syntax.CaseStatement):
        yield from _case(visit.node, found)


def filter_results(found: Resolution) -> Findings:
    """Results of a Filter node that are not BOOLEAN."""
    for node, place in found.placed(syntax.Return):
        is_main = place.routine is None or place.routine.node.name.lower() == "main"
        given = found.type_of(node.result)
        if place.kind == "FILTER" and is_main and given not in ("", "BOOLEAN"):
            text = f"a Filter node returns a BOOLEAN, and this is {a(given)}: write a condition"
            yield Finding(node.result or node, "type", text, FILTER_RESULT_NUMBER)


def differences(found: Resolution) -> Findings:
    """Differences of dates or times without the units of the interval they give."""
    measured = {id(node.expression) for node in found.nodes(syntax.InUnits)}
    for node in found.nodes(syntax.Operation):
        if node.operator != "-" or id(node) in measured:
            continue
        types = [found.type_of(operand) for operand in node.operands]
        if len(types) == 2 and types[0] in DATES and types[1] in DATES and arithmetic("-", *types):
            text = (
                "the difference of two dates or times needs its units: write (a - b) DAY, or HOUR TO SECOND, or others"
            )
            yield Finding(node, "type", text, OPERATOR_NUMBER)


_CONDITIONAL = (
    *(syntax.IfBranch, syntax.While, syntax.Repeat, syntax.Select, syntax.Quantified, syntax.Update),
    syntax.DeleteFrom,
)


def _is_truth(condition: syntax.Expression, found: Resolution) -> Findings:
    given = found.type_of(condition)
    if given not in ("", "BOOLEAN"):
        text = f"a condition is BOOLEAN, and this is {a(given)}: compare it with something"
        yield Finding(condition, "type", text)


def _case(node: Any, found: Resolution) -> Findings:
    for branch in node.branches:
        if node.operand is None:
            yield from _is_truth(branch.condition, found)
        else:
            yield from _comparable("=", node.operand, branch.condition, found)


def _takes(
    value: syntax.Expression | None, accepted: frozenset[str], what: str, found: Resolution, number: int = ANY_NUMBER
) -> Findings:
    given = found.type_of(value)
    if value is not None and given and given not in accepted:
        yield Finding(value, "type", f"{what} takes {unaccepted(accepted, given)}", number)


def _unary(node: syntax.Unary, found: Resolution) -> Findings:
    accepted = _TRUTH if node.operator == "NOT" else NUMBERS | {"INTERVAL"}
    yield from _takes(node.operand, accepted, node.operator, found, OPERATOR_NUMBER)


def _operation(node: syntax.Operation, found: Resolution) -> Findings:
    if node.operator in ("AND", "OR"):
        for operand in node.operands:
            yield from _takes(operand, _TRUTH, node.operator, found, OPERATOR_NUMBER)
    elif node.operator == "||":
        yield from _strings("||", "joins", node.operands, found)
    else:
        yield from _arithmetic(node, found)


def _strings(operator: str, does: str, operands: Iterable[syntax.Expression], found: Resolution) -> Findings:
    """Operands that are no strings, or not all of one type."""
    first = ""
    for operand in operands:
        given = found.type_of(operand)
        if given and given not in STRINGS:
            yield from _takes(operand, STRINGS, operator, found, OPERATOR_NUMBER)
        elif given and first and given != first:
            text = f"{operator} {does} strings of one type, and these are {a(first)} and {a(given)}: CAST one of them"
            yield Finding(operand, "type", text, OPERATOR_NUMBER)
        first = first or (given if given in STRINGS else "")


def _arithmetic(node: syntax.Operation, found: Resolution) -> Findings:
    left = found.type_of(node.operands[0])
    for operand in node.operands[1:]:
        right = found.type_of(operand)
        result = arithmetic(node.operator, left, right)
        if result is None:
            yield Finding(node, "type", _unfit(node.operator, left, right), OPERATOR_NUMBER)
            return
        left = result


def _unfit(operator: str, left: str, right: str) -> str:
    known = [name for name in dict.fromkeys((left, right)) if name]
    advice = ""
    if "CHARACTER" in known:
        advice = ": CAST the CHARACTER to a number"
    elif DATES & set(known) and NUMBERS & set(known) and operator in "+-":
        advice = ": add an INTERVAL, such as INTERVAL '1' DAY"
    if len(known) == 1 and "" in (left, right):
        return f"{operator} does not take {a(known[0])}{advice}"
    return f"{operator} does not take {a(left)} and {a(right)} together{advice}"


def _comparable(operator: str, left: syntax.Expression, right: syntax.Expression, found: Resolution) -> Findings:
    first, second = found.type_of(left), found.type_of(right)
    if not can_compare(first, second):
        text = f"{a(first)} and {a(second)} cannot be compared{_advice(first, second)}"
        yield Finding(right, "type", text, OPERATOR_NUMBER)
    elif operator not in ("=", "<>") and {first, second} & {"LIST", "ROW"}:
        given = first if first in ("LIST", "ROW") else second
        text = f"{operator} does not take {a(given)}: only = and <> do"
        yield Finding(left if given == first else right, "type", text, OPERATOR_NUMBER)


def _advice(first: str, second: str) -> str:
    if "LIST" in (first, second):
        return ": take one element of the list by THE or an index"
    return ": CAST one of them" if second in common_cast(first) or first in common_cast(second) else ""


def _between(node: syntax.Between, found: Resolution) -> Findings:
    for bound in (node.low, node.high):
        yield from _comparable("<=", node.operand, bound, found)


def _in(node: syntax.In, found: Resolution) -> Findings:
    for choice in node.choices:
        if found.type_of(choice) != "LIST":
            yield from _comparable("=", node.operand, choice, found)


def _like(node: syntax.Like, found: Resolution) -> Findings:
    escape = [] if node.escape is None or found.type_of(node.escape) == "CHARACTER" else [node.escape]
    yield from _strings("LIKE", "takes", (node.operand, node.pattern, *escape), found)


def _is(node: syntax.Is, found: Resolution) -> Findings:
    if node.state in ("TRUE", "FALSE", "UNKNOWN"):
        yield from _takes(node.operand, _TRUTH, f"IS {node.state}", found, OPERATOR_NUMBER)
    elif node.state != "NULL":
        yield from _takes(node.operand, NUMBERS | {"CHARACTER"}, f"IS {node.state}", found, OPERATOR_NUMBER)


def _cast(node: syntax.Cast, found: Resolution) -> Findings:
    target, count = node.type.name, len(node.sources)
    if target not in SCALARS:
        yield Finding(node, "type", f"CAST cannot make {a(target)}: it makes single values only")
        return
    if count not in part_counts(target):
        wanted = one_of([str(number) for number in part_counts(target)])
        values = "value" if wanted == "1" else "values"
        yield Finding(node, "type", f"CAST makes {a(target)} of {wanted} {values}, not of {count}")
    for source in node.sources:
        given = found.type_of(source)
        if count == 1 and not can_cast(given, target, by_format=node.format is not None):
            known = common_cast(given)
            advice = f": it can become {one_of([a(name) for name in known])}" if known else ""
            yield Finding(source, "type", f"no CAST makes {a(target)} of {a(given)}{advice}")


def _form(node: Any, found: Resolution) -> Findings:
    known = function_catalog.find(syntax.FORMS[type(node)])
    for parameter in known.parameters:
        if parameter.types:
            yield from _takes(getattr(node, parameter.name), parameter.types, known.name, found)


def _extract(node: syntax.Extract, found: Resolution) -> Findings:
    by_type = function_catalog.find("EXTRACT").parameters[0].words
    parts = frozenset[str]().union(*by_type.values())
    given = found.type_of(node.source)
    if node.part not in parts:
        hint = did_you_mean(node.part, sorted(parts)) or f": there are {', '.join(sorted(parts))}"
        yield Finding(node, "name", f"EXTRACT has no part {node.part}{hint}", word=node.part)
    elif given and given not in by_type:
        yield from _takes(node.source, frozenset(by_type), "EXTRACT", found)
    elif given and node.part not in by_type[given]:
        yield Finding(node, "type", f"{a(given)} has no {node.part}", word=node.part)


def _substring(node: syntax.Substring, found: Resolution) -> Findings:
    yield from _form(node, found)
    yield from _takes(node.start, NUMBERS if node.preposition == "FROM" else STRINGS, "SUBSTRING", found)


def _round(node: syntax.Round, found: Resolution) -> Findings:
    yield from _form(node, found)
    modes = list(function_catalog.find("ROUND").parameters[-1].words[""])
    if node.mode is not None and node.mode.upper() not in modes:
        hint = did_you_mean(node.mode, modes) or f": there are {', '.join(modes)}"
        yield Finding(node, "name", f"ROUND has no mode {node.mode}{hint}", word=node.mode)


def _in_units(node: syntax.InUnits, found: Resolution) -> Findings:
    inner = node.expression
    if found.type_of(inner) not in ("", "INTERVAL"):
        text = "the units of an interval stand behind the difference of two dates or times: (a - b) DAY"
        yield Finding(node, "type", text)


def _aggregate(node: syntax.Aggregate, found: Resolution) -> Findings:
    accepted = NUMBERS | {"INTERVAL", "CHARACTER"} if node.function == "SUM" else SCALARS | {"ROW"}
    if node.function != "COUNT":
        yield from _takes(node.operand, accepted, node.function, found)


_RULES: dict[type, Callable[[Any, Resolution], Findings]] = {
    syntax.Unary: _unary,
    syntax.Operation: _operation,
    syntax.Comparison: lambda node, found: _comparable(node.operator, node.left, node.right, found),
    syntax.Between: _between,
    syntax.In: _in,
    syntax.Like: _like,
    syntax.Is: _is,
    syntax.Cast: _cast,
    **dict.fromkeys(syntax.FORMS, _form),
    syntax.Extract: _extract,
    syntax.Substring: _substring,
    syntax.Round: _round,
    syntax.InUnits: _in_units,
    syntax.IndexAt: lambda node, found: _takes(node.number, NUMBERS, "an index", found),
    syntax.ComputedName: lambda node, found: _takes(node.expression, _TEXT, "a name in braces", found),
    syntax.Aggregate: _aggregate,
}


def aggregates(found: Resolution) -> Iterator[Finding]:
    """Aggregates outside the clause of a SELECT, or beside other columns."""
    placed: set[int] = set()
    for node in found.nodes(syntax.Select):
        columns = [item.expression for item in node.columns if isinstance(item, syntax.Column)]
        inside = [item for item in (*columns, node.item) if isinstance(item, syntax.Aggregate)]
        placed.update(map(id, inside))
        if inside and len(node.columns) > 1:
            text = f"{inside[0].function} stands alone in its SELECT: make a SELECT of its own for each value"
            yield Finding(inside[0], "type", text)
    for aggregate in found.nodes(syntax.Aggregate):
        if id(aggregate) not in placed:
            text = f"{aggregate.function} stands in the SELECT clause of a SELECT only, alone or with AS"
            yield Finding(aggregate, "name", text)


def sources(found: Resolution) -> Iterator[Finding]:
    """FROM, FOR and quantified predicates that go through something that is no list."""
    for visit in found.each(syntax.FromItem, syntax.For, syntax.Quantified):
        source: syntax.Expression = visit.node.source  # type: ignore[attr-defined]  # all three have one
        given = found.type_of(source)
        if given in SCALARS:
            where = {"FromItem": "FROM", "For": "FOR"}.get(type(visit.node).__name__, "a quantified predicate")
            yield Finding(source, "type", f"{where} goes through a list, and this is {a(given)}: write a field with []")
