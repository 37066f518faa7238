"""Contexts of the parser -> SELECT, ROW, LIST, quantified predicates and functions that have a form of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from esql import syntax
from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.names.predefined import AGGREGATES
from esql.read import expressions, paths
from esql.read.expressions import builds, each, expression, optional

if TYPE_CHECKING:
    from collections.abc import Iterable

    from esql.text import Source


# the positions of the older form: ASBITSTREAM(field, encoding, ccsid, set, type, format, options)
_BITSTREAM_ORDER = ("encoding", "ccsid", "set", "type", "format", "options")


def keyed(clauses: Iterable[Any], source: Source) -> dict[str, Any]:
    """Build clauses that are a keyword and an expression, each of which may stand once."""
    built: dict[str, Any] = {}
    for clause in clauses:
        word = clause.kind.text
        if word.lower() in built:
            source.problem_at(clause, f"{word.upper()} is said twice")
        built[word.lower()] = expression(clause.given, source)
    return built


@builds(Rules.ParenthesisContext)
def _parenthesis(context: Any, source: Source) -> syntax.Expression:
    inner = expression(context.inner, source)
    if context.units is None:
        return inner
    return syntax.InUnits(inner, expressions.qualifier(context.units, source), position=source.of(context))


@builds(Rules.CastContext)
def _cast(context: Any, source: Source) -> syntax.Expression:
    clauses = keyed(context.clauses, source)
    sources, kind = each(context.sources, source), expressions.cast_type(context.type_, source)
    return syntax.Cast(sources, kind, **clauses, position=source.of(context))


@builds(Rules.ExtractContext)
def _extract(context: Any, source: Source) -> syntax.Expression:
    part = paths.name(context.part).upper()
    return syntax.Extract(part, expression(context.source, source), position=source.of(context))


@builds(Rules.PositionCallContext)
def _position(context: Any, source: Source) -> syntax.Expression:
    return syntax.PositionCall(
        expression(context.search, source),
        expression(context.source, source),
        optional(context.origin, source),
        optional(context.count, source),
        position=source.of(context),
    )


@builds(Rules.SubstringContext)
def _substring(context: Any, source: Source) -> syntax.Expression:
    return syntax.Substring(
        expression(context.source, source),
        context.preposition.text.upper(),
        expression(context.origin, source),
        optional(context.length, source),
        position=source.of(context),
    )


@builds(Rules.OverlayContext)
def _overlay(context: Any, source: Source) -> syntax.Expression:
    return syntax.Overlay(
        expression(context.source, source),
        expression(context.replacement, source),
        expression(context.origin, source),
        optional(context.length, source),
        position=source.of(context),
    )


@builds(Rules.TrimContext)
def _trim(context: Any, source: Source) -> syntax.Expression:
    side = None if context.side is None else context.side.text.upper()
    at, first = source.of(context), optional(context.first, source)
    if context.source is not None:
        return syntax.Trim(expression(context.source, source), side, first, position=at)
    if side is not None:
        source.problem_at(context, f"TRIM with {side} needs FROM before the string: TRIM({side} FROM text)")
    return syntax.Trim(expression(context.first, source), side, position=at)


@builds(Rules.RoundContext)
def _round(context: Any, source: Source) -> syntax.Expression:
    mode = paths.optional_name(context.rounding)
    number, places = expression(context.source, source), expression(context.places, source)
    return syntax.Round(number, places, mode, position=source.of(context))


@builds(Rules.AsBitstreamContext)
def _as_bitstream(context: Any, source: Source) -> syntax.Expression:
    clauses = bitstream_clauses(context.bits, source)
    return syntax.AsBitstream(expression(context.source, source), clauses, position=source.of(context))


def bitstream_clauses(context: Any, source: Source) -> syntax.BitstreamClauses:
    """Build the clauses of ASBITSTREAM and PARSE, which stand by keyword or by position."""
    if context.positions:
        if len(context.positions) > len(_BITSTREAM_ORDER):
            source.problem_at(context, "too many arguments: at most encoding, ccsid, set, type, format, options")
        given = zip(_BITSTREAM_ORDER, context.positions, strict=False)
        placed: dict[str, Any] = {word: optional(item.inner, source) for word, item in given}
        return syntax.BitstreamClauses(**placed)
    return syntax.BitstreamClauses(**keyed(context.clauses, source))


@builds(Rules.PassthruCallContext)
def _passthru(context: Any, source: Source) -> syntax.Expression:
    values = each(context.values, source)
    if context.given is not None:
        values = expressions.arguments(context.given, source)
    database = paths.optional_path(context.database, source)
    return syntax.PassthruCall(expression(context.sql, source), values, database, position=source.of(context))


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
