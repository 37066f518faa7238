"""Contexts of the parser -> statements, routines, modules and programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from esql import syntax
from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.read import expressions, paths
from esql.read.expressions import Register, built, every, expression, maybe, optional, word
from esql.read.functions import bitstream_clauses, keyed, passthru
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


def _first_word(context: Any, _: Source) -> str | None:
    return None if context is None else context.start.text.upper()


def _else_position(context: Any, source: Source) -> syntax.Position:
    word = context.divider
    return syntax.NOWHERE if word is None else source.position(word.start, word.stop + 1)


def _label_of(context: Any, source: Source) -> str | None:
    """Find the label before a block, and see that the one after its END is the same."""
    before = context.parentCtx
    label = paths.name(before.name) if type(before) is Rules.LabelledStatementContext else None
    ending = maybe(paths.name)(context.name, source)
    if ending is not None and ending != label:
        expected = "has no label" if label is None else f"has the label {label}"
        source.problem_at(context.name, f"the label {ending} does not belong here: this block {expected}")
    return label


@builds(Rules.LabelledStatementContext)
def _labelled(context: Any, source: Source) -> syntax.Statement:
    found = statement(context.body, source)
    if not isinstance(found, syntax.Block):
        source.problem_at(context.name, "a label stands only before BEGIN, FOR, LOOP, REPEAT and WHILE")
    return found


@builds(Rules.CompoundStatementContext)
def _compound(context: Any, source: Source) -> syntax.Statement:
    atomic = None if context.atomic is None else context.negated is None
    label = _label_of(context, source)
    return syntax.Compound(statements(context.body, source), atomic, label, position=source.of(context))


_OTHERWISE: Final = maybe(statements)
_CASE_BRANCH: Final = built(syntax.CaseStatementBranch, condition=expression, body=statements)
_CHANGE: Final = built(syntax.ColumnChange, target=paths.path, source=expression)

builds(Rules.EmptyStatementContext)(built(syntax.Empty))
builds(Rules.CallStatementContext)(
    built(
        syntax.CallStatement,
        routine=paths.parts,
        given=expressions.arguments,
        database=maybe(paths.path),
        schema=optional,
        target=maybe(paths.path),
    )
)
builds(Rules.CaseStatementContext)(
    built(
        syntax.CaseStatement,
        _else_position,
        operand=optional,
        branches=every(_CASE_BRANCH),
        otherwise=_OTHERWISE,
    )
)
builds(Rules.ForStatementContext)(
    built(syntax.For, _label_of, correlation=paths.name, source=expression, body=statements)
)
builds(Rules.LoopStatementContext)(built(syntax.Loop, _label_of, body=statements))
builds(Rules.WhileStatementContext)(built(syntax.While, _label_of, condition=expression, body=statements))
builds(Rules.RepeatStatementContext)(built(syntax.Repeat, _label_of, body=statements, condition=expression))
builds(Rules.IterateStatementContext)(built(syntax.Iterate, name=paths.name))
builds(Rules.LeaveStatementContext)(built(syntax.Leave, name=paths.name))
builds(Rules.ReturnStatementContext)(built(syntax.Return, result=optional))
builds(Rules.EvalStatementContext)(built(syntax.Eval, text=expression))
builds(Rules.ResignalStatementContext)(built(syntax.Resignal))
builds(Rules.AttachStatementContext)(built(syntax.Attach, source=paths.path, target=paths.path, placement=_first_word))
builds(Rules.DetachStatementContext)(built(syntax.Detach, source=paths.path))
builds(Rules.SetStatementContext)(
    built(syntax.SetStatement, target=paths.path, source=expression, attribute=maybe(word))
)
builds(Rules.DeleteFieldStatementContext)(built(syntax.DeleteField, target=paths.path, where=_first_word))
builds(Rules.CommitStatementContext)(built(syntax.Commit, database=maybe(paths.path)))
builds(Rules.RollbackStatementContext)(built(syntax.Rollback, database=maybe(paths.path)))
builds(Rules.PassthruOldStatementContext)(passthru(syntax.Passthru))
builds(Rules.UpdateStatementContext)(
    built(
        syntax.Update,
        table=paths.path,
        changes=every(_CHANGE),
        correlation=maybe(paths.name),
        condition=optional,
    )
)
builds(Rules.DeleteFromStatementContext)(
    built(syntax.DeleteFrom, table=paths.path, correlation=maybe(paths.name), condition=optional)
)


@builds(Rules.IfStatementContext)
def _if(context: Any, source: Source) -> syntax.Statement:
    branches = tuple(_if_branch(branch, source) for branch in (context, *context.branches))
    otherwise = _OTHERWISE(context.otherwise, source)
    return syntax.If(branches, otherwise, _else_position(context, source), position=source.of(context))


def _if_branch(context: Any, source: Source) -> syntax.IfBranch:
    condition, body = expression(context.condition, source), statements(context.body, source)
    at = source.position(context.start.start, context.body.stop.stop + 1)
    return syntax.IfBranch(condition, body, position=at)


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
    found: dict[str, Any] = dict(keyed([clause for clause in clauses if clause.values is None], source))
    for clause in clauses:
        if clause.values is None:
            continue
        if "values" in found:
            source.problem_at(clause, "VALUES is said twice")
        found["values"] = expressions.arguments(clause.values, source)
    return found


@builds(Rules.PropagateStatementContext)
def _propagate(context: Any, source: Source) -> syntax.Statement:
    clauses: dict[str, Any] = {}
    for clause in context.clauses:
        kind = clause.kind.text.lower()
        if kind in clauses or {kind, *clauses} >= {"terminal", "label"}:
            source.problem_at(clause, f"{kind.upper()} is one destination too many, or said twice")
        given = None if clause.given is None else expression(clause.given, source)
        clauses[kind] = given if clause.choice is None else clause.choice.text.upper()
    return syntax.Propagate(**clauses, position=source.of(context))


def _condition(context: Any, source: Source) -> syntax.HandlerCondition:
    at = source.of(context)
    if context.pattern is not None:
        pattern, escape = expressions.text_of(context.pattern), maybe(expressions.text_of)(context.escape, source)
        return syntax.HandlerCondition("LIKE", pattern, escape, position=at)
    if context.kind is not None:
        return syntax.HandlerCondition(context.kind.text.upper(), position=at)
    return syntax.HandlerCondition("SQLSTATE", expressions.text_of(context.sqlstate), position=at)


builds(Rules.DeclareHandlerStatementContext)(
    built(syntax.DeclareHandler, kind=word, conditions=every(_condition), body=statement)
)


@builds(Rules.CreateFieldStatementContext)
def _create_field(context: Any, source: Source) -> syntax.Statement:
    target, clauses = paths.path(context.target, source), _clauses(context.clauses, source)
    return syntax.CreateField(target, _first_word(context.where, source), **clauses, position=source.of(context))


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
    found: dict[str, Any] = {}
    for context in contexts:
        kind = context.start.text.lower()
        field = {"as": "alias", "from": "source"}.get(kind, kind)
        if field in found:
            source.problem_at(context, f"{kind.upper()} is said twice")
        found[field] = _CLAUSES[kind](context, source)
    return found


def _namespace(context: Any, source: Source) -> syntax.Expression | syntax.AnyName:
    if context.anySpace is not None:
        return syntax.AnyName(position=source.of(context))
    return expression(context.space, source)


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
    "parse": built(syntax.Parse, content=expression, bits=bitstream_clauses),
}


@builds(Rules.PassthruStatementContext)
def _passthru(context: Any, source: Source) -> syntax.Statement:
    sql, database = expression(context.sql, source), maybe(paths.path)(context.database, source)
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


# Declarations, routines, modules and programs

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
    returns, language, sets = _routine_clauses(context.clauses, source)
    return syntax.Routine(
        context.kind.text.upper(),
        paths.name(context.name),
        every(_PARAMETER)(context.parameters, source),
        _external(context, source) if context.body is None else statement(context.body, source),
        returns,
        language,
        sets,
        position=source.of(context),
    )


def _routine_clauses(contexts: Any, source: Source) -> tuple[syntax.Returns | None, str | None, int | None]:
    returns, language, sets = None, None, None
    said: set[str] = set()
    for context in contexts:
        word = context.start.text.upper()
        if word in said:
            source.problem_at(context, f"{word} is said twice")
        said.add(word)
        if context.result is not None:
            kind = expressions.data_type(context.result, source)
            returns = syntax.Returns(kind, _nullable(context.null, source), position=source.of(context))
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


def _nullable(context: Any, _: Source) -> bool | None:
    return None if context is None else context.nullable is not None


_PARAMETER: Final = built(
    syntax.Parameter,
    name=paths.name,
    type_=expressions.data_type,
    direction=maybe(word),
    constant=lambda token, _: token is not None,
    null=_nullable,
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
