"""Contexts of the parser -> SELECT, ROW, LIST and quantified predicates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from esql import syntax
from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.names.predefined import AGGREGATES
from esql.read import paths
from esql.read.expressions import builds, each, expression, optional

if TYPE_CHECKING:
    from esql.text.source import Source


@builds(Rules.SelectContext)
def _select(context: Any, source: Source) -> syntax.Expression:
    item = optional(context.item, source)
    return syntax.Select(
        tuple(_select_column(column, source) for column in context.columns),
        None if item is None else _aggregated(item),
        tuple(_from_item(item, source) for item in context.sources),
        optional(context.condition, source),
        position=source.of(context),
    )


def _select_column(context: Any, source: Source) -> syntax.Column | syntax.AllColumns:
    if context.star is not None:
        return syntax.AllColumns(position=source.of(context))
    column = _column(context, source)
    value, insert = _aggregated(column.expression), context.insert is not None
    return syntax.Column(value, column.name, insert, position=column.position)


def _aggregated(expression: syntax.Expression) -> syntax.Expression:
    match expression:
        case syntax.Call((function,), (operand,), position=at) if function.upper() in AGGREGATES:
            return syntax.Aggregate(function.upper(), operand, position=at)
    return expression


def _column(context: Any, source: Source) -> syntax.Column:
    name = paths.optional_relative_path(context.name, source)
    return syntax.Column(expression(context.source, source), name, position=source.of(context))


def _from_item(context: Any, source: Source) -> syntax.FromItem:
    correlation = paths.optional_name(context.correlation)
    return syntax.FromItem(expression(context.source, source), correlation, position=source.of(context))


@builds(Rules.RowConstructorContext)
def _row(context: Any, source: Source) -> syntax.Expression:
    return syntax.Row(tuple(_column(column, source) for column in context.columns), position=source.of(context))


@builds(Rules.ListConstructorContext)
def _list(context: Any, source: Source) -> syntax.Expression:
    return syntax.ListOf(each(context.elements, source), position=source.of(context))


@builds(Rules.QuantifiedContext)
def _quantified(context: Any, source: Source) -> syntax.Expression:
    return syntax.Quantified(
        context.quantifier.text.upper(),
        paths.path(context.source, source),
        paths.optional_name(context.correlation),
        expression(context.condition, source),
        position=source.of(context),
    )
