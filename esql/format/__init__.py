"""Syntax -> canonical ESQL text: keywords in capitals, four spaces a level, one statement a line.

Comments are no part of the tree. A program carries them beside it, and each goes back, by its position, before the
statement or the line of a block that it stood before (or in), or behind the one whose line it ended. Blank lines
between statements stay, one at most. Text that is formatted again does not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from esql import syntax
from esql.format import names
from esql.format.expressions import expression
from esql.format.lines import Line, joined
from esql.format.statements import statement, statements

if TYPE_CHECKING:
    from collections.abc import Iterator


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
        yield Line(0, f"BROKER SCHEMA {names.dotted(node.schema)}{'' if node.path else end}", node.position)
    if node.path:
        yield Line(0, f"PATH {', '.join(map(names.dotted, node.path))};", node.position)
