"""Statements that never go on to the next one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from esql import syntax
from esql.scope import Resolution

Statements = tuple[syntax.Statement, ...]


@dataclass(frozen=True, slots=True)
class Endings:
    """The statements of a program that never go on, by identity."""

    never: frozenset[int]

    @classmethod
    def of(cls, found: Resolution) -> Endings:
        """Find them; what is inside a statement was visited after it."""
        left = frozenset(id(found.of(visit.node)) for visit in found.each(syntax.Leave))
        repeated = frozenset(id(found.of(visit.node)) for visit in found.each(syntax.Iterate))
        survey = _Survey(set(), left, repeated)
        for visit in reversed(found.sequence):
            node = visit.node
            if isinstance(node, syntax.Throw | syntax.Resignal):
                ends = not visit.place.continues
            elif type(node) in _RULES:
                ends = _RULES[type(node)](node, survey)
            else:
                continue
            if ends:
                survey.never.add(id(node))
        return cls(frozenset(survey.never))

    def ends(self, statement: syntax.Node) -> bool:
        """Say whether a statement never goes on."""
        return id(statement) in self.never

    def any_ends(self, statements: Statements) -> bool:
        """Say whether a list of statements never goes on."""
        return _any_ends(statements, self.never)


@dataclass(slots=True)
class _Survey:
    """The findings so far, and the blocks that LEAVE and ITERATE name."""

    never: set[int]
    left: frozenset[int]
    repeated: frozenset[int]

    def any_ends(self, statements: Statements) -> bool:
        return _any_ends(statements, self.never)


def _any_ends(statements: Statements, never: Collection[int]) -> bool:
    """Returns whether a list of statements never goes on, and none of its EXIT handlers does."""
    handlers = [item for item in statements if isinstance(item, syntax.DeclareHandler) and item.kind == "EXIT"]
    if not all(id(handler.body) in never for handler in handlers):
        return False
    return any(id(statement) in never for statement in statements)


def _always(node: syntax.Node, survey: _Survey) -> bool:
    return True


def _compound(node: syntax.Compound, survey: _Survey) -> bool:
    return id(node) not in survey.left and survey.any_ends(node.body)


def _branches(node: syntax.If | syntax.CaseStatement, survey: _Survey) -> bool:
    if node.otherwise is None or not survey.any_ends(node.otherwise):
        return False
    return all(survey.any_ends(branch.body) for branch in node.branches)


def _loop(node: syntax.Loop, survey: _Survey) -> bool:
    return id(node) not in survey.left


def _while(node: syntax.While, survey: _Survey) -> bool:
    return node.condition == syntax.Truth(value=True) and id(node) not in survey.left


def _repeat(node: syntax.Repeat, survey: _Survey) -> bool:
    return id(node) not in survey.left | survey.repeated and survey.any_ends(node.body)


_RULES: dict[type, Callable[[Any, _Survey], bool]] = {
    syntax.Return: _always,
    syntax.Leave: _always,
    syntax.Iterate: _always,
    syntax.Compound: _compound,
    syntax.If: _branches,
    syntax.CaseStatement: _branches,
    syntax.Loop: _loop,
    syntax.While: _while,
    syntax.Repeat: _repeat,
}
