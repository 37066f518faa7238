"""Finds the stretches of text that the statements of a program take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from esql import syntax
from esql.syntax.node import children
from esql.text.statement_places import Stretch


def stretches(program: syntax.Program, schema: Iterable[str] = ()) -> tuple[Stretch, ...]:
    """The statements of a program, each behind those that it is inside.

    >>> from esql.read import read_statements
    >>> [(one.position, one.routine) for one in stretches(read_statements("SET a = 1; SET b = 2;", "x"))]
    [('1.1', ''), ('1.12', '')]
    """
    return tuple(_inside(program, "".join(f"{part}." for part in schema) or ".", "", 1))


def _inside(node: syntax.Node, above: str, routine: str, first: int) -> Iterator[Stretch]:
    if isinstance(node, syntax.Module):
        above = f"{above}{node.name}."
    elif isinstance(node, syntax.Routine):
        routine, first = f"{above}{node.name}", node.position.line
    elif isinstance(node, syntax.Statement):
        at = node.position
        yield Stretch(at.line, at.column, at.end_line, at.end_column, routine, first)
    for child in children(node):
        if isinstance(child, syntax.Statement | syntax.IfBranch | syntax.CaseStatementBranch):
            yield from _inside(child, above, routine, first)
