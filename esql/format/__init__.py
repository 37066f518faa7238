"""Syntax -> canonical ESQL text: keywords in capitals, four spaces a level, one statement a line.

Comments are no part of the tree. A program carries them beside it, and each goes back, by its position, before the
statement or the line of a block that it stood before (or in), or behind the one whose line it ended. Blank lines
between statements stay, one at most. Text that is formatted again does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from esql import syntax
from esql.format.expressions import (
    assigned,
    data_type,
    declared_name,
    dotted_name,
    each,
    expression,
    field_name,
    passthru_in_parentheses,
    path,
    quoted_name,
    template,
    to_database,
)
from esql.values.literals import quoted
from esql.values.types import FIELDS

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


# Blocks


def _block(head: str, last: str, end: str) -> Callable[[Any, int], Iterator[Line]]:
    """Returns what writes blocks with a body: their first line, which ends with a field or is short, and their last."""
    first_line, last_line = template(head), template(end)

    def lines(node: Any, indent: int) -> Iterator[Line]:
        yield opening(indent, first_line(node), node, getattr(node, last, None))
        yield from statements(node.body, indent + 1)
        yield closing(indent, last_line(node), node)

    return lines


def _choice(node: syntax.If | syntax.CaseStatement, indent: int) -> Iterator[Line]:
    word, next_word, end = "IF", "ELSEIF", "END IF;"
    if isinstance(node, syntax.CaseStatement):
        word, next_word, end = "WHEN", "WHEN", "END CASE;"
        operand = "" if node.operand is None else f" {assigned(node.operand)}"
        yield opening(indent, f"CASE{operand}", node, node.operand)
    for branch in node.branches:
        yield opening(indent, f"{word} {assigned(branch.condition)} THEN", branch, branch.condition)
        yield from statements(branch.body, indent + 1)
        word = next_word
    if node.otherwise is not None:
        yield Line(indent, "ELSE", node.else_position)
        yield from statements(node.otherwise, indent + 1)
    yield closing(indent, end, node)


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


_ROUTINE = template(
    "CREATE {kind} {name!d}({parameters}){returns: RETURNS }{language: LANGUAGE }{result_sets!s: DYNAMIC RESULT SETS }"
)


def _routine(node: syntax.Routine, indent: int) -> Iterator[Line]:
    head = _ROUTINE(node)
    if isinstance(node.body, syntax.External):
        hosts = (f" {word} {quoted_name(name)}" for word, name in node.body.hosts)
        yield Line(indent, f"{head} EXTERNAL NAME {quoted_name(node.body.name)}{''.join(hosts)};", node.position)
        return
    yield opening(indent, head, node)
    yield from _body(node.body, indent)


def _module(node: syntax.Module, indent: int) -> Iterator[Line]:
    yield opening(indent, f"CREATE {node.kind} MODULE {declared_name(node.name)}", node)
    yield from statements(node.statements, indent + 1)
    yield closing(indent, "END MODULE;", node)


_BLOCKS: dict[type, Callable[[Any, int], Iterator[Line]]] = {
    syntax.Compound: _block("{label!l:…: }BEGIN{atomic: ATOMIC| NOT ATOMIC}", "", "END{label!l: };"),
    syntax.CaseStatement: _choice,
    syntax.If: _choice,
    syntax.For: _block("{label!l:…: }FOR {correlation!d} AS {source} DO", "source", "END FOR{label!l: };"),
    syntax.Loop: _block("{label!l:…: }LOOP", "", "END LOOP{label!l: };"),
    syntax.Repeat: _block("{label!l:…: }REPEAT", "", "UNTIL {condition} END REPEAT{label!l: };"),
    syntax.While: _block("{label!l:…: }WHILE {condition} DO", "condition", "END WHILE{label!l: };"),
    syntax.DeclareHandler: _handler,
    syntax.Routine: _routine,
    syntax.Module: _module,
}


# One line each

_MESSAGE = "{severity: SEVERITY }{catalog: CATALOG }{message: MESSAGE }{values: VALUES(…)}"
_TEMPLATES: dict[type, str] = {
    syntax.Attach: "ATTACH {source} TO {target} AS {placement}",
    syntax.CallStatement: "CALL {name!d}({arguments}){database: IN }{schema: EXTERNAL SCHEMA }{target: INTO }",
    syntax.Commit: "COMMIT{database: }",
    syntax.CreateField: (
        "CREATE {placement:… OF||FIELD} {target}{alias!d: AS }{domain: DOMAIN }{repeat: REPEAT}{type: TYPE }"
        "{namespace: NAMESPACE }{name: NAME }{identity: IDENTITY }{value: VALUE }{source: FROM }{parse: }"
    ),
    syntax.DeleteField: "DELETE {placement:… OF||FIELD} {target}",
    syntax.DeleteFrom: "DELETE FROM {table}{correlation!d: AS }{condition: WHERE }",
    syntax.Detach: "DETACH {source}",
    syntax.Empty: "",
    syntax.Eval: "EVAL({text})",
    syntax.Iterate: "ITERATE {label!l}",
    syntax.Leave: "LEAVE {label!l}",
    syntax.Log: f"LOG {{trace:USER TRACE|EVENT}}{{full: FULL}}{{exception: EXCEPTION}}{_MESSAGE}",
    syntax.MoveTo: "MOVE {reference} TO {target}",
    syntax.MoveBy: (
        "MOVE {reference} {direction}{type: TYPE }{namespace: NAMESPACE }{name: NAME }{identity: IDENTITY }"
    ),
    syntax.MoveRepeat: "MOVE {reference} {direction} REPEAT{same_type: TYPE}{same_name: NAME}",
    syntax.Propagate: (
        "PROPAGATE{terminal: TO TERMINAL }{label: TO LABEL }"
        "{environment: ENVIRONMENT }{message: MESSAGE }{exception: EXCEPTION }{finalize: FINALIZE }{delete: DELETE }"
    ),
    syntax.Resignal: "RESIGNAL",
    syntax.Return: "RETURN{result: }",
    syntax.Rollback: "ROLLBACK{database: }",
    syntax.SetStatement: "SET {target}{attribute: } = {source}",
    syntax.Throw: f"THROW USER EXCEPTION{_MESSAGE}",
    syntax.Update: "UPDATE {table}{correlation!d: AS } SET {changes}{condition: WHERE }",
}
_INTERVAL = syntax.DataType("INTERVAL")


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


def _insert(node: syntax.Insert) -> str:
    columns = f" ({', '.join(map(field_name, node.columns))})" if node.columns else ""
    return f"INSERT INTO {path(node.table)}{columns} VALUES ({each(node.values)})"  # noqa: S608 - text to read, not to run


def _passthru(node: syntax.Passthru) -> str:
    if node.database is None:
        return "PASSTHRU" + passthru_in_parentheses(node.sql, node.values, None)
    return f"PASSTHRU {assigned(node.sql)}{to_database(node.database, node.values)}"


_SIMPLE: dict[type, Callable[[Any], str]] = {
    syntax.Declare: _declare,
    syntax.Insert: _insert,
    syntax.Passthru: _passthru,
    **{kind: template(text) for kind, text in _TEMPLATES.items()},
}


INDENT = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A line of formatted text, with the piece of the original text that it stands for.

    Comments that stood before the end of that piece go before the line, at the line's indent, or one deeper when the
    line closes a block; a comment behind the piece on its last line goes behind the line.
    """

    indent: int
    text: str
    position: syntax.Position
    closes: bool = False


def opening(indent: int, text: str, node: syntax.Node, last: syntax.Node | None = None) -> Line:
    """Make the line that opens a block: it stands for its first line, or for all up to the end of the last node."""
    at = node.position
    end_line, end_column = (at.line, at.column) if last is None else (last.position.end_line, last.position.end_column)
    return Line(indent, text, syntax.Position(at.line, at.column, end_line, end_column))


def closing(indent: int, text: str, node: syntax.Node) -> Line:
    """Make the line that closes a block: it stands for the block's end."""
    at = node.position
    return Line(indent, text, syntax.Position(at.end_line, at.end_column, at.end_line, at.end_column), closes=True)


def joined(lines: Iterable[Line], comments: Sequence[syntax.Comment]) -> str:
    """Join lines to a text, each comment at its place, and one blank line where there was at least one."""
    waiting = list(reversed(comments))
    out: list[str] = []
    last_line = 0
    for line in lines:
        at = line.position
        end = (at.end_line, at.end_column)
        while waiting and _start(waiting[-1]) < end:
            last_line = _put(waiting.pop(), line.indent + line.closes, out, last_line)
        if 0 < last_line < at.line - 1 and not line.closes:
            out.append("")
        out.append(" " * (INDENT * line.indent) + line.text)
        # a line that stands for no piece, such as ELSE, leaves no gap to measure
        last_line = max(last_line, at.end_line) if at.line else 0
    for comment in reversed(waiting):
        last_line = _put(comment, 0, out, last_line)
    return "\n".join(out) + "\n" if out else ""


def _start(comment: syntax.Comment) -> tuple[int, int]:
    return comment.position.line, comment.position.column


def _put(comment: syntax.Comment, indent: int, out: list[str], last_line: int) -> int:
    at = comment.position
    if out and at.line == last_line and not out[-1].lstrip().startswith("--"):
        out[-1] = f"{out[-1]} {comment.text}"
    else:
        if 0 < last_line < at.line - 1:
            out.append("")
        out.append(" " * (INDENT * indent) + comment.text)
    return max(last_line, at.end_line)
