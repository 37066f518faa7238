"""Contexts of the parser -> SELECT, ROW, LIST, quantified predicates and functions that have a form of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from esql import syntax
from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.names.predefined import AGGREGATES
from esql.read import expressions, paths
from esql.read.expressions import builds, built, each, every, expression, maybe, optional, word
from esql.text import Source

# the positions of the older form: ASBITSTREAM(field, encoding, ccsid, set, type, format, options)
_BITSTREAM_ORDER = ("encoding", "ccsid", "set", "type", "format", "options")


def keyed(clauses: Iterable[Any], source: Source) -> dict[str, Any]:
    """Build clauses that are a keyword and an expression, each of which may stand once."""
    found: dict[str, Any] = {}
    for clause in clauses:
        kind = clause.kind.text
        if kind.lower() in found:
            source.problem_at(clause, f"{kind.upper()} is said twice")
        found[kind.lower()] = expression(clause.given, source)
    return found


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


def _part(context: Any, _: Source) -> str:
    return paths.name(context).upper()


@builds(Rules.TrimContext)
def _trim(context: Any, source: Source) -> syntax.Expression:
    side = None if context.side is None else context.side.text.upper()
    at, first = source.of(context), optional(context.first, source)
    if context.source is not None:
        return syntax.Trim(expression(context.source, source), side, first, position=at)
    if side is not None:
        source.problem_at(context, f"TRIM with {side} needs FROM before the string: TRIM({side} FROM text)")
    return syntax.Trim(expression(context.first, source), side, position=at)


def bitstream_clauses(context: Any, source: Source) -> syntax.BitstreamClauses:
    """Build the clauses of ASBITSTREAM and PARSE, which stand by keyword or by position."""
    if context.positions:
        if len(context.positions) > len(_BITSTREAM_ORDER):
            source.problem_at(context, "too many arguments: at most encoding, ccsid, set, type, format, options")
        given = zip(_BITSTREAM_ORDER, context.positions, strict=False)
        placed: dict[str, Any] = {word: optional(item.inner, source) for word, item in given}
        return syntax.BitstreamClauses(**placed)
    return syntax.BitstreamClauses(**keyed(context.clauses, source))


builds(Rules.ExtractContext)(built(syntax.Extract, part=_part, source=expression))
builds(Rules.PositionCallContext)(
    built(syntax.PositionCall, search=expression, source=expression, origin=optional, count=optional)
)
builds(Rules.SubstringContext)(
    built(syntax.Substring, source=expression, preposition=word, origin=expression, length=optional)
)
builds(Rules.OverlayContext)(
    built(syntax.Overlay, source=expression, replacement=expression, origin=expression, length=optional)
)
builds(Rules.RoundContext)(built(syntax.Round, source=expression, places=expression, rounding=maybe(paths.name)))
builds(Rules.AsBitstreamContext)(built(syntax.AsBitstream, source=expression, bits=bitstream_clauses))

_COLUMN: Final = built(syntax.Column, source=expression, name=maybe(paths.relative_path))
_FROM_ITEM: Final = built(syntax.FromItem, source=expression, correlation=maybe(paths.name))
builds(Rules.RowConstructorContext)(built(syntax.Row, columns=every(_COLUMN)))
builds(Rules.ListConstructorContext)(built(syntax.ListOf, elements=each))
builds(Rules.QuantifiedContext)(
    built(syntax.Quantified, quantifier=word, source=paths.path, correlation=maybe(paths.name), condition=expression)
)


def passthru(build: Callable[..., Any]) -> Callable[[Any, Source], Any]:
    """Return what builds PASSTHRU( … ), the statement or the function."""

    def from_arguments(context: Any, source: Source) -> Any:
        inside = context.call
        values = each(inside.values, source) if inside.given is None else expressions.arguments(inside.given, source)
        database = maybe(paths.path)(inside.database, source)
        return build(expression(inside.sql, source), values, database, position=source.of(context))

    return from_arguments


builds(Rules.PassthruCallContext)(passthru(syntax.PassthruCall))


@builds(Rules.SelectContext)
def _select(context: Any, source: Source) -> syntax.Expression:
    item = optional(context.item, source)
    return syntax.Select(
        every(_select_column)(context.columns, source),
        None if item is None else _aggregated(item),
        every(_FROM_ITEM)(context.sources, source),
        optional(context.condition, source),
        position=source.of(context),
    )


def _select_column(context: Any, source: Source) -> syntax.Column | syntax.AllColumns:
    if context.star is not None:
        return syntax.AllColumns(position=source.of(context))
    column = _COLUMN(context, source)
    value, insert = _aggregated(column.expression), context.insert is not None
    return syntax.Column(value, column.name, insert, position=column.position)


def _aggregated(expression: syntax.Expression) -> syntax.Expression:
    match expression:
        case syntax.Call((function,), (operand,), position=at) if function.upper() in AGGREGATES:
            return syntax.Aggregate(function.upper(), operand, position=at)
    return expression
