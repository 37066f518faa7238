"""Contexts of the parser -> statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from esql import syntax
from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.read import expressions, literals, paths
from esql.read.expressions import expression, optional
from esql.read.functions import keyed
from esql.read.register import Register
from esql.text.source import Source

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
        pattern, escape = literals.text_of(context.pattern), literals.optional_text(context.escape)
        return syntax.HandlerCondition("LIKE", pattern, escape, position=at)
    if context.kind is not None:
        return syntax.HandlerCondition(context.kind.text.upper(), position=at)
    return syntax.HandlerCondition("SQLSTATE", literals.text_of(context.sqlstate), position=at)


_LABELLED = {
    Rules.CompoundStatementContext,
    Rules.ForStatementContext,
    Rules.LoopStatementContext,
    Rules.RepeatStatementContext,
    Rules.WhileStatementContext,
}
