"""Lists in the evaluator: SELECT ITEM and aggregates, LIST, FOR ALL and FOR ANY; rows of SELECT are no values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from engine.tree.element import Element
from esql import syntax
from tests.esql.evaluator import EVALUATORS, Scope, evaluate, members
from tests.esql.oracle import operate, order


def select(node: syntax.Select, scope: Scope) -> Any:
    """The list of items, or what an aggregate makes of it."""
    rows = [row for row in combinations(node.sources, scope) if holds(node.condition, row)]
    if node.item is not None:
        return [evaluate(node.item, row) for row in rows]
    match node.columns:
        case (syntax.Column(syntax.Aggregate() as aggregate),):
            return aggregated(aggregate, rows)
    raise NotImplementedError("SELECT of rows makes a tree, not a value")


def holds(condition: syntax.Expression | None, row: Scope) -> bool:
    return condition is None or evaluate(condition, row) is True


def combinations(sources: tuple[syntax.FromItem, ...], scope: Scope) -> Iterator[Scope]:
    """Every combination of what the sources hold, the first source outermost."""
    if not sources:
        yield scope
        return
    first, *others = sources
    for one in members(first.source, scope):
        name = first.correlation or first.source.steps[-1].name.text
        yield from combinations(tuple(others), correlated(scope, name, one))


def correlated(scope: Scope, name: str, one: Any) -> Scope:
    if isinstance(one, Element):
        return replace(scope, roots={**scope.roots, name: one})
    return replace(scope, values={**scope.values, name: one})


def aggregated(node: syntax.Aggregate, rows: list[Scope]) -> Any:
    if node.operand is None:
        return len(rows)
    found = [value for row in rows if (value := evaluate(node.operand, row)) is not None]
    if node.function == "COUNT":
        return len(found)
    if not found:
        return None
    best = found[0]
    for value in found[1:]:
        if node.function == "SUM":
            best = operate("+", best, value)
        elif order(value, best, rows[0].here) == (1 if node.function == "MAX" else -1):
            best = value
    return best


def quantified(node: syntax.Quantified, scope: Scope) -> bool | None:
    """TRUE or FALSE as all or any are; UNKNOWN where that hangs on one that is UNKNOWN."""
    decisive = node.quantifier != "ALL"
    truths = []
    for one in members(node.source, scope):
        name = node.correlation or node.source.steps[-1].name.text
        truths.append(evaluate(node.condition, correlated(scope, name, one)))
    if decisive in truths:
        return decisive
    return None if None in truths else not decisive


ORACLE: dict[type, Any] = {
    **EVALUATORS,
    syntax.Select: select,
    syntax.ListOf: lambda node, scope: [evaluate(part, scope) for part in node.elements],
    syntax.Quantified: quantified,
}
