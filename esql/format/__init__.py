"""Syntax -> canonical ESQL text: keywords in capitals, four spaces a level, one statement a line.

Comments are no part of the tree. A program carries them beside it, and each goes back, by its position, before the
statement or the line of a block that it stood before (or in), or behind the one whose line it ended. Blank lines
between statements stay, one at most. Text that is formatted again does not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from esql import syntax
from esql.format.expressions import (
    assigned,
    bitstream_clauses,
    clause,
    data_type,
    declared_name,
    dotted_name,
    each,
    expression,
    field_name,
    label_name,
    parameter_name,
    passthru_in_parentheses,
    path,
    quoted_name,
    relative_path,
    to_database,
)
from esql.format.lines import Line, closing, joined, opening
from esql.values.literals import quoted
from esql.values.types import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = ["format_expression", "format_program", "format_statement"]


def format_program(program: syntax.Program) -> str:
    """Write a whole text, with its comments.

    >>> from esql.read import read_statements
    >>> print(format_program(read_statements("set  x=(1+2)*3 ; -- nine", "example")), end="")
    SET x = (1 + 2) * 3; -- nine
    """
    return joined(_lines(program), program.comments)


def format_statement(node: syntax.Statement) -> str:
    """Write one statement."""
    return joined(statement(node, 0), ())


def format_expression(node: syntax.Expression) -> str:
    """Write one expression.

    >>> format_expression(syntax.Unary("-", syntax.Unary("-", syntax.Integer(1))))
    '- -1'
    """
    return expression(node)


def _lines(program: syntax.Program) -> Iterator[Line]:
    if program.prologue is not None:
        first = program.statements[0] if program.statements else None
        yield from _prologue(program.prologue, ";" if isinstance(first, syntax.Empty) else "")
    yield from statements(program.statements, 0)


def _prologue(node: syntax.Prologue, end: str) -> Iterator[Line]:
    if node.schema is not None:
        # its `;` is optional, and would be taken from an empty statement behind it
        yield Line(0, f"BROKER SCHEMA {dotted_name(node.schema)}{'' if node.path else end}", node.position)
    if node.path:
        yield Line(0, f"PATH {', '.join(map(dotted_name, node.path))};", node.position)


_INTERVAL = syntax.DataType("INTERVAL")


def statements(nodes: tuple[syntax.Statement, ...], indent: int) -> Iterator[Line]:
    """Write a list of statements."""
    for node in nodes:
        yield from statement(node, indent)


def statement(node: syntax.Statement, indent: int) -> Iterator[Line]:
    """Write a statement: on one line, unless it holds others."""
    block = _BLOCKS.get(type(node))
    if block is not None:
        yield from block(node, indent)
        return
    yield Line(indent, _SIMPLE[type(node)](node) + ";", node.position)


# Parts


def _optional_path(word: str, node: syntax.Path | None) -> str:
    return "" if node is None else f"{word} {path(node)}"


def _correlation(name: str | None) -> str:
    return "" if name is None else f" AS {declared_name(name)}"


def _label(name: str | None) -> str:
    return "" if name is None else f"{label_name(name)}: "


def _ending(word: str, name: str | None) -> str:
    return f"END{word};" if name is None else f"END{word} {label_name(name)};"


def _namespace(node: syntax.Expression | syntax.AnyName | None) -> str:
    return " NAMESPACE *" if isinstance(node, syntax.AnyName) else clause("NAMESPACE", node)


def _message(node: syntax.Log | syntax.Throw) -> str:
    values = "" if node.values is None else f" VALUES({each(node.values)})"
    texts = (clause(word.upper(), getattr(node, word)) for word in ("severity", "catalog", "message"))
    return "".join(texts) + values


# Blocks


def _compound(node: syntax.Compound, indent: int) -> Iterator[Line]:
    atomic = {None: "", True: " ATOMIC", False: " NOT ATOMIC"}[node.atomic]
    yield opening(indent, f"{_label(node.label)}BEGIN{atomic}", node)
    yield from statements(node.body, indent + 1)
    yield closing(indent, _ending("", node.label), node)


def _case(node: syntax.CaseStatement, indent: int) -> Iterator[Line]:
    operand = "" if node.operand is None else f" {assigned(node.operand)}"
    yield opening(indent, f"CASE{operand}", node, node.operand)
    for branch in node.branches:
        yield opening(indent, f"WHEN {assigned(branch.condition)} THEN", branch, branch.condition)
        yield from statements(branch.body, indent + 1)
    yield from _otherwise(node, indent)
    yield closing(indent, "END CASE;", node)


def _if(node: syntax.If, indent: int) -> Iterator[Line]:
    word = "IF"
    for branch in node.branches:
        yield opening(indent, f"{word} {assigned(branch.condition)} THEN", branch, branch.condition)
        yield from statements(branch.body, indent + 1)
        word = "ELSEIF"
    yield from _otherwise(node, indent)
    yield closing(indent, "END IF;", node)


def _otherwise(node: syntax.If | syntax.CaseStatement, indent: int) -> Iterator[Line]:
    if node.otherwise is not None:
        yield Line(indent, "ELSE", node.else_position)
        yield from statements(node.otherwise, indent + 1)


def _for(node: syntax.For, indent: int) -> Iterator[Line]:
    text = f"{_label(node.label)}FOR {declared_name(node.correlation)} AS {assigned(node.source)} DO"
    yield opening(indent, text, node, node.source)
    yield from statements(node.body, indent + 1)
    yield closing(indent, _ending(" FOR", node.label), node)


def _loop(node: syntax.Loop, indent: int) -> Iterator[Line]:
    yield opening(indent, f"{_label(node.label)}LOOP", node)
    yield from statements(node.body, indent + 1)
    yield closing(indent, _ending(" LOOP", node.label), node)


def _repeat(node: syntax.Repeat, indent: int) -> Iterator[Line]:
    yield opening(indent, f"{_label(node.label)}REPEAT", node)
    yield from statements(node.body, indent + 1)
    until = f"UNTIL {assigned(node.condition)} {_ending(' REPEAT', node.label)}"
    yield closing(indent, until, node)


def _while(node: syntax.While, indent: int) -> Iterator[Line]:
    yield opening(indent, f"{_label(node.label)}WHILE {assigned(node.condition)} DO", node, node.condition)
    yield from statements(node.body, indent + 1)
    yield closing(indent, _ending(" WHILE", node.label), node)


def _handler(node: syntax.DeclareHandler, indent: int) -> Iterator[Line]:
    conditions = ", ".join(map(_condition, node.conditions))
    yield opening(indent, f"DECLARE {node.kind} HANDLER FOR {conditions}", node, node.conditions[-1])
    yield from _body(node.body, indent)


def _body(node: syntax.Statement, indent: int) -> Iterator[Line]:
    yield from statement(node, indent if isinstance(node, syntax.Compound) else indent + 1)


def _condition(node: syntax.HandlerCondition) -> str:
    match node:
        case syntax.HandlerCondition("SQLSTATE", text):
            return f"SQLSTATE {quoted(text or '')}"
        case syntax.HandlerCondition("LIKE", text, escape):
            return f"SQLSTATE LIKE {quoted(text or '')}" + ("" if escape is None else f" ESCAPE {quoted(escape)}")
        case syntax.HandlerCondition("FOUND"):
            return "NOT FOUND"
    return node.kind


def _routine(node: syntax.Routine, indent: int) -> Iterator[Line]:
    parts = [f"CREATE {node.kind} {declared_name(node.name)}({', '.join(map(_parameter, node.parameters))})"]
    if node.returns is not None:
        parts.append(f"RETURNS {data_type(node.returns.type)}{_nullable(node.returns.nullable)}")
    if node.language is not None:
        parts.append(f"LANGUAGE {node.language}")
    if node.result_sets is not None:
        parts.append(f"DYNAMIC RESULT SETS {node.result_sets}")
    if isinstance(node.body, syntax.External):
        parts.append(f"EXTERNAL NAME {quoted_name(node.body.name)}")
        parts += (f"{word} {quoted_name(name)}" for word, name in node.body.hosts)
        yield Line(indent, " ".join(parts) + ";", node.position)
        return
    yield opening(indent, " ".join(parts), node)
    yield from _body(node.body, indent)


def _parameter(node: syntax.Parameter) -> str:
    direction = "" if node.direction is None else node.direction + " "
    constant = " CONSTANT" if node.constant else ""
    return f"{direction}{parameter_name(node.name)}{constant} {data_type(node.type)}{_nullable(node.nullable)}"


def _nullable(nullable: bool | None) -> str:
    return {None: "", True: " NULLABLE", False: " NOT NULL"}[nullable]


def _module(node: syntax.Module, indent: int) -> Iterator[Line]:
    yield opening(indent, f"CREATE {node.kind} MODULE {declared_name(node.name)}", node)
    yield from statements(node.statements, indent + 1)
    yield closing(indent, "END MODULE;", node)


_BLOCKS: dict[type, Callable[[Any, int], Iterator[Line]]] = {
    syntax.Compound: _compound,
    syntax.CaseStatement: _case,
    syntax.If: _if,
    syntax.For: _for,
    syntax.Loop: _loop,
    syntax.Repeat: _repeat,
    syntax.While: _while,
    syntax.DeclareHandler: _handler,
    syntax.Routine: _routine,
    syntax.Module: _module,
}


# One line each


def _call(node: syntax.CallStatement) -> str:
    database = _optional_path(" IN", node.database)
    schema = clause("EXTERNAL SCHEMA", node.schema)
    target = _optional_path(" INTO", node.target)
    return f"CALL {dotted_name(node.name)}({each(node.arguments)}){database}{schema}{target}"


def _create_field(node: syntax.CreateField) -> str:
    placement, parse = "FIELD" if node.placement is None else f"{node.placement} OF", node.parse
    parts = [
        f"CREATE {placement} {path(node.target)}",
        _correlation(node.alias),
        clause("DOMAIN", node.domain),
        " REPEAT" if node.repeat else "",
        clause("TYPE", node.type),
        _namespace(node.namespace),
        clause("NAME", node.name),
        "" if node.identity is None else f" IDENTITY {relative_path(node.identity)}",
        clause("VALUE", node.value),
        _optional_path(" FROM", node.source),
        "" if parse is None else f" PARSE({assigned(parse.bits)}{bitstream_clauses(parse.clauses)})",
    ]
    return "".join(parts)


def _declare(node: syntax.Declare) -> str:
    listed = ", ".join(map(declared_name, node.names))
    lifetime = "" if node.lifetime is None else f" {node.lifetime}"
    constant = " CONSTANT" if node.constant else ""
    kind = "REFERENCE TO" if node.type.name == "REFERENCE" else data_type(node.type)
    initial = "" if node.initial is None else assigned(node.initial)
    if node.type == _INTERVAL and initial.upper().startswith(FIELDS):
        # behind INTERVAL such a word would be its unit
        initial = f"({initial})"
    return f"DECLARE {listed}{lifetime}{constant} {kind}{initial and ' '}{initial}"


def _delete_from(node: syntax.DeleteFrom) -> str:
    correlation = _correlation(node.correlation)
    return f"DELETE FROM {path(node.table)}{correlation}{clause('WHERE', node.condition)}"  # noqa: S608 - text to read, not to run


def _insert(node: syntax.Insert) -> str:
    columns = f" ({', '.join(map(field_name, node.columns))})" if node.columns else ""
    return f"INSERT INTO {path(node.table)}{columns} VALUES ({each(node.values)})"  # noqa: S608 - text to read, not to run


def _log(node: syntax.Log) -> str:
    kind = "USER TRACE" if node.trace else "EVENT"
    flags = (" FULL" if node.full else "") + (" EXCEPTION" if node.exception else "")
    return f"LOG {kind}{flags}{_message(node)}"


def _move_by(node: syntax.MoveBy) -> str:
    identity = "" if node.identity is None else f" IDENTITY {relative_path(node.identity)}"
    clauses = clause("TYPE", node.type) + _namespace(node.namespace) + clause("NAME", node.name) + identity
    return f"MOVE {path(node.reference)} {node.direction}{clauses}"


def _move_repeat(node: syntax.MoveRepeat) -> str:
    same = (" TYPE" if node.same_type else "") + (" NAME" if node.same_name else "")
    return f"MOVE {path(node.reference)} {node.direction} REPEAT{same}"


def _passthru(node: syntax.Passthru) -> str:
    if node.database is None:
        return "PASSTHRU" + passthru_in_parentheses(node.sql, node.values, None)
    return f"PASSTHRU {assigned(node.sql)}{to_database(node.database, node.values)}"


def _propagate(node: syntax.Propagate) -> str:
    finalize = "" if node.finalize is None else f" FINALIZE {node.finalize}"
    delete = "" if node.delete is None else f" DELETE {node.delete}"
    target = clause("TO TERMINAL", node.terminal) + clause("TO LABEL", node.label)
    trees = (clause(word.upper(), getattr(node, word)) for word in ("environment", "message", "exception"))
    return f"PROPAGATE{target}{''.join(trees)}{finalize}{delete}"


def _set(node: syntax.SetStatement) -> str:
    attribute = "" if node.attribute is None else f" {node.attribute}"
    return f"SET {path(node.target)}{attribute} = {assigned(node.source)}"


def _update(node: syntax.Update) -> str:
    changes = ", ".join(f"{path(change.column)} = {assigned(change.source)}" for change in node.changes)
    table = path(node.table) + _correlation(node.correlation)
    return f"UPDATE {table} SET {changes}{clause('WHERE', node.condition)}"  # noqa: S608 - text to read, not to run


_SIMPLE: dict[type, Callable[[Any], str]] = {
    syntax.Empty: lambda _: "",
    syntax.Attach: lambda node: f"ATTACH {path(node.source)} TO {path(node.target)} AS {node.placement}",
    syntax.CallStatement: _call,
    syntax.Commit: lambda node: "COMMIT" + _optional_path("", node.database),
    syntax.Rollback: lambda node: "ROLLBACK" + _optional_path("", node.database),
    syntax.CreateField: _create_field,
    syntax.Declare: _declare,
    syntax.DeleteField: lambda node: (
        f"DELETE {'FIELD' if node.placement is None else f'{node.placement} OF'} {path(node.target)}"
    ),
    syntax.DeleteFrom: _delete_from,
    syntax.Detach: lambda node: f"DETACH {path(node.source)}",
    syntax.Eval: lambda node: f"EVAL({assigned(node.text)})",
    syntax.Insert: _insert,
    syntax.Iterate: lambda node: f"ITERATE {label_name(node.label)}",
    syntax.Leave: lambda node: f"LEAVE {label_name(node.label)}",
    syntax.Log: _log,
    syntax.Throw: lambda node: f"THROW USER EXCEPTION{_message(node)}",
    syntax.MoveTo: lambda node: f"MOVE {path(node.reference)} TO {path(node.target)}",
    syntax.MoveBy: _move_by,
    syntax.MoveRepeat: _move_repeat,
    syntax.Passthru: _passthru,
    syntax.Propagate: _propagate,
    syntax.Resignal: lambda _: "RESIGNAL",
    syntax.Return: lambda node: "RETURN" + clause("", node.result).replace("  ", " ", 1),
    syntax.SetStatement: _set,
    syntax.Update: _update,
}
