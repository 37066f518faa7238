"""Contexts of the parser -> statements that change message trees and databases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from esql import syntax
from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.read import expressions, paths
from esql.read.expressions import each, expression, optional
from esql.read.functions import bitstream_clauses
from esql.read.statements import builds

if TYPE_CHECKING:
    from esql.text.source import Source


@builds(Rules.AttachStatementContext)
def _attach(context: Any, source: Source) -> syntax.Statement:
    placement = context.placement.start.text.upper()
    subtree, target = paths.path(context.source, source), paths.path(context.target, source)
    return syntax.Attach(subtree, target, placement, position=source.of(context))


@builds(Rules.DetachStatementContext)
def _detach(context: Any, source: Source) -> syntax.Statement:
    return syntax.Detach(paths.path(context.source, source), position=source.of(context))


@builds(Rules.SetStatementContext)
def _set(context: Any, source: Source) -> syntax.Statement:
    attribute = None if context.attribute is None else context.attribute.text.upper()
    target, value = paths.path(context.target, source), expression(context.source, source)
    return syntax.SetStatement(target, value, attribute, position=source.of(context))


@builds(Rules.CreateFieldStatementContext)
def _create_field(context: Any, source: Source) -> syntax.Statement:
    placement = None if context.where is None else context.where.start.text.upper()
    target, clauses = paths.path(context.target, source), _clauses(context.clauses, source)
    return syntax.CreateField(target, placement, **clauses, position=source.of(context))


@builds(Rules.DeleteFieldStatementContext)
def _delete_field(context: Any, source: Source) -> syntax.Statement:
    placement = None if context.where is None else context.where.start.text.upper()
    return syntax.DeleteField(paths.path(context.target, source), placement, position=source.of(context))


@builds(Rules.MoveStatementContext)
def _move(context: Any, source: Source) -> syntax.Statement:
    at, reference = source.of(context), paths.path(context.source, source)
    if context.target is not None:
        return syntax.MoveTo(reference, paths.path(context.target, source), position=at)
    if context.where is None:
        return syntax.MoveBy(reference, "PARENT", position=at)
    direction = context.where.start.text.upper()
    if context.repeat is not None:
        same = [word.text.upper() for word in context.same]
        return syntax.MoveRepeat(reference, direction, "TYPE" in same, "NAME" in same, position=at)
    return syntax.MoveBy(reference, direction, **_clauses(context.clauses, source), position=at)


def _clauses(contexts: Any, source: Source) -> dict[str, Any]:
    """Build the clauses of CREATE and MOVE, each of which may stand once."""
    built: dict[str, Any] = {}
    for context in contexts:
        word = context.start.text.lower()
        field = {"as": "alias", "from": "source"}.get(word, word)
        if field in built:
            source.problem_at(context, f"{word.upper()} is said twice")
        built[field] = _CLAUSES[word](context, source)
    return built


def _namespace(context: Any, source: Source) -> syntax.Expression | syntax.AnyName:
    if context.anySpace is not None:
        return syntax.AnyName(position=source.of(context))
    return expression(context.space, source)


def _parse(context: Any, source: Source) -> syntax.Parse:
    bits, clauses = expression(context.content, source), bitstream_clauses(context.bits, source)
    return syntax.Parse(bits, clauses, position=source.of(context))


_CLAUSES = {
    "as": lambda context, _: paths.name(context.alias),
    "domain": lambda context, source: expression(context.domain, source),
    "repeat": lambda _, __: True,
    "type": lambda context, source: expression(context.type_, source),
    "namespace": _namespace,
    "name": lambda context, source: expression(context.name, source),
    "identity": lambda context, source: paths.relative_path(context.identity, source),
    "value": lambda context, source: expression(context.content, source),
    "from": lambda context, source: paths.path(context.source, source),
    "parse": _parse,
}


@builds(Rules.PassthruOldStatementContext)
def _passthru_old(context: Any, source: Source) -> syntax.Statement:
    sql, values = expression(context.sql, source), each(context.values, source)
    return syntax.Passthru(sql, values, position=source.of(context))


@builds(Rules.PassthruStatementContext)
def _passthru(context: Any, source: Source) -> syntax.Statement:
    sql, database = expression(context.sql, source), paths.optional_path(context.database, source)
    values = () if context.given is None else expressions.arguments(context.given, source)
    return syntax.Passthru(sql, values, database, position=source.of(context))


@builds(Rules.InsertStatementContext)
def _insert(context: Any, source: Source) -> syntax.Statement:
    columns = tuple(_column_name(column, source) for column in context.columns)
    values = expressions.arguments(context.given, source)
    if columns and len(columns) != len(values):
        source.problem_at(context.given, f"INSERT names {len(columns)} columns and gives {len(values)} values")
    return syntax.Insert(paths.path(context.table, source), columns, values, position=source.of(context))


def _column_name(context: Any, source: Source) -> str:
    match paths.field_name(context, source):
        case syntax.Name(text):
            return text
    source.problem_at(context, "a column of INSERT must be a plain name")
    return ""


@builds(Rules.UpdateStatementContext)
def _update(context: Any, source: Source) -> syntax.Statement:
    return syntax.Update(
        paths.path(context.table, source),
        tuple(_change(change, source) for change in context.changes),
        paths.optional_name(context.correlation),
        optional(context.condition, source),
        position=source.of(context),
    )


def _change(context: Any, source: Source) -> syntax.ColumnChange:
    column, value = paths.path(context.target, source), expression(context.source, source)
    return syntax.ColumnChange(column, value, position=source.of(context))


@builds(Rules.DeleteFromStatementContext)
def _delete_from(context: Any, source: Source) -> syntax.Statement:
    correlation, condition = paths.optional_name(context.correlation), optional(context.condition, source)
    table = paths.path(context.table, source)
    return syntax.DeleteFrom(table, correlation, condition, position=source.of(context))
