"""Checking any program raises nothing, and says the same of it however it is laid out."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esql import syntax
from esql.format import format_program
from esql.read import read_file, read_statements
from esql.scope import resolve, routine_facts
from tests.esql import trees
from tests.esql.programs import check

# the strategies are large, and so is how Hypothesis would show them
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
briefly = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
thoroughly = settings(briefly, max_examples=1500)
kinds = st.sampled_from(("COMPUTE", "FILTER", "DATABASE", "DATABASEEVENT"))
DEEP = 10_000


def says_the_same(program: syntax.Program, kind: str | None) -> None:
    """Check a program as it is read, and again as it is printed."""
    routine_facts([resolve(program, kind)])
    # generated trees share nodes, those that are read do not
    read = read_file if kind is None else read_statements
    first = read(format_program(program), "printed")
    again = read(format_program(first), "printed")
    expected = [(problem.text, problem.number, problem.kind) for problem in check(first, kind)]
    assert expected == [(problem.text, problem.number, problem.kind) for problem in check(again, kind)]


@briefly
@given(trees.node_texts, kinds)
def test_statements_are_checked(program: syntax.Program, kind: str) -> None:
    """No text of a node makes checking fail, or say something else when it is printed and read."""
    check(program, kind)
    says_the_same(program, kind)


@briefly
@given(trees.files)
def test_files_are_checked(program: syntax.Program) -> None:
    """No file makes checking fail, or say something else when it is printed and read."""
    check(program)
    says_the_same(program, None)


@pytest.mark.slow
@thoroughly
@given(trees.node_texts, kinds)
def test_many_statements_are_checked(program: syntax.Program, kind: str) -> None:
    """No text of a node makes checking fail, for many more."""
    check(program, kind)
    says_the_same(program, kind)


@pytest.mark.slow
@thoroughly
@given(trees.files)
def test_many_files_are_checked(program: syntax.Program) -> None:
    """No file makes checking fail, for many more."""
    check(program)
    says_the_same(program, None)


def test_depth_does_not_matter() -> None:
    """A program that nests ten thousand deep is checked as any other."""
    inner: syntax.Expression = syntax.Path("x")
    for level in range(DEEP):
        inner = syntax.Call(("ABS",), (inner,)) if level % 2 else syntax.Unary("-", inner)
    statement: syntax.Statement = syntax.Return(inner)
    for level in range(DEEP):
        branch = syntax.IfBranch(syntax.Truth(value=True), (statement,))
        statement = syntax.Compound((statement,)) if level % 2 else syntax.If((branch,))
    (problem,) = check(syntax.Program((statement,)), "COMPUTE")
    assert problem.text.startswith("nothing called x is declared")


def test_time_grows_with_length() -> None:
    """Ten times as many lines, declarations, calls and problems take about ten times as long."""
    assert _seconds(4000) < 40 * max(_seconds(400), 0.01)


def _seconds(count: int) -> float:
    names = [f"name{index}" for index in range(count)]
    statements: list[syntax.Statement] = []
    for name in names:
        statements.append(syntax.Routine("PROCEDURE", f"p{name}", (), syntax.CallStatement((f"p{name}",), ())))
        statements.append(syntax.Declare((name,), syntax.DataType("INTEGER")))
        statements.append(syntax.SetStatement(syntax.Path(name), syntax.Path(f"x{name}")))
    started = time.process_time()
    found = check(syntax.Program(tuple(statements)), "COMPUTE")
    assert len(found) == count
    return time.process_time() - started
