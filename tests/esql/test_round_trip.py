"""Whatever tree is printed reads as the same tree, and printing what was read changes nothing any more."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from esql import syntax
from esql.format import format_expression, format_program
from esql.read import read_expression, read_file, read_statements
from tests.esql import trees

# the strategies are large, and so is how Hypothesis would show them
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

briefly = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
thoroughly = settings(briefly, max_examples=1500)


def is_kept(tree, form, read):
    """Say whether a tree survives printing, and whether a second print is the first."""
    text = form(tree)
    again = read(text, "printed")
    assert tree == again
    assert text == form(again)


@briefly
@given(trees.expressions)
def test_expressions_survive_printing(tree):
    """read(print(expression)) == expression."""
    is_kept(tree, format_expression, read_expression)


@briefly
@given(trees.node_texts)
def test_statements_survive_printing(tree):
    """read(print(statements)) == statements."""
    is_kept(tree, format_program, read_statements)


@briefly
@given(trees.files)
def test_files_survive_printing(tree):
    """read(print(file)) == file."""
    is_kept(tree, format_program, read_file)


@pytest.mark.slow
@thoroughly
@given(trees.expressions)
def test_many_expressions_survive_printing(tree):
    """read(print(expression)) == expression, for many more."""
    is_kept(tree, format_expression, read_expression)


@pytest.mark.slow
@thoroughly
@given(trees.node_texts)
def test_many_statements_survive_printing(tree):
    """read(print(statements)) == statements, for many more."""
    is_kept(tree, format_program, read_statements)


@pytest.mark.slow
@thoroughly
@given(trees.files)
def test_many_files_survive_printing(tree):
    """read(print(file)) == file, for many more."""
    is_kept(tree, format_program, read_file)


def nodes(value):
    """Go through all nodes of a tree."""
    if isinstance(value, tuple):
        for item in value:
            yield from nodes(item)
    elif is_dataclass(value):
        yield value
        for field in fields(value):
            yield from nodes(getattr(value, field.name))


KINDS = {kind for kind in vars(syntax).values() if isinstance(kind, type) and issubclass(kind, syntax.Node)}
# comments stand beside the tree, which the strategies do not make
KINDS -= {syntax.Node, syntax.Comment}


def made(examples):
    """Draw from every group of strategies; give the nodes by kind."""
    drawn = {}

    @settings(briefly, max_examples=examples, database=None, derandomize=True, phases=[Phase.generate])
    @given(st.tuples(*trees.groups))
    def look(groups):
        for node in nodes(groups):
            drawn.setdefault(type(node), []).append(node)

    look()
    return drawn


def test_every_kind_of_node_has_a_strategy():
    """The strategies make every dataclass of the syntax."""
    assert trees.MADE == KINDS


@pytest.mark.slow
def test_every_kind_of_node_is_drawn_with_all_its_parts():
    """The strategies reach every dataclass of the syntax, and what may be absent is there at times."""
    drawn_kinds = made(1500)
    assert set(drawn_kinds) - {syntax.Position} == KINDS
    filled = {
        (kind, field.name)
        for kind, drawn in drawn_kinds.items()
        for field in fields(kind)
        if any(getattr(node, field.name) not in (None, ()) for node in drawn)
    }
    wanted = {(kind, field.name) for kind in KINDS for field in fields(kind)} - {(syntax.Program, "comments")}
    assert wanted == wanted & filled
