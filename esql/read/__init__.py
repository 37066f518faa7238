"""Text -> syntax: the one place that knows the parser's runtime."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from esql import syntax
from esql.read.expressions import expression
from esql.read.parser import TooDeepError, match_rule, report_depth, tokenize, try_rule
from esql.read.recovery import may_be_condition
from esql.read.routines import program
from esql.read.statements import statements
from esql.text import Source, SyntaxProblems, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["read_expression", "read_file", "read_statements"]

Built = TypeVar("Built")

# The parser goes a dozen calls down for each level of nesting.
_CALLS = 15_000
_ONE_READER = threading.Lock()


def read_file(data: bytes | str, name: str) -> syntax.Program:
    """Read a .esql file: schema, path, declarations, routines, modules.

    >>> read_file("DECLARE limit CONSTANT INTEGER 10;", "limit.esql").statements[0].names
    ('limit',)
    """
    source = decode(data, name)
    with _reading(source) as (stream, comments):
        context = _match("file_", stream, source)
        return _built(lambda: program(context, comments, source), source)


def read_statements(data: bytes | str, name: str) -> syntax.Program:
    """Read the text of a node's property: statements, or for a Filter node only a condition, which is then returned.

    >>> read_statements("SET OutputRoot = InputRoot;", "Compute").statements[0].attribute is None
    True
    >>> read_statements("Body.total > 100", "Filter").statements[0].result.operator
    '>'
    """
    source = decode(data, name)
    with _reading(source) as (stream, comments):
        context = None if source.problems else try_rule("nodeText", stream)
        if context is None and may_be_condition(stream):
            condition = _match("filterText", stream, source)
            return _built(lambda: _returned(condition, comments, source), source)
        if context is None:
            context = _match("nodeText", stream, source)
        at = source.position(0, len(source.text))
        return _built(lambda: syntax.Program(statements(context.body, source), comments=comments, position=at), source)


def read_expression(data: bytes | str, name: str) -> syntax.Expression:
    """Read one expression.

    >>> read_expression("1 + 2", "example").operator
    '+'
    """
    source = decode(data, name)
    with _reading(source) as (stream, _):
        context = _match("filterText", stream, source)
        return _built(lambda: expression(context.condition, source), source)


def _returned(context: Any, comments: tuple[syntax.Comment, ...], source: Source) -> syntax.Program:
    at = source.of(context.condition)
    returned = syntax.Return(expression(context.condition, source), position=at)
    return syntax.Program((returned,), comments=comments, position=source.position(0, len(source.text)))


def _match(rule: str, stream: Any, source: Source) -> Any:
    context = None if source.problems else try_rule(rule, stream)
    if context is None:
        context = match_rule(rule, stream, source)
        _raise_problems(source)
    return context


def _built(build: Callable[[], Built], source: Source) -> Built:
    built = build()
    _raise_problems(source)
    return built


def _raise_problems(source: Source) -> None:
    if source.problems:
        ordered = sorted(source.problems, key=lambda problem: (problem.line, problem.column))
        raise SyntaxProblems(tuple(ordered))


@contextmanager
def _reading(source: Source) -> Iterator[tuple[Any, tuple[syntax.Comment, ...]]]:
    """Tokenize, with room to descend; one at a time, for the parser's tables and the limit are the process's."""
    with _ONE_READER:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _CALLS))
        stream = None
        try:
            stream, comments = tokenize(source)
            yield stream, comments
        except (TooDeepError, RecursionError):
            report_depth(stream, source)
            _raise_problems(source)
        finally:
            sys.setrecursionlimit(limit)
