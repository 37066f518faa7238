"""Contexts of the parser -> statements, but for declarations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from esql import syntax
from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.read import expressions, paths
from esql.read.expressions import Register, each, expression, optional
from esql.read.functions import bitstream_clauses, keyed
from esql.text import Source

Build = Callable[[Any, Source], syntax.Statement]

BUILDERS: Register[Build] = Register()
builds = BUILDERS.enter


def statement(context: Any, source: Source) -> syntax.Statement:
    """Build one statement."""
    return BUILDERS[type(context)](context, source)


def statements(context: Any, source: Source) -> tuple[syntax.Statement, ...]:
    """Build a list of statements."""
    return tuple(BUILDERS[type(item)](item, source) for item in context.items)


def _optional_statements(context: Any, source: Source) -> tuple[syntax.Statement, ...] | None:
    return None if context is None else statements(context, source)


def _else_position(context: Any, source: Source) -> syntax.Position:
    word = context.divider
    return syntax.NOWHERE if word is None else source.position(word.start, word.stop + 1)


def _label_of(context: Any, source: Source) -> str | None:
    """Find the label before a block, and see that the one after its END is the same."""
    before = context.parentCtx
    label = paths.name(before.name) if type(before) is Rules.LabelledStatementContext else None
    ending = paths.optional_name(context.name)
    if ending is not None and ending != label:
        expected = "has no label" if label is None else f"has the label {label}"
        source.problem_at(context.name, f"the label {ending} does not belong here: this block {expected}")
    return label


@builds(Rules.EmptyStatementContext)
def _empty(context: Any, source: Source) -> syntax.Statement:
    return syntax.Empty(position=source.of(context))


@builds(Rules.LabelledStatementContext)
def _labelled(context: Any, source: Source) -> syntax.Statement:
    if type(context.body) not in _LABELLED:
        source.problem_at(context.name, "a label stands only before BEGIN, FOR, LOOP, REPEAT and WHILE")
    return statement(context.body, source)


@builds(Rules.CompoundStatementContext)
def _compound(context: Any, source: Source) -> syntax.Statement:
    atomic = None if context.atomic is None else context.negated is None
    label = _label_of(context, source)
    return syntax.Compound(statements(context.body, source), atomic, label, position=source.of(context))


@builds(Rules.CallStatementContext)
def _call(context: Any, source: Source) -> syntax.Statement:
    return syntax.CallStatement(
        paths.parts(context.routine),
        expressions.arguments(context.given, source),
        paths.optional_path(context.database, source),
        optional(context.schema, source),
        paths.optional_path(context.target, source),
        position=source.of(context),
    )


@builds(Rules.CaseStatementContext)
def _case(context: Any, source: Source) -> syntax.Statement:
    return syntax.CaseStatement(
        optional(context.operand, source),
        tuple(_case_branch(branch, source) for branch in context.branches),
        _optional_statements(context.otherwise, source),
        _else_position(context, source),
        position=source.of(context),
    )


def _case_branch(context: Any, source: Source) -> syntax.CaseStatementBranch:
    condition, body = expression(context.condition, source), statements(context.body, source)
    return syntax.CaseStatementBranch(condition, body, position=source.of(context))


@builds(Rules.CommitStatementContext)
def _commit(context: Any, source: Source) -> syntax.Statement:
    return syntax.Commit(paths.optional_path(context.database, source), position=source.of(context))


@builds(Rules.RollbackStatementContext)
def _rollback(context: Any, source: Source) -> syntax.Statement:
    return syntax.Rollback(paths.optional_path(context.database, source), position=source.of(context))


@builds(Rules.EvalStatementContext)
def _eval(context: Any, source: Source) -> syntax.Statement:
    return syntax.Eval(expression(context.text, source), position=source.of(context))


@builds(Rules.ForStatementContext)
def _for(context: Any, source: Source) -> syntax.Statement:
    label = _label_of(context, source)
    correlation, items = paths.name(context.correlation), expression(context.source, source)
    return syntax.For(correlation, items, statements(context.body, source), label, position=source.of(context))


@builds(Rules.IfStatementContext)
def _if(context: Any, source: Source) -> syntax.Statement:
    branches = tuple(_if_branch(branch, source) for branch in (context, *context.branches))
    otherwise = _optional_statements(context.otherwise, source)
    return syntax.If(branches, otherwise, _else_position(context, source), position=source.of(context))


def _if_branch(context: Any, source: Source) -> syntax.IfBranch:
    condition, body = expression(context.condition, source), statements(context.body, source)
    at = source.position(context.start.start, context.body.stop.stop + 1)
    return syntax.IfBranch(condition, body, position=at)


@builds(Rules.IterateStatementContext)
def _iterate(context: Any, source: Source) -> syntax.Statement:
    return syntax.Iterate(paths.name(context.name), position=source.of(context))


@builds(Rules.LeaveStatementContext)
def _leave(context: Any, source: Source) -> syntax.Statement:
    return syntax.Leave(paths.name(context.name), position=source.of(context))


@builds(Rules.LogStatementContext)
def _log(context: Any, source: Source) -> syntax.Statement:
    flags = [flag.text.upper() for flag in context.flags]
    clauses = _message(context.clauses, source)
    full, exception = "FULL" in flags, "EXCEPTION" in flags
    return syntax.Log(context.trace is not None, full, exception, **clauses, position=source.of(context))


@builds(Rules.ThrowStatementContext)
def _throw(context: Any, source: Source) -> syntax.Statement:
    return syntax.Throw(**_message(context.clauses, source), position=source.of(context))


def _message(clauses: Any, source: Source) -> dict[str, Any]:
    built: dict[str, Any] = dict(keyed([clause for clause in clauses if clause.values is None], source))
    for clause in clauses:
        if clause.values is None:
            continue
        if "values" in built:
            source.problem_at(clause, "VALUES is said twice")
        built["values"] = expressions.arguments(clause.values, source)
    return built


@builds(Rules.LoopStatementContext)
def _loop(context: Any, source: Source) -> syntax.Statement:
    label = _label_of(context, source)
    return syntax.Loop(statements(context.body, source), label, position=source.of(context))


@builds(Rules.WhileStatementContext)
def _while(context: Any, source: Source) -> syntax.Statement:
    condition, label = expression(context.condition, source), _label_of(context, source)
    return syntax.While(condition, statements(context.body, source), label, position=source.of(context))


@builds(Rules.RepeatStatementContext)
def _repeat(context: Any, source: Source) -> syntax.Statement:
    body, label = statements(context.body, source), _label_of(context, source)
    return syntax.Repeat(body, expression(context.condition, source), label, position=source.of(context))


@builds(Rules.PropagateStatementContext)
def _propagate(context: Any, source: Source) -> syntax.Statement:
    clauses: dict[str, Any] = {}
    for clause in context.clauses:
        word = clause.kind.text.lower()
        if word in clauses or {word, *clauses} >= {"terminal", "label"}:
            source.problem_at(clause, f"{word.upper()} is one destination too many, or said twice")
        given = None if clause.given is None else expression(clause.given, source)
        clauses[word] = given if clause.choice is None else clause.choice.text.upper()
    return syntax.Propagate(**clauses, position=source.of(context))


@builds(Rules.ResignalStatementContext)
def _resignal(context: Any, source: Source) -> syntax.Statement:
    return syntax.Resignal(position=source.of(context))


@builds(Rules.ReturnStatementContext)
def _return(context: Any, source: Source) -> syntax.Statement:
    return syntax.Return(optional(context.result, source), position=source.of(context))


@builds(Rules.DeclareHandlerStatementContext)
def _handler(context: Any, source: Source) -> syntax.Statement:
    kind, conditions = context.kind.text.upper(), tuple(_condition(item, source) for item in context.conditions)
    return syntax.DeclareHandler(kind, conditions, statement(context.body, source), position=source.of(context))


def _condition(context: Any, source: Source) -> syntax.HandlerCondition:
    at = source.of(context)
    if context.pattern is not None:
        pattern, escape = expressions.text_of(context.pattern), expressions.optional_text(context.escape)
        return syntax.HandlerCondition("LIKE", pattern, escape, position=at)
    if context.kind is not None:
        return syntax.HandlerCondition(context.kind.text.upper(), position=at)
    return syntax.HandlerCondition("SQLSTATE", expressions.text_of(context.sqlstate), position=at)


_LABELLED = {
    Rules.CompoundStatementContext,
    Rules.ForStatementContext,
    Rules.LoopStatementContext,
    Rules.RepeatStatementContext,
    Rules.WhileStatementContext,
}


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
