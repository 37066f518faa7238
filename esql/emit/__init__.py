"""Syntax -> a syntax tree of Python, which says where each piece of it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from esql.emit import (
    assignments,
    cached_elements,
    calls,
    conditions,
    control_flow,
    databases,
    emitted_value,
    eval_scope,
    functions,
    operations,
    paths,
    selects,
    tree_statements,
)
from esql.emit.emission_unit import Constants, EmittedRoutine, Unit
from esql.emit.function_body import Tables
from esql.emit.routines import Emitted, Emitter, Entrance, GivenDeclarations
from esql.emit.variable_analysis import is_shared_tree
from esql.scope import Resolution, RoutineFacts, Variable
from esql.scope.references import DeclaredRoutine

__all__ = ["Deployment", "Emitted", "Entrance"]

TABLES: Final = Tables(
    expressions=MappingProxyType(
        {
            **emitted_value.EXPRESSIONS,
            **operations.EXPRESSIONS,
            **conditions.EXPRESSIONS,
            **paths.EXPRESSIONS,
            **functions.EXPRESSIONS,
            **calls.EXPRESSIONS,
            **selects.EXPRESSIONS,
            **databases.EXPRESSIONS,
        }
    ),
    conditions=MappingProxyType({**operations.CONDITIONS, **conditions.CONDITIONS}),
    lists=MappingProxyType({**paths.LISTS, **selects.LISTS, **databases.LISTS}),
    statements=MappingProxyType(
        {
            **assignments.STATEMENTS,
            **control_flow.STATEMENTS,
            **tree_statements.STATEMENTS,
            **calls.STATEMENTS,
            **databases.STATEMENTS,
        }
    ),
    plan=cached_elements.plan,
    forgotten=cached_elements.forgotten,
    scope=control_flow.scope,
)


class Deployment:
    """Programs that are emitted together: their constants, routines and variables have names that no other has."""

    __slots__ = ("_count", "_facts", "_seen", "_trace", "constants", "places", "routines")

    def __init__(
        self, facts: Mapping[int, RoutineFacts], resolutions: Iterable[Resolution], *, trace: str = ""
    ) -> None:
        """`trace` has statements (normal), or values as well (debug), written to the user trace; empty: nothing."""
        self._facts = facts
        self._trace = trace
        # what one file declares may be used in others alone, or in a text of EVAL alone
        every = list(resolutions)
        found = (reference for one in every for reference in one.references.values())
        self._seen = [variable for one in every for variable in eval_scope.given_to_texts(one)]
        self._seen += [reference for reference in found if isinstance(reference, Variable)]
        self._count = 0
        self.constants = Constants()
        self.routines: dict[DeclaredRoutine, EmittedRoutine] = {}
        self.places: dict[tuple[Variable, str], int] = {}
        for number, known in enumerate(facts.values()):
            self.routines[known.routine] = EmittedRoutine(f"r{number}", known.may_propagate)

    def emit(self, resolution: Resolution, file: str, lines: tuple[str, ...]) -> Emitted:
        """Emit one program."""
        return self._emitter(resolution, file, lines).program(resolution.program)

    def emit_text(self, resolution: Resolution, given: GivenDeclarations, *, is_expression: bool) -> Emitted:
        """Emit a text of EVAL, with the declarations of the variables that it is given."""
        emitter = self._emitter(resolution, "EVAL", ())
        return emitter.text_with(resolution.program, given, is_expression=is_expression)

    def _emitter(self, resolution: Resolution, file: str, lines: tuple[str, ...]) -> Emitter:
        unit = Unit(resolution, file, lines, self.constants, self.routines, self.places, self._trace)
        unit.learn(self._seen)
        unit.shares_trees = any(is_shared_tree(variable) for variable in (*self._seen, *unit.named.values()))
        self._count += 1
        return Emitter(unit, TABLES, self._facts, f"p{self._count}_")
