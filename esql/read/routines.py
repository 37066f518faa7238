"""Contexts of the parser -> declarations, routines, modules and programs."""

from __future__ import annotations

from typing import Any

from esql import syntax
from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.read import expressions, paths
from esql.read.expressions import optional
from esql.read.statements import builds, statement, statements
from esql.text import Source

_DECLARING = (
    Rules.CreateModuleStatementContext,
    Rules.CreateRoutineStatementContext,
    Rules.DeclareStatementContext,
    Rules.EmptyStatementContext,
)
_HOLDING_ROUTINES = (Rules.FileContext, Rules.NodeTextContext, Rules.CreateModuleStatementContext)


@builds(Rules.DeclareStatementContext)
def _declare(context: Any, source: Source) -> syntax.Statement:
    modifiers = [modifier.text.upper() for modifier in context.modifiers]
    lifetimes = [modifier for modifier in modifiers if modifier != "CONSTANT"]
    if len(set(modifiers)) < len(modifiers) or len(lifetimes) > 1:
        source.problem_at(context, f"{' '.join(modifiers)}: one of SHARED and EXTERNAL, and CONSTANT, each once")
    kind, initial = expressions.data_type(context.type_, source), optional(context.initial, source)
    if kind.name == "REFERENCE" and (initial is None or context.type_.to is None):
        source.problem_at(context.type_, "a reference must point to something: REFERENCE TO and a field")
    names = tuple(paths.name(name) for name in context.names)
    lifetime, constant = (lifetimes or [None])[0], "CONSTANT" in modifiers
    return syntax.Declare(names, kind, initial, lifetime, constant, position=source.of(context))


@builds(Rules.CreateRoutineStatementContext)
def _routine(context: Any, source: Source) -> syntax.Statement:
    if type(context.parentCtx.parentCtx) not in _HOLDING_ROUTINES:
        text = "a routine cannot be declared inside a routine: move it before or after"
        source.problem(context.start.start, context.name.stop.stop + 1, text)
    returns, language, sets = _clauses(context.clauses, source)
    return syntax.Routine(
        context.kind.text.upper(),
        paths.name(context.name),
        tuple(_parameter(parameter, source) for parameter in context.parameters),
        _external(context, source) if context.body is None else statement(context.body, source),
        returns,
        language,
        sets,
        position=source.of(context),
    )


def _clauses(contexts: Any, source: Source) -> tuple[syntax.Returns | None, str | None, int | None]:
    returns, language, sets = None, None, None
    said: set[str] = set()
    for context in contexts:
        word = context.start.text.upper()
        if word in said:
            source.problem_at(context, f"{word} is said twice")
        said.add(word)
        if context.result is not None:
            kind = expressions.data_type(context.result, source)
            returns = syntax.Returns(kind, _nullable(context.null), position=source.of(context))
        elif context.sets is not None:
            sets = int(context.sets.text)
        else:
            language = _language(context, source)
    return returns, language, sets


def _language(context: Any, source: Source) -> str:
    if context.net is None:
        return str(context.language.text.upper())
    language = "." + paths.name(context.net).upper()
    if language != ".NET":
        source.problem_at(context, f"no language is called {language}: ESQL, DATABASE, JAVA, CLR or .NET")
    return language


def _nullable(context: Any) -> bool | None:
    return None if context is None else context.nullable is not None


def _parameter(context: Any, source: Source) -> syntax.Parameter:
    direction = None if context.direction is None else context.direction.text.upper()
    return syntax.Parameter(
        paths.name(context.name),
        expressions.data_type(context.type_, source),
        direction,
        context.constant is not None,
        _nullable(context.null),
        position=source.of(context),
    )


def _external(context: Any, source: Source) -> syntax.External:
    hosts = tuple((host.kind.text.upper(), _external_name(host.given)) for host in context.hosts)
    at = source.position(context.external.start.start, context.stop.stop)
    return syntax.External(_external_name(context.external), hosts, position=at)


def _external_name(context: Any) -> str:
    if context.dotted is not None:
        return ".".join(paths.parts(context.dotted))
    return expressions.text_of(context.start) if context.start.text.startswith("'") else paths.name(context)


@builds(Rules.CreateModuleStatementContext)
def _module(context: Any, source: Source) -> syntax.Statement:
    for item in context.body.items:
        _only_declarations(item, source, "in a module")
    if type(context.parentCtx.parentCtx) is not Rules.FileContext:
        text = "a module stands at the outermost level of a .esql file only"
        source.problem(context.start.start, context.name.stop.stop + 1, text)
    name, body = paths.name(context.name), statements(context.body, source)
    return syntax.Module(context.kind.text.upper(), name, body, position=source.of(context))


def _only_declarations(context: Any, source: Source, where: str) -> None:
    if type(context) not in _DECLARING:
        word = context.start.text.upper()
        source.problem(context.start.start, context.start.stop + 1, f"{word} cannot stand {where}: put it in a routine")


def program(context: Any, comments: tuple[syntax.Comment, ...], source: Source) -> syntax.Program:
    """Build a .esql file."""
    for item in context.body.items:
        _only_declarations(item, source, "outside a routine")
    return syntax.Program(
        statements(context.body, source),
        None if context.head is None else _prologue(context.head, source),
        comments,
        position=source.position(0, len(source.text)),
    )


def _prologue(context: Any, source: Source) -> syntax.Prologue:
    schema = None if context.schema is None else paths.parts(context.schema)
    return syntax.Prologue(schema, tuple(paths.parts(part) for part in context.searched), position=source.of(context))
